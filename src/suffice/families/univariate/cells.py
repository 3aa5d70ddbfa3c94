"""The cells of one column of binned counts, as densities are estimated from them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.cuts import equal_frequency_cuts
from suffice.numerics import kernels
from suffice.sums.bins import BinnedCounts, cell_bounds

__all__ = ["Cells", "KernelShape", "cells_of_column", "merged"]

TIE = 2.0**-30  # units: a number midway between two others is one of the larger, however rounded
GROUPS = 200  # cells, at most, that kernels stand in


class _Cells(NamedTuple):
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    counts: NDArray[np.float64]


class Cells(_Cells):
    """m ≥ 1 neighbouring cells, in the order of the numbers in them.

    Parameters
    ----------
    low, high : ndarray (m,)
        Their bounds, finite.
    counts : ndarray (k, m)
        Σw of the numbers of each class in each cell.
    """

    @cached_property
    def at(self) -> NDArray[np.float64]:
        """A number that stands for those in each cell, (m,)."""
        return 0.5 * self.low + 0.5 * self.high

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the numbers of each class, (k,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def every(self) -> NDArray[np.float64]:
        """Σw of the numbers of all classes in each cell, (m,)."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def grouped(self) -> Cells:
        """At most 200 cells of equal frequency, without gaps between them."""
        few = len(self.low) <= GROUPS
        cuts = np.arange(1, len(self.low)) if few else equal_frequency_cuts(self.every, GROUPS)
        return merged(self, cuts)

    @cached_property
    def kernel_shape(self) -> KernelShape:
        """What kernels of all bandwidths have in common."""
        return KernelShape.of(self.grouped)


class KernelShape(NamedTuple):
    """How broad the kernels of the classes are, and one for what no number showed.

    Parameters
    ----------
    deviation : float
        Of the numbers of all classes, from their mean.
    spreads, narrower : ndarray (k,)
        min(s_c, (q₃ − q₁)_c / 1.34) and n_c^(−1/5), of the numbers of each class.
    broad : ndarray (b,)
        Cauchy(x; x̄, s) in each cell.
    """

    deviation: float
    spreads: NDArray[np.float64]
    narrower: NDArray[np.float64]
    broad: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Cells) -> KernelShape:
        """That of two cells or more."""
        k, b = cells.counts.shape
        shape = np.empty(k), np.empty(k), np.empty(b)
        return cls(kernels.densities.kernel_shape(cells.at, cells.counts, *shape), *shape)


def cells_of_column(bins: BinnedCounts, j: int) -> Cells:
    """The cells of column j that hold a number; the outermost end where the numbers may begin.

    Examples
    --------
    >>> from suffice.sums.bins import BinnedCountAccumulator
    >>> from suffice.sums.block import RealBlock
    >>> total = BinnedCountAccumulator(np.zeros(1))
    >>> total.add(RealBlock(np.array([[2.0], [7.0], [7.0]])), np.array([0, 0, 1]), np.empty(0), 2)
    >>> cells_of_column(total.statistic(), 0).counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    cells, count = bins.column(j)
    low, high = cell_bounds(cells)
    low, high = np.where(np.isinf(low), high, low), np.where(np.isinf(high), low, high)
    if len(bins.unit):
        low, high = bins.unit[j] * (low - TIE), bins.unit[j] * high
    return Cells(low + bins.origin[j], high + bins.origin[j], count)


def merged(cells: Cells, cuts: NDArray[np.intp]) -> Cells:
    """Fewer cells, without gaps between them: each begins with one of the ``cuts``, or the first.

    Between two cells lies the middle of what parts them.
    """
    bins = len(cuts) + 1
    found = Cells(np.empty(bins), np.empty(bins), np.empty((len(cells.counts), bins)))
    kernels.densities.merge(*cells, cuts, *found)
    return found
