"""Cells of one column of binned counts, and where a column is cut into bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.families.gaussian import FAR
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.sums.bins import CELLS, BinnedCounts, cell_bounds
from suffice.sums.moments import Moments
from suffice.sums.pairs import CutBins


def equal_frequency_cuts(every: Floats, bins: int) -> Ints:
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
    shares = upto[-1] * np.arange(1, bins) / bins
    cuts = np.unique(np.searchsorted(upto, shares) + 1)
    return cuts[cuts < len(every)]


# -- cells


TIE = 2.0**-30  # units: a number midway between two others is one of the larger, however rounded


class Cells(NamedTuple):
    """m ≥ 1 neighbouring cells, in the order of the numbers in them.

    Parameters
    ----------
    low, high : ndarray (m,)
        Their bounds, finite.
    counts : ndarray (k, m)
        Σw of the numbers of each class in each cell.
    """

    low: Floats
    high: Floats
    counts: Floats

    def joined(self, cuts: Ints) -> Cells:
        """Return fewer cells, without gaps: each begins with one of the ``cuts``, or the first.

        Between two cells lies the middle of what parts them.
        """
        bins = len(cuts) + 1
        found = Cells(np.empty(bins), np.empty(bins), np.empty((len(self.counts), bins)))
        kernels.densities.merge(*self, cuts, *found)
        return found


def cells_of_column(bins: BinnedCounts, j: int, most: int = CELLS) -> Cells:
    """The cells of column j that hold a number; the outermost end where the numbers may begin.

    More than ``most`` are joined to so many of equal frequency.

    Examples
    --------
    >>> from suffice.sums.bins import BinnedCountAccumulator
    >>> from suffice.sums.block import RealBlock
    >>> total = BinnedCountAccumulator(np.zeros(1))
    >>> total.add(RealBlock(np.array([[2.0], [7.0], [7.0]])), np.array([0, 0, 1]), np.empty(0), 2)
    >>> cells_of_column(total.statistic(), 0).counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    cells, every = bins.cells(j)
    few = len(cells) <= most
    cuts = np.arange(1, len(cells)) if few else equal_frequency_cuts(every, most)
    counts = bins.counts(j, cells, cuts)
    low, high = cell_bounds(cells)
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    if not few:
        low, high = low[np.append(0, cuts)], high[np.append(cuts, len(cells)) - 1]
    if len(bins.unit):
        low, high = bins.unit[j] * (low - TIE), bins.unit[j] * high
    return Cells(low + bins.origin[j], high + bins.origin[j], counts)


# -- bins


BINS = 10  # of equal frequency, where no cut tells of the class


def learnt_cuts(cells: Cells) -> tuple[Ints, bool]:
    """Cut where bins tell most of the class, as often as it shortens the description of the data.

    A cut of n rows of entropy E and k classes into two parts gains

    ::

        G = E − (n₁ E₁ + n₂ E₂)/n

    bits a row. The best one is accepted, and both parts are cut in turn, while

    ::

        G > log₂(n − 1)/n + (log₂(3ᵏ − 2) − (k E − k₁ E₁ − k₂ E₂))/n

    Without such a cut there are ten bins of equal frequency.

    Returns
    -------
    ndarray of int, bool
        The cells that begin a bin, except the first, ascending; whether the classes decide them.

    Source: U. M. Fayyad and K. B. Irani, Multi-interval discretization of continuous-valued
    attributes for classification learning (IJCAI 1993), eqs. 1-3 and section 3.

    Examples
    --------
    >>> edges = np.arange(5.0)
    >>> counts = np.array([[9.0, 8.0, 0.0, 0.0], [0.0, 1.0, 9.0, 9.0]])
    >>> learnt_cuts(Cells(edges[:-1], edges[1:], counts))
    (array([2]), True)
    """
    cuts = np.empty(len(cells.low), np.int64)
    found = kernels.cuts.every(cells.counts, cuts)
    if found:
        return np.sort(cuts[:found]).astype(np.intp, copy=False), True
    return equal_frequency_cuts(cells.counts.sum(axis=0), BINS), False


def binned_counts(cells: Cells, cuts: Ints) -> tuple[CutBins, Floats]:
    """The bins that begin with the given cells, and Σw of every class in each, (k, m).

    Examples
    --------
    >>> cells = Cells(np.array([1.0, 4.0]), np.array([2.0, 5.0]), np.array([[3.0, 0.0]]))
    >>> binned_counts(cells, np.array([1]))
    (CutBins(cuts=array([3.])), array([[3., 0.]]))
    """
    counts = np.add.reduceat(cells.counts, np.append(0, cuts), axis=1)
    before, after = cells.high[cuts - 1], cells.low[cuts]
    edges = 0.5 * before + 0.5 * after
    is_point = (cells.low[cuts - 1] == before) & (edges == before)  # which is below the cut
    return CutBins(np.where(is_point, np.nextafter(before, np.inf), edges)), counts


def far_columns(moments: Moments) -> Ints:
    """The columns whose grid is too coarse, as they lie far from 0."""
    rows = moments.one_class
    mean, variance = rows.mean[0], rows.variance[0]
    return np.flatnonzero((variance > 0) & (mean**2 > FAR**2 * variance))
