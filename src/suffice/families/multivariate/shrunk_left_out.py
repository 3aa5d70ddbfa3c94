"""Leave-one-out of Gaussians that are shrunk towards their own diagonals."""

from __future__ import annotations

import numpy as np

from suffice.families.multivariate.scatters_left_out import ScattersLeftOut
from suffice.families.multivariate.sums import _Sums

__all__ = ["shrunk_left_out"]

LEAST_UNIT = 2.0**-40  # of a column's variance over all rows


def shrunk_left_out(sums: _Sums, ddof: int, floor: float) -> ScattersLeftOut:
    """Σ_c = (1 − s)S_c/f_c + s diag(S_c)/f_c without one row, the diagonal that of all rows.

    A class of no more than ``ddof`` rows has the covariance of all.

    Parameters
    ----------
    sums : _Sums
        Of complete rows and columns that vary; the scatter is that of each class, or of all.
    ddof : int
        f_c = n_c − ddof, or Σ_c (n_c − ddof).
    floor : float
        The least variance of a column, as a fraction of that over all classes.
    """
    n, scatter = sums.weight, sums.scatter.value
    freedom = np.where(n > 0, n - ddof, 0.0)
    shared = len(scatter) < len(n)
    if shared:
        freedom = np.full(len(n), freedom.sum())
    known = freedom > 0
    divisor = np.where(known, freedom, 1.0)
    if not shared:
        scatter = np.where(known[:, None, None], scatter, sums.covariance.value)
    diagonal = np.diagonal(scatter, axis1=1, axis2=2) / divisor[: len(scatter), None]
    unit = np.maximum(diagonal, max(floor, LEAST_UNIT) * sums.prior_variance.value)
    pooling = np.full(len(n), float(shared))
    own = known.astype(np.float64)
    return ScattersLeftOut(n, sums.mean.value, scatter, divisor, unit, pooling, own, follows=False)
