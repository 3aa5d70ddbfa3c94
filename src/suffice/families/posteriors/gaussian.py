"""The Normal-inverse-gamma posteriors of means and variances.

With λ = 1/σ² ~ Gamma(a, b), μ | λ ~ N(m, 1/(κλ)), δ = x − m and z standard normal,

::

    T = ½ log λ − ½ Q    Q = λ(x − μ)² = λδ² − 2√λ δz/√κ + z²/κ
    E T = ½ (ψ(a) − log b) − ½ (δ²a/b + 1/κ)
    Var T = ¼ (ψ₁(a) + δ⁴a/b² + 4δ²a/(bκ) + 2/κ²) − ½ δ²/b,    as Cov(log λ, λ) = 1/b

Classes that share σ² share ½ log λ too, which tells none from another; there

::

    Cov(T_c, T_e) = ¼ δ_c²δ_e²a/b²,    and Var T_c has δ_c²a/(bκ) + 1/(2κ²) more

Source: K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.gaussian import Gaussian
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, trigamma
from suffice.families.univariate.parameters import GaussianParameters
from suffice.numerics.elementary import digamma, log
from suffice.sums.block import RealBlock, require_held
from suffice.sums.moments import Moments

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class GaussianPosterior(Posterior):
    """m, its low part and κ (k, d); a and b (k, d), or (1, d) where the classes share σ².

    ``says`` (d,) is False for a column that has no spread, or is an identifier left out.
    """

    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]
    kappa: NDArray[np.float64]
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    says: NDArray[np.bool_]

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add mean and variance of T; see the formulas above."""
        require_held(block.values)
        x = np.asarray(block.values, np.float64)
        shown, shared = ~np.isnan(x) & self.says, len(self.a) < len(self.mean)
        proper = (self.a > 0) & (self.b > 0) & (self.kappa > 0)
        a, b = (np.where(proper, np.broadcast_to(p, proper.shape), 1.0) for p in (self.a, self.b))
        kappa = np.where(proper, self.kappa, 1.0)
        squares = np.zeros((*x.shape, len(a))) if shared else None
        for c in range(len(a)):
            # In units of the posterior, so that no square is too large.
            t = ((x - self.mean[c]) - self.mean_lo[c]) * np.sqrt(a[c] / b[c])  # δ √(a/b)
            mean = -0.5 * (t**2 + 1 / kappa[c])
            variance = t**2 / kappa[c] + 0.5 / kappa[c] ** 2
            if squares is None:
                mean = mean + 0.5 * (digamma(a[c]) - log(b[c]))
                own = 0.25 * trigamma(a[c]) + 0.25 * t**4 / a[c] - 0.5 * t**2 / a[c]
                variance = variance + np.maximum(own, 0.0)
            else:
                squares[..., c] = np.where(shown & proper.all(axis=0), 0.5 * t**2, 0.0)
            variance = np.where(proper[c], variance, np.inf)
            moments.mean[:, c] += np.where(shown, mean, 0.0).sum(axis=1)
            moments.variance[:, c] += np.where(shown, variance, 0.0).sum(axis=1)
        if squares is not None:
            scaled = squares / np.sqrt(a[0])[:, None]
            moments.covariance[:] += np.einsum("ijc,ije->ice", scaled, scaled)

    def draw(self, rng: np.random.Generator) -> GaussianParameters:
        """Draw σ², then μ, of every column and class."""
        proper = (self.a > 0) & (self.b > 0)
        a, b = np.where(proper, self.a, 1.0), np.where(proper, self.b, 1.0)
        variance = b / rng.standard_gamma(a)
        spread = np.sqrt(variance / np.where(self.kappa > 0, self.kappa, 1.0))
        mean = self.mean + spread * rng.standard_normal(self.mean.shape)
        return GaussianParameters(mean, self.mean_lo, np.where(self.says, variance, 0.0))


def posterior(family: Gaussian, statistic: Moments) -> GaussianPosterior:
    """Normal-inverse-gamma posteriors from moments."""
    n, pooled = statistic.total, statistic.one_class
    seen, informed = n > 0, family.estimation != "mle"
    overall = pooled.variance
    kappa0 = family.kappa0 if informed else 0.0
    mean0, lo0 = (pooled.mean, pooled.mean_lo) if family.mean0 is None else (family.mean0, 0.0)
    kappa = kappa0 + n
    divisor = np.where(kappa > 0, kappa, 1.0)
    shift = np.where(seen, (statistic.mean - mean0) + (statistic.mean_lo - lo0), 0.0)
    mean = np.where(seen, statistic.mean, mean0)
    mean_lo = np.where(seen, statistic.mean_lo - kappa0 / divisor * shift, lo0)
    rows = _joined(family, n)
    scatter = _joined(family, statistic.scatter + kappa0 * n / divisor * shift**2)
    if informed:
        b0 = family.a0 * overall if family.b0 is None else family.b0
        a, b = family.a0 + rows / 2, b0 + scatter / 2
    else:
        a, b = (rows - _joined(family, np.minimum(n, 1.0))) / 2, scatter / 2
    says = (overall > 0).ravel()
    says[family.left_out(statistic)] = False
    return GaussianPosterior(mean, mean_lo, kappa, a, b, says)


def _joined(family: Gaussian, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums.sum(axis=0, keepdims=True) if family.shared else sums
