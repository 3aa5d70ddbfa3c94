"""Results that several commands print: columns, candidates, folds and coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

from suffice.cli.messages import sentence
from suffice.cli.output import CommandLine
from suffice.cli.values import spelled
from suffice.errors import DataError, ParameterError, SufficeError
from suffice.numerics.in_print import Table, percent
from suffice.phrases import amount

if TYPE_CHECKING:
    from suffice.model_selection.ranking import RankedModels

CONFIDENCE = 0.95
MOST_COEFFICIENTS = 30  # that are printed unasked


# Columns and classes ----------------------------------------------------------------------------


def read_as(table: Any) -> list[str]:
    """Return how text was found to be written, where it is not the plain case."""
    return list(map(spelled, table.about.remarks))


def read_columns(model: Any) -> list[dict[str, Any]]:
    return [{"name": c.name, "kind": c.kind, "reason": c.reason} for c in model.schema_]


def class_facts(model: Any, path: Path) -> dict[str, Any]:
    """Return the rows of a model, and the prior of every class."""
    # A class may be declared that no row shows.
    statistic = model.statistic_.over(model.model_.classes)
    shares = zip(statistic.classes.values, statistic.weight.value, model.model_.prior, strict=True)
    return {
        "model": str(path),
        "rows": float(statistic.weight.value.sum()),
        "unlabelled": float(statistic.unlabelled.value),
        "label": model.reader_.layout.label,
        "classes": [{"label": c, "rows": float(n), "prior": float(p)} for c, n, p in shares],
        "ignored": list(model.reader_.layout.ignored),
    }


def class_table(facts: dict[str, Any]) -> Table:
    """Return the rows and the prior of every class as a table."""
    rows = [[str(c["label"]), amount(c["rows"]), percent(c["prior"])] for c in facts["classes"]]
    return Table("", [facts["label"] or "label", "rows", "prior"], rows)


def candidate_facts(model: Any, path: Path) -> dict[str, Any]:
    """Return the models of an average, and what it reads."""
    return {
        "model": str(path),
        "label": model.reader_.layout.label,
        "classes": model.classes_.tolist(),
        "best": model.candidates_.best.name,
        "candidates": list(map(vars, model.candidates_)),
        "columns": read_columns(model),
        "ignored": list(model.reader_.layout.ignored),
    }


# Folds ------------------------------------------------------------------------------------------


def fold_facts(ranked: RankedModels) -> dict[str, Any]:
    return {
        "folds": ranked.folds,
        "rows": ranked.rows(ranked.best),
        "score": ranked.score,
        "instead_of": None if ranked.score == ranked.first_choice else ranked.first_choice,
        "more_is_better": ranked.more_is_better,
        "best": ranked.best,
        "models": [
            {"name": name, "error": sentence(one)}
            if isinstance(one, Exception)
            else _model_facts(name, ranked)
            for name, one in ranked.found.items()
        ],
    }


def _model_facts(name: str, ranked: RankedModels) -> dict[str, Any]:
    one, gap = ranked.judged[name], ranked.gap(name)
    return {
        "name": name,
        "rows": ranked.rows(name),
        "scores": {
            score: {
                "mean": one.mean(score),
                "standard_error": one.standard_error(score),
                "folds": one.scores(score).tolist(),
            }
            for score in one.names
        },
        "difference_from_best": None
        if gap is None
        else {"mean": gap.mean, "low": gap.low, "high": gap.high},
        "verdict": ranked.verdict(name),
        "heavy_tails": ranked.has_heavy_tails(name),
        "infinite_log_loss": [
            {"label": label, "rows": rows, "learnt": ranked.is_fitted_to(name, label)}
            for label, rows in one.infinite_rows.items()
        ],
        "seconds": one.seconds,
    }


# Coefficients -----------------------------------------------------------------------------------

OF_FIT = ("r_squared", "unexplained", "adjusted_r_squared", "f", "f_p")
OF_EQUATION = {
    "sigma": "residual_standard_error",
    "dof": "degrees_of_freedom",
    **{name: name for name in (*OF_FIT, "log_likelihood", "aic", "bic")},
}
OF_MODEL = ("penalty", "l1_ratio", "effective_parameters")
OF_TERM = ("estimate", "standard_error", "t", "z", "p", "lower", "upper", "odds_ratio")


def summaries_of(model: Any, level: float) -> list[Any] | SufficeError:
    """Return a summary for every target, or one for all classes; else why there is none."""
    from suffice.models.base.options import check_level

    check_level(level)
    try:
        if hasattr(model, "classes_"):
            return [model.summary(level)]
        return [model.summary(j, level) for j in range(len(model.design_.targets))]
    except (DataError, ParameterError) as unknown:
        return unknown


def coefficient_results(model: Any, path: Path) -> tuple[dict[str, Any], Iterator[str | Table]]:
    """Return the facts of a model that has coefficients, and tables of the first of these."""
    found = summaries_of(model, CONFIDENCE)
    facts = coefficient_facts(model, found, path, CONFIDENCE) | {"columns": read_columns(model)}
    return facts, coefficient_tables(facts, found, MOST_COEFFICIENTS)


def coefficient_facts(
    model: Any, found: list[Any] | SufficeError, path: Path, level: float
) -> dict[str, Any]:
    """Return the coefficients, what is known of their errors, and how well they fit."""
    facts: dict[str, Any] = {"model": str(path), "type": type(model).__name__, "level": level}
    if hasattr(model, "classes_"):
        facts |= {"left_out": model.left_out_, "unlabelled": model.unlabelled_}
        facts |= {} if model.rows_ is None else {"rows": model.rows_}
    if isinstance(found, Exception):
        facts["remarks"] = list(_why_no_errors(model, found))
        facts["equations"] = list(_estimates(model))
    elif hasattr(model, "classes_"):
        (one,), fit = found, found[0].likelihood
        facts |= {"rows": fit.rows, "log_likelihood": fit.value, "mcfadden": fit.mcfadden}
        facts |= {"aic": fit.aic, "bic": fit.bic}
        facts["remarks"] = [*one.table().notes, *model.remarks_]
        facts["equations"] = [
            {
                "outcome": outcome,
                "reference": one.reference,
                "coefficients": _coefficients(one, c),
                "remarks": [],
            }
            for c, outcome in enumerate(one.outcomes)
        ]
    else:
        facts |= {"rows": found[0].rows, "remarks": []}
        facts |= {name: getattr(found[0], name) for name in OF_MODEL if hasattr(found[0], name)}
        if getattr(found[0], "errors", "classical") != "classical":
            facts["errors"] = found[0].errors
        facts["equations"] = [_equation(one) for one in found]
    return facts


def _equation(found: Any) -> dict[str, Any]:
    facts = {key: getattr(found, name) for name, key in OF_EQUATION.items() if hasattr(found, name)}
    facts |= {"uncentred": not found.intercept} if hasattr(found, "intercept") else {}
    remarks = list(found.table().notes)
    return {
        "target": found.target,
        "coefficients": _coefficients(found),
        "remarks": remarks,
        **facts,
    }


def _coefficients(found: Any, c: int | None = None) -> list[dict[str, Any]]:
    columns = {name: getattr(found, name) for name in OF_TERM if hasattr(found, name)}
    of_class = {name: values if c is None else values[c] for name, values in columns.items()}
    return [
        {"term": term, **{name: float(values[j]) for name, values in of_class.items()}}
        for j, term in enumerate(found.terms)
    ]


def _estimates(model: Any) -> Iterator[dict[str, Any]]:
    """Yield the equations of a model without standard errors."""
    import numpy as np

    estimates = np.atleast_2d(model.coef_)
    if len(model.terms_) != estimates.shape[1]:
        estimates = np.column_stack([np.atleast_1d(model.intercept_), estimates])
    if hasattr(model, "classes_"):
        labels = model.model_.classes.values
        two = len(labels) == 2
        names = [
            {"outcome": c, "reference": labels[0] if two else None} for c in labels[int(two) :]
        ]
    else:
        names = [{"target": target} for target in model.design_.targets]
    for name, values in zip(names, estimates.tolist(), strict=True):
        terms = zip(model.terms_, values, strict=True)
        coefficients = [{"term": term, "estimate": value} for term, value in terms]
        yield {**name, "coefficients": coefficients, "remarks": []}


def _why_no_errors(model: Any, error: SufficeError) -> Iterator[str]:
    from suffice.models.design.remarks import measures, rows_left_out

    yield f"Standard errors are not known: {error.rule or error.fact}."
    if error.next_step:
        yield f"For tests: {spelled(error.next_step)}."
    yield from getattr(model, "remarks_", ())
    yield from rows_left_out(getattr(model, "left_out_", 0.0))
    design = model.design_ if hasattr(model, "design_") else model.model_.centred.design
    yield from measures(design, model.schema_)


def coefficient_tables(
    facts: dict[str, Any],
    found: list[Any] | SufficeError,
    most: int | None = None,
) -> Iterator[str | Table]:
    """Yield tables of the coefficients, the first ``most`` of each."""
    if isinstance(found, Exception):
        tables = [
            Table(
                "",
                ["", "Estimate"],
                [[c["term"], f"{c['estimate']:.5g}"] for c in one["coefficients"]],
            )
            for one in facts["equations"]
        ]
        notes: Sequence[str] = facts["remarks"]
    else:
        tables = [one.table() for one in found]
        notes = facts["remarks"][len(tables[0].notes) :] if facts["remarks"] else ()
    titles = [_title(one) for one in facts["equations"]]
    for title, table in zip(titles if len(titles) == len(tables) else [""], tables, strict=True):
        yield Table(title, table.header, table.rows[:most], left=table.left)
        if rest := len(table.rows) - len(table.rows[:most]):
            yield CommandLine(f"  ... {rest} more: {join(['suffice', 'summary', facts['model']])}")
        yield from (f"  {note}" for note in table.notes)
    yield from (f"  {note}" for note in notes)


def _title(equation: Mapping[str, Any]) -> str:
    if "target" in equation:
        return str(equation["target"])
    if equation["reference"] is None:
        return f"score of {equation['outcome']}"
    return f"log-odds of {equation['outcome']} against {equation['reference']}"
