"""Logistic regression by Newton's method and L-BFGS: when to stop, and whether a minimum is there.

A maximum of the likelihood alone may not exist. Newton's method proves that it does: with
ν² = gᵀH⁻¹g and rows z, the loss has a minimum if ν max|z| ≤ ½ √λ_min(H), and a minimum near by.
On separated data the two sides go to 0 together, the proof fails, and a linear programme decides
(`suffice.models.logistic.separation`).

Source: F. Bach, Self-concordant analysis for logistic regression (2010), proposition 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suffice.models.logistic.cost import cheaper_iterations
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.objective import SQUARES_NOISE, Objective
from suffice.models.logistic.separation import refuse_separation
from suffice.models.logistic.warm_start import iterates_of
from suffice.models.optimise.algebra import eigenvalues
from suffice.models.optimise.newton import Point, inverse_root, solve
from suffice.models.optimise.one_thread import one_thread_of_blas
from suffice.models.optimise.stopping import StallDetector
from suffice.models.optimise.tolerances import LOSS_ROUNDING

__all__ = ["Method", "fit_by_curvature"]

Method = Literal["newton", "lbfgs"]

GRADIENT_ROUNDING = 2.0**-46  # of a gradient, as a fraction of the weight of all rows
STALLED_GRADIENT = 1e-7  # fraction of the gradient at 0 that a stalled solver may end with
STEPS_BEFORE_SEPARATION = 10  # Newton steps after which separation is looked for


def fit_by_curvature(
    objective: Objective,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None = None,
) -> Fit:
    """Minimise the penalised loss.

    Parameters
    ----------
    objective : Objective
    method : {"newton", "lbfgs"}
    tolerance : float
        Largest element of the gradient to stop at, as a fraction of that at 0; with Firth's penalty
        also the largest change of a parameter, as a fraction of the largest.
    max_iter : int
    start : ndarray (m, D), optional
        Coefficients of z to begin with.

    Raises
    ------
    DataError
        If there is no minimum, as the classes are separated.
    """
    with one_thread_of_blas():
        return _fit(objective, method, tolerance, max_iter, start)


def _fit(
    objective: Objective,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> Fit:
    if method == "newton" and (cheap := cheaper_iterations(objective)):
        rough = _descended(objective, "lbfgs", tolerance, min(cheap, max_iter), start)
        if rough.is_small or rough.iterations == max_iter:
            return _ended(rough)
        if objective.penalised or rough.iterations < cheap:  # it found no way down
            start = rough.coefficients
        end = _descended(objective, method, tolerance, max_iter - rough.iterations, start)
        return _ended(replace(end, iterations=rough.iterations + end.iterations))
    return _ended(_descended(objective, method, tolerance, max_iter, start))


@dataclass(frozen=True, eq=False)
class _End:
    """Where a descent ended.

    Parameters
    ----------
    objective : Objective
        The function, in the columns that the descent was in.
    point : Point
    iterations : int
    near : float
        The largest element of a gradient that is taken for that of a minimum.
    is_small : bool
        Whether the gradient is small.
    decided : bool
        Whether it is known that there is a minimum.
    """

    objective: Objective
    point: Point
    iterations: int
    near: float
    is_small: bool
    decided: bool

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """Those of (1, x − m), (m, D)."""
        return self.objective.centred.to_columns(self.objective.coefficients(self.point.x))


def _descended(
    objective: Objective,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> _End:
    """Descend until the gradient is small, there is no way down, or iterations are too many."""
    objective, iterates = iterates_of(objective, method == "newton", start)
    at_zero = objective.gradient_norm_at_zero()
    enough = max(tolerance * at_zero, GRADIENT_ROUNDING * objective.weight)
    decided, detector = objective.penalised or objective.firth, StallDetector()
    stalled, hessians = False, 0
    for iteration, point in enumerate(islice(iterates, max_iter + 1)):  # noqa: B007 - it is told
        small = point.gradient_norm <= enough
        if small and not (objective.firth and _moves(objective, point, tolerance)):
            break
        if stalled := detector.has_stalled(point.loss, point.gradient_norm):
            break
        hessians += point.hessian is not None  # one for every step of Newton's method
        if not decided and hessians == 1 + STEPS_BEFORE_SEPARATION:
            decided = refuse_separation(objective, objective.coefficients(point.x))
    near = max(enough, STALLED_GRADIENT * at_zero) if stalled else enough
    return _End(objective, point, iteration, near, small, decided)


def _ended(end: _End) -> Fit:
    """The fit, once it is known whether there is a minimum."""
    objective, point, decided = end.objective, end.point, end.decided
    likelihood = not (objective.penalised or objective.firth)
    if (likelihood or not end.is_small) and point.hessian is None and objective.has_hessian:
        point = objective(point.x, True)
    if not decided and not _has_minimum(objective, point):
        decided = refuse_separation(objective, objective.coefficients(point.x))
    else:
        decided = True
    converged = point.gradient_norm <= end.near or _is_rounding(objective, point)
    return Fit.at(objective, point, end.iterations, converged, not decided)


def _moves(objective: Objective, point: Point, tolerance: float) -> bool:
    """Whether a step of Newton's method changes a parameter by more than a tolerable fraction."""
    assert point.hessian is not None
    step = solve(point.hessian, point.gradient)
    return bool(np.abs(step).max(initial=0.0) > tolerance * np.abs(point.x).max(initial=0.0))


def _is_rounding(objective: Objective, point: Point) -> bool:
    """Whether a step of Newton's method would lower the loss by less than its rounding: gᵀH⁻¹g."""
    if point.hessian is None:
        return False
    noise = LOSS_ROUNDING * abs(point.loss) + objective.weight**0.5 * objective.score_noise(point.x)
    root = inverse_root(point.hessian)
    decrement = float(((root @ point.gradient) ** 2).sum())
    return len(root) == len(point.x) and decrement <= noise  # a singular Hessian does not tell


def _has_minimum(objective: Objective, point: Point) -> bool:
    """Whether a minimum near a point is proven."""
    if point.hessian is None:
        return False
    if not len(point.x):
        return True
    radius = objective.radius()
    step = solve(point.hessian, point.gradient)
    decrement = max(float(point.gradient @ step), 0.0) ** 0.5
    flattest, steepest = eigenvalues(point.hessian)[[0, -1]]
    if not flattest > SQUARES_NOISE * steepest:  # no more than rounding
        return False
    apart = 1.0 if objective.k == 2 else 2.0**0.5  # |t_a − t_b| ≤ √2 |t|
    return bool(apart * radius * decrement <= 0.5 * flattest**0.5)
