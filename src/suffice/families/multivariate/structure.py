"""Which covariances a Gaussian may have: all of them, no correlations, or one variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.parameters import Structure
from suffice.numerics.exact import DoubleDouble

__all__ = ["most_likely", "shaped"]


def shaped(covariance: DoubleDouble, structure: Structure, fraction: float = 0.0) -> DoubleDouble:
    """Shrink the covariances of one matrix (d, d), or leave them out."""
    diagonal = np.eye(covariance.shape[0])
    if structure == "diagonal":
        return covariance * diagonal
    if structure == "spherical":
        trace = (covariance * diagonal).sum(axis=0).sum(axis=0)
        return trace / float(max(len(diagonal), 1)) * diagonal
    return covariance * np.where(diagonal, 1.0, 1.0 - fraction)


def most_likely(
    scatter: NDArray[np.float64],
    rows: NDArray[np.float64],
    prior_variance: DoubleDouble,
    structure: Structure,
) -> NDArray[np.float64]:
    """Covariances (s, d, d) of greatest likelihood; the prior's where there is no row.

    Parameters
    ----------
    scatter : ndarray (s, d, d)
        Expected scatter.
    rows : ndarray (s,)
        How many rows it is of.
    prior_variance : DoubleDouble (d,)
        Of each column.
    structure : str
        Of the covariances.
    """
    known = (rows > 0)[:, None, None]
    divisor, unit = np.where(known, rows[:, None, None], 1.0), np.eye(scatter.shape[-1])
    if structure == "full":  # one division, which pairs would round alike
        return np.where(known, scatter / divisor, prior_variance.value * unit)
    own = DoubleDouble.of(scatter) / divisor
    covariance = DoubleDouble.where(known, own, prior_variance * unit)
    return DoubleDouble.stack(shaped(covariance[m], structure) for m in range(len(rows))).value
