"""Where a column is cut into bins: by what the bins tell of the class, or into equal parts."""

from __future__ import annotations

from math import log2

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.elementary import log

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
    upto = np.zeros((len(count), count.shape[1] + 1))
    np.cumsum(count, axis=1, out=upto[:, 1:])
    found, waiting = [], [(0, count.shape[1])]
    while waiting:
        first, stop = waiting.pop()
        cut = kernels.cuts.best(upto, first, stop)
        if cut > first and _shortens(*upto[:, [first, cut, stop]].T):
            found.append(cut)
            waiting += [(first, cut), (cut, stop)]
    return np.array(sorted(found), np.intp)


def _shortens(
    before: NDArray[np.float64], cut: NDArray[np.float64], after: NDArray[np.float64]
) -> bool:
    """Whether a cut is worth its description, of weights (k,) before and after both parts."""
    counts = np.array([after - before, cut - before, after - cut])
    n, k = counts.sum(axis=1), (counts > 0).sum(axis=1)
    if n[0] <= 1 or k[0] >= 600:
        return False
    entropy = _entropy(counts)
    gain = entropy[0] - (n[1] * entropy[1] + n[2] * entropy[2]) / n[0]
    told = k[0] * entropy[0] - k[1] * entropy[1] - k[2] * entropy[2]
    return bool(n[0] * gain > log2(n[0] - 1) + log2(3.0 ** k[0] - 2) - told)


def _entropy(count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits: −Σ p log₂ p over the last axis; 0 without rows."""
    n = count.sum(axis=-1, keepdims=True)
    p = count / np.where(n > 0, n, 1.0)
    terms = p * log(np.where(p > 0, p, 1.0))
    return np.asarray(-terms.sum(axis=-1) / _LOG_2)


_LOG_2 = float(log(2.0))


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
    upto = np.cumsum(every)
    parts = upto[-1] * np.arange(1, bins) / bins
    cuts = np.unique(np.searchsorted(upto, parts) + 1)
    return np.asarray(cuts[cuts < len(every)], np.intp)
