"""The Bayesian bootstrap of kernel densities."""

from __future__ import annotations

from suffice.families.kernel_density import KernelDensity, best_bandwidth
from suffice.families.posteriors.piecewise import PiecewisePosterior, of_kernels, of_nothing
from suffice.families.univariate.cells import cells_of_column
from suffice.statistics.moments_and_bins import MomentsAndBins

__all__ = ["posterior"]


def posterior(family: KernelDensity, statistic: MomentsAndBins) -> PiecewisePosterior:
    """The posteriors of all columns, given their bandwidths."""
    k, columns = statistic.k, []
    for j, total in enumerate(statistic.total.sum(axis=0)):
        cells = cells_of_column(statistic.bins, j) if total > 0 else None
        varies = cells is not None and len(cells.low) > 1
        columns.append(
            of_kernels(cells, best_bandwidth(cells, family.bandwidth))
            if cells and varies
            else of_nothing(k)
        )
    return PiecewisePosterior(k, columns)
