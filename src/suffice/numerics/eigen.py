"""Eigenvalues and eigenvectors of symmetric matrices, the same bits on every processor.

LAPACK chooses its loops by the processor, and may divide the work between threads.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels

__all__ = ["eigh"]


def eigh(a: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return λ and X with A X = X diag(λ) of symmetric matrices.

    Parameters
    ----------
    a : ndarray (..., d, d)
        A, finite; its lower triangle is read.

    Returns
    -------
    values : ndarray (..., d)
        λ, the least first.
    vectors : ndarray (..., d, d)
        X, a column for every eigenvalue.

    Raises
    ------
    ValueError
        If a number is not finite.

    Source: B. N. Parlett, The Symmetric Eigenvalue Problem (1998), chapters 7 and 8.

    Examples
    --------
    >>> values, vectors = eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12), abs(vectors).round(3)
    (array([1., 3.]), array([[0.707, 0.707],
           [0.707, 0.707]]))
    """
    if not np.isfinite(a).all():
        raise ValueError("eigenvalues of a matrix that is not finite")
    rows = np.array(a, np.float64, order="C").reshape(math.prod(a.shape[:-2]), *a.shape[-2:])
    values = np.empty(rows.shape[:2])
    if not kernels.eigen.symmetric(rows, values):
        raise ArithmeticError("QL steps did not converge")
    return values.reshape(a.shape[:-1]), rows.reshape(a.shape).swapaxes(-1, -2)
