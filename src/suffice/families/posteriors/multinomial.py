"""The Dirichlet posterior of events: words of a text, or counts of a group of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.counts.dirichlet import pseudo_counts
from suffice.families.counts.smoothing import settled_alpha
from suffice.families.multinomial import (
    EventTerms,
    Multinomial,
    MultinomialParameters,
    add_event_terms,
)
from suffice.families.posteriors.dirichlet import (
    borrowed,
    drawn_shares,
    prior_weight,
)
from suffice.families.posteriors.posterior import (
    Posterior,
    ScoreMoments,
    add_with_poles,
    trigamma,
)
from suffice.numerics.elementary import digamma
from suffice.sums.block import RealBlock, SparseBlock, require_held
from suffice.sums.counts import Events

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class MultinomialPosterior(Posterior):
    """Dirichlet(a) of every class, (k, M)."""

    estimate: MultinomialParameters
    a: NDArray[np.float64]

    def add_moments(self, block: RealBlock | SparseBlock, moments: ScoreMoments) -> None:
        """Add the moments of Σ_v x_v log θ_v.

        ::

            E = Σ x_v ψ(a_v) − N ψ(A)    Var = Σ x_v² ψ₁(a_v) − N² ψ₁(A)    N = Σ x_v

        since Cov(log θ_u, log θ_v) = −ψ₁(A).
        """
        if isinstance(block, SparseBlock):
            block = block.merged()
            squared: Any = replace(block, data=block.data**2)
        else:
            require_held(block.values)
            squared = RealBlock(np.asarray(block.values, np.float64) ** 2)
        total = self.a.sum(axis=1)
        known = self.a > 0
        self._add(block, np.where(known, digamma(self.a), 0.0), moments.mean)
        of_row = np.zeros_like(moments.mean)
        self._add(block, np.ones_like(self.a), of_row)
        moments.mean[:] -= of_row * np.where(total > 0, digamma(total), 0.0)
        variance = np.zeros_like(moments.mean)
        add_with_poles(
            lambda terms, out: self._add(squared, terms, out), trigamma(self.a), variance
        )
        variance -= of_row**2 * np.where(total > 0, trigamma(total), 0.0)
        moments.variance[:] += np.maximum(variance, 0.0)

    def _add(self, block: Any, terms: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        add_event_terms(block, self.estimate.events, EventTerms(terms), out)

    def draw(self, rng: np.random.Generator) -> MultinomialParameters:
        """Draw θ of every class."""
        return replace(self.estimate, theta=drawn_shares(self.a, rng))


def posterior(family: Multinomial, statistic: Events) -> MultinomialPosterior:
    """The Dirichlet posterior from counts of events."""
    (events,) = statistic.vocabularies
    estimate = family.estimate(statistic)
    given = settled_alpha(family.alpha, estimate.alpha_evidence)
    alpha = prior_weight(pseudo_counts(given, len(events)), family.estimation)
    a = borrowed(statistic.count.value) + alpha
    return MultinomialPosterior(estimate, a)
