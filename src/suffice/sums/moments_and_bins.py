"""Moments and binned counts of the same numbers: what they are on average, and how they lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.rules import rule
from suffice.sums.binned_counts import NO_UNITS, BinnedCountAccumulator, BinnedCounts
from suffice.sums.block import RealBlock
from suffice.sums.divergence import Divergences
from suffice.sums.moments import Moments, MomentsAccumulator
from suffice.sums.statistic import described

__all__ = ["MomentsAndBins", "MomentsAndBinsAccumulator"]


@dataclass(frozen=True, eq=False, repr=False)
class MomentsAndBins:
    """Two statistics of d columns of numbers, added and taken apart together.

    Parameters
    ----------
    moments : Moments
    bins : BinnedCounts
    """

    moments: Moments
    bins: BinnedCounts

    __repr__ = described

    @rule("both are of the same classes and columns")
    def _is_of_one_table(self) -> bool:
        return (self.bins.k, self.bins.d) == (self.k, self.d)

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.moments.k

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.moments.d

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        return self.moments.total

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether values differ by too little to be squared, (d,)."""
        return self.moments.too_small

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        return type(self)(self.moments.one_class, self.bins.one_class)

    def __add__(self, other: Self) -> Self:
        mine: Any = self.moments  # of the type of the others
        return type(self)(mine + other.moments, self.bins + other.bins)

    def __sub__(self, other: Self) -> Self:
        mine: Any = self.moments
        return type(self)(mine - other.moments, self.bins - other.bins)

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return type(self)(self.moments.scaled(factor), self.bins.scaled(factor))

    def canonical(self) -> Self:
        """The same sums in the form that a file has."""
        return type(self)(self.moments.canonical(), self.bins)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MomentsAndBins):
            return NotImplemented
        return self.moments == other.moments and self.bins == other.bins

    __hash__ = None  # type: ignore[assignment]

    def divergences(self, other: Self) -> Divergences:
        """How far the moments of every class are from another table's, (k, d)."""
        mine: Any = self.moments
        found: Divergences = mine.divergences(other.moments)
        return found

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return type(self)(self.moments.place(index, k), self.bins.place(index, k))

    def columns(self, index: NDArray[np.intp]) -> Self:
        """Keep the columns at ``index``, in that order."""
        return type(self)(self.moments.columns(index), self.bins.columns(index))

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        return type(self)(self.moments.take(index), self.bins.take(index))


class MomentsAndBinsAccumulator:
    """Builds `MomentsAndBins` of d columns; numbers are binned from 0."""

    def __init__(self, d: int) -> None:
        self._moments = MomentsAccumulator(d)
        self._binned = np.arange(d)
        self.bin_from(np.zeros(d))

    def bin_from(self, origin: NDArray[np.float64], unit: NDArray[np.float64] = NO_UNITS) -> None:
        """Bin numbers from other origins, in units of their own, (d,); before any is added."""
        self._origin, self._unit = origin, unit
        self.bin_only(self._binned)

    def bin_only(self, columns: NDArray[np.intp]) -> None:
        """Leave the cells of all but some columns empty; before any number is added."""
        unit = self._unit[columns] if len(self._unit) else NO_UNITS
        self._binned, self._bins = columns, BinnedCountAccumulator(self._origin[columns], unit)

    def add(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite, or too large to be squared.
        """
        self._moments.add(block, codes, weights, k)
        every = len(self._binned) == block.width
        binned = block if every else RealBlock(block.values[:, self._binned])
        self._bins.add(binned, codes, weights, k)

    def statistic(self) -> MomentsAndBins:
        """Freeze what was added."""
        bins, d = self._bins.statistic(), len(self._origin)
        if bins.d < d:
            bins = replace(bins.widened(self._binned, d), origin=self._origin, unit=self._unit)
        return MomentsAndBins(self._moments.statistic(), bins)
