"""The shrinkage of a covariance matrix towards uncorrelated columns of least expected loss."""

from __future__ import annotations

import numpy as np

from suffice.numerics.arrays import Floats


def ledoit_wolf(covariance: Floats, fourth: float, n: float) -> float:
    """The shrinkage of a matrix of correlations R towards I that loses least, without a model.

    ::

        s = b² / d²    d² = tr R² − d    b² = [Σᵢ |zᵢ|⁴ / n − tr R²] / n, at most d²

    Source: O. Ledoit and M. Wolf, A well-conditioned estimator for large-dimensional covariance
    matrices, J. Multivariate Anal. 88 (2004), lemmas 3.2 to 3.5, both sides times d.
    """
    sd = np.sqrt(np.diagonal(covariance))
    used = sd > 0
    r = covariance[np.ix_(used, used)] / np.outer(sd[used], sd[used])
    return _share(float((r * r).sum()), len(r), fourth, n)


def ledoit_wolf_of_rows(variances: Floats, d: int, fourth: float, n: float) -> float:
    """Return the same shrinkage from the variances of R along its axes, of d columns."""
    return _share(float((variances**2).sum()), d, fourth, n)


def _share(square: float, d: int, fourth: float, n: float) -> float:
    """Return b²/d² from tr R², to 2⁻³⁰; bits below depend on the order of the rows."""
    if n <= 0:
        return 0.0
    distance, error = square - d, (fourth / n - square) / n
    if error <= 0 or distance <= 0:
        return 0.0 if error <= 0 else 1.0
    return round(min(error, distance) / distance * 2.0**30) * 2.0**-30
