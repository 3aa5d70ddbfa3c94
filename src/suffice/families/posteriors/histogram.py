"""The Dirichlet posteriors of histograms."""

from __future__ import annotations

from suffice.families.histogram import Histogram
from suffice.families.posteriors.piecewise import PiecewisePosterior, of_histogram, of_nothing
from suffice.families.univariate.cells import cells_of_column
from suffice.statistics.moments_and_bins import MomentsAndBins

__all__ = ["posterior"]


def posterior(family: Histogram, statistic: MomentsAndBins) -> PiecewisePosterior:
    """The posteriors of all columns, given their bins and the strength of the back-off."""
    bins, k = statistic.bins, statistic.k
    shown = statistic.total.sum(axis=0) > 0
    columns = [
        of_histogram(cells_of_column(bins, j), family.bins) if shown[j] else of_nothing(k)
        for j in range(bins.d)
    ]
    return PiecewisePosterior(k, columns)
