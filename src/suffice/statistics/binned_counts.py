"""Binned counts: how the numbers of every class lie, on a grid that no data decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Shape, Within, check_form, rule
from suffice.statistics.counts import nonnegative
from suffice.statistics.divergence import Divergences, of_fractions
from suffice.statistics.statistic import described, described_in_html
from suffice.statistics.value_grid import CELLS

__all__ = ["NO_UNITS", "YEAR_2000", "BinnedCounts"]

YEAR_2000 = 946_684_800.0
"""2000-01-01 in seconds since 1970-01-01: where the grid of a column of dates has its 0."""

NO_UNITS = np.zeros(0)  # of columns whose numbers are counted as they are

PlacesOfCells = tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.float64]]


def places_of_cells(columns: int, most: int) -> PlacesOfCells:
    """Where a kernel writes the start of every column, and at most so many cells and counts."""
    return np.empty(columns + 1, np.int64), np.empty(most, np.uint16), np.empty(most)


@dataclass(frozen=True, eq=False, repr=False)
class BinnedCounts:
    """Weight of the numbers of d columns in every cell of `suffice.statistics.value_grid`.

    Only cells that hold a number are kept, so equal rows give equal counts whatever was added and
    taken away before. A file takes 10 bytes for each, and 18 where a weight is no double.

    Parameters
    ----------
    k : int
        Number of classes.
    origin : ndarray (d,)
        What is subtracted from the numbers of each column before they are counted.
    start : ndarray of int (kd + 1,)
        Where the cells of class c and column j start: at ``start[cd + j]``.
    cell : ndarray of uint16 (M,)
        The cells, ascending in every class and column.
    high : ndarray (M,)
        Σw of the numbers in each cell, rounded to a double.
    low : ndarray (M,), or (0,) where the rounding left nothing
        What it left.
    unit : ndarray (d,), or (0,) where all are 1
        What the numbers of each column, less its origin, are divided by before they are counted.

    Examples
    --------
    >>> from suffice.statistics.binned_count_accumulator import BinnedCountAccumulator
    >>> from suffice.statistics.block import RealBlock
    >>> total = BinnedCountAccumulator(np.zeros(1))
    >>> rows = RealBlock(np.array([[2.0], [2.0], [0.1], [np.nan]]))
    >>> total.add(rows, np.zeros(4, np.intp), np.empty(0), 1)
    >>> cells, counts = total.statistic().column(0)
    >>> cells.tolist(), counts.tolist()
    ([30109, 31237], [[1.0, 2.0]])
    """

    k: Annotated[int, NONNEGATIVE]
    origin: Annotated[NDArray[np.float64], Shape("d"), FINITE]
    start: Annotated[NDArray[np.int64], Shape("s"), NONNEGATIVE]
    cell: Annotated[NDArray[np.uint16], Shape("M"), Within(0, CELLS - 1)]
    high: Annotated[NDArray[np.float64], Shape("M"), WEIGHT]
    low: Annotated[NDArray[np.float64], Shape("r"), FINITE]
    unit: Annotated[NDArray[np.float64], Shape("u"), POSITIVE] = field(
        default_factory=lambda: NO_UNITS
    )

    __repr__ = described
    _repr_html_ = described_in_html

    def __post_init__(self) -> None:
        check_form(self)

    @rule("the cells of every class and column are distinct and sorted, and each has a count")
    def _has_cells(self) -> bool:
        start, size = self.start, len(self.cell)
        if len(start) != self.k * self.d + 1 or start[0] != 0 or start[-1] != size:
            return False
        if (np.diff(start) < 0).any():
            return False
        later = self.cell[1:] > self.cell[:-1]
        later[start[(start > 0) & (start < size)] - 1] = True  # the first of a column
        return bool(later.all() and (self.high > 0).all())

    @rule("low is what rounding left of every sum, or empty where it left nothing")
    def _is_normal(self) -> bool:
        if not len(self.low):
            return True
        whole = len(self.low) == len(self.high) and bool(self.low.any())
        return whole and bool((self.high + self.low == self.high).all())

    @rule("every column has a unit, or none has one")
    def _has_units(self) -> bool:
        return len(self.unit) in (0, self.d)

    @classmethod
    def empty(
        cls, k: int, origin: NDArray[np.float64], unit: NDArray[np.float64] = NO_UNITS
    ) -> Self:
        """The counts of no rows."""
        return cls.of_places(k, origin, np.zeros(0, np.int64), DoubleDouble.zeros(0), unit)

    @classmethod
    def of_places(
        cls,
        k: int,
        origin: NDArray[np.float64],
        keys: NDArray[np.int64],
        count: DoubleDouble,
        unit: NDArray[np.float64] = NO_UNITS,
    ) -> Self:
        """Counts above 0 at keys (class · d + column) · CELLS + cell, ascending."""
        place, cell = np.divmod(keys, CELLS)
        start = np.searchsorted(place, np.arange(k * len(origin) + 1)).astype(np.int64)
        low = count.lo if count.lo.any() else np.zeros(0)
        return cls(k, origin, start, cell.astype(np.uint16), count.hi, low, unit)

    @classmethod
    def of_cells(
        cls,
        k: int,
        origin: NDArray[np.float64],
        found: PlacesOfCells,
        size: int,
        unit: NDArray[np.float64] = NO_UNITS,
    ) -> Self:
        """Counts that are doubles, of the first cells in larger arrays, which become that small."""
        start, cell, high = found
        for array in (cell, high):
            array.resize(size, refcheck=False)  # nobody else has it
        return cls(k, origin, start, cell, high, np.zeros(0), unit)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.origin)

    @property
    def units(self) -> NDArray[np.float64]:
        """What numbers are divided by, (d,)."""
        return self.unit if len(self.unit) else np.ones(self.d)

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether values differ by too little to be squared, (d,): counts are not squared."""
        return np.zeros(self.d, np.bool_)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        place = np.repeat(np.arange(self.k * self.d), np.diff(self.start))
        return place * CELLS + self.cell

    @property
    def _count(self) -> DoubleDouble:
        return DoubleDouble(self.high, self.low if len(self.low) else np.zeros(len(self.high)))

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        high, low = self.high.tolist(), self._count.lo.tolist()
        ends = zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)
        return np.array([fsum(high[a:b] + low[a:b]) for a, b in ends]).reshape(self.k, self.d)

    def column(self, j: int) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
        """Return the cells (m,) of column j that any class shows, ascending, and counts (k, m)."""
        column, cells = (self.start, self.cell, self.high, self.d, j), np.empty(CELLS, np.uint16)
        cells = cells[: kernels.bins.cells_of(*column, cells)].copy()
        counts = np.empty((self.k, len(cells)))
        kernels.bins.counts_of(*column, cells, counts)
        return cells, counts

    def __add__(self, other: Self) -> Self:
        self._require_same(other)
        if not (len(self.cell) and len(other.cell)):
            return self if len(self.cell) else other
        if (total := self._in_doubles(other, 1.0)) is not None:
            return total
        keys, mine, theirs = self._aligned(other)
        return self.of_places(self.k, self.origin, keys, mine + theirs, self.unit)

    def _in_doubles(self, other: Self, sign: float) -> Self | None:
        """The sum or difference of counts, if all of these are doubles; None if not."""
        if len(self.low) or len(other.low):
            return None
        mine, theirs = ((c.start, c.cell, c.high) for c in (self, other))
        found = places_of_cells(self.k * self.d, len(self.cell) + len(other.cell))
        size = kernels.bins.add(*mine, *theirs, sign, *found)
        return None if size < 0 else self.of_cells(self.k, self.origin, found, size, self.unit)

    def __sub__(self, other: Self) -> Self:
        self._require_same(other)
        if (rest := self._in_doubles(other, -1.0)) is not None:
            return rest
        keys, mine, theirs = self._aligned(other)
        try:
            left = nonnegative(mine - theirs, mine)
        except ForgetError as error:
            error.column = int(keys[error.column or 0]) // CELLS % self.d
            raise
        return self._kept(keys, left)

    def _is_alike(self, other: BinnedCounts) -> bool:
        """Whether another counts the same columns of as many classes on the same grid."""
        same = self.k == other.k and np.array_equal(self.origin, other.origin)
        return same and np.array_equal(self.unit, other.unit)

    def _require_same(self, other: Self) -> None:
        """Refuse counts of other classes, or from other origins."""
        if not self._is_alike(other):
            mine, theirs = (
                f"{counts.k} classes, with the origins {counts.origin.tolist()} and the units "
                f"{counts.units.tolist()}"
                for counts in (self, other)
            )
            raise ParameterError(f"binned counts are of {theirs}", f"they are added to {mine}")

    def _aligned(self, other: Self) -> tuple[NDArray[np.int64], DoubleDouble, DoubleDouble]:
        """The keys of both, and the counts of each at all of them."""
        if np.array_equal(self._keys, other._keys):
            return self._keys, self._count, other._count
        mine, theirs = np.empty_like(self._keys), np.empty_like(other._keys)
        keys = np.empty(kernels.bins.unite(self._keys, other._keys, mine, theirs), np.int64)
        keys[mine], keys[theirs] = self._keys, other._keys
        counts = self._count.scatter(mine, keys.shape), other._count.scatter(theirs, keys.shape)
        return keys, *counts

    def _kept(self, keys: NDArray[np.int64], count: DoubleDouble) -> Self:
        """The cells that still hold a number."""
        shown = count.hi > 0
        return self.of_places(self.k, self.origin, keys[shown], count[shown], self.unit)

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence.

        Counts within 1e-12 of a whole number are that number: equal weights whose unit is rounded
        would decide ties between bins in another way than rows do.
        """
        count = self._count.scaled(factor)
        whole = np.rint(count.hi)
        near = np.abs(count.hi - whole) <= 1e-12 * whole
        return self._kept(
            self._keys,
            DoubleDouble(np.where(near, whole, count.hi), np.where(near, 0.0, count.lo)),
        )

    def canonical(self) -> Self:
        """Counts have one form only."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinnedCounts):
            return NotImplemented
        if not self._is_alike(other):
            return False
        return np.array_equal(self._keys, other._keys) and self._count == other._count

    __hash__ = None  # type: ignore[assignment]

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        total = self.empty(1, self.origin, self.unit)
        for c in range(self.k):
            total = total + self.take(np.array([c]))
        return total

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class are from another table's, cell by cell, (k, d)."""
        found = []
        for j in range(self.d):
            (mine, a), (theirs, b) = self.column(j), other.column(j)
            cells = np.union1d(mine, theirs)
            wide = np.zeros((2, self.k, len(cells)))
            wide[0][:, np.searchsorted(cells, mine)] = a
            wide[1][:, np.searchsorted(cells, theirs)] = b
            found.append(of_fractions(*wide))
        return Divergences.side_by_side(found)

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        c, rest = np.divmod(self._keys, max(1, self.d * CELLS))
        keys = np.asarray(index, np.int64)[c] * (self.d * CELLS) + rest
        order = np.argsort(keys, kind="stable")
        return self.of_places(k, self.origin, keys[order], self._count[order], self.unit)

    def widened(self, index: NDArray[np.intp], d: int) -> Self:
        """The same columns at ``index``, increasing, among d; no cell of others was observed."""
        origin, unit = np.zeros(d), np.ones(d) if len(self.unit) else NO_UNITS
        origin[index] = self.origin
        if len(unit):
            unit[index] = self.unit
        place, cell = np.divmod(self._keys, CELLS)
        c, j = np.divmod(place, max(1, self.d))
        columns = np.asarray(index, np.int64)
        keys = (c * d + columns[j]) * CELLS + cell if len(columns) else self._keys
        return self.of_places(self.k, origin, keys, self._count, unit)

    def columns(self, index: NDArray[np.intp]) -> Self:
        """Keep the columns at ``index``, in that order."""
        unit = self.unit[index] if len(self.unit) else NO_UNITS
        places = (np.arange(self.k)[:, None] * self.d + index).ravel()
        return self._of(places, np.diff(self.start)[places], self.k, self.origin[index], unit)

    def only(self, index: NDArray[np.intp]) -> Self:
        """The same columns; the cells of those that are not at ``index`` are empty."""
        if len(index) == self.d:
            return self
        places = (np.arange(self.k)[:, None] * self.d + index).ravel()
        size = np.zeros(self.k * self.d, np.int64)
        size[places] = np.diff(self.start)[places]
        return self._of(places, size, self.k, self.origin, self.unit)

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        places = (np.asarray(index)[:, None] * self.d + np.arange(self.d)).ravel()
        return self._of(places, np.diff(self.start)[places], len(index), self.origin, self.unit)

    def _of(
        self,
        places: NDArray[np.intp],
        size: NDArray[np.int64],
        k: int,
        origin: NDArray[np.float64],
        unit: NDArray[np.float64],
    ) -> Self:
        """The cells of column j in class c at every place cd + j, in that order.

        ``size`` says how many cells each column has in each of k classes now.
        """
        own = list(map(slice, self.start[places].tolist(), self.start[places + 1].tolist()))
        cell, high, low = (
            np.concatenate([part[:0], *(part[cells] for cells in own if len(part))])
            for part in (self.cell, self.high, self.low)
        )
        low = low if low.any() else low[:0]
        return type(self)(k, origin, np.append(0, np.cumsum(size)), cell, high, low, unit)

    def with_columns(
        self, index: NDArray[np.intp], other: BinnedCounts, theirs: NDArray[np.intp]
    ) -> Self:
        """The same counts; the columns at ``index`` are those at ``theirs`` of another."""
        origin, to = self.origin.copy(), np.full(other.d, -1, np.int64)
        origin[index], to[theirs] = other.origin[theirs], index
        unit = self.unit
        if len(unit) or len(other.unit):
            unit = self.units.copy()
            unit[index] = other.units[theirs]
        mine = np.flatnonzero(~np.isin(self._keys // CELLS % max(1, self.d), index))
        place, cell = np.divmod(other._keys, CELLS)
        c, j = np.divmod(place, max(1, other.d))
        at = np.flatnonzero(to[j] >= 0) if other.d else place
        keys = np.append(self._keys[mine], (c[at] * self.d + to[j[at]]) * CELLS + cell[at])
        order = np.argsort(keys, kind="stable")
        own, new = self._count[mine], other._count[at]
        count = DoubleDouble(np.append(own.hi, new.hi), np.append(own.lo, new.lo))
        return self.of_places(self.k, origin, keys[order], count[order], unit)
