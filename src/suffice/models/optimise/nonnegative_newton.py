"""Newton's method for a smooth convex function of numbers that are 0 or more."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.models.optimise.tolerances import ARMIJO, HALVINGS
from suffice.numerics import kernels

STEPS = 100
SINGULAR = 1e-10  # least part of a diagonal element that the others leave over
SYSTEMS = 10  # of linear equations, for the minimum of one quadratic
SWEEPS = 1_000  # of coordinate descent, towards the minimum of one quadratic
STILL = 1e-13  # a sweep that moves x by no more than this fraction of it is the last
ENOUGH = 1e-11  # a step that promises less, or this fraction of the function, is the last


class Value(NamedTuple):
    """A convex function at some x (p,): its value, gradient (p,) and Hessian (p, p)."""

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]


def nonnegative_minimum(
    function: Callable[[NDArray[np.float64]], Value], start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the minimum of a convex function over x ≥ 0, (p,).

    ::

        x ← x + α(z − x),  z = argmin_{z ≥ 0} gᵀ(z − x) + ½(z − x)ᵀH(z − x),
        α = 1 unless that is too far

    Parameters
    ----------
    function : callable
        With a Hessian whose diagonal is above 0.
    start : ndarray (p,)
        0 or more.

    Source: D. P. Bertsekas, Projected Newton methods for optimization problems with simple
    constraints (SIAM J. Control Optim. 20, 1982); the quadratics by coordinate descent.

    Examples
    --------
    Of e^x − 2x it is log 2; of e^y + y, 0:

    >>> def f(x):
    ...     e = np.exp(x)
    ...     return Value(e.sum() - 2 * x[0] + x[1], e + [-2, 1], np.diag(e))
    >>> x = nonnegative_minimum(f, np.ones(2))
    >>> (x - [np.log(2), 0]).round(9)
    array([0., 0.])
    """
    x, at = start, function(start)
    for _ in range(STEPS):
        direction = _minimum_of_quadratic(x, at) - x
        promised = fsum((at.gradient * direction).tolist())
        if -promised <= ENOUGH * max(1.0, abs(at.value)):
            return x + direction  # which rounding may hide from the function
        for halvings in range(HALVINGS):
            length = 0.5**halvings
            reached = function(x + length * direction)
            if reached.value <= at.value + ARMIJO * length * promised:
                break
        else:
            return x  # rounding leaves no way down
        x, at = x + length * direction, reached
    return x


def _minimum_of_quadratic(x: NDArray[np.float64], at: Value) -> NDArray[np.float64]:
    """Linear systems of the coordinates above 0, or sweeps, each followed by the best multiple.

    Coordinates on the wrong side of 0 change sides together, which mostly ends after a few systems;
    where it does not, or the Hessian is singular, sweeps over the coordinates go on.

    Source: L. F. Portugal, J. J. Júdice, L. N. Vicente, A comparison of block pivoting and
    interior-point algorithms (Mathematics of Computation 63, 1994).
    """
    target, positive = _times(at.hessian, x) - at.gradient, x > 0
    for _ in range(SYSTEMS):
        upper = np.triu(at.hessian[np.ix_(positive, positive)])
        low, noise = np.zeros_like(upper), SINGULAR * np.diagonal(upper)
        negative, *pivots = kernels.factor.factorise(upper, low, noise)[:3]
        if negative >= 0 or (pivots[0] <= 0).any():  # a singular Hessian, maybe by rounding
            break
        found = np.stack([target[positive, None], np.zeros((len(upper), 1))])
        kernels.factor.solve(upper, low, *pivots, *found)
        z = np.zeros_like(x)
        z[positive] = found[0, :, 0]
        wrong = np.where(positive, z < 0, _times(at.hessian, z) < target)
        if not wrong.any():
            return z
        positive = positive ^ wrong
    z, gradient, free = x.copy(), at.gradient.copy(), np.zeros(len(x))
    for _ in range(SWEEPS):
        before = z.copy()
        kernels.coordinate.sweep(at.hessian, free, True, z, gradient)
        along = _times(at.hessian, z)
        curvature = fsum((z * along).tolist())
        if curvature > 0:
            step = max(-fsum((z * gradient).tolist()) / curvature, -1.0)
            z *= 1 + step
            gradient += step * along
        if np.abs(z - before).max(initial=0.0) <= STILL * z.max(initial=0.0):
            break
    return z


def _times(hessian: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return H x, in one order on every machine."""
    found = np.empty(len(x))
    kernels.gram.times(hessian, x, found)
    return found
