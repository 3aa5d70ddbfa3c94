"""The Dirichlet posterior of combinations of categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.joint_table import JointTable, JointTableParameters
from suffice.families.posteriors.dirichlet import drawn_shares, log_share_moments, prior_weight
from suffice.families.posteriors.posterior import Posterior, ScoreMoments
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import safe_log
from suffice.sums.block import CodedBlock, IntegerBlock
from suffice.sums.counts import JointCounts

__all__ = ["posterior"]

MOST_COMBINATIONS = 1_000_000  # that are drawn


@dataclass(frozen=True, eq=False)
class JointTablePosterior(Posterior):
    """Dirichlet(N + α) of every class, as parameters whose pseudo-count is that of the prior."""

    weights: JointTableParameters

    def add_moments(self, block: CodedBlock | IntegerBlock, moments: ScoreMoments) -> None:
        """Add E log θ of the cells shown, and its variance; missing cells are summed out.

        A sum of shares is a share: its weight is the sum of theirs.
        """
        log_a = np.zeros_like(moments.mean)
        shown = np.zeros(len(log_a), np.bool_)
        for rows, log_part in self.weights.log_weights(block):
            log_a[rows], shown[rows] = log_part, True
        total = np.broadcast_to(exp(np.minimum(self.weights.log_total, 600.0)), log_a.shape)
        part = np.where(shown[:, None], exp(np.minimum(log_a, 600.0)), total)
        mean, variance = log_share_moments(part, total)
        moments.mean[shown] += mean[shown]
        moments.variance[shown] += variance[shown]

    def draw(self, rng: np.random.Generator) -> JointTableParameters:
        """Draw θ of all combinations.

        Raises
        ------
        ParameterError
            If there are too many of them.
        """
        known = self.weights
        sizes = [len(v) + (known.unseen == "smooth") for v in known.vocabularies]
        number = prod(sizes)
        if number > MOST_COMBINATIONS:
            raise ParameterError(
                f"the joint table has {number:,} combinations",
                f"at most {MOST_COMBINATIONS:,} are drawn",
                "use method='normal'",
            )
        cells = np.array(list(product(*map(range, sizes))), np.intp).reshape(number, len(sizes))
        a = np.full((len(known.count), number), float(exp(np.array(known.log_pseudo))))
        strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
        a[:, known.cells @ strides] += known.count
        return replace(known, cells=cells, count=drawn_shares(a, rng), log_pseudo=-np.inf)


def posterior(family: JointTable, statistic: JointCounts) -> JointTablePosterior:
    """The Dirichlet posterior from counts of combinations."""
    estimate = family.estimate(statistic)
    pseudo: NDArray[np.float64] = np.asarray(prior_weight(family.alpha, family.estimation))
    return JointTablePosterior(replace(estimate, log_pseudo=float(safe_log(pseudo))))
