"""Tails of Gaussians: the probability of a point that is as far from the mean, or farther.

::

    D² = (x − μ)ᵀΣ⁻¹(x − μ) is χ² with as many degrees of freedom as there are columns
    P(p(X) ≤ p(x)) = P(χ²_r ≥ D²) = Q(r/2, D²/2)

Source: T. W. Anderson, An Introduction to Multivariate Statistical Analysis, 3rd ed. (2003),
theorem 3.3.3; Q is the regularised incomplete gamma function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.univariate.parameters import GaussianParameters
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import factorise
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import linear

__all__ = ["gaussian_tails", "multivariate_tails"]


def chi_squared_tail(
    freedom: NDArray[np.float64], distance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(χ²_r ≥ D²); 1 without a degree of freedom.

    Examples
    --------
    >>> chi_squared_tail(np.array([2.0, 0.0]), np.array([2 * np.log(4), 0.0]))
    array([0.25, 1.  ])
    """
    from scipy.special import gammaincc

    some = np.where(freedom > 0, freedom, 1.0)
    tail = gammaincc(some / 2, np.maximum(distance, 0.0) / 2)
    return np.asarray(np.where(freedom > 0, tail, 1.0))


def gaussian_tails(
    parameters: Sequence[Any], known: Sequence[NDArray[np.bool_]], logs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Tails (n, k) of independent Gaussians.

    Parameters
    ----------
    parameters : sequence of GaussianParameters
    known : sequence of ndarray (n, d_b)
        Which cells are there.
    logs : ndarray (n, k)
        log p(x | c), which is that of the mean less ½D².
    """
    highest, freedom = np.zeros(logs.shape), np.zeros((len(logs), 1))
    for found, cells in zip(cast(Sequence[GaussianParameters], parameters), known, strict=True):
        there = cells.astype(np.float64)
        highest += there @ found.log_scale.T
        freedom += (there * (found.variance > 0).any(axis=0)).sum(axis=1, keepdims=True)
    return chi_squared_tail(np.broadcast_to(freedom, logs.shape), 2 * (highest - logs))


def multivariate_tails(
    factored: FactoredGaussians, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Tails (n, k) of Gaussians with covariances; what is missing is integrated out."""
    k, d = factored.mean.shape
    used = np.setdiff1d(np.arange(d), [j for j, _, _ in factored.left_out])
    tails, there = np.empty((len(values), k)), ~np.isnan(values)
    patterns, which = np.unique(there[:, used], axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        rows, columns = np.flatnonzero(which.ravel() == p), used[pattern]
        for c in range(k):
            m = min(c, len(factored.covariance) - 1)
            if pattern.all():
                x = values[np.ix_(rows, used)] - factored.origin[m][used]
                z = linear(x, factored.whitening[m][:, used].T) - factored.shift[c]
                rank = int(factored.rank[m])
            else:
                x = values[np.ix_(rows, columns)] - factored.mean[c][columns]
                x -= factored.mean_lo[c][columns]
                covariance = factored.covariance[m][np.ix_(columns, columns)]
                factor = factorise(DoubleDouble.of(covariance))
                z, rank = linear(x, factor.whitening.value.T), factor.rank
            tails[rows, c] = chi_squared_tail(np.full(len(rows), float(rank)), row_sums(z**2))
    return tails
