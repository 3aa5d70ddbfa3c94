"""The posterior of the scores of a generative classifier: of the class prior and of every family.

::

    s_c = log P(c) + Σ_b log p(x_b | c)

An estimated class prior has the posterior Dirichlet(N_c + α), α = 0 without smoothing; log P(c) is
that of independent Gamma variables up to a term that all classes share. A given one is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.posteriors.posterior import (
    Posterior,
    ScoreMoments,
    posterior_of,
    trigamma,
)
from suffice.models.base.proba_intervals import Ends, from_moments, sampling
from suffice.models.generative.model import in_block
from suffice.numerics.elementary import digamma, log
from suffice.phrases import Option, Phrase
from suffice.statistics.batch import Batch

if TYPE_CHECKING:
    from suffice.models.generative.fitted import FittedGenerative

__all__ = ["ModelPosterior", "ends_of"]


@dataclass(frozen=True, eq=False)
class ModelPosterior:
    """The posteriors of all parts of a model.

    Parameters
    ----------
    log_prior : ndarray (k,)
        log P(c), as the model has it.
    weight : ndarray (k,), optional
        N_c + α; None where the class prior is given.
    parts : tuple of Posterior
    """

    log_prior: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    parts: tuple[Posterior, ...]

    def moments(self, batch: Batch) -> ScoreMoments:
        """Mean, variance and covariance of the scores of every row."""
        found = ScoreMoments.zeros(batch.rows, len(self.log_prior))
        found.mean[:] = self.log_prior
        if self.weight is not None:
            known = self.weight > 0
            a = np.where(known, self.weight, 1.0)
            found.mean[:] += np.where(known, digamma(a) - log(a), 0.0)
            found.variance[:] += trigamma(self.weight)
        for b, (part, block) in enumerate(zip(self.parts, batch.blocks, strict=True)):
            with in_block(b):
                part.add_moments(block, found)
        return found

    def ends(self, level: float, batch: Batch) -> NDArray[np.float64]:
        """Ends of the intervals of every row, (n, k, 2)."""
        found = self.moments(batch)
        return from_moments(found.mean, found.variance, found.covariance, level)

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Draw the parameters of all parts."""
        log_prior = self.log_prior
        if self.weight is not None:
            a = np.where(self.weight > 0, self.weight, 1.0)
            log_prior = log_prior + log(rng.standard_gamma(a) / a)
        return Drawn(log_prior, tuple(part.draw(rng) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Drawn:
    """One draw of all parameters."""

    log_prior: NDArray[np.float64]
    parts: tuple[Any, ...]

    def __call__(self, batch: Batch, out: NDArray[np.float64]) -> None:
        """Write the scores of every row, (n, k)."""
        out[:] = self.log_prior
        for b, (part, block) in enumerate(zip(self.parts, batch.blocks, strict=True)):
            with in_block(b):
                part.add_log_likelihood(block, out)


def ends_of(estimator: FittedGenerative, level: float, draws: int, random_state: Any) -> Ends:
    """What gives the ends of a batch.

    Raises
    ------
    ParameterError
        If a family has no posterior, or the columns have weights.
    """
    model, (known, alpha) = estimator._fitted(), estimator._prior()
    if model.calibration is not None:
        raise ParameterError(
            Option.of("calibration", getattr(estimator, "calibration", "weights")),
            "an interval is of a model whose columns have no weights",
            Phrase("fit with ", Option.of("calibration", "none")),
        )
    balanced = getattr(estimator, "class_weight", None) == "balanced"
    estimated = isinstance(known, str) and known != "uniform" and not balanced
    count = model.statistic.weight.value
    weight = count + alpha * (known == "smoothed") if estimated else None
    parts = tuple(
        posterior_of(part.family, block)
        for part, block in zip(model.parts, model.statistic.blocks, strict=True)
    )
    found = ModelPosterior(model.log_prior, weight, parts)
    if draws:
        return sampling(found.draw, len(count), level, draws, random_state)
    return partial(found.ends, level)
