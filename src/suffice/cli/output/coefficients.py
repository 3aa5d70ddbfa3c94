"""The coefficients of a linear model, with what is known of their errors, and how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, isnan
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, cast

from suffice.cli.output.tables import CommandLine, grid, short
from suffice.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from suffice.cli.documents import Coefficient, Coefficients, Equation, Equations
    from suffice.linear_model import (
        ElasticNet,
        Lasso,
        LinearRegression,
        LogisticRegression,
        Ridge,
    )
    from suffice.models.linear.summary import Summary

__all__ = ["CONFIDENCE", "coefficient_facts", "rendered_coefficients", "robust_facts"]

CONFIDENCE = 0.95
TESTED = ("standard_error", "t", "p")
TESTS, ENDS, RATIO = ("t", "z", "p"), ("lower", "upper"), "odds_ratio"
HEADERS = {
    "estimate": "Estimate",
    "odds_ratio": "Odds ratio",
    "standard_error": "Std. Error",
    "t": "t value",
    "z": "z value",
    "p": "p",
}


def coefficient_facts(
    model: LinearRegression | Ridge | LogisticRegression, path: Path, level: float = CONFIDENCE
) -> Coefficients:
    """What a linear model says of its columns.

    Parameters
    ----------
    model : fitted linear model
    path : Path
        Its file.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        ``equations`` holds one entry per target, or per class that is compared with another, with
        its coefficients; ``remarks`` are sentences on the fit.

    Raises
    ------
    ParameterError
        If the level is not between 0 and 1.
    """
    from suffice.models.base.options import check_level

    check_level(level)
    name = type(model).__name__
    try:
        facts = FACTS[name](model, level)
    except (DataError, ParameterError) as unknown:
        if name not in ("LinearRegression", "Ridge"):
            raise
        facts = _estimates_only(cast("Any", model), unknown)
    return {"model": str(path), "type": name, "level": level, **facts}


def robust_facts(summaries: Sequence[Summary], path: Path, level: float) -> Coefficients:
    """As `coefficient_facts`, of the summaries of least squares with robust errors."""
    return {
        "model": str(path),
        "type": "LinearRegression",
        "level": level,
        "errors": summaries[0].errors,
        **_of_summaries(summaries),
    }


def _coefficients(
    terms: Sequence[str], columns: Mapping[str, NDArray[np.float64]]
) -> list[Coefficient]:
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        cast("Coefficient", {"term": term, **dict(zip(columns, row, strict=True))})
        for term, row in zip(terms, values, strict=True)
    ]


def _of_summary(found: Any, *names: str) -> list[Coefficient]:
    return _coefficients(found.terms, {name: getattr(found, name) for name in names})


def _linear(model: LinearRegression, level: float) -> Equations:
    return _of_summaries(
        [model.summary(target, level) for target in range(len(model.design_.targets))]
    )


def _of_summaries(summaries: Sequence[Summary]) -> Equations:
    return {
        "rows": summaries[0].rows,
        "equations": [
            {
                "target": found.target,
                "coefficients": _of_summary(found, "estimate", *TESTED, *ENDS),
                "residual_standard_error": found.sigma,
                "degrees_of_freedom": found.dof,
                "r_squared": found.r_squared,
                "unexplained": found.unexplained,
                "adjusted_r_squared": found.adjusted_r_squared,
                "uncentred": not found.intercept,
                "f": found.f,
                "f_p": found.f_p,
                "log_likelihood": found.log_likelihood,
                "aic": found.aic,
                "bic": found.bic,
                "remarks": list(found.table().notes),
            }
            for found in summaries
        ],
        "remarks": [],
    }


def _ridge(model: Ridge, level: float) -> Equations:
    summaries = [model.summary(target, level) for target in range(len(model.design_.targets))]
    return {
        "rows": summaries[0].rows,
        "penalty": summaries[0].penalty,
        "effective_parameters": summaries[0].effective_parameters,
        "equations": [
            {
                "target": found.target,
                "coefficients": _of_summary(found, "estimate", *ENDS),
                "remarks": [],
            }
            for found in summaries
        ],
        "remarks": list(summaries[0].table().notes),
    }


def _estimates_only(model: LinearRegression | Ridge, why: DataError | ParameterError) -> Equations:
    import numpy as np

    from suffice.models.design.units import measures, said_of_weights
    from suffice.models.linear.descent import Coefficients

    estimates, fit = _with_intercepts(model, np.atleast_2d(model.coef_)), model.model_.fit
    weights: tuple[str, ...] = ()
    reason = why.rule
    if not isinstance(fit, Coefficients):
        weights = said_of_weights(fit.equations)
        if fit.equations.rows <= fit.flat < fit.equations.count:
            reason = f"{why.fact}; {why.rule}; precisions take -p weights_are=precisions"
    facts: Equations = {
        "equations": [
            {
                "target": target,
                "coefficients": _coefficients(model.terms_, {"estimate": estimates[j]}),
                "remarks": [],
            }
            for j, target in enumerate(model.design_.targets)
        ],
        "remarks": [
            f"Standard errors are not known: {reason}.",
            *measures(model.design_, model.schema_),
            *weights,
        ],
    }
    if not isinstance(fit, Coefficients):
        facts["rows"] = fit.equations.count
    return facts


def _with_intercepts(model: Any, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients (t, q), the intercept first if there is one."""
    import numpy as np

    if len(model.terms_) == coefficients.shape[1]:
        return coefficients
    return np.column_stack([np.atleast_1d(model.intercept_), coefficients])


def _logistic(model: LogisticRegression, level: float) -> Equations:
    if model.model_.root is None:
        return _penalised(model)
    found = model.summary(level)
    fit = found.likelihood
    return {
        "left_out": model.left_out_,
        "unlabelled": model.unlabelled_,
        "rows": fit.rows,
        "log_likelihood": fit.value,
        "aic": fit.aic,
        "bic": fit.bic,
        "mcfadden": fit.mcfadden,
        "equations": [
            {
                "outcome": outcome,
                "reference": found.reference,
                "coefficients": _coefficients(
                    found.terms,
                    {
                        name: getattr(found, name)[c]
                        for name in ("estimate", "standard_error", "z", "p", *ENDS, RATIO)
                    },
                ),
                "remarks": [],
            }
            for c, outcome in enumerate(found.outcomes)
        ],
        "remarks": list(found.table().notes) + list(model.remarks_),
    }


def _l1(model: Lasso | ElasticNet, level: float) -> Equations:
    targets = range(len(model.design_.targets))
    summaries = [model.summary(target, level) for target in targets]
    return {
        "rows": summaries[0].rows,
        "penalty": summaries[0].penalty,
        "l1_ratio": summaries[0].l1_ratio,
        "equations": [
            {
                "target": found.target,
                "coefficients": _of_summary(found, "estimate"),
                "remarks": list(found.table().notes),
            }
            for found in summaries
        ],
        "remarks": [],
    }


FACTS: dict[str, Callable[[Any, float], Equations]] = {
    "LinearRegression": _linear,
    "Ridge": _ridge,
    "Lasso": _l1,
    "ElasticNet": _l1,
    "LogisticRegression": _logistic,
}
"""What the summary of each class of estimators holds."""


def _penalised(model: LogisticRegression) -> Equations:
    from suffice.models.design.coefficient_table import rows_left_out
    from suffice.models.design.units import measures

    classes = model.model_.classes.values
    estimates = _with_intercepts(model, model.coef_)
    outcomes = classes[1:] if len(classes) == 2 else classes
    facts: Equations = {
        "left_out": model.left_out_,
        "unlabelled": model.unlabelled_,
        "equations": [
            {
                "outcome": outcome,
                "reference": classes[0] if len(classes) == 2 else None,
                "coefficients": _coefficients(model.terms_, {"estimate": estimates[c]}),
                "remarks": [],
            }
            for c, outcome in enumerate(outcomes)
        ],
        "remarks": [
            _why_no_errors(model),
            *model.remarks_,
            *rows_left_out(model.left_out_),
            *measures(model.model_.centred.design, model.schema_),
        ],
    }
    if model.rows_ is not None:
        facts["rows"] = model.rows_
    return facts


def _why_no_errors(model: LogisticRegression) -> str:
    from suffice.models.logistic.options import l1_ratio

    if model.penalty not in (None, "firth") and isfinite(model.C):
        if l1_ratio(model):
            return "Standard errors are not given: the penalty chose columns by the same rows."
        return (
            f"Under a prior of variance C = {model.C:g} there are no standard errors; for tests "
            "fit with -p C=inf, or with -p penalty=firth."
        )
    if getattr(model, "solver", None) in ("gradient", "sgd", "minibatch"):
        why = "the model was fitted by small steps"
    else:
        why = "there are too many coefficients"
    return f"Standard errors are not known: {why}."


def rendered_coefficients(
    facts: Coefficients, intervals: bool = False, most: int | None = None
) -> Iterator[RenderableType]:
    """Tables of the coefficients, the first ``most`` of each, with their tests or intervals."""
    from suffice.models.design.coefficient_table import percents

    ends = dict(zip(ENDS, percents(facts["level"]), strict=True))
    for equation in facts["equations"]:
        coefficients = equation["coefficients"]
        names = [name for name in coefficients[0] if name != "term"]
        if "standard_error" in names:
            names = [name for name in names if name not in (TESTS if intervals else ENDS)]
        table = grid("", *((HEADERS | ends)[name] for name in names), title=_title(equation))
        for coefficient in coefficients[:most]:
            cells = _cells(coefficient)
            table.add_row(coefficient["term"], *(cells[name] for name in names))
        yield table
        rest = len(coefficients) - len(coefficients[:most])
        if rest:
            yield CommandLine(f"  ... {rest} more: {join(['suffice', 'summary', facts['model']])}")
        yield from (f"  {line}" for line in equation["remarks"])
    yield from (f"  {line}" for line in facts["remarks"])


def _title(equation: Equation) -> str:
    if "target" in equation:
        return f"{equation['target']}"
    if equation["reference"] is None:
        return f"score of {equation['outcome']}"
    return f"log-odds of {equation['outcome']} against {equation['reference']}"


def _cells(found: Coefficient) -> dict[str, str]:
    """The numbers in print: to the digits that the standard error leaves them, if there is one."""
    from suffice.models.design.coefficient_table import row

    coefficient = cast("dict[str, Any]", found)
    known = {name: coefficient[name] for name in (*ENDS, RATIO) if name in coefficient}
    cells = {name: "" if isnan(value) else short(value) for name, value in known.items()}
    if "standard_error" not in coefficient:
        return cells | {"estimate": f"{coefficient['estimate']:.5g}"}
    tested = [name for name in coefficient if name not in (*ENDS, RATIO)]
    printed = row(*(coefficient[name] for name in tested))
    return cells | dict(zip(tested, printed, strict=True))
