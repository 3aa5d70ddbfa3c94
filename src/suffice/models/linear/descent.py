"""Coefficients without sums, such as those that gradient descent ends at, and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.matrix import Design
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import SQUARABLE
from suffice.numerics.rows import affine
from suffice.rules import FINITE, Shape, Within
from suffice.sums.batch import Batch

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients without the sums, or rows, that they come from."""

    origin: Annotated[Array, Shape("p"), SQUARABLE]  # o, that rows are measured from: means
    at_origin: Annotated[Array, Shape("t"), SQUARABLE]  # b + oᵀw
    coefficients: Annotated[Array, Shape("p", "t"), SQUARABLE]  # w
    scale: Annotated[Array, Shape("p"), Within(0, LARGEST)]  # standard deviations of the columns
    has_intercept: bool  # whether b is estimated; else it is 0
    # J after every pass of a descent, the sum over targets
    loss_history: Annotated[Array, Shape("passes"), FINITE] = field(
        default_factory=lambda: np.empty(0)
    )

    @property
    def intercept(self) -> Array:
        """b, (t,): the value at x = 0."""
        return np.asarray(self.at_origin - self.origin @ self.coefficients)

    def predict(self, x: Array) -> Array:
        """Return b + xᵀw of rows (n, p), (n, t)."""
        return affine(x, self.origin, self.coefficients.T, self.at_origin)


def complete_rows(
    design: Design, center: Array, scale: Array, batch: Batch
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield complete rows x, targets (n, t) less centres in units, and weights."""
    inverse = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    targets = design.targets_of(batch)
    for start, x in design.rows(design.present(batch)):
        y, weights = targets[start : start + len(x)], batch.weights[start : start + len(x)]
        weights = weights if weights.size else np.ones(len(x))
        used = np.asarray(weights > 0) & ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
        x = np.ascontiguousarray(x) if used.all() else x[used]
        yield x, (design.modelled(y[used]) - center) * inverse, weights[used]
