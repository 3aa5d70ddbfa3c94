"""Where the fit of a logistic regression begins: for a long table, near its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_labels import Labels
from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout, Layout, Numbered
from suffice.engines.local import LocalEngine
from suffice.models.design.matrix import Design
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.data_loop import DataLoop
from suffice.models.logistic.first_pass import first_pass
from suffice.models.logistic.joint_moments import joint_moments
from suffice.models.logistic.objective import LARGEST_HESSIAN, SQUARES_NOISE, Objective
from suffice.models.logistic.sample import Sample
from suffice.models.optimise.algebra import factored
from suffice.models.optimise.newton import (
    Inverse,
    Point,
    inverse,
    newton,
    quasi_newton,
    smallest_pivot,
)
from suffice.numerics.elementary import log_of
from suffice.numerics.linalg import Factor
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.loss_sums import LossSums
from suffice.statistics.statistic import tree_sum

__all__ = ["is_long", "iterates_of"]

SAMPLE_ROWS = 16_384  # whose fit is a good start
LONG = 4 * SAMPLE_ROWS  # rows of a table where that pays
ROWS_OF_TERM = 64  # of a sample, without which its fit is a poor start
SAMPLE_RIDGE = 1e-4  # keeps that fit finite, as a fraction of a column's sum of squares
SAMPLE_TOLERANCE = 1e-3  # fraction of the gradient at 0 at which that fit ends
SAMPLE_STEPS = 10  # of that fit, at most
CORRELATED = 0.25  # pivot of some column; above, the diagonal of a Hessian leads as well
ILL_CONDITIONED = 2.0**-26  # pivot of a column's own sum of squares: half the digits of a double
STEPS_WITHOUT_HESSIAN = 20  # after which a Hessian of all rows is worth while

Start = NDArray[np.float64] | None
"""Coefficients of z (m, D) to begin with, if there are some."""


def iterates_of(
    objective: Objective, second: bool, start: Start
) -> tuple[Objective, Iterator[Point]]:
    """The iterates of Newton's method (``second``) or of L-BFGS, and the function that they are of.

    A long table begins at the fit of a sample, whose Hessian will do for the first steps, unless
    some columns of the sample depend on others, or nearly so. With a penalty and two classes, many
    columns begin at 0 instead, with a Hessian of the sample there: its rows are few for a fit.
    Where columns depend on others, exact sums over the rows tell which; these are left out, and the
    steps are in columns that the sums make uncorrelated.
    """
    guess: Inverse | None = None
    if start is None and second and is_long(objective):
        few = ROWS_OF_TERM * objective.centred.width <= SAMPLE_ROWS
        if few or objective.k > 2 or objective.firth or not objective.penalised:
            start, guess = _of_sample(objective)
        else:
            guess = _of_sample_at_zero(objective)
    looking = guess is None and not objective.penalised and objective.has_hessian
    exact = looking or (second and guess is None)
    x, sums = _first_point(objective, start, exact)
    if looking and (found := _ill_conditioned_terms(objective, sums)):
        given, factor = objective.coefficients(x), _factor(objective, sums)
        objective = objective.independent(factor)
        if not (objective.centred.is_sparse or set(found) <= set(objective.dependent)):
            objective = objective.whitened(factor)
        x = objective.parameters(objective.centred.of_columns(given))
        sums = objective.loss_sums(x, exact)
    point = objective.point(x, sums)
    if exact and objective.penalised and _is_ill_conditioned(objective, point):
        given = objective.coefficients(x)
        objective = objective.whitened(_factor(objective, sums))
        point = objective(objective.parameters(objective.centred.of_columns(given)), True)
    if guess is not None:
        return objective, _with_fewer_hessians(objective, point, guess)
    if second:
        return objective, newton(objective, point)
    curvature = objective.curvature_at_zero()
    guess = _of_sample_at_zero(objective, CORRELATED) or (lambda g: g / curvature)
    return objective, quasi_newton(objective, point, guess)


def _with_fewer_hessians(objective: Objective, start: Point, guess: Inverse) -> Iterator[Point]:
    """First L-BFGS with a sample's Hessian as its guess; Newton's method if that is not enough."""
    last = start
    for last in islice(quasi_newton(objective, start, guess), STEPS_WITHOUT_HESSIAN):
        yield last
    yield from islice(newton(objective, objective(last.x, True)), 1, None)


def _first_point(
    objective: Objective, start: Start, exact: bool
) -> tuple[NDArray[np.float64], LossSums]:
    """Free parameters, and the sums there: those of the start unless 0 is better."""
    if start is not None:
        x = objective.parameters(start)
        sums = objective.loss_sums(x, exact)
        if sums.loss.value <= objective.weight * log_of(objective.k):
            return x, sums
    x = objective.null()
    return x, objective.loss_sums(x, exact)


# -- columns that depend on each other


def _ill_conditioned_terms(objective: Objective, sums: LossSums) -> list[int]:
    """Terms of which so little is their own that a Hessian in double may not show it."""
    dependent = objective.factorised(sums, ILL_CONDITIONED).dependent
    return [j for j in dependent if objective.used[1 + j]]


def _is_ill_conditioned(objective: Objective, point: Point) -> bool:
    """Whether a penalised Hessian in double shows too little of what is a column's own."""
    assert point.hessian is not None
    return not objective.centred.is_sparse and smallest_pivot(point.hessian) < ILL_CONDITIONED


def _factor(objective: Objective, sums: LossSums) -> Factor:
    """Which terms depend on earlier ones: exactly of dense rows, by the Hessian of sparse ones."""
    if objective.centred.is_sparse:
        return objective.factorised(sums, SQUARES_NOISE)
    rows = tree_sum(objective.data.map(joint_moments, objective.centred))
    return objective.exactly_factorised(cast(GroupedRows, rows.blocks[0]).one_class)


# -- the fit of a sample


def is_long(objective: Objective) -> bool:
    """Whether a fit begins with a sample of the rows."""
    return not objective.centred.is_sparse and float(objective.seen.weight.value.sum()) >= LONG


def _of_sample_at_zero(objective: Objective, most: float = 1.0) -> Inverse | None:
    """Multiply by the inverse of the Hessian of a sample at θ = 0, if that will do.

    It does where no column is made of the others, and these leave at most a fraction ``most`` of
    some column. With probabilities 1/k it is the same for every row of θ:

    ::

        H = I ⊗ (Zᵀ W Z/k + Λ),   of two classes Zᵀ W Z/4 + Λ
    """
    wide = objective.centred.width > LARGEST_HESSIAN
    if wide or not is_long(objective):
        return None
    rows = objective.draw(SAMPLE_ROWS, float(objective.seen.weight.value.sum()))
    w = rows.weights * objective.class_weights[rows.codes]
    unit, used = objective.inverse_scale[objective.used], objective.used
    each = objective.weight / (4 if objective.k == 2 else objective.k)
    products = ((rows.z.T * w) @ rows.z)[np.ix_(used, used)] * unit * unit[:, None]
    hessian = products * (each / w.sum())
    hessian += np.diag(objective.curvature_at_zero()[: len(unit)] - each + SAMPLE_RIDGE * each)
    factor = factored(hessian)
    if not ILL_CONDITIONED <= factor.smallest_pivot <= most:
        return None
    return lambda g: factor.solve(g.reshape(-1, len(unit)).T).T.ravel()


def _of_sample(objective: Objective) -> tuple[Start, Inverse | None]:
    """Coefficients that fit a sample, if it has all classes; and the inverse of its Hessian.

    Source: M. A. Erdogdu and A. Montanari, Convergence rates of sub-sampled Newton methods (2015).
    """
    total = float(objective.seen.weight.value.sum())
    rows = objective.draw(SAMPLE_ROWS, total)
    quarter = rows[: len(rows) // 4]  # leads near enough, at a quarter of the cost
    if len(rows) < SAMPLE_ROWS or len(np.unique(quarter.codes)) < objective.k:
        return None, None
    near, _ = _fitted(_over(objective, quarter), None)
    sample = _over(objective, rows)
    coefficients, point = _fitted(sample, near)
    assert point.hessian is not None
    sums = sample.loss_sums(point.x, True)
    penalty = objective.penalty * (sample.weight / objective.weight)
    plain = replace(sample, penalty=penalty)
    if plain.penalised:
        ill_conditioned = _is_ill_conditioned(plain, plain.point(point.x, sums))
    else:
        ill_conditioned = bool(_ill_conditioned_terms(plain, sums))
    if objective.firth or ill_conditioned:
        return coefficients, None
    hessian = point.hessian * (objective.weight / sample.weight)
    return coefficients, inverse(hessian)


def _fitted(sample: Objective, start: Start) -> tuple[NDArray[np.float64], Point]:
    """Coefficients near the minimum of a sample, and the point there."""
    x = sample.null() if start is None else sample.parameters(start)
    enough = SAMPLE_TOLERANCE * sample.gradient_norm_at_zero()
    for point in islice(newton(sample, sample(x, True)), SAMPLE_STEPS):
        if point.gradient_norm <= enough:
            break
    return sample.coefficients(point.x), point


def _over(objective: Objective, rows: Sample) -> Objective:
    """The same function of a few rows that are centred already."""
    terms, scale = Numbered(rows.z.shape[1] - 1), objective.centred.scale
    layout = Layout((BlockLayout("real", terms),), ())
    source = ArraySource(rows.z[:, 1:], terms, Labels.of(rows.codes), rows.weights)
    data = DataLoop(LocalEngine(1), source.splits(layout, 1))
    fraction = rows.weights.sum() / objective.seen.weight.value.sum()
    ridge = SAMPLE_RIDGE * rows.weights.sum() * np.concatenate([[0.0], scale**2])
    return replace(
        objective,
        data=data,
        centred=CentredDesign(Design(terms, ()), layout, np.zeros(len(terms)), scale),
        seen=data.run(first_pass, (layout, False)),
        penalty=fraction * objective.penalty + ridge,
        firth=False,
    )
