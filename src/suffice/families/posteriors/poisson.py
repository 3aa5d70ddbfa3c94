"""The Gamma posteriors of rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.poisson import Poisson, PoissonParameters
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, trigamma
from suffice.numerics.elementary import digamma, log
from suffice.sums.block import RealBlock, require_held

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class PoissonPosterior(Posterior):
    """Shape a and rate b of the Gamma posterior of λ, each (k, d)."""

    a: NDArray[np.float64]
    b: NDArray[np.float64]

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add the moments of x log λ − λ.

        ::

            E = x (ψ(a) − log b) − a/b    Var = x² ψ₁(a) + a/b² − 2x/b

        since Cov(log λ, λ) = 1/b.
        """
        require_held(block.values)
        x = np.asarray(block.values, np.float64)
        shown = ~np.isnan(x)
        proper = (self.a > 0) & (self.b > 0)
        for c in range(len(self.a)):
            a, b = (np.where(proper[c], part[c], 1.0) for part in (self.a, self.b))
            mean = x * (digamma(a) - log(b)) - a / b
            variance = np.maximum(x**2 * trigamma(a) + a / b**2 - 2 * x / b, 0.0)
            variance = np.where(proper[c], variance, np.inf)
            moments.mean[:, c] += np.where(shown, mean, 0.0).sum(axis=1)
            moments.variance[:, c] += np.where(shown, variance, 0.0).sum(axis=1)

    def draw(self, rng: np.random.Generator) -> PoissonParameters:
        """Draw λ of every column and class."""
        return PoissonParameters(rng.standard_gamma(self.a) / np.where(self.b > 0, self.b, 1.0))


def posterior(family: Poisson, statistic: Any) -> PoissonPosterior:
    """Gamma posteriors from sums of counts."""
    shown, pooled = statistic.total > 0, statistic.one_class
    n = np.where(shown, statistic.total, pooled.total)
    events = n * np.where(shown, statistic.mean, pooled.mean)
    informed = family.estimation != "mle"
    return PoissonPosterior(events + family.alpha * informed, n + family.beta * informed)
