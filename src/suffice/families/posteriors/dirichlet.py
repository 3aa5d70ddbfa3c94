"""The Dirichlet posterior of probabilities θ: the logarithms of its shares.

::

    θ ~ Dirichlet(a):    E log θ_v = ψ(a_v) − ψ(A)    Var log θ_v = ψ₁(a_v) − ψ₁(A)    A = Σ a_v

Source: T. P. Minka, Estimating a Dirichlet distribution (2000), eq. 6; the variance is the second
derivative of the same logarithm of the normalising constant.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.families.posteriors.posterior import trigamma
from suffice.numerics.elementary import digamma

__all__ = ["borrowed", "drawn_shares", "log_share_moments", "prior_weight"]


def prior_weight(
    alpha: float | NDArray[np.float64], estimation: str
) -> float | NDArray[np.float64]:
    """α of the prior of a posterior: 0, the improper one, under ``mle``."""
    return 0.0 * alpha if estimation == "mle" else alpha


def borrowed(count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts (k, ..., v); a class that has none has those of all classes."""
    empty = count.sum(axis=-1, keepdims=True) == 0
    return np.where(empty, count.sum(axis=0), count)


def log_share_moments(
    part: NDArray[np.float64], total: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of log θ_v from a_v and A; without any weight, −∞ and ∞.

    Examples
    --------
    >>> log_share_moments(np.array([1.0]), np.array([2.0]))  # uniform: −log θ is exponential
    (array([-1.]), array([1.]))
    """
    known = (part > 0) & (total > 0)
    a, A = np.where(known, part, 1.0), np.where(known, total, 2.0)
    mean = np.where(known, digamma(a) - digamma(A), 0.0)
    # Σ a_v = a_v leaves nothing open.
    variance = np.where(known, np.maximum(trigamma(a) - trigamma(A), 0.0), np.inf)
    return mean, variance


def drawn_shares(part: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw θ from Dirichlet(a) along the last axis; without any weight, equal shares."""
    gamma = rng.standard_gamma(part)
    total = gamma.sum(axis=-1, keepdims=True)
    equal = 1 / max(part.shape[-1], 1)
    return np.where(total > 0, gamma / np.where(total > 0, total, 1.0), equal)
