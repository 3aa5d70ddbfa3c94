"""Where a column is cut into bins: by what the bins tell of the class, or into equal parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels

__all__ = ["entropy_cuts", "equal_frequency_cuts"]


def entropy_cuts(count: NDArray[np.float64]) -> NDArray[np.intp]:
    """Cut where bins tell most of the class, as often as it shortens the description of the data.

    A cut of n rows of entropy E and k classes into two parts gains

    ::

        G = E − (n₁ E₁ + n₂ E₂)/n

    bits a row. The best one is accepted, and both parts are cut in turn, while

    ::

        G > log₂(n − 1)/n + (log₂(3ᵏ − 2) − (k E − k₁ E₁ − k₂ E₂))/n

    Parameters
    ----------
    count : ndarray (k, m)
        Σw of every class in each of m cells, in their order.

    Returns
    -------
    ndarray of int
        The cells that begin a bin, except the first; ascending.

    Source: U. M. Fayyad and K. B. Irani, Multi-interval discretization of continuous-valued
    attributes for classification learning (IJCAI 1993), eqs. 1-3 and section 3.

    Examples
    --------
    >>> entropy_cuts(np.array([[9.0, 8.0, 0.0, 0.0], [0.0, 1.0, 9.0, 9.0]]))
    array([2])
    >>> entropy_cuts(np.array([[5.0, 6.0], [6.0, 5.0]]))
    array([], dtype=int64)
    """
    cuts = np.empty(count.shape[1], np.int64)
    found = kernels.cuts.every(count, cuts)
    return np.sort(cuts[:found]).astype(np.intp, copy=False)


def equal_frequency_cuts(every: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """Cut into at most so many bins of about the same weight.

    Parameters
    ----------
    every : ndarray (m,)
        Σw in each of m cells.
    bins : int
        At least 1.

    Returns
    -------
    ndarray of int
        The cells that begin a bin, except the first; ascending.

    Examples
    --------
    >>> equal_frequency_cuts(np.array([1.0, 1.0, 6.0, 1.0, 1.0]), 3)
    array([3])
    >>> equal_frequency_cuts(np.ones(6), 3)
    array([2, 4])
    """
    cuts = np.empty(max(0, min(bins, len(every)) - 1), np.intp)
    return cuts[: kernels.cuts.equal_frequency(every, bins, cuts)]
