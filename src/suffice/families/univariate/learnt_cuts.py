"""The bins of one column of numbers, from its binned counts by class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.cells import Cells
from suffice.families.univariate.cuts import entropy_cuts, equal_frequency_cuts
from suffice.families.univariate.parameters import FAR
from suffice.sums.moments import Moments
from suffice.sums.pairs import CutBins

__all__ = ["binned_counts", "far_columns", "learnt_cuts"]

BINS = 10  # of equal frequency, where no cut tells of the class


def learnt_cuts(cells: Cells) -> NDArray[np.intp]:
    """Where a column is cut: by `entropy_cuts` or, where that cuts nothing, into ten equal parts.

    Returns
    -------
    ndarray of int
        The cells that begin a bin, except the first; ascending.
    """
    cuts = entropy_cuts(cells.counts)
    return cuts if len(cuts) else equal_frequency_cuts(cells.every, BINS)


def binned_counts(cells: Cells, cuts: NDArray[np.intp]) -> tuple[CutBins, NDArray[np.float64]]:
    """The bins that begin with the given cells, and Σw of every class in each, (k, m).

    Examples
    --------
    >>> cells = Cells(np.array([1.0, 4.0]), np.array([2.0, 5.0]), np.array([[3.0, 0.0]]))
    >>> binned_counts(cells, np.array([1]))
    (CutBins(cuts=array([3.])), array([[3., 0.]]))
    """
    counts = np.add.reduceat(cells.counts, np.append(0, cuts), axis=1)
    return CutBins(_between(cells, cuts)), counts


def _between(cells: Cells, cuts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Where the numbers of a cell end and those of the next begin, (cuts,)."""
    before, after = cells.high[cuts - 1], cells.low[cuts]
    edges = 0.5 * before + 0.5 * after
    is_point = (cells.low[cuts - 1] == before) & (edges == before)  # which is below the cut
    return np.where(is_point, np.nextafter(before, np.inf), edges)


def far_columns(moments: Moments) -> NDArray[np.intp]:
    """The columns whose grid is too coarse, as they lie far from 0."""
    rows = moments.one_class
    mean, variance = rows.mean[0], rows.variance[0]
    return np.flatnonzero((variance > 0) & (mean**2 > FAR**2 * variance))
