"""The Beta posteriors of outcomes, of columns or of the words of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.bernoulli import Bernoulli, BernoulliParameters
from suffice.families.counts.dirichlet import pseudo_counts
from suffice.families.counts.smoothing import settled_alpha
from suffice.families.posteriors.dirichlet import (
    borrowed,
    drawn_shares,
    log_share_moments,
    prior_weight,
)
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, add_with_poles
from suffice.sums.vocabulary import Vocabulary

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class BernoulliPosterior(Posterior):
    """Beta(a₁, a₀) of every column and class, (k, d, 2); ``words`` names the events of a text."""

    a: NDArray[np.float64]
    words: Vocabulary | None

    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add Σⱼ E log θ of the outcomes, and its variance: outcomes of one class are independent.

        See `log_share_moments`.
        """
        mean, variance = log_share_moments(self.a, self.a.sum(axis=-1, keepdims=True))
        scorer = BernoulliParameters(self.a, self.words)
        scorer.add_terms(mean, block, moments.mean)
        add_with_poles(
            lambda terms, out: scorer.add_terms(terms, block, out), variance, moments.variance
        )

    def draw(self, rng: np.random.Generator) -> BernoulliParameters:
        """Draw θ of every column and class."""
        return BernoulliParameters(drawn_shares(self.a, rng), self.words)


def posterior(family: Bernoulli, statistic: Any) -> BernoulliPosterior:
    """Beta posteriors from counts of outcomes."""
    ones = statistic.ones
    outcomes = np.stack([statistic.total - ones, ones], axis=-1)
    chosen = family.estimate(statistic).alpha_evidence
    alpha = pseudo_counts(settled_alpha(family.alpha, chosen), ones.shape[1])
    alpha = prior_weight(alpha, family.estimation)
    if isinstance(alpha, np.ndarray):
        alpha = alpha[:, None]
    return BernoulliPosterior(borrowed(outcomes) + alpha, statistic.events)
