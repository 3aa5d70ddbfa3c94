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
from suffice.models.logistic.inference import Likelihood
from suffice.models.logistic.loss import LossRequest, loss_sums
from suffice.models.logistic.objective import NOISE, Objective
from suffice.models.logistic.separation import Separation, Separator, farthest
from suffice.models.logistic.warm_start import beginning
from suffice.models.optimise.newton import ROUNDING, Point, inverse_root, solve
from suffice.numerics.linalg import Factor
from suffice.statistics.loss_sums import LossSums

__all__ = ["DataLoop", "Fit", "Method", "fit", "likelihood"]

Method = Literal["newton", "lbfgs"]

ROUNDED = 2.0**-46  # slope that rounding leaves, as a share of the weight of all rows
STALLED = 10  # steps without progress
GRADIENT_ROUNDING = (
    1e-7  # share of the slope at 0 that rounding may leave where there was no progress
)
STEPS_BEFORE_SEPARATION = 10  # Newton steps after which separation is looked for


@dataclass
class DataLoop:
    """Sends kernels over all rows, and counts how often.

    Parameters
    ----------
    engine : Engine
    splits : sequence of Split
    """

    engine: Engine
    splits: Sequence[Split]
    count: int = field(default=0, init=False)

    def run(self, task: LossRequest) -> LossSums:
        """One pass of an optimiser."""
        self.count += 1
        return self.engine.run(loss_sums, task, self.splits)

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
        What was minimised, penalties included, in units of the columns.
    root : ndarray (q, mD) or None
        R with RᵀR = I(B)⁻¹, the inverse Fisher information, where the Hessian is known.
    iterations : int
    slope : float
        Largest element of the gradient, as a share of that at 0.
    converged : bool
    parameters : int
        How many are free.
    dependent : tuple of int
        Terms that are linear combinations of earlier ones, or constant; without a penalty.
    factor : Factor, optional
        Of the columns, where some are such combinations.
    separation : Separation, optional
        Why there is no maximum.
    undecided : bool
        Whether separation could not be ruled out.
    """

    coefficients: NDArray[np.float64]
    loss: float
    root: NDArray[np.float64] | None
    iterations: int
    gradient_norm: float
    converged: bool
    parameters: int
    dependent: tuple[int, ...] = ()
    factor: Factor | None = None
    separation: Separation | None = None
    undecided: bool = False


def fit(
    objective: Objective,
    data: DataLoop,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None = None,
) -> Fit:
    """Minimise the penalised loss.

    A maximum of the likelihood alone may not exist. Newton's method proves that it does: with
    ν² = gᵀH⁻¹g and rows z, the loss has a minimum if ν max|z| ≤ ½ √λ_min(H), and a minimum near
    by. On separated data the two sides go to 0 together, the proof fails, and a linear programme
    decides (`suffice.models.logistic.separation`).

    Parameters
    ----------
    objective : Objective
    data : DataLoop
        Over the rows.
    method : {"newton", "lbfgs"}
    tolerance : float
        Largest element of the gradient to stop at, as a share of that at 0; with Firth's penalty
        also the largest change of a parameter, as a share of the largest.
    max_iter : int
    start : ndarray (m, D), optional
        Coefficients of z to begin with.

    Source: F. Bach, Self-concordant analysis for logistic regression (2010), proposition 2.
    """
    # The engine has its own threads; those of small matrix products would only wait for each other.
    with _blas().limit(limits=1):
        return _fit(objective, data, method, tolerance, max_iter, start)


@cache
def _blas() -> Any:
    """The libraries of linear algebra that this process has loaded."""
    return ThreadpoolController().select(user_api="blas")


def _fit(
    objective: Objective,
    data: DataLoop,
    method: Method,
    tolerance: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> Fit:
    second, unpenalised = method == "newton", not objective.penalty.any()
    likelihood = unpenalised and not objective.firth
    begun = beginning(objective, data.map, second, start)
    objective, point, iteration = begun.objective, begun.point, 0
    at_zero = objective.gradient_norm_at_zero()
    enough = max(tolerance * at_zero, ROUNDED * objective.weight)
    separation, decided = None, not likelihood
    progress, ended = _Progress(), False
    for iteration, point in enumerate(islice(begun.points(), max_iter + 1)):
        if point.gradient_norm <= enough and not (objective.firth and _moves(point, tolerance)):
            break
        if ended := progress.has_ended(point):
            break
        if second and not decided and iteration == STEPS_BEFORE_SEPARATION:
            separation, decided = _separator(objective, data).find(objective.coefficients(point.x))
            if separation is not None:
                break
    asked = likelihood or point.gradient_norm > enough
    if asked and point.hessian is None and objective.has_hessian:
        point = objective(point.x, True)
    if not decided and not _has_minimum(objective, data, point):
        separation, decided = _separator(objective, data).find(objective.coefficients(point.x))
    else:
        decided = True

    coefficients = objective.centred.to_columns(objective.coefficients(point.x))
    root = None
    if point.hessian is not None and unpenalised and separation is None:
        root = _root(objective, point)
    if begun.factor is not None and begun.dependent:
        shorten = _shortening(objective, begun.factor, begun.dependent)
        coefficients = coefficients @ shorten
        if root is not None:
            root = (root.reshape(-1, len(shorten)) @ shorten).reshape(root.shape)
    constant = np.flatnonzero(objective.centred.spread == 0).tolist() if unpenalised else []
    reached, near = (
        point.gradient_norm,
        max(enough, GRADIENT_ROUNDING * at_zero) if ended else enough,
    )
    return Fit(
        coefficients,
        point.loss - objective.log_unit * objective.firth,
        root,
        iteration,
        reached / at_zero if at_zero else reached,
        reached <= near or _is_rounding(objective, point),
        len(point.x),
        tuple(sorted({*begun.dependent, *constant})),
        begun.factor,
        separation,
        not decided,
    )


class _Progress:
    """Notices that neither the loss nor the slope gets lower: what is left is rounding."""

    def __init__(self) -> None:
        self._loss = self._slope = np.inf
        self._waited = 0

    def has_ended(self, point: Point) -> bool:
        slope = point.gradient_norm
        lower = point.loss < self._loss - ROUNDING * abs(point.loss)
        self._waited = 0 if lower or slope < self._slope / 2.0 else self._waited + 1
        self._loss, self._slope = min(point.loss, self._loss), min(slope, self._slope)
        return self._waited > STALLED


# -- the end


def _moves(point: Point, tolerance: float) -> bool:
    """Whether a step of Newton's method changes a parameter by more than a share of the largest."""
    assert point.hessian is not None
    step = solve(point.hessian, point.gradient)
    return bool(np.abs(step).max(initial=0.0) > tolerance * np.abs(point.x).max(initial=0.0))


def _is_rounding(objective: Objective, point: Point) -> bool:
    """Whether a step of Newton's method would lower the loss by less than its rounding: gᵀH⁻¹g."""
    if point.hessian is None:
        return False
    noise = ROUNDING * abs(point.loss) + objective.weight**0.5 * objective.score_noise(point.x)
    root = inverse_root(point.hessian)
    decrement = float(((root @ point.gradient) ** 2).sum())
    return len(root) == len(point.x) and decrement <= noise  # a singular Hessian does not tell


def _has_minimum(objective: Objective, data: DataLoop, point: Point) -> bool:
    """Whether a minimum near a point is proven."""
    if point.hessian is None:
        return False
    if not len(point.x):
        return True
    task = objective.centred, objective.seen.classes, objective.inverse_unit * objective.used
    radius = max(data.map(farthest, task)) ** 0.5
    decrement = max(float(point.gradient @ solve(point.hessian, point.gradient)), 0.0) ** 0.5
    flattest, steepest = np.linalg.eigvalsh(point.hessian)[[0, -1]]
    if not flattest > NOISE * steepest:  # no more than rounding
        return False
    apart = 1.0 if objective.k == 2 else 2.0**0.5  # |t_a − t_b| ≤ √2 |t|
    return bool(apart * radius * decrement <= 0.5 * flattest**0.5)


def _separator(objective: Objective, data: DataLoop) -> Separator:
    return Separator(
        data.map,
        objective.centred,
        objective.seen.classes,
        objective.inverse_unit,
        objective.used,
    )


def _root(objective: Objective, point: Point) -> NDArray[np.float64]:
    """R (q, mD) with RᵀR = I(B)⁻¹, from the Hessian in free parameters."""
    assert point.hessian is not None
    (m, r), width = objective.basis.shape, objective.centred.width
    free = inverse_root(point.hessian)
    inner = np.zeros((len(free), r * width))
    inner[:, objective.free] = free
    inner = inner.reshape(len(free), r, width) * objective.inverse_unit
    root = (objective.basis @ inner).reshape(-1, width)
    return objective.centred.to_columns(root).reshape(len(free), m * width)


def _shortening(
    objective: Objective, factor: Factor, dependent: Sequence[int]
) -> NDArray[np.float64]:
    """The matrix (D, D) that B is multiplied by for the shortest B with the same scores.

    The length is in the units of the columns, without the intercept.
    """
    null = (factor.lower_inverse.hi[list(dependent)] * factor.scale).T
    axes = np.linalg.qr(null / np.linalg.norm(null, axis=0))[0]
    moved = np.concatenate([np.zeros((1, axes.shape[1])), axes])
    if not (objective.used[0] and objective.centred.is_sparse):
        return np.asarray(np.eye(len(moved)) - moved @ moved.T)
    # Rows about 0: along an axis every score changes by the same.
    mean = objective.sums[:, 1:].sum(axis=0) / objective.sums[:, 0].sum()
    kept = np.concatenate([-(mean @ axes)[None], axes])
    return np.asarray(np.eye(len(moved)) - moved @ kept.T)


def likelihood(objective: Objective, found: Fit) -> Likelihood:
    """How well a fit without an L2 penalty fits, and how well the classes' shares alone."""
    weight = objective.factors * objective.seen.weight.value
    n, intercept = float(weight.sum()), bool(objective.used[0])
    null = None
    if not objective.firth:
        share = weight / n if intercept else np.full(objective.k, 1.0 / objective.k)
        null = float(weight @ np.log(share))
    return Likelihood(-found.loss, null, n, found.parameters, objective.basis.shape[1] * intercept)
