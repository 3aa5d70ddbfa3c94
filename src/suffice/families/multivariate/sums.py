"""Sums that a multivariate Gaussian is estimated from, expected where cells are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.factored import settled_double
from suffice.families.multivariate.parameters import EmHistory
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.expectation_maximisation import (
    IncompleteRows,
    LogPrior,
    expectation_maximisation,
)
from suffice.sums.comoments import Comoments, FourthMoments

__all__ = ["GaussianSums", "expected_sums"]


@dataclass(frozen=True, eq=False)
class GaussianSums:
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

    @property
    def d(self) -> int:
        """Number of columns with a spread; a posterior knows of no others."""
        return int(np.count_nonzero(self.prior_variance.hi > 0))

    @classmethod
    def of(cls, statistic: Comoments) -> GaussianSums:
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
    def of_cells(cls, statistic: Comoments) -> GaussianSums:
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


Array = NDArray[np.float64]
Estimator = Callable[[GaussianSums, Array, Array, Array], tuple[Array, Array]]


def expected_sums(
    statistic: Comoments,
    estimate: Estimator,
    shared: bool,
    log_prior: Callable[[GaussianSums], LogPrior] | None = None,
    max_iter: int = 1_000,
) -> GaussianSums:
    """Expect the cells that are missing, given those that are there.

    Parameters
    ----------
    statistic : Comoments
        Of rows of which some have missing cells.
    estimate : function
        From what is known of the cells, and from the weights, means and scatters expected, to means
        and covariances.
    shared : bool
        Whether all classes have the same covariance.
    log_prior : function, optional
        From what is known of the cells to the log density of a prior.
    max_iter : int
        Most iterations; 0 for expectations from uncorrelated columns.
    """
    of_cells = GaussianSums.of_cells(statistic)
    origin, (k, d) = of_cells.prior_mean, of_cells.mean.shape
    unit = np.sqrt(of_cells.prior_variance.hi)
    rows = IncompleteRows(
        k,
        statistic.patterns,
        statistic.pattern,
        statistic.code,
        statistic.group_weight.value,
        (statistic.mean - origin).settled(unit) * statistic.patterns[statistic.pattern],
        settled_double(statistic.scatter),
        statistic.product_index,
    )
    prior = None if log_prior is None else log_prior(of_cells)
    found = expectation_maximisation(
        rows, partial(estimate, of_cells), shared, prior, max_iterations=max_iter
    )
    mean = DoubleDouble.of(found.mean)
    between, code = np.zeros((1, d, d)), np.arange(k)
    middle = (found.weight[:, None] * found.mean).sum(axis=0) / found.weight.sum()
    kernels.sweep.add_scatter(found.mean, code, found.weight, np.tile(middle, (k, 1)), between)
    total = found.scatter.sum(axis=0) + between[0]
    return replace(
        of_cells,
        weight=found.weight,
        mean=mean + origin,
        scatter=DoubleDouble.of(found.scatter),
        covariance=DoubleDouble.of(total / found.weight.sum()),
        course=EmHistory(
            found.log_likelihood,
            found.converged or not max_iter,
            tuple(np.flatnonzero(~statistic.patterns.any(axis=0)).tolist()),
        ),
    )


def _scatter(statistic: Comoments) -> DoubleDouble:
    """The scatter of complete rows: of every class (k, d, d), or pooled (1, d, d)."""
    k = 1 if statistic.pooled else statistic.k
    index = np.zeros_like(statistic.code) if statistic.pooled else statistic.code
    stored = statistic.product_index >= 0
    out = DoubleDouble.zeros((k, statistic.d, statistic.d))
    out.hi[index[stored]] = statistic.scatter.hi[statistic.product_index[stored]]
    out.lo[index[stored]] = statistic.scatter.lo[statistic.product_index[stored]]
    return out
