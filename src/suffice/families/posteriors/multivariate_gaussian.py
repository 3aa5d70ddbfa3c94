"""The Normal-inverse-Wishart posteriors of means and covariances.

With Λ = Σ⁻¹ ~ Wishart(ν, Ψ⁻¹), μ | Λ ~ N(m, (κΛ)⁻¹), δ = x − m and p columns,

::

    T = ½ log |Λ| − ½ (x − μ)ᵀΛ(x − μ)    D = δᵀΨ⁻¹δ
    E T = ½ (Σᵢ ψ((ν + 1 − i)/2) + p log 2 − log |Ψ|) − ½ (νD + p/κ)
    Var T = ¼ (Σᵢ ψ₁((ν + 1 − i)/2) + 2νD² + 4νD/κ + 2p/κ²) − D

as Cov(log |Λ|, δᵀΛδ) = 2D. Classes that share Σ share ½ log |Λ|; there, with G = δ_cᵀΨ⁻¹δ_e,
Cov(T_c, T_e) = ½ νG², and Var T_c has νD/κ + p/(2κ²) more. Of fewer columns, Σ is
inverse-Wishart with as many degrees of freedom fewer.

Source: K. V. Mardia, J. T. Kent and J. M. Bibby, Multivariate Analysis (1979), section 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.parameters import (
    LOG_2PI,
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.multivariate.sums import GaussianSums
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.families.posteriors.posterior import Posterior, ScoreMoments, trigamma
from suffice.numerics.elementary import digamma, log, log_of
from suffice.numerics.interruption import interruptible
from suffice.sums.block import RealBlock, require_held

__all__ = ["posterior"]


@dataclass(frozen=True, eq=False)
class DrawnGaussians:
    """μ (k, d) and Σ (s, d, d) of one draw, of the columns ``used``."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    used: NDArray[np.intp]

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log N(x; μ, Σ), of the columns that a row shows."""
        for rows, columns, x in _patterns(block, self.used):
            for c, mean in enumerate(self.mean):
                sigma = self.covariance[min(c, len(self.covariance) - 1)]
                white, log_determinant = _whitening(sigma[np.ix_(columns, columns)])
                w = (x - mean[columns]) @ white.T
                log_scale = log_determinant + len(columns) * LOG_2PI
                out[rows, c] -= 0.5 * ((w**2).sum(axis=1) + log_scale)


@dataclass(frozen=True, eq=False)
class MultivariateGaussianPosterior(Posterior):
    """m (k, d), κ (k,), Ψ (s, d, d) and ν (s,), of the columns ``used``.

    ``divisor`` (s,) is what the estimated Σ is multiplied by to give Ψ.
    """

    mean: NDArray[np.float64]
    kappa: NDArray[np.float64]
    psi: NDArray[np.float64]
    nu: NDArray[np.float64]
    used: NDArray[np.intp]
    divisor: NDArray[np.float64]

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add mean and variance of T; see the formulas above."""
        shared = len(self.psi) == 1 and len(self.mean) > 1
        for rows, columns, x in _patterns(block, self.used):
            p, white = len(columns), []
            for c, mean in enumerate(self.mean):
                s = min(c, len(self.psi) - 1)
                nu, kappa = self.nu[s] - (len(self.used) - p), self.kappa[c]
                if not (nu > p - 1 and kappa > 0):
                    moments.variance[rows, c] = np.inf
                    white.append(np.zeros((len(x), p)))
                    continue
                whitening, log_determinant = _whitening(self.psi[s][np.ix_(columns, columns)])
                w = (x - mean[columns]) @ whitening.T
                D = (w**2).sum(axis=1)
                white.append(w)
                moments.mean[rows, c] -= 0.5 * (nu * D + p / kappa)
                moments.variance[rows, c] += nu * D / kappa + p / (2 * kappa**2)
                if not shared:
                    halves = (nu - np.arange(p)) / 2
                    log_lambda = digamma(halves).sum() + p * log_of(2.0) - log_determinant
                    moments.mean[rows, c] += 0.5 * log_lambda
                    own = 0.25 * trigamma(halves).sum() + 0.5 * nu * D**2 - D
                    moments.variance[rows, c] += np.maximum(own, 0.0)
            if shared:
                w = np.stack(white, axis=1)
                G = w @ w.swapaxes(1, 2)
                nu = max(self.nu[0] - (len(self.used) - p), 0.0)
                moments.covariance[rows] += 0.5 * nu * G**2

    def draw(self, rng: np.random.Generator) -> DrawnGaussians:
        """Draw Σ by Bartlett's decomposition, then μ."""
        d, roots = len(self.used), []
        for psi, nu in zip(self.psi, self.nu, strict=True):
            whitening, _ = _whitening(psi)
            freedom = np.maximum(nu - np.arange(d), 1e-3)
            A = np.tril(rng.standard_normal((d, d)), -1)
            A += np.diag(np.sqrt(rng.chisquare(freedom)))
            # Λ = (WᵀA)(WᵀA)ᵀ, so (WᵀA)⁻ᵀ is a root of Σ.
            roots.append(interruptible(np.linalg.inv, whitening.T @ A).T)
        z = rng.standard_normal(self.mean.shape)
        kappa = np.where(self.kappa > 0, self.kappa, 1.0)
        of = np.minimum(np.arange(len(self.mean)), len(roots) - 1)
        spread = np.einsum("cij,cj->ci", np.array(roots)[of], z) / np.sqrt(kappa)[:, None]
        covariance = np.array([root @ root.T for root in roots])
        return DrawnGaussians(self.mean + spread, covariance, self.used)


def posterior(family: MultivariateGaussian, statistic: Any) -> MultivariateGaussianPosterior:
    """Normal-inverse-Wishart posteriors from co-moments.

    Rows with missing cells count as if what was expected in them had been seen.

    Raises
    ------
    ParameterError
        If covariances are left out, or some columns are categories.
    """
    columns, estimate = statistic.columns, family.estimate(statistic)
    sums = GaussianSums.of(columns) if columns.complete else GaussianSums.of_cells(columns)
    factored = estimate.factored
    d = len(factored.mean[0])
    used = np.setdiff1d(np.arange(d), [j for j, *_ in factored.left_out])
    kappa, nu, divisor = _degrees(family, sums, estimate)
    both = np.ix_(np.arange(len(factored.covariance)), used, used)
    psi = factored.covariance[both] * divisor[:, None, None]
    mean = (factored.mean + factored.mean_lo)[:, used]
    return MultivariateGaussianPosterior(mean, kappa, psi, nu, used, divisor)


def _degrees(
    family: MultivariateGaussian,
    sums: GaussianSums,
    estimate: MultivariateGaussianParameters | MultivariateStudentParameters,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """κ (k,), ν (s,), and what the estimated matrices (s,) are multiplied by to give Ψ."""
    n = sums.weight
    if isinstance(estimate, MultivariateStudentParameters):
        dof = estimate.dof[: len(estimate.factored.covariance)]
        return family.kappa0 + n, dof + sums.d - 1, dof
    if family.estimation == "map":
        rows = np.array([n.sum()]) if family.shared else n
        nu = 2 * family.a0 + sums.d - 1 + rows
        means = np.count_nonzero(n) if family.shared else 1
        return family.kappa0 + n, nu, nu + sums.d + 1 + means
    less, divisor = np.maximum(n - 1, 0.0), np.maximum(n - family.ddof, 0.0)
    if family.shared:
        return n, less.sum(keepdims=True), divisor.sum(keepdims=True)
    return n, less, divisor


def _patterns(
    block: RealBlock, used: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
    """The rows that show the same columns, these columns among the used, and their numbers."""
    require_held(block.values)
    x = np.asarray(block.values, np.float64)[:, used]
    patterns, place = np.unique(~np.isnan(x), axis=0, return_inverse=True)
    place = place.reshape(-1)
    for q, pattern in enumerate(patterns):
        columns, rows = np.flatnonzero(pattern), np.flatnonzero(place == q)
        if len(columns):
            yield rows, columns, x[np.ix_(rows, columns)]


def _whitening(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """W with WᵀW = matrix⁻¹, and log |matrix|; columns are scaled first, so that no unit tells."""
    sd = np.sqrt(np.diagonal(matrix))
    sd = np.where(sd > 0, sd, 1.0)
    values, axes = interruptible(np.linalg.eigh, matrix / sd / sd[:, None])
    values = np.maximum(values, np.finfo(float).eps * len(values))
    log_determinant = float(log(values).sum() + 2 * log(sd).sum())
    return (axes / np.sqrt(values)).T / sd, log_determinant
