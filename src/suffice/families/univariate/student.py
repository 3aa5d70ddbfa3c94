"""The Gaussian's posterior predictive at the numbers of a column, each of them left out or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.cells import Cells
from suffice.numerics.elementary import lgamma, log, log1p
from suffice.statistics.precision import AnyMoments

__all__ = ["student_densities"]


def student_densities(
    moments: AnyMoments, j: int, cells: Cells
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log p(x | c) in the middle of every cell, and the same without x in class c, (k, m).

    Of column j by the prior of `suffice.families.gaussian.Gaussian`: one row at the mean of all
    classes, and two of their variance. Without x, with n' = n − 1,

    ::

        x̄' = x̄ − (x − x̄)/n'    Σ' = Σ − (x − x̄)² n/n'
    """
    pooled = moments.one_class
    prior = pooled.mean[0, j], pooled.variance[0, j]
    x, n = cells.at, moments.total[:, j, None]
    mean, scatter = moments.mean[:, j, None], moments.scatter[:, j, None]
    rest = np.maximum(n - 1, 0.0)
    some = np.where(rest > 0, rest, 1.0)
    shift = np.where(n > 0, x - mean, 0.0)
    left = mean - np.where(rest > 0, shift / some, 0.0)
    spread = np.where(rest > 0, np.maximum(scatter - shift**2 * n / some, 0.0), 0.0)
    return _log_density(x, n, mean, scatter, *prior), _log_density(x, rest, left, spread, *prior)


def _log_density(
    x: NDArray[np.float64],
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    scatter: NDArray[np.float64],
    mean0: float,
    variance0: float,
) -> NDArray[np.float64]:
    """Murphy (2007), eqs. 86-89 and 110, with κ₀ = a₀ = 1 and b₀ the variance of all classes."""
    shift = np.where(n > 0, mean - mean0, 0.0)
    kappa, a = 1 + n, 1 + n / 2
    m = mean0 + n / kappa * shift
    b = variance0 + scatter / 2 + n / kappa * shift**2 / 2
    square, nu = 2 * b * (kappa + 1) / kappa, 2 * a
    log_scale = lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(np.pi * square)
    return np.asarray(log_scale - (nu + 1) / 2 * log1p((x - m) ** 2 / square))
