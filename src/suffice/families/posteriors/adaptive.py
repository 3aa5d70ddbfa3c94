"""The posteriors of columns that each have the distribution that was chosen for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.adaptive import BINS, Adaptive
from suffice.families.gaussian import Gaussian
from suffice.families.posteriors import gaussian
from suffice.families.posteriors.piecewise import PiecewisePosterior, of_histogram, of_kernels
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, Scorer
from suffice.families.univariate.cells import cells_of_column
from suffice.statistics.block import RealBlock, converted
from suffice.statistics.moments_and_bins import MomentsAndBins

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class AdaptivePosterior(Posterior):
    """Posteriors of Gaussians, and of the densities in bins of columns ``binned`` (d,) marks."""

    normal: Posterior
    piecewise: Posterior
    binned: NDArray[np.bool_]

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add the moments of both."""
        normal, piecewise = _divided(block, self.binned)
        self.normal.add_moments(normal, moments)
        self.piecewise.add_moments(piecewise, moments)

    def draw(self, rng: np.random.Generator) -> AdaptiveScorer:
        """Draw the parameters of both."""
        return AdaptiveScorer(self.normal.draw(rng), self.piecewise.draw(rng), self.binned)


@dataclass(frozen=True, eq=False)
class AdaptiveScorer:
    """One draw of the parameters of both."""

    normal: Scorer
    piecewise: Scorer
    binned: NDArray[np.bool_]

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log p(x_j | c)."""
        normal, piecewise = _divided(block, self.binned)
        self.normal.add_log_likelihood(normal, out)
        self.piecewise.add_log_likelihood(piecewise, out)


def _divided(block: RealBlock, binned: NDArray[np.bool_]) -> tuple[RealBlock, RealBlock]:
    """All columns, those in bins as if they were missing; and the latter alone."""
    return block.showing(~binned), RealBlock(converted(block.values)[:, binned])


def posterior(family: Adaptive, statistic: MomentsAndBins) -> AdaptivePosterior:
    """The posteriors of all columns, given what was chosen for them."""
    choices = family.estimate(statistic).choices
    binned = np.array([choice.family != "gaussian" for choice in choices], np.bool_)
    columns = []
    for j in np.flatnonzero(binned).tolist():
        cells, (name, bandwidth, _) = cells_of_column(statistic.bins, j), choices[j]
        histogram = name == "histogram"
        columns.append(of_histogram(cells, BINS) if histogram else of_kernels(cells, bandwidth))
    normal = gaussian.posterior(Gaussian(identifiers=family.identifiers), statistic.moments)
    return AdaptivePosterior(normal, PiecewisePosterior(statistic.k, columns), binned)
