"""Sums that a multivariate Gaussian is estimated from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.parameters import (
    EmHistory,
)
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.grouped_rows import GroupedRows

__all__ = []


@dataclass(frozen=True, eq=False)
class _Sums:
    """Weight (k,), mean (k, d) and scatter (k or 1, d, d) of the classes; a prior; the whole.

    A class without rows borrows the mean of all. ``prior_mean`` and ``prior_variance`` (d,) are
    those of the cells over all classes, ``covariance`` (d, d) is that of the rows.
    """

    weight: NDArray[np.float64]
    mean: DoubleDouble
    scatter: DoubleDouble
    prior_mean: DoubleDouble
    prior_variance: DoubleDouble
    covariance: DoubleDouble
    course: EmHistory = field(default_factory=EmHistory)
    fourth: FourthMoments | None = None
    filled: bool = False  # whether categories were missing, so that the sums are rounded

    @property
    def d(self) -> int:
        """Number of columns with a spread; a posterior knows of no others."""
        return int(np.count_nonzero(self.prior_variance.hi > 0))

    def of_columns(self, used: NDArray[np.intp]) -> Self:
        """The sums of some columns."""
        square = np.ix_(used, used)
        return replace(
            self,
            mean=self.mean[:, used],
            scatter=self.scatter[(slice(None), *square)],
            prior_mean=self.prior_mean[used],
            prior_variance=self.prior_variance[used],
            covariance=self.covariance[square],
        )

    @classmethod
    def of(cls, statistic: GroupedRows) -> _Sums:
        """The sums of complete rows."""
        k, d, code = statistic.k, statistic.d, statistic.code
        weight = np.zeros(k)
        weight[code] = statistic.group_weight.value
        all_rows = statistic.one_class
        centre = all_rows.mean.sum(axis=0)
        mean = statistic.mean.scatter(code, (k, d))
        mean = DoubleDouble.where(weight[:, None] > 0, mean, centre)
        covariance = _scatter(all_rows).sum(axis=0) / (weight.sum() or 1.0)
        variance = (covariance * np.eye(d)).sum(axis=0)
        return cls(weight, mean, _scatter(statistic), centre, variance, covariance)

    @classmethod
    def of_cells(cls, statistic: GroupedRows) -> _Sums:
        """Weights, and the mean and variance of the cells of every column; nothing else."""
        k, d = statistic.k, statistic.d
        shown = statistic.patterns[statistic.pattern]
        all_rows = statistic.one_class
        cells = all_rows.patterns[all_rows.pattern] * all_rows.group_weight.value[:, None]
        n = cells.sum(axis=0)
        n = np.where(n > 0, n, 1.0)
        mean = (all_rows.mean * cells).sum(axis=0) / n
        squares = (all_rows.mean - mean) * (all_rows.mean - mean) * cells
        spread = (all_rows.scatter * np.eye(d)).sum(axis=1).sum(axis=0)
        variance = (squares.sum(axis=0) + spread) / n
        weight = np.zeros(k)
        np.add.at(weight, statistic.code, statistic.group_weight.value * shown.any(axis=1))
        nothing = DoubleDouble.zeros((k, d))
        settled = DoubleDouble.of(variance.value)
        return cls(weight, nothing, nothing, DoubleDouble.of(mean.value), settled, nothing)


def _scatter(statistic: GroupedRows) -> DoubleDouble:
    """The scatter of complete rows: of every class (k, d, d), or pooled (1, d, d)."""
    k = 1 if statistic.pooled else statistic.k
    index = np.zeros_like(statistic.code) if statistic.pooled else statistic.code
    stored = statistic.product_index >= 0
    out = DoubleDouble.zeros((k, statistic.d, statistic.d))
    out.hi[index[stored]] = statistic.scatter.hi[statistic.product_index[stored]]
    out.lo[index[stored]] = statistic.scatter.lo[statistic.product_index[stored]]
    return out
