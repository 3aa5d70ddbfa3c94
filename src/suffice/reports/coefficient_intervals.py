"""What a page says of the errors of coefficients: a root of their covariance, and effects.

With a row z = (1, x − m) and R such that RᵀR is the covariance of the estimates, a score has the
variance |Rz|². R is triangular, so that it takes no more numbers than the covariance, and keeps the
digits of a small variance that is the difference of large ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from suffice.errors import DataError, ParameterError
from suffice.models.design.matrix import indicators
from suffice.models.logistic.model import LogisticModel
from suffice.reports.student_terms import digits_before_point

__all__ = ["Errors", "effects_of", "errors_of", "interval_of_coefficients"]

PLACES = 11  # of what an entry adds to a score in a row one standard deviation from the mean
LEVEL = 0.95
DIGITS = 4  # of an effect
Array = NDArray[np.float64]


class Errors(NamedTuple):
    """How far scores may be off: reach · |R_c z|.

    Parameters
    ----------
    root : ndarray (q, m, D)
        R of the score of every class against the first, or of all targets together, (q, 1, D).
    reach : ndarray (1,) or (t,)
        Of classes Φ⁻¹(0.975); of targets the quantile of Student's distribution times σ̂.
    constant : float or None
        The variance of the mean of the target; None of classes.
    """

    root: Array
    reach: Array
    constant: float | None


def errors_of(model: Any) -> Errors:
    """Those of the scores of a linear or logistic model.

    Raises
    ------
    ParameterError
        If the model has no covariance.
    DataError
        If nothing is left to estimate the error from.
    """
    if isinstance(model.model_, LogisticModel):
        fitted = model._inferable()
        root = fitted.root.reshape(len(fitted.root), *fitted.coefficients.shape)
        against = root if root.shape[1] == 1 else root[:, 1:] - root[:, :1]
        return Errors(against, np.array([ndtri((1 + LEVEL) / 2)]), None)
    fit, posterior = model._inferable(), model.posterior()
    if fit.factor.dependent:
        raise DataError(
            "columns depend on each other",
            "not every prediction is determined by the rows of the fit",
        )
    constant = 1.0 / fit.equations.rows if fit.has_intercept else 0.0
    reach = posterior.quantile(LEVEL) * np.sqrt(posterior.noise_variance)
    return Errors(np.insert(fit.root, 0, 0.0, axis=1)[:, None], reach, constant)


def interval_of_coefficients(model: Any) -> dict[str, Any]:
    """The root of the covariance of the coefficients of a model.

    Parameters
    ----------
    model : fitted estimator
        Linear or logistic.

    Returns
    -------
    dict
        ``root``: its rows, each from the diagonal on, class after class; and ``columns``: of every
        column what its terms are measured from, of a category also the rank of every value and
        whether it is ``ordered``, of a number that is cut where its bins start, and whether the
        last term is that of ``missing`` cells. Of a linear model also ``constant`` and ``reach``,
        as `Errors` has them. Or ``why`` there is no interval.
    """
    try:
        errors = errors_of(model)
    except (ParameterError, DataError) as error:
        return {"why": f"{error.fact}; {error.rule}"}
    fitted = model.model_
    design, mean, scale = fitted.design, fitted.term_means, fitted.term_scales
    of_terms = [1.0, *np.where(scale > 0, scale, 1.0).tolist()]
    of_class = [PLACES + digits_before_point(one) for one in of_terms]
    triangle: Array = np.asarray(np.linalg.qr(errors.root.reshape(len(errors.root), -1), mode="r"))
    places = of_class * errors.root.shape[1]
    rows = [
        [round(v, p) for v, p in zip(row[i:], places[i:], strict=True)]
        for i, row in enumerate(triangle.tolist())
    ]
    columns = []
    for name in design.columns:
        one: dict[str, Any] = {"mean": mean[design.places([name])].tolist()}
        if name in design.categories:
            one |= {"ranks": design.ranks(name).tolist(), "ordered": name in design.ordered}
        if name in design.bins:
            lowest = [-np.finfo(np.float64).max] * (1 - design.first(name))
            one |= {"starts": [*lowest, *design.bins[name].cuts.tolist()], "ordered": True}
        if name in design.missing:
            one["missing"] = True
        columns.append(one)
    found = {"root": rows, "columns": columns}
    if errors.constant is None:
        return found
    return found | {"constant": errors.constant, "reach": errors.reach.tolist()}


def effects_of(
    model: Any, weights: Array, errors: Errors | None, name: str, most: int
) -> list[list[list[float]]]:
    """What one unit more of a column adds to every output, or each value of a category, or bin.

    A missing cell comes last, where it has a term.

    Parameters
    ----------
    model : fitted estimator
    weights : ndarray (k, p)
        Of every class or target.
    errors : Errors, optional
        Of these.
    name : str
    most : int
        How many values, at most.

    Returns
    -------
    list
        For one unit, or every value, of each output what it adds, and the ends of the 95 % interval
        where they are known. Classes are then compared with the first.
    """
    design = model.model_.design
    at = design.places([name])
    rows = np.ones((1, 1))
    steps = name in design.bins or name in design.ordered
    if name in design.categories or name in design.bins:
        own = name in design.missing
        count = len(design.bins[name]) if name in design.bins else 0
        steps_up = np.arange(count) + 1 - design.first(name)
        ranks = (steps_up if count else design.ranks(name))[:most]
        rows = indicators(ranks, np.arange(1, len(at) + 1 - own), steps).astype(float)
        if own:
            rows = np.pad(rows, ((0, 1), (0, 1)))
            rows[-1, -1] = 1.0
    adds = rows @ weights[:, at].T
    if errors is None:
        return [[[_brief(v)] for v in row] for row in adds.tolist()]
    moved = np.linalg.norm(np.einsum("rj,qmj->qrm", rows, errors.root[:, :, 1 + at]), axis=0)
    reach = errors.reach * moved
    if errors.constant is None:
        adds, reach = adds - adds[:, :1], np.insert(reach, 0, 0.0, axis=1)
    return [
        [[_brief(v), _brief(v - r), _brief(v + r)] if r else [_brief(v)] for v, r in both]
        for both in np.stack([adds, reach], axis=-1).tolist()
    ]


def _brief(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
