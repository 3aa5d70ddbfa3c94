"""The posteriors of columns that hold numbers, and of those that are categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.kinds.parameters import WholeNumbersParameters
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, Scorer, posterior_of
from suffice.families.whole_numbers import WholeNumbers
from suffice.statistics.block import RealBlock
from suffice.statistics.moments_and_bins import MomentsAndBins

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class WholeNumbersPosterior(Posterior):
    """Posteriors of the kinds of which there are columns, given what each column is."""

    estimate: WholeNumbersParameters
    kinds: Sequence[Posterior]

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add the moments of both."""
        for posterior, (_, some, _) in zip(self.kinds, self.estimate.sides(block), strict=True):
            posterior.add_moments(some, moments)

    def draw(self, rng: np.random.Generator) -> WholeNumbersScorer:
        """Draw the parameters of both."""
        return WholeNumbersScorer(self.estimate, [kind.draw(rng) for kind in self.kinds])


@dataclass(frozen=True, eq=False)
class WholeNumbersScorer:
    """One draw of the parameters of both."""

    estimate: WholeNumbersParameters
    kinds: Sequence[Scorer]

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log p(x_j | c)."""
        for scorer, (_, some, _) in zip(self.kinds, self.estimate.sides(block), strict=True):
            scorer.add_log_likelihood(some, out)


def posterior(family: WholeNumbers, statistic: MomentsAndBins) -> WholeNumbersPosterior:
    """The posteriors of all columns, given what each is."""
    kinds = [kind for kind in family.divided(statistic) if len(kind.columns)]
    found = [posterior_of(kind.family, kind.sums) for kind in kinds]
    return WholeNumbersPosterior(family.estimate(statistic), found)
