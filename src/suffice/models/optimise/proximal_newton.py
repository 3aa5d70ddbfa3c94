"""Newton's method for a smooth convex function and a penalty of absolute values.

`proximal_newton` yields the points that it reaches; whoever asks for the next one decides when it
is enough. It ends by itself where rounding leaves no way down.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.models.optimise.coordinate_descent import L1Quadratic, violation
from suffice.models.optimise.newton import Evaluate, Point
from suffice.models.optimise.tolerances import ARMIJO, HALVINGS, LOSS_ROUNDING

__all__ = ["proximal_newton"]

INNER_TOLERANCE = 1e-12  # of the quadratics that lead from one point to the next
INNER_SWEEPS = 1_000


def proximal_newton(evaluate: Evaluate, start: Point, cost: NDArray[np.float64]) -> Iterator[Point]:
    """Yield points towards the minimum of f(x) + Σⱼ cⱼ|xⱼ|, the first of them ``start``.

    ::

        x ← x + α(z − x),  z = argmin gᵀ(z − x) + ½(z − x)ᵀH(z − x) + Σⱼ cⱼ|zⱼ|,
        α = 1 unless that is too far

    Parameters
    ----------
    evaluate : callable
        The smooth part f; one evaluation a step, with its Hessian, unless a step is too long.
    start : Point
        With its Hessian.
    cost : ndarray (p,)
        c, 0 or more.

    Source: J. Lee, Y. Sun and M. Saunders, Proximal Newton-type methods for minimizing composite
    functions (2014), algorithm 1; J. Friedman, T. Hastie and R. Tibshirani, Regularization paths
    for generalized linear models via coordinate descent (2010), section 3.

    Examples
    --------
    The minimum of eˣ − 2x + ½|x| is at log 1.5, that of eˣ − 2x + |x| at 0:

    >>> def f(x, hessian):
    ...     return Point(x, np.exp(x[0]) - 2 * x[0], np.exp(x) - 2, np.diag(np.exp(x)))
    >>> for c in (0.5, 1.0):
    ...     *_, last = proximal_newton(f, f(np.ones(1), True), np.array([c]))
    ...     print(np.exp(last.x).round(12))
    [1.5]
    [1.]
    """
    point: Point | None = start
    while point is not None:
        yield point
        assert point.hessian is not None
        linear = point.gradient - point.hessian @ point.x
        model = L1Quadratic(point.hessian, linear, cost)
        reached = model.minimum(point.x, INNER_TOLERANCE, INNER_SWEEPS).x
        point = _next(evaluate, point, reached, cost)


def _next(
    evaluate: Evaluate, point: Point, reached: NDArray[np.float64], cost: NDArray[np.float64]
) -> Point | None:
    """Search between two points; None where there is no way down.

    Where all is noise in the function, the conditions of a minimum alone decide: f is convex.
    """
    before = float(cost @ np.abs(point.x))
    direction, total = reached - point.x, point.loss + before
    promised = float(point.gradient @ direction + cost @ np.abs(reached)) - before
    noise, length = LOSS_ROUNDING * abs(total), 1.0
    if not direction.any():
        return None
    if abs(promised) <= noise:
        trial = evaluate(reached, True)
        return trial if _violation(trial, cost) < _violation(point, cost) else None
    for _ in range(HALVINGS):
        x = reached if length == 1.0 else point.x + length * direction
        trial = evaluate(x, True)
        value = trial.loss + float(cost @ np.abs(x))
        if value <= total + ARMIJO * length * promised + noise:
            return trial
        length /= 2.0
    return None


def _violation(point: Point, cost: NDArray[np.float64]) -> float:
    return float(violation(point.x, point.gradient, cost).max(initial=0.0))
