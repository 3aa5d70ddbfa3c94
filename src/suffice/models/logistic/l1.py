"""Logistic regression with a penalty of absolute values, by a proximal Newton method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.models.logistic.fit import Fit
from suffice.models.logistic.objective import Objective
from suffice.models.optimise.coordinate_descent import violation
from suffice.models.optimise.newton import Point
from suffice.models.optimise.one_thread import one_thread_of_blas
from suffice.models.optimise.proximal_newton import proximal_newton
from suffice.models.optimise.stopping import StallDetector

__all__ = ["fit_with_l1"]

GRADIENT_ROUNDING = 2.0**-46  # of a gradient, as a fraction of the weight of all rows
STALLED_VIOLATION = 1e-7  # fraction of the gradient at 0 that a stalled solver may end with


def fit_with_l1(
    objective: Objective,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None = None,
) -> Fit:
    """Minimise the loss with a penalty of absolute values.

    Parameters
    ----------
    objective : Objective
        With `Objective.cost`.
    tolerance : float
        How far the conditions of a minimum may be missed, as a fraction of the largest element of
        the gradient at 0.
    max_iter : int
    start : ndarray (m, D), optional
        Coefficients of z to begin with.
    """
    with one_thread_of_blas():
        return _fit(objective, tolerance, max_iter, start)


def _fit(
    objective: Objective,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> Fit:
    cost, at_zero = objective.cost, objective.gradient_norm_at_zero()
    enough = max(tolerance * at_zero, GRADIENT_ROUNDING * objective.weight)
    first = objective(objective.null() if start is None else objective.parameters(start), True)
    detector, ended = StallDetector(), True
    for iteration, point in enumerate(proximal_newton(objective, first, cost)):
        total = point.loss + float(cost @ np.abs(point.x))
        norm = float(violation(point.x, point.gradient, cost).max(initial=0.0))
        if norm <= enough or iteration >= max_iter:
            ended = False
            break
        if detector.has_stalled(total, norm):
            break
    near = max(enough, STALLED_VIOLATION * at_zero) if ended else enough
    fit = Fit.at(objective, _with_centred_intercepts(objective, point), iteration, True, False)
    return replace(fit, loss=total, gradient_norm=objective.relative(norm), converged=norm <= near)


def _with_centred_intercepts(objective: Objective, point: Point) -> Point:
    """The same scores but for a constant: of k classes, the intercepts at x = 0 add up to 0."""
    if objective.k == 2 or not objective.intercept:
        return point
    coefficients = objective.coefficients(point.x)
    at_zero = coefficients[:, 0] - coefficients[:, 1:] @ objective.centred.mean
    coefficients[:, 0] -= at_zero.mean()
    return replace(point, x=objective.parameters(coefficients))
