"""The fit of a logistic regression: where to start, how to descend, when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.models.inference import Likelihood
from suffice.models.logistic import Pass, curvature
from suffice.models.logistic_start import beginning
from suffice.models.newton import ROUNDING, Point, solve
from suffice.models.objective import Objective
from suffice.models.separation import Separation, Separator, farthest
from suffice.numerics.linalg import Factor
from suffice.statistics.curvature import Curvature

__all__ = ["Fit", "Method", "Passes", "fit", "likelihood"]

Method = Literal["newton", "lbfgs"]

LARGEST_HESSIAN = 2_000  # its side, for Newton's method
ROUNDED = 2.0**-46  # slope that rounding leaves, as a share of the weight of all rows
STALLED = 10  # steps without progress
STILL = 1e-7  # share of the slope at 0 that rounding may leave where there was no progress
PATIENCE = 10  # Newton steps after which separation is looked for


@dataclass
class Passes:
    """Sends kernels over all rows, and counts how often.

    Parameters
    ----------
    engine : Engine
    splits : sequence of Split
    """

    engine: Engine
    splits: Sequence[Split]
    count: int = field(default=0, init=False)

    def run(self, task: Pass) -> Curvature:
        """One pass of an optimiser."""
        self.count += 1
        return self.engine.run(curvature, task, self.splits)

    def map(self, kernel: Callable[[Split, Any], Any], task: Any) -> list[Any]:
        """The results of any kernel, one for every split."""
        self.count += 1
        return list(self.engine.map(kernel, task, self.splits))


@dataclass(frozen=True, eq=False)
class Fit:
    """Where the descent ended.

    Parameters
    ----------
    coefficients : ndarray (m, D)
        Of rows z = (1, x − m).
    loss : float
        What was minimised, penalties included.
    covariance : ndarray (mD, mD) or None
        I(B)⁻¹, the inverse Fisher information, where it was asked for.
    iterations : int
    slope : float
        Largest element of the gradient, as a share of that at 0.
    converged : bool
    dependent : tuple of int
        Terms that are linear combinations of earlier ones.
    parameters : int
        How many are free.
    separation : Separation, optional
        Why there is no maximum.
    undecided : bool
        Whether separation could not be ruled out.
    """

    coefficients: NDArray[np.float64]
    loss: float
    covariance: NDArray[np.float64] | None
    iterations: int
    slope: float
    converged: bool
    parameters: int
    dependent: tuple[int, ...] = ()
    separation: Separation | None = None
    undecided: bool = False


def fit(
    objective: Objective,
    passes: Passes,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None = None,
) -> Fit:
    """Minimise the penalised loss.

    A maximum of the likelihood alone may not exist. Newton's method proves that it does: with
    ν² = gᵀH⁻¹g and rows z, the loss has a minimum if ν max|z| ≤ ½ √λ_min(H), and a minimum near
    by. On separated data the two sides go to 0 together, the proof fails, and a linear programme
    decides (`suffice.models.separation`).

    Parameters
    ----------
    objective : Objective
    passes : Passes
        Over the rows.
    method : {"newton", "lbfgs"}
    tolerance : float
        Largest element of the gradient to stop at, as a share of that at 0.
    max_iter : int
    start : ndarray (m, D), optional
        Coefficients of z to begin with.

    Source: F. Bach, Self-concordant analysis for logistic regression (2010), proposition 2.
    """
    # The engine has its own threads; those of small matrix products would only wait for each other.
    with _blas().limit(limits=1):
        return _fit(objective, passes, method, tolerance, max_iter, start)


@cache
def _blas() -> Any:
    """The libraries of linear algebra that this process has loaded."""
    return ThreadpoolController().select(user_api="blas")


def _fit(
    objective: Objective,
    passes: Passes,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> Fit:
    second, likelihood = method == "newton", not (objective.penalty.any() or objective.firth)
    begun = beginning(objective, passes.map, second, start)
    objective, point, iteration = begun.objective, begun.point, 0
    at_zero = objective.slope_at_zero()
    enough = max(tolerance * at_zero, ROUNDED * objective.weight)
    separation, decided = None, not likelihood
    progress = _Progress()
    for iteration, point in enumerate(islice(begun.points(), max_iter + 1)):
        if point.slope <= enough:
            break
        if progress.has_ended(point):
            enough = max(enough, STILL * at_zero)
            break
        if second and not decided and iteration == PATIENCE:
            separation, decided = _separator(objective, passes).find(
                objective.coefficients(point.x)
            )
            if separation is not None:
                break
    if second and likelihood and point.hessian is None:
        point = objective(point.x, True)
    if not decided and not (second and _has_minimum(objective, passes, point)):
        separation, decided = _separator(objective, passes).find(objective.coefficients(point.x))
    else:
        decided = True

    coefficients, covariance = objective.coefficients(point.x), None
    if point.hessian is not None and not objective.penalty.any() and separation is None:
        covariance = _covariance(objective, point)
    if begun.factor is not None and begun.dependent:
        dependent = begun.factor, begun.dependent
        coefficients, covariance = _shortest(coefficients, covariance, *dependent)
    reached = point.slope
    return Fit(
        coefficients,
        point.loss,
        covariance,
        iteration,
        reached / at_zero if at_zero else reached,
        reached <= enough,
        len(point.x),
        begun.dependent,
        separation,
        not decided,
    )


class _Progress:
    """Notices that neither the loss nor the slope gets lower: what is left is rounding."""

    def __init__(self) -> None:
        self._loss = self._slope = np.inf
        self._waited = 0

    def has_ended(self, point: Point) -> bool:
        slope = point.slope
        lower = point.loss < self._loss - ROUNDING * abs(point.loss)
        self._waited = 0 if lower or slope < self._slope / 2.0 else self._waited + 1
        self._loss, self._slope = min(point.loss, self._loss), min(slope, self._slope)
        return self._waited > STALLED


# -- the end


def _has_minimum(objective: Objective, passes: Passes, point: Point) -> bool:
    """Whether a minimum near a point is proven."""
    assert point.hessian is not None
    task = objective.centring, objective.seen.classes, objective.inverse_unit * objective.used
    radius = max(passes.map(farthest, task)) ** 0.5
    decrement = max(float(point.gradient @ solve(point.hessian, point.gradient)), 0.0) ** 0.5
    flattest = float(np.linalg.eigvalsh(point.hessian)[0])
    apart = 1.0 if objective.k == 2 else 2.0**0.5  # |t_a − t_b| ≤ √2 |t|
    return bool(apart * radius * decrement <= 0.5 * max(flattest, 0.0) ** 0.5)


def _separator(objective: Objective, passes: Passes) -> Separator:
    return Separator(
        passes.map,
        objective.centring,
        objective.seen.classes,
        objective.inverse_unit,
        objective.used,
    )


def _covariance(objective: Objective, point: Point) -> NDArray[np.float64]:
    """I(B)⁻¹ (mD, mD) from the Hessian in free parameters."""
    (m, r), width = objective.basis.shape, objective.centring.width
    inner, free = np.zeros((r * width, r * width)), objective.free
    assert point.hessian is not None
    inner[np.ix_(free, free)] = solve(point.hessian, np.eye(len(free)))
    inner = inner.reshape(r, width, r, width)
    unit = objective.inverse_unit
    full = np.einsum("ar,risj,bs->aibj", objective.basis, inner, objective.basis, optimize=True)
    full = full * unit * unit[:, None, None]
    return np.asarray(full.reshape(m * width, m * width))


def _shortest(
    coefficients: NDArray[np.float64],
    covariance: NDArray[np.float64] | None,
    factor: Factor,
    dependent: Sequence[int],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Of all coefficients with the same scores, the shortest in the units of the columns."""
    null = (factor.lower_inverse.hi[list(dependent)] * factor.scale).T
    null = np.concatenate([np.zeros((1, null.shape[1])), null / np.linalg.norm(null, axis=0)])
    axes = np.linalg.qr(null)[0]
    kept = np.eye(len(axes)) - axes @ axes.T
    every = np.kron(np.eye(len(coefficients)), kept)
    return coefficients @ kept, None if covariance is None else every @ covariance @ every.T


def likelihood(objective: Objective, found: Fit) -> Likelihood:
    """How well a fit without an L2 penalty fits, and how well the classes' shares alone."""
    weight = objective.factors * objective.seen.weight.value
    n, intercept = float(weight.sum()), bool(objective.used[0])
    value, null = -found.loss, None
    if objective.firth:  # the determinant of I in the units of the columns
        kept = objective.used[1:].copy()
        kept[list(found.dependent)] = False
        value += float(np.log(objective.centring.scale[kept]).sum())
    else:
        share = weight / n if intercept else np.full(objective.k, 1.0 / objective.k)
        null = float(weight @ np.log(share))
    return Likelihood(value, null, n, found.parameters, objective.basis.shape[1] * intercept)
