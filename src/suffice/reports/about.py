"""Sentences of the page on the model as a whole."""

from __future__ import annotations

from datetime import date
from re import sub
from typing import Any

from suffice._version import __version__
from suffice.export.log_joint_terms import members_of
from suffice.models.base.scikit_learn import defaults
from suffice.models.generative.aode import AODEModel
from suffice.models.generative.model import GenerativeModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.in_print import percent
from suffice.reports.tested import in_print

# What a model is, its formula as markup, and what it assumes.
NAIVE = (
    "Every class has its own distribution of every column, fitted to the rows of that class. "
    "A new row is held against these, and each known cell adds to the odds.",
    "P(c | x) ∝ P(c) · Πⱼ p(xⱼ | c)",
    "Within a class, the columns are taken to be independent of each other. Where two columns "
    "repeat each other, they count twice, and the answer is surer than it should be.",
)
WEIGHTED = (
    NAIVE[0] + " Weights of the columns are fitted too, so that columns that repeat each other "
    "do not count twice.",
    "P(c | x) ∝ P(c) · Πⱼ p(xⱼ | c)<sup>wⱼ</sup>",
    "Within a class, the columns are taken to be independent of each other; the weights wⱼ make up "
    "for much of where they are not. What columns tell only together is not seen.",
)
JOINT = (
    "Every class is a cloud of points: a mean, and how the columns vary together. "
    "A new row belongs to the class whose cloud is densest there.",
    "P(c | x) ∝ P(c) · N(x; μ_c, Σ_c)",
    "Within a class, the columns together are taken to be normally distributed. "
    "Strong skew, or several groups within a class, breaks that.",
)
SHARED = (JOINT[0], "P(c | x) ∝ P(c) · N(x; μ_c, Σ)", JOINT[2] + " All classes share one Σ.")
PAIRS = (
    "Every column is in turn the parent of all others, whose distributions depend on it and on the "
    "class; the mean of these models is joined with naive Bayes.",
    "P(c | x) ∝ P(c) · (1/|I| Σᵢ P(x | c, xᵢ) P(xᵢ | c))<sup>t</sup> · Πⱼ p(xⱼ | c)<sup>wⱼ</sup>",
    "Within a class, columns may depend on each other two by two. What three tell only together is "
    "not seen.",
)
AVERAGE = (
    "Models of different kinds answer, and the answer is the mean of their probabilities, weighted "
    "by shares that were fitted to held-out rows. What a column adds is how the answer moves when "
    "it is revealed: the mean of the order of the table and its reverse.",
    "P(c | x) = Σₘ vₘ Pₘ(c | x)",
    "Pictures of single columns show the naive Bayes among them, if there is one.",
)
LOGISTIC = (
    "Every column has a weight for every class. The weighted sum of the cells gives the odds.",
    "log P(c | x) = b_c + Σⱼ w_cj xⱼ + a term of the row",
    "The log-odds are taken to be a sum of one term for each column. "
    "Columns that act only together, and curves, are not seen.",
)
LINEAR = (
    "Every column has a weight. The prediction is the weighted sum of the cells.",
    "ŷ = b + Σⱼ wⱼ xⱼ",
    "The effect of a column is taken to be a straight line, the same for all rows. "
    "Curves, and columns that act only together, are not seen.",
)


def about(model: Any, columns: int, outputs: list[str]) -> dict[str, Any]:
    """Describe the model: kind, assumptions, options, rows, the version of Suffice and today."""
    name = sub(r"(?<=[a-z])(?=[A-Z])", " ", type(model).__name__)
    fitted = model.model_
    what, formula, assumes = _sentences(fitted)
    cls: Any = type(model)
    usual = defaults(cls)
    target = ", ".join(map(str, model.target_names_)) or "the answer"
    rows = _rows(model)
    several = not hasattr(fitted, "classes")
    average = {}
    if hasattr(model, "members_"):
        shares = [f"{percent(share)} {name}" for name, share, _ in members_of(model)]
        average["members"] = ", ".join(shares)
    facts = [name]
    if rows is not None:
        facts.append(f"fitted to {in_print(rows)} rows")
    of = ("target", "targets") if several else ("class", "classes")
    facts.append(_counted(len(outputs), *of))
    today = date.today()
    return {
        "name": name,
        "target": target,
        "columns": _counted(columns, "column", "columns"),
        "summary": ", ".join(facts),
        "date": f"{today.day} {today:%B %Y}",
        "what": what,
        "formula": formula,
        "assumes": assumes,
        "options": average
        | {
            option: str(value)
            for option, value in model.get_params(deep=False).items()
            if repr(value) != repr(usual[option])
        },
        "rows": None if rows is None else in_print(rows),
        "version": __version__,
    }


def _sentences(fitted: Any) -> tuple[str, str, str]:
    if hasattr(fitted, "members"):
        return AVERAGE
    if isinstance(fitted, AODEModel):
        return PAIRS
    if isinstance(fitted, LogisticModel):
        return LOGISTIC
    if not isinstance(fitted, GenerativeModel):
        return LINEAR
    for parameters in fitted.parameters:
        if (factored := getattr(parameters, "factored", None)) is not None:
            return SHARED if len(factored.covariance) == 1 else JOINT
    return NAIVE if fitted.calibration is None else WEIGHTED


def _rows(model: Any) -> float | None:
    model = next(iter(getattr(model, "members_", ())), model)
    statistic = getattr(model, "statistic_", None)
    return getattr(model, "rows_", None) if statistic is None else float(statistic.rows)


def _counted(number: int, one: str, many: str) -> str:
    return f"{in_print(number)} {one if number == 1 else many}"
