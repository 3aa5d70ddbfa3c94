"""The posterior of the scores of a generative classifier: of the class prior and of every family.

::

    s_c = log P(c) + Σ_b log p(x_b | c)

With weights of columns, which count as known, the terms are w_b log p(x_b | c).

An estimated class prior has the posterior Dirichlet(N_c + α), α = 0 without smoothing; log P(c) is
that of independent Gamma variables up to a term that all classes share. A given one is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import Posterior, ScoreMoments, trigamma
from suffice.models.base.proba_intervals import Ends, from_moments
from suffice.models.generative.model import GenerativeModel, Prior
from suffice.numerics.elementary import digamma, log
from suffice.sums.batch import Batch
from suffice.sums.block import in_block


def _ends(
    parts: tuple[Posterior, ...],
    log_prior: NDArray[np.float64],
    weight: NDArray[np.float64] | None,
    level: float,
    batch: Batch,
) -> NDArray[np.float64]:
    """Return the ends of the intervals of every row, (n, k, 2).

    ``weight`` is N_c + α, (k,); None where the class prior is given.
    """
    found = ScoreMoments.zeros(batch.rows, len(log_prior))
    found.mean[:] = log_prior
    if weight is not None:
        known = weight > 0
        a = np.where(known, weight, 1.0)
        found.mean[:] += np.where(known, digamma(a) - log(a), 0.0)
        found.variance[:] = trigamma(weight)
    for b, (part, block) in enumerate(zip(parts, batch.blocks, strict=True)):
        with in_block(b):
            part.add_moments(block, found)
    return from_moments(found.mean, found.variance, found.covariance, level)


@dataclass(frozen=True, eq=False)
class WeightedPosterior(Posterior):
    """The posterior of log p(x_j | c), each column with weight w_j.

    The columns are independent of each other, so that each is asked about alone.
    """

    part: Posterior
    weights: NDArray[np.float64]  # (d,), or (1,) for all columns together

    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add Σⱼ w_j E log p(x_j | c), and Σⱼ w_j² times its variance."""
        for weight in np.unique(self.weights[self.weights != 0]).tolist():
            one = len(self.weights) == 1
            shown = block if one else block.showing(self.weights == weight)
            found = ScoreMoments.zeros(*moments.mean.shape)
            self.part.add_moments(shown, found)
            moments.mean[:] += weight * found.mean
            moments.variance[:] += weight**2 * found.variance
            moments.covariance[:] += weight**2 * found.covariance


def ends_of(model: GenerativeModel, prior: Prior, level: float) -> Ends:
    """Return what gives the ends of a batch, where P(c) was estimated in a way, or is known.

    Raises
    ------
    ParameterError
        If a family has no posterior.
    """
    estimated = isinstance(prior, str) and prior != "uniform"
    count = model.statistic.weight.value
    weight = count + (prior == "smoothed") if estimated else None
    if any(part.design is not None for part in model.parts):
        raise ParameterError(
            "the columns are numbers and categories, modelled together",
            "an interval rests on the posterior of numbers",
            "leave the categories out",
        )
    parts = tuple(
        part.family.posterior(block)
        for part, block in zip(model.parts, model.family_sums.blocks, strict=True)
    )
    if model.calibration is not None:
        parts = tuple(map(WeightedPosterior, parts, model.part_weights))
    return partial(_ends, parts, model.log_prior, weight, level)
