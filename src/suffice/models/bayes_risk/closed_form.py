"""The Bayes risk of two Gaussian classes of one covariance matrix, in closed form."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr

from suffice.models.bayes_risk.bayes_error import PHI_ERROR, BayesError, between
from suffice.models.bayes_risk.class_densities import KnownDensities
from suffice.models.bayes_risk.densities import Density
from suffice.numerics.elementary import log_of
from suffice.numerics.error_free import multiply, two_sum
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import factorise

__all__ = ["closed_form", "distance", "gaussian"]

_NORMAL, _MULTIVARIATE_NORMAL = type(stats.norm), type(stats.multivariate_normal([0.0]))


def closed_form(known: KnownDensities, costs: NDArray[np.float64]) -> BayesError | None:
    """Two Gaussian classes of one covariance matrix Σ; or a decision that needs no look at x.

    ::

        P(error) = π₁ Φ(−Δ/2 + log(π₂/π₁)/Δ) + π₂ Φ(−Δ/2 − log(π₂/π₁)/Δ)
        Δ² = (μ₁ − μ₂)ᵀ Σ⁻¹ (μ₁ − μ₂)

    With costs, π_i is replaced by the regret π_i (max_j A_ij − min_j A_ij), and Σ_i π_i min_j A_ij
    is added.

    Source: T. W. Anderson, An Introduction to Multivariate Statistical Analysis, 3rd ed. (2003),
    section 6.4; Duda, Hart and Stork (2001), section 2.2.1, for the costs.
    """
    if costs.shape[1] == 1:
        return between(float(known.prior @ costs[:, 0]), 0.0, "closed_form")
    delta = distance(known)
    if delta is None or costs.shape != (2, 2):
        return None
    right = costs.min(axis=1)  # neither decision dominates: each is right for one class
    regret = known.prior * (costs.max(axis=1) - right)
    least = float(known.prior @ right)
    value, low, high = (
        least + _gaussian_error(regret, delta * (1 + slack)) for slack in (0, PHI_ERROR, -PHI_ERROR)
    )
    return BayesError(value, low * (1 - PHI_ERROR), high * (1 + PHI_ERROR), 1.0, "closed_form")


def _gaussian_error(weight: NDArray[np.float64], delta: float) -> float:
    """∫ min(w₁ p₁, w₂ p₂) for two Gaussians at distance Δ."""
    if not (weight > 0).all() or delta == 0:
        return float(weight.min())
    shift = log_of(weight[1] / weight[0]) / delta
    return float(weight @ ndtr([-delta / 2 + shift, -delta / 2 - shift]))


def gaussian(density: Density) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Mean (d,) and covariance matrix (d, d) of a Gaussian; None of anything else.

    What SciPy takes for singular is something else: its density is that of a subspace.
    """
    joint = getattr(density, "distribution", None)
    if isinstance(joint, _MULTIVARIATE_NORMAL):
        if joint.cov_object.rank < joint.dim:
            return None
        return np.asarray(joint.mean), np.asarray(joint.cov)
    ones = [column.distribution for column in density.columns]
    if not ones or not all(isinstance(getattr(one, "dist", None), _NORMAL) for one in ones):
        return None
    return np.array([one.mean() for one in ones]), np.diag([one.std() for one in ones]) ** 2


def distance(known: KnownDensities) -> float | None:
    """Mahalanobis distance Δ of two Gaussian classes of the same, regular covariance matrix."""
    pair = [gaussian(density) for density in known.densities]
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        return None
    (mean, covariance), (other, same) = pair[0], pair[1]
    if not np.array_equal(covariance, same):
        return None
    factor = factorise(DoubleDouble.of(covariance))
    if factor.dependent:
        return None
    difference = DoubleDouble(*two_sum(mean, -other))
    solution = factor.solve(difference[:, None])[:, 0]
    terms = multiply(difference.hi, difference.lo, solution.hi, solution.lo)
    return sqrt(float(DoubleDouble(*terms).sum(axis=0).value))
