"""Sums that rows with missing cells are expected to have, by expectation-maximisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.factored import settled_double
from suffice.families.multivariate.parameters import EmHistory
from suffice.families.multivariate.sums import _Sums
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.expectation_maximisation import (
    IncompleteRows,
    LogPrior,
    expectation_maximisation,
)
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["Estimator", "expected_sums"]

Array = NDArray[np.float64]
Estimator = Callable[[_Sums, Array, Array, Array], tuple[Array, Array]]


def expected_sums(
    statistic: GroupedRows,
    estimate: Estimator,
    shared: bool,
    log_prior: Callable[[_Sums], LogPrior] | None = None,
) -> _Sums:
    """Expect the cells that are missing, given those that are there.

    Parameters
    ----------
    statistic : GroupedRows
        Of rows of which some have missing cells.
    estimate : function
        From what is known of the cells, and from the weights, means and scatters expected, to means
        and covariances.
    shared : bool
        Whether all classes have the same covariance.
    log_prior : function, optional
        From what is known of the cells to the log density of a prior.
    """
    of_cells = _Sums.of_cells(statistic)
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
    found = expectation_maximisation(rows, partial(estimate, of_cells), shared, prior)
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
            found.converged,
            tuple(np.flatnonzero(~statistic.patterns.any(axis=0)).tolist()),
        ),
    )
