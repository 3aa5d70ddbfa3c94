"""Least squares by gradient descent: how rows are read, and the coefficients that it ends at.

The sums of a first pass give means and variances. Targets are standardised as columns are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.models.design.matrix import Design
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.optimise.gradient_descent import (
    Course,
    DescentRows,
    GradientDescent,
    Steps,
    descend,
)
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import SQUARABLE
from suffice.numerics.rows import affine
from suffice.rules import FINITE, Formed, Shape, Within
from suffice.sums.batch import Batch

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coefficients(Formed):
    """Coefficients without the sums, or rows, that they come from."""

    origin: Annotated[Array, Shape("p"), SQUARABLE]  # o, that rows are measured from: means
    at_origin: Annotated[Array, Shape("t"), SQUARABLE]  # b + oᵀw
    coefficients: Annotated[Array, Shape("p", "t"), SQUARABLE]  # w
    scale: Annotated[Array, Shape("p"), Within(0, LARGEST)]  # standard deviations of the columns
    has_intercept: bool  # whether b is estimated; else it is 0

    @property
    def intercept(self) -> Array:
        """b, (t,): the value at x = 0."""
        return np.asarray(self.at_origin - self.origin @ self.coefficients)

    def predict(self, x: Array) -> Array:
        """Return b + xᵀw of rows (n, p), (n, t)."""
        return affine(x, self.origin, self.coefficients.T, self.at_origin)


@dataclass(frozen=True, eq=False)
class DescentFit(Coefficients):
    """Coefficients that a descent ended at."""

    loss_history: Annotated[Array, Shape("passes"), FINITE]  # J after every pass, over targets


@dataclass(frozen=True, eq=False)
class CompleteRows:
    """Reads the complete rows of a batch, with standardised targets."""

    design: Design
    center: Array  # of the targets, (t,)
    scale: Array  # of the targets, (t,)

    def __call__(self, batch: Batch) -> Iterator[tuple[Array, Array, Array]]:
        """Yield rows that start with x, targets (n, t), and weights."""
        p = len(self.design)
        inverse = np.divide(1.0, self.scale, out=np.zeros(len(self.scale)), where=self.scale > 0)
        for start, z in self.design.rows(self.design.present(batch), with_targets=True):
            weights = batch.weights[start : start + len(z)]
            weights = weights if weights.size else np.ones(len(z))
            used = np.asarray(weights > 0) & ~np.isnan(z).any(axis=1)
            rows = z if used.all() else z[used]
            y = self.design.modelled(rows[:, p:])
            yield rows, (y - self.center) * inverse, weights[used]


def least_squares(
    equations: NormalEquations,
    costs: Array,
    design: Design,
    layout: Layout,
    parts: Sequence[Part],
    engine: Engine,
    how: GradientDescent,
    steps: Steps,
) -> tuple[DescentFit, Course]:
    """Descend from 0, with penalties λ (p,)."""
    n, origin, middle = equations.rows, equations.x_mean.value, equations.y_mean.value
    scale = np.sqrt(np.diagonal(equations.xx.value) / n)
    unit = np.sqrt(equations.yy.value / n)
    read, count = CompleteRows(design, middle, unit), equations.count
    of_columns = origin, scale, costs, equations.intercept
    rows = DescentRows(layout, read, *of_columns, n, count, equations.t, 1.0)
    course = descend(rows, parts, engine, how, steps, unit**2)
    w = course.coefficients * unit[:, None]
    found = np.ascontiguousarray(w[:, 1:].T)
    intercept, history = equations.intercept, course.loss_history
    return DescentFit(origin, middle + w[:, 0], found, scale, intercept, history), course
