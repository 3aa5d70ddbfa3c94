"""Where the descent of a logistic regression begins: for a long table, near its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Layout, Numbered
from suffice.models.design.matrix import Design
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.missing_cells import joint_moments
from suffice.models.logistic.objective import NOISE, Objective
from suffice.models.logistic.separation import Sample, draw
from suffice.models.optimise.newton import Inverse, Point, inverse, newton, own_share, quasi_newton
from suffice.numerics.linalg import Factor
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.comoments import Comoments
from suffice.statistics.loss_sums import LossSums
from suffice.statistics.moments import MomentsAccumulator
from suffice.statistics.statistic import tree_sum

__all__ = ["WarmStart", "beginning"]

START_ROWS = 16_384  # rows of a sample whose fit is a good start
START_FROM = 8  # as many times as long are the tables where that pays
START_RIDGE = 1e-4  # keeps that fit finite, as a share of a column's sum of squares
NEAR = 1e-3  # share of the slope at 0 at which that fit ends
STEPS = 10  # of that fit, at most
SUSPICIOUS = 2.0**-26  # own share of a column's sum of squares: half the digits of a double
WITHOUT_HESSIAN = 20  # steps after which a Hessian of all rows is worth while


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Where a descent begins, and how it goes on.

    Parameters
    ----------
    objective : Objective
        Without the terms that depend on others; of uncorrelated columns if that is needed.
    point : Point
    guess : callable, optional
        Multiplies by the inverse of a guess of the Hessian, for L-BFGS; without it, every step of
        Newton's method has the Hessian.
    steps : int, optional
        After so many steps without a Hessian, Newton's method goes on.
    factor : Factor, optional
        Where terms seemed to depend on earlier ones.
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
) -> WarmStart:
    """Begin Newton's method (``second``) or L-BFGS, at coefficients (m, D) if there are some.

    A long table begins at the fit of a sample, whose Hessian will do for the first steps, unless
    some columns of the sample depend on others, or nearly so. Where columns do, exact sums over the
    rows tell which, and the descent is in columns that these sums make uncorrelated.

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
        if objective.firth or sample.suspicious:
            sample = None
    looking = unpenalised and sample is None and objective.has_hessian
    exact = looking or (second and sample is None)
    x, sums = _first_point(objective, start, exact)
    factor: Factor | None = None
    dependent: tuple[int, ...] = ()
    if looking and (suspicious := _suspicious(objective, sums)):
        factor = _factor(objective, sums, map_rows)
        dependent = tuple(j for j in factor.dependent if objective.used[1 + j])
        before, objective = objective.coefficients(x), objective.without(dependent)
        if not (objective.centred.is_sparse or set(suspicious) <= set(dependent)):
            objective = objective.turned(factor)
        x = objective.parameters(objective.centred.of_columns(before))
        sums = objective.loss_sums(x, exact)
    point = objective.point(x, sums)
    if exact and not unpenalised and _ill_conditioned(objective, point):
        before = objective.coefficients(x)
        objective = objective.turned(_factor(objective, sums, map_rows))
        point = objective(objective.parameters(objective.centred.of_columns(before)), True)
    if sample is not None:
        return WarmStart(objective, point, inverse(sample.hessian), WITHOUT_HESSIAN)
    if second:
        return WarmStart(objective, point, factor=factor, dependent=dependent)
    curvature = objective.curvature_at_zero()
    return WarmStart(objective, point, lambda g: g / curvature, None, factor, dependent)


def _suspicious(objective: Objective, sums: LossSums) -> list[int]:
    """Terms of which so little is their own that a Hessian in double may not show it."""
    dependent = objective.factor(sums, SUSPICIOUS).dependent
    return [j for j in dependent if objective.used[1 + j]]


def _ill_conditioned(objective: Objective, point: Point) -> bool:
    """Whether a penalised Hessian in double shows too little of what is a column's own."""
    assert point.hessian is not None
    return not objective.centred.is_sparse and own_share(point.hessian) < SUSPICIOUS


def _factor(objective: Objective, sums: LossSums, map_rows: Callable[..., Any]) -> Factor:
    """Which terms depend on earlier ones: exactly of dense rows, by the Hessian of sparse ones."""
    if objective.centred.is_sparse:
        return objective.factor(sums, NOISE)
    rows: ByClass = tree_sum(map_rows(joint_moments, objective.centred))
    return objective.exact_factor(cast(Comoments, rows.blocks[0]).one_class)


def _first_point(
    objective: Objective, start: NDArray[np.float64] | None, exact: bool
) -> tuple[NDArray[np.float64], LossSums]:
    """Free parameters, and the sums there: those of the start unless 0 is better."""
    if start is not None:
        x = objective.parameters(start)
        sums = objective.loss_sums(x, exact)
        if sums.loss.value <= objective.weight * np.log(objective.k):
            return x, sums
    x = objective.null()
    return x, objective.loss_sums(x, exact)


@dataclass(frozen=True, eq=False)
class _SampleFit:
    """What a sample says of all rows.

    Parameters
    ----------
    coefficients : ndarray (m, D)
    hessian : ndarray (p, p)
        There.
    suspicious : bool
        Whether terms may be linear combinations of earlier ones, or nearly so.
    """

    coefficients: NDArray[np.float64]
    hessian: NDArray[np.float64]
    suspicious: bool


def _sample_fit(objective: Objective, map_rows: Callable[..., Any]) -> _SampleFit | None:
    """Fit a sample of a long table; None for a short one.

    Source: M. A. Erdogdu and A. Montanari, Convergence rates of sub-sampled Newton methods (2015).
    """
    total = float(objective.seen.weight.value.sum())
    if total < START_FROM * START_ROWS or objective.centred.is_sparse:
        return None
    classes, centred = objective.seen.classes, objective.centred
    rows = draw(map_rows, centred, classes, START_ROWS, total)
    quarter = rows.first(START_ROWS // 4)  # leads near enough, at a quarter of the cost
    if len(np.unique(quarter.codes)) < objective.k or len(rows.codes) < START_ROWS:
        return None
    coefficients = None
    for part in (quarter, rows):
        sample = _of_sample(objective, part)
        x = sample.null() if coefficients is None else sample.parameters(coefficients)
        for point in islice(newton(sample, sample(x, True)), STEPS):
            if point.gradient_norm <= NEAR * sample.gradient_norm_at_zero():
                break
        coefficients = sample.coefficients(point.x)
    assert point.hessian is not None
    hessian = point.hessian * (objective.weight / sample.weight)
    sums = sample.loss_sums(point.x, True)
    plain = replace(sample, penalty=objective.penalty * (sample.weight / objective.weight))
    if plain.penalty.any():
        suspicious = _ill_conditioned(plain, plain.point(point.x, sums))
    else:
        suspicious = bool(_suspicious(plain, sums))
    assert coefficients is not None
    return _SampleFit(coefficients, hessian, suspicious)


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
    scale = objective.centred.scale
    plain = CentredDesign(Design(terms, ()), layout, np.zeros(len(terms)), scale)
    share = rows.weights.sum() / objective.seen.weight.value.sum()
    ridge = START_RIDGE * rows.weights.sum() * np.concatenate([[0.0], scale**2])
    return replace(
        objective,
        run=lambda task: task.of(batch),
        centred=plain,
        seen=seen.statistic(),
        penalty=share * objective.penalty + ridge,
        firth=False,
    )
