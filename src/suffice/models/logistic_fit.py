"""The fit of a logistic regression: where to start, how to descend, when to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from suffice.data.schema import BlockLayout, Layout, Numbered
from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.models.centring import Centring
from suffice.models.design import Design
from suffice.models.inference import Likelihood
from suffice.models.logistic import Pass, curvature
from suffice.models.newton import ROUNDING, Inverse, Point, inverse, newton, quasi_newton, solve
from suffice.models.objective import Objective
from suffice.models.separation import Sample, Separation, Separator, draw, farthest
from suffice.numerics.linalg import Factor
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.by_class import ByClassAccumulator
from suffice.statistics.curvature import Curvature
from suffice.statistics.moments import MomentsAccumulator

__all__ = ["Fit", "Method", "Passes", "fit", "likelihood"]

Method = Literal["newton", "lbfgs"]

LARGEST_HESSIAN = 2_000  # its side, for Newton's method
START_ROWS = 16_384  # rows of a sample whose fit is a good start
START_FROM = 8  # as many times as long are the tables where that pays
START_RIDGE = 1e-4  # keeps that fit finite, as a share of a column's sum of squares
ROUNDED = 2.0**-46  # slope that rounding leaves, as a share of the weight of all rows
STALLED = 10  # steps without progress
STILL = 1e-7  # share of the slope at 0 that rounding may leave where there was no progress
PATIENCE = 10  # Newton steps after which separation is looked for
WITHOUT_HESSIAN = 20  # steps after which a Hessian of all rows is worth while


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
    second = method == "newton"
    likelihood = not (objective.penalty.any() or objective.firth)
    sample = _sample_fit(objective, passes) if start is None and second else None
    if sample is not None:
        start = sample.coefficients
    # The Hessian of a sample will do, unless some of its columns depend on others.
    good = sample is not None and not objective.firth and not (likelihood and sample.dependent)
    exact = second and not good
    x = objective.null() if start is None else objective.parameters(start)
    sums = objective.curvature(x, exact)
    if start is not None and not sums.loss.value <= objective.weight * np.log(objective.k):
        x = objective.null()
        sums = objective.curvature(x, exact)

    factor: Factor | None = None
    dependent: tuple[int, ...] = ()
    if exact and not objective.penalty.any():
        factor = objective.factor(sums)
        dependent = tuple(j for j in factor.dependent if objective.used[1 + j])
    if dependent:
        before, objective = objective.coefficients(x), objective.without(dependent)
        x = objective.parameters(before)
        sums = objective.curvature(x, exact)

    point, iteration = objective.point(x, sums), 0
    if not second:
        diagonal = objective.curvature_at_zero()
        steps = quasi_newton(objective, point, lambda g: g / diagonal)
    elif exact or sample is None:
        steps = newton(objective, point)
    else:
        steps = _first_without_hessian(objective, point, inverse(sample.hessian))
    at_zero = objective.slope_at_zero()
    enough = max(tolerance * at_zero, ROUNDED * objective.weight)
    separation, decided = None, not likelihood
    progress = _Progress()
    for iteration, point in enumerate(islice(steps, max_iter + 1)):
        if _slope(point) <= enough:
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
    if dependent:
        assert factor is not None
        coefficients, covariance = _shortest(coefficients, covariance, factor, dependent)
    slope = _slope(point)
    return Fit(
        coefficients,
        point.loss,
        covariance,
        iteration,
        slope / at_zero if at_zero else slope,
        slope <= enough,
        len(point.x),
        dependent,
        separation,
        not decided,
    )


class _Progress:
    """Notices that neither the loss nor the slope gets lower: what is left is rounding."""

    def __init__(self) -> None:
        self._loss = self._slope = np.inf
        self._waited = 0

    def has_ended(self, point: Point) -> bool:
        slope = _slope(point)
        lower = point.loss < self._loss - ROUNDING * abs(point.loss)
        self._waited = 0 if lower or slope < self._slope / 2.0 else self._waited + 1
        self._loss, self._slope = min(point.loss, self._loss), min(slope, self._slope)
        return self._waited > STALLED


def _slope(point: Point) -> float:
    return float(np.abs(point.gradient).max(initial=0.0))


# -- the start


@dataclass(frozen=True, eq=False)
class _SampleFit:
    """What a sample says of all rows.

    Parameters
    ----------
    coefficients : ndarray (m, D)
    hessian : ndarray (p, p)
        There.
    dependent : sequence of int
        Terms that are linear combinations of earlier ones, in the sample.
    """

    coefficients: NDArray[np.float64]
    hessian: NDArray[np.float64]
    dependent: Sequence[int]


def _sample_fit(objective: Objective, passes: Passes) -> _SampleFit | None:
    """Fit a sample of a long table; None for a short one.

    Source: M. A. Erdogdu and A. Montanari, Convergence rates of sub-sampled Newton methods (2015).
    """
    total = float(objective.seen.weight.value.sum())
    if total < START_FROM * START_ROWS or objective.centring.is_sparse:
        return None
    classes, centring = objective.seen.classes, objective.centring
    rows = draw(passes.map, centring, classes, START_ROWS, total)
    quarter = rows.first(START_ROWS // 4)  # leads near enough, at a quarter of the cost
    if len(np.unique(quarter.codes)) < objective.k or len(rows.codes) < START_ROWS:
        return None
    coefficients = None
    for part in (quarter, rows):
        sample = _of_sample(objective, part)
        x = sample.null() if coefficients is None else sample.parameters(coefficients)
        for point in islice(newton(sample, sample(x, True)), PATIENCE):
            if _slope(point) <= 1e-3 * sample.slope_at_zero():
                break
        coefficients = sample.coefficients(point.x)
    assert point.hessian is not None
    hessian = point.hessian * (objective.weight / sample.weight)
    dependent = sample.factor(sample.curvature(point.x, True)).dependent
    used = [j for j in dependent if objective.used[1 + j]]
    assert coefficients is not None
    return _SampleFit(coefficients, hessian, used)


def _first_without_hessian(objective: Objective, start: Point, inverse: Inverse) -> Iterator[Point]:
    """Yield points of L-BFGS from a good guess of the Hessian; of Newton's method if that fails."""
    last = start
    for last in islice(quasi_newton(objective, start, inverse), WITHOUT_HESSIAN):
        yield last
    yield from islice(newton(objective, objective(last.x, True)), 1, None)


def _of_sample(objective: Objective, rows: Sample) -> Objective:
    """The same function of a few rows that are centred already."""
    terms = Numbered(rows.z.shape[1] - 1)
    layout = Layout((BlockLayout("real", terms),), ())
    batch = Batch(
        len(rows.codes),
        (RealBlock(rows.z[:, 1:]),),
        rows.codes,
        objective.seen.classes,
        rows.weights,
    )
    seen = ByClassAccumulator([MomentsAccumulator(len(terms))])
    seen.add(batch)
    scale = objective.centring.scale
    plain = Centring(Design(terms, ()), layout, np.zeros(len(terms)), scale)
    share = rows.weights.sum() / objective.seen.weight.value.sum()
    ridge = START_RIDGE * rows.weights.sum() * np.concatenate([[0.0], scale**2])
    return replace(
        objective,
        run=lambda task: task.of(batch),
        centring=plain,
        seen=seen.statistic(),
        penalty=share * objective.penalty + ridge,
        firth=False,
    )


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
