"""The coefficients of a linear model, with what is known of their errors, and how well it fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite, isnan
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

from suffice.cli.output.tables import CommandLine, grid, short
from suffice.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from suffice.linear_model import (
        ElasticNet,
        Lasso,
        LinearRegression,
        LogisticRegression,
        Ridge,
    )
    from suffice.models.linear.summary import Summary

__all__ = ["CONFIDENCE", "coefficient_facts", "rendered_coefficients"]

CONFIDENCE = 0.95
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
) -> dict[str, Any]:
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
    return {"model": str(path), "type": name, "level": level} | FACTS[name](model, level)


def _coefficients(terms: Sequence[str], **columns: Any) -> list[dict[str, Any]]:
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {"term": term} | dict(zip(columns, row, strict=True))
        for term, row in zip(terms, values, strict=True)
    ]


def _linear(model: LinearRegression, level: float) -> dict[str, Any]:
    try:
        return _tested(model, level)
    except (DataError, ParameterError) as unknown:
        return _estimates_only(model, unknown)


def _tested(model: LinearRegression, level: float) -> dict[str, Any]:
    return _of_summaries(
        [model.summary(target, level) for target in range(len(model.design_.targets))]
    )


def _of_summaries(summaries: Sequence[Summary]) -> dict[str, Any]:
    return {
        "rows": summaries[0].rows,
        "equations": [
            {
                "target": found.target,
                "coefficients": _coefficients(
                    found.terms,
                    estimate=found.estimate,
                    standard_error=found.standard_error,
                    t=found.t,
                    p=found.p,
                    lower=found.lower,
                    upper=found.upper,
                ),
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
                "remarks": _remarks(found),
            }
            for found in summaries
        ],
        "remarks": [],
    }


def _ridge(model: Ridge, level: float) -> dict[str, Any]:
    try:
        return _penalised_sums(model, level)
    except (DataError, ParameterError) as unknown:
        return _estimates_only(model, unknown)


def _penalised_sums(model: Ridge, level: float) -> dict[str, Any]:
    summaries = [model.summary(target, level) for target in range(len(model.design_.targets))]
    return {
        "rows": summaries[0].rows,
        "penalty": summaries[0].penalty,
        "effective_parameters": summaries[0].effective_parameters,
        "equations": [
            {
                "target": found.target,
                "coefficients": _coefficients(
                    found.terms, estimate=found.estimate, lower=found.lower, upper=found.upper
                ),
                "remarks": [],
            }
            for found in summaries
        ],
        "remarks": _remarks(summaries[0]),
    }


def _estimates_only(
    model: LinearRegression | Ridge, why: DataError | ParameterError
) -> dict[str, Any]:
    import numpy as np

    from suffice.models.design.units import measures, said_of_weights
    from suffice.models.linear.least_squares import LeastSquares

    estimates, fit = _with_intercepts(model, np.atleast_2d(model.coef_)), model.model_.fit
    rows: dict[str, Any] = {}
    weights: tuple[str, ...] = ()
    reason = why.rule
    if isinstance(fit, LeastSquares):
        rows, weights = {"rows": fit.equations.count}, said_of_weights(fit.equations)
        if fit.equations.rows <= fit.flat < fit.equations.count:
            reason = f"{why.fact}; {why.rule}; precisions take --weights-are precisions"
    return rows | {
        "equations": [
            {
                "target": target,
                "coefficients": _coefficients(model.terms_, estimate=estimates[j]),
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


def _with_intercepts(model: Any, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients (t, q), the intercept first if there is one."""
    import numpy as np

    if len(model.terms_) == coefficients.shape[1]:
        return coefficients
    return np.column_stack([np.atleast_1d(model.intercept_), coefficients])


def _logistic(model: LogisticRegression, level: float) -> dict[str, Any]:
    left_out = {"left_out": model.left_out_, "unlabelled": model.unlabelled_}
    if model.model_.root is None:
        rows = {} if model.rows_ is None else {"rows": model.rows_}
        return left_out | rows | _penalised(model)
    found = model.summary(level)
    fit = found.likelihood
    return left_out | {
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
                    estimate=found.estimate[c],
                    standard_error=found.standard_error[c],
                    z=found.z[c],
                    p=found.p[c],
                    lower=found.lower[c],
                    upper=found.upper[c],
                    odds_ratio=found.odds_ratio[c],
                ),
                "remarks": [],
            }
            for c, outcome in enumerate(found.outcomes)
        ],
        "remarks": _remarks(found) + list(model.remarks_),
    }


def _l1(model: Lasso | ElasticNet, level: float) -> dict[str, Any]:
    targets = range(len(model.design_.targets))
    summaries = [model.summary(target, level) for target in targets]
    return {
        "rows": summaries[0].rows,
        "penalty": summaries[0].penalty,
        "l1_ratio": summaries[0].l1_ratio,
        "equations": [
            {
                "target": found.target,
                "coefficients": _coefficients(found.terms, estimate=found.estimate),
                "remarks": _remarks(found),
            }
            for found in summaries
        ],
        "remarks": [],
    }


FACTS: dict[str, Callable[[Any, float], dict[str, Any]]] = {
    "LinearRegression": _linear,
    "Ridge": _ridge,
    "Lasso": _l1,
    "ElasticNet": _l1,
    "LogisticRegression": _logistic,
}
"""What the summary of each class of estimators holds."""


def _penalised(model: LogisticRegression) -> dict[str, Any]:
    from suffice.models.design.coefficient_table import rows_left_out
    from suffice.models.design.units import measures

    classes = model.model_.classes.values
    estimates = _with_intercepts(model, model.coef_)
    outcomes = classes[1:] if len(classes) == 2 else classes
    return {
        "equations": [
            {
                "outcome": outcome,
                "reference": classes[0] if len(classes) == 2 else None,
                "coefficients": _coefficients(model.terms_, estimate=estimates[c]),
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


def _why_no_errors(model: LogisticRegression) -> str:
    from suffice.models.logistic.options import l1_ratio

    if model.penalty not in (None, "firth") and isfinite(model.C):
        if l1_ratio(model):
            return "Standard errors are not given: the penalty chose columns by the same rows."
        return (
            f"Under a prior of variance C = {model.C:g} there are no standard errors; for tests "
            "fit with --C inf, or with --penalty firth."
        )
    if getattr(model, "solver", None) in ("gradient", "sgd", "minibatch"):
        why = "the model was fitted by small steps"
    else:
        why = "there are too many coefficients"
    return f"Standard errors are not known: {why}."


def _remarks(summary: Any) -> list[str]:
    """The lines that a summary prints below its table."""
    return str(summary).partition("\n\n")[2].splitlines()


def rendered_coefficients(
    facts: dict[str, Any], intervals: bool = False, most: int | None = None
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


def _title(equation: dict[str, Any]) -> str:
    if "target" in equation:
        return f"{equation['target']}"
    if equation["reference"] is None:
        return f"score of {equation['outcome']}"
    return f"log-odds of {equation['outcome']} against {equation['reference']}"


def _cells(coefficient: dict[str, Any]) -> dict[str, str]:
    """The numbers in print: to the digits that the standard error leaves them, if there is one."""
    from suffice.models.design.coefficient_table import row

    known = {name: coefficient[name] for name in (*ENDS, RATIO) if name in coefficient}
    cells = {name: "" if isnan(value) else short(value) for name, value in known.items()}
    if "standard_error" not in coefficient:
        return cells | {"estimate": f"{coefficient['estimate']:.5g}"}
    tested = [name for name in coefficient if name not in (*ENDS, RATIO)]
    printed = row(*(coefficient[name] for name in tested))
    return cells | dict(zip(tested, printed, strict=True))
