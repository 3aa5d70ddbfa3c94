"""The Dirichlet posteriors of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.categorical import Categorical, CategoricalParameters
from suffice.families.counts.dirichlet import pseudo_counts
from suffice.families.counts.smoothing import settled_alpha
from suffice.families.posteriors.dirichlet import borrowed, log_share_moments, prior_weight
from suffice.families.posteriors.posterior import Posterior, ScoreMoments
from suffice.sums.counts import Counts

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class CategoricalPosterior(Posterior):
    """Weights a (k, M + d) laid out as θ is, and the weight of all categories of each, (k, d).

    The categories that no row showed, besides the one place for them, weigh in the totals only.
    """

    estimate: CategoricalParameters
    a: NDArray[np.float64]
    total: NDArray[np.float64]
    quiet: tuple[int, ...]  # columns that say nothing of the class

    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add Σⱼ E log θ of the values shown, and its variance."""
        vocabularies, offsets = self.estimate.vocabularies, self.estimate.offsets
        codes = block.coded().recode(vocabularies)
        for j, vocabulary in enumerate(vocabularies):
            if j in self.quiet:
                continue
            column = codes[:, j]
            last = len(vocabulary) if self.estimate.unseen == "ignore" else len(vocabulary) + 1
            shown = np.flatnonzero((column >= 0) & (column < last))
            a = self.a[:, offsets[j] : offsets[j + 1]]
            mean, variance = log_share_moments(a, self.total[:, [j]])
            moments.mean[shown] += mean.T[column[shown]]
            moments.variance[shown] += variance.T[column[shown]]

    def draw(self, rng: np.random.Generator) -> CategoricalParameters:
        """Draw θ of every column and class."""
        offsets, theta = self.estimate.offsets, rng.standard_gamma(self.a)
        for j in range(len(self.estimate.vocabularies)):
            places = slice(offsets[j], offsets[j + 1])
            rest = np.maximum(self.total[:, j] - self.a[:, places].sum(axis=1), 0.0)
            rest[rest < 1e-9 * self.total[:, j]] = 0.0  # rounding
            sums = theta[:, places].sum(axis=1) + rng.standard_gamma(rest)
            theta[:, places] /= np.where(sums > 0, sums, 1.0)[:, None]
        for j in self.quiet:
            theta[:, offsets[j] : offsets[j + 1]] = theta[:1, offsets[j] : offsets[j + 1]]
        return CategoricalParameters(self.estimate.vocabularies, theta, self.estimate.unseen)


def posterior(family: Categorical, statistic: Counts) -> CategoricalPosterior:
    """Dirichlet posteriors from counts of values."""
    estimate = family.estimate(statistic)
    over = statistic.over(estimate.vocabularies) if family.from_zero else statistic
    quiet = tuple(family.left_out(statistic).tolist())
    chosen = settled_alpha(family.alpha, estimate.alpha_evidence)
    given = pseudo_counts(chosen, len(estimate.vocabularies))
    each = np.broadcast_to(prior_weight(given, family.estimation), len(estimate.vocabularies))
    least = family.min_categories
    a, total = [np.zeros((len(estimate.theta), 0))], [np.zeros((len(estimate.theta), 0))]
    for j in range(len(estimate.vocabularies)):
        count, alpha = borrowed(over.column(j)), float(each[j])
        known = count.shape[1]
        m = max(known, least[j] if isinstance(least, tuple) else least)
        m = max(m + (family.unseen == "smooth"), 1)
        unseen = np.full((len(count), 1), alpha if family.unseen == "smooth" else 0.0)
        a.append(np.concatenate([count + alpha, unseen], axis=1))
        total.append(count.sum(axis=1, keepdims=True) + m * alpha)
    return CategoricalPosterior(
        estimate, np.concatenate(a, axis=1), np.concatenate(total, axis=1), quiet
    )
