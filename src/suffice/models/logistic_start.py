"""Where the descent of a logistic regression begins: for a long table, near its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Layout, Numbered
from suffice.models.centring import Centring
from suffice.models.design import Design
from suffice.models.newton import Inverse, Point, inverse, newton, quasi_newton
from suffice.models.objective import Objective
from suffice.models.separation import Sample, draw
from suffice.numerics.linalg import Factor
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.by_class import ByClassAccumulator
from suffice.statistics.curvature import Curvature
from suffice.statistics.moments import MomentsAccumulator

__all__ = ["Beginning", "beginning"]

START_ROWS = 16_384  # rows of a sample whose fit is a good start
START_FROM = 8  # as many times as long are the tables where that pays
START_RIDGE = 1e-4  # keeps that fit finite, as a share of a column's sum of squares
NEAR = 1e-3  # share of the slope at 0 at which that fit ends
STEPS = 10  # of that fit, at most
WITHOUT_HESSIAN = 20  # steps after which a Hessian of all rows is worth while


@dataclass(frozen=True, eq=False)
class Beginning:
    """Where a descent begins, and how it goes on.

    Parameters
    ----------
    objective : Objective
        Without the terms that depend on others.
    point : Point
    guess : callable, optional
        Multiplies by the inverse of a guess of the Hessian, for L-BFGS; without it, every step of
        Newton's method has the Hessian.
    steps : int, optional
        After so many steps without a Hessian, Newton's method goes on.
    factor : Factor, optional
        Of the Hessian of one class, where it was looked at.
    dependent : tuple of int
        The terms left out, linear combinations of earlier ones.
    """

    objective: Objective
    point: Point
    guess: Inverse | None = None
    steps: int | None = None
    factor: Factor | None = None
    dependent: tuple[int, ...] = ()

    def points(self) -> Iterator[Point]:
        """Yield the points of the descent, the first of them that of the beginning."""
        if self.guess is None:
            yield from newton(self.objective, self.point)
            return
        last = self.point
        for last in islice(quasi_newton(self.objective, self.point, self.guess), self.steps):
            yield last
        if self.steps is not None:
            yield from islice(newton(self.objective, self.objective(last.x, True)), 1, None)


def beginning(
    objective: Objective,
    map_rows: Callable[..., Any],
    second: bool,
    start: NDArray[np.float64] | None,
) -> Beginning:
    """Begin Newton's method (``second``) or L-BFGS, at coefficients (m, D) if there are some.

    A long table begins at the fit of a sample, whose Hessian will do for the first steps, unless
    some columns of the sample depend on others.

    Parameters
    ----------
    objective : Objective
    map_rows : callable
        Applies a kernel to every split.
    second : bool
    start : ndarray (m, D), optional
    """
    unpenalised = not objective.penalty.any()
    sample = _sample_fit(objective, map_rows) if start is None and second else None
    if sample is not None:
        start = sample.coefficients
        if objective.firth or (unpenalised and sample.dependent):
            sample = None
    exact = second and sample is None
    x, sums = _first_point(objective, start, exact)
    factor: Factor | None = None
    dependent: tuple[int, ...] = ()
    if exact and unpenalised:
        factor = objective.factor(sums)
        dependent = tuple(j for j in factor.dependent if objective.used[1 + j])
    if dependent:
        before, objective = objective.coefficients(x), objective.without(dependent)
        x = objective.parameters(before)
        sums = objective.curvature(x, exact)
    point = objective.point(x, sums)
    if sample is not None:
        return Beginning(objective, point, inverse(sample.hessian), WITHOUT_HESSIAN)
    if second:
        return Beginning(objective, point, factor=factor, dependent=dependent)
    curvature = objective.curvature_at_zero()
    return Beginning(objective, point, lambda g: g / curvature)


def _first_point(
    objective: Objective, start: NDArray[np.float64] | None, exact: bool
) -> tuple[NDArray[np.float64], Curvature]:
    """Free parameters, and the sums there: those of the start unless 0 is better."""
    if start is not None:
        x = objective.parameters(start)
        sums = objective.curvature(x, exact)
        if sums.loss.value <= objective.weight * np.log(objective.k):
            return x, sums
    x = objective.null()
    return x, objective.curvature(x, exact)


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


def _sample_fit(objective: Objective, map_rows: Callable[..., Any]) -> _SampleFit | None:
    """Fit a sample of a long table; None for a short one.

    Source: M. A. Erdogdu and A. Montanari, Convergence rates of sub-sampled Newton methods (2015).
    """
    total = float(objective.seen.weight.value.sum())
    if total < START_FROM * START_ROWS or objective.centring.is_sparse:
        return None
    classes, centring = objective.seen.classes, objective.centring
    rows = draw(map_rows, centring, classes, START_ROWS, total)
    quarter = rows.first(START_ROWS // 4)  # leads near enough, at a quarter of the cost
    if len(np.unique(quarter.codes)) < objective.k or len(rows.codes) < START_ROWS:
        return None
    coefficients = None
    for part in (quarter, rows):
        sample = _of_sample(objective, part)
        x = sample.null() if coefficients is None else sample.parameters(coefficients)
        for point in islice(newton(sample, sample(x, True)), STEPS):
            if point.slope <= NEAR * sample.slope_at_zero():
                break
        coefficients = sample.coefficients(point.x)
    assert point.hessian is not None
    hessian = point.hessian * (objective.weight / sample.weight)
    dependent = sample.factor(sample.curvature(point.x, True)).dependent
    used = [j for j in dependent if objective.used[1 + j]]
    assert coefficients is not None
    return _SampleFit(coefficients, hessian, used)


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
