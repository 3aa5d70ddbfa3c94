"""Binned counts: how the numbers of every class lie, on a grid that no data decide.

The cell of a number is decided by the number alone, so tables that were counted apart can be added.
In the order of the numbers, for each sign:

==========================  ====================================================================
what                        cells
==========================  ====================================================================
0                           one
0 < x < 2⁻⁴⁰                one
2⁻⁴⁰ ≤ x < 2⁴⁰              80 exponents by 256 parts: sign, exponent and 8 bits of the mantissa
x = 1, 2, …, 256            one each, apart from the numbers next to them
x ≥ 2⁴⁰                     one
==========================  ====================================================================

A cell between 2⁻⁴⁰ and 2⁴⁰ is at most 1/256 as wide as its numbers are large. The loop that finds
cells is compiled: `src/native/sums/bins.cpp`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import fsum
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, ReadOnly, Shape, Within, rule
from suffice.sums.base import ClassSums, axis, grown, nonnegative, tree_sum
from suffice.sums.block import BadCell, RealBlock, converted, tiles
from suffice.sums.comparison import Divergences, of_fractions
from suffice.sums.moments import Moments, MomentsAccumulator

PARTS = 256  # of an octave
OCTAVES = 40  # below 1, and above it
WHOLE = 256  # the largest whole number with a cell of its own
FIRST = 2  # rank of the cell that starts at 2⁻⁴⁰: zero and tiny numbers come before it
LAST = FIRST + 2 * OCTAVES * PARTS + WHOLE  # rank of the cell of huge numbers
CELLS = 2 * LAST + 1
"""How many cells there are: 41,477, numbered by the order of the numbers in them."""


def cells_of(x: Floats) -> NDArray[np.int32]:
    """Return the cell of every number, 0 to `CELLS` − 1, and −1 for NaN.

    Examples
    --------
    >>> cells_of(np.array([0.0, -0.0, np.nan, -np.inf, np.inf])).tolist()
    [20738, 20738, -1, 0, 41476]
    >>> cells_of(np.array([2005.0, 2007.0, 2008.0])).tolist()  # 2004 ≤ x < 2008 is a cell
    [34041, 34041, 34042]
    """
    x = np.asarray(x, np.float64)
    cells = np.empty((x.size, 1), np.int32)
    kernels.bins.cells(x.reshape(-1, 1), np.zeros(1), cells)
    return cells.reshape(x.shape)


def cell_bounds(cells: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return the least and the largest number that a cell may hold; −∞ and ∞ at the ends.

    Neighbouring cells share a bound. The cell of a whole number has that number twice.

    Examples
    --------
    >>> low, high = cell_bounds(cells_of(np.array([0.0, 3.0, -2000.5])))
    >>> low.tolist(), high.tolist()
    ([0.0, 3.0, -2004.0], [0.0, 3.0, -2000.0])
    """
    low, high = _bounds()
    return low[cells], high[cells]


@cache
def _bounds() -> tuple[Floats, Floats]:
    """The bounds of every cell (CELLS,)."""
    places = np.arange(2 * OCTAVES * PARTS + 1)
    edges = np.ldexp(1 + places % PARTS / PARTS, places // PARTS - OCTAVES)
    starts = edges[:-1]
    rank = FIRST + places[:-1] + np.minimum(np.floor(starts), WHOLE).astype(np.int64)
    least, most = np.zeros(LAST + 1), np.zeros(LAST + 1)
    most[1] = edges[0]
    least[rank], most[rank] = starts, edges[1:]
    whole = (starts == np.floor(starts)) & (starts >= 1) & (starts <= WHOLE)
    least[rank[whole] - 1] = most[rank[whole] - 1] = starts[whole]
    least[LAST], most[LAST] = edges[-1], np.inf
    return np.append(-most[:0:-1], least), np.append(-least[:0:-1], most)


YEAR_2000 = 946_684_800.0
"""2000-01-01 in seconds since 1970-01-01: where the grid of a column of dates has its 0."""

NO_UNITS = np.zeros(0)  # of columns whose numbers are counted as they are

PlacesOfCells = tuple[NDArray[np.int64], NDArray[np.uint16], Floats]


def places_of_cells(columns: int, most: int) -> PlacesOfCells:
    """Reserve the arrays that a kernel fills: starts of columns, cells and counts."""
    return np.empty(columns + 1, np.int64), np.empty(most, np.uint16), np.empty(most)


@dataclass(frozen=True, eq=False, repr=False)
class BinnedCounts(ReadOnly, ClassSums):
    """Weight of the numbers of d columns in every cell of `suffice.sums.bins`.

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
    >>> from suffice.sums.bins import BinnedCountAccumulator
    >>> from suffice.sums.block import RealBlock
    >>> total = BinnedCountAccumulator(np.zeros(1))
    >>> rows = RealBlock(np.array([[2.0], [2.0], [0.1], [np.nan]]))
    >>> total.add(rows, np.zeros(4, np.intp), np.empty(0), 1)
    >>> cells, counts = total.statistic().column(0)
    >>> cells.tolist(), counts.tolist()
    ([30109, 31237], [[1.0, 2.0]])
    """

    k: Annotated[int, NONNEGATIVE]
    origin: Annotated[Floats, Shape("d"), FINITE]
    start: Annotated[NDArray[np.int64], Shape("s"), NONNEGATIVE]
    cell: Annotated[NDArray[np.uint16], Shape("M"), Within(0, CELLS - 1)]
    high: Annotated[Floats, Shape("M"), WEIGHT]
    low: Annotated[Floats, Shape("r"), FINITE]
    unit: Annotated[Floats, Shape("u"), POSITIVE] = field(default_factory=lambda: NO_UNITS)

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
    def empty(cls, k: int, origin: Floats, unit: Floats = NO_UNITS) -> Self:
        return cls.of_places(k, origin, np.zeros(0, np.int64), DoubleDouble.zeros(0), unit)

    @classmethod
    def of_places(
        cls,
        k: int,
        origin: Floats,
        keys: NDArray[np.int64],
        count: DoubleDouble,
        unit: Floats = NO_UNITS,
    ) -> Self:
        """Counts above 0 at keys (class · d + column) · CELLS + cell, ascending."""
        place, cell = np.divmod(keys, CELLS)
        start = np.searchsorted(place, np.arange(k * len(origin) + 1)).astype(np.int64)
        low = count.lo if count.lo.any() else np.zeros(0)
        return cls(k, origin, start, cell.astype(np.uint16), count.hi, low, unit)

    @classmethod
    def of_cells(
        cls, k: int, origin: Floats, found: PlacesOfCells, size: int, unit: Floats = NO_UNITS
    ) -> Self:
        """Counts that are doubles, of the first cells in larger arrays, which become that small."""
        start, cell, high = found
        for array in (cell, high):
            array.resize(size, refcheck=False)  # nobody else has it
        return cls(k, origin, start, cell, high, np.zeros(0), unit)

    d = axis("d")

    @property
    def units(self) -> Floats:
        return self.unit if len(self.unit) else np.ones(self.d)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        place = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        return place * CELLS + self.cell

    @property
    def _count(self) -> DoubleDouble:
        return DoubleDouble(self.high, self.low if len(self.low) else np.zeros(len(self.high)))

    @cached_property
    def total(self) -> Floats:
        high, low = self.high.tolist(), self._count.lo.tolist()
        ends = zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)
        return np.array([fsum(high[a:b] + low[a:b]) for a, b in ends]).reshape(self.k, self.d)

    def column(self, j: int) -> tuple[NDArray[np.uint16], Floats]:
        """Return the cells (m,) of column j that any class shows, ascending, and counts (k, m)."""
        cells, _ = self.cells(j)
        return cells, self.counts(j, cells, np.arange(1, len(cells)))

    def cells(self, j: int) -> tuple[NDArray[np.uint16], Floats]:
        """Return the cells of column j that any class shows, ascending, and Σw in each, (m,)."""
        cells, every = np.empty(CELLS, np.uint16), np.empty(CELLS)
        size = kernels.bins.cells_of(self.start, self.cell, self.high, self.d, j, cells, every)
        return cells[:size].copy(), every[:size].copy()

    def counts(self, j: int, cells: NDArray[np.uint16], cuts: Ints) -> Floats:
        """Return the counts (k, b) in parts of these cells, each of which begins at a cut."""
        counts = np.empty((self.k, len(cuts) + 1 if len(cells) else 0))
        column = self.start, self.cell, self.high, self.d, j
        kernels.bins.counts_of(*column, cells, cuts, counts)
        return counts

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
        """Return whether another counts the same columns of as many classes on the same grid."""
        same = self.k == other.k and np.array_equal(self.origin, other.origin)
        return same and np.array_equal(self.unit, other.unit)

    def _require_same(self, other: Self) -> None:
        if not self._is_alike(other):
            mine, theirs = (
                f"{counts.k} classes, with the origins {counts.origin.tolist()} and the units "
                f"{counts.units.tolist()}"
                for counts in (self, other)
            )
            raise ParameterError(f"binned counts are of {theirs}", f"they are added to {mine}")

    def _aligned(self, other: Self) -> tuple[NDArray[np.int64], DoubleDouble, DoubleDouble]:
        """The keys of both, and the counts of each at all of them."""
        keys = np.union1d(self._keys, other._keys)
        mine, theirs = (
            counts._count.scatter(np.searchsorted(keys, counts._keys), keys.shape)
            for counts in (self, other)
        )
        return keys, mine, theirs

    def _kept(self, keys: NDArray[np.int64], count: DoubleDouble) -> Self:
        shown = count.hi > 0
        return self.of_places(self.k, self.origin, keys[shown], count[shown], self.unit)

    def scaled(self, factor: float) -> Self:
        """Return the sums of the same rows, their weights multiplied by a factor.

        Counts within 1e-12 of a whole number are that number: equal weights whose unit is rounded
        would decide ties between bins in another way than rows do.
        """
        count = self._count.scaled(factor)
        whole = np.rint(count.hi)
        near = np.abs(count.hi - whole) <= 1e-12 * whole
        return self._kept(
            self._keys, DoubleDouble(np.where(near, whole, count.hi), np.where(near, 0.0, count.lo))
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinnedCounts):
            return NotImplemented
        if not self._is_alike(other):
            return False
        cells = np.array_equal(self.start, other.start) and np.array_equal(self.cell, other.cell)
        return cells and self._count == other._count

    @property
    def one_class(self) -> Self:
        total = self.empty(1, self.origin, self.unit)
        for c in range(self.k):
            total = total + self.take(np.array([c]))
        return total

    def divergences(self, other: Self) -> Divergences:
        found = []
        for j in range(self.d):
            (mine, a), (theirs, b) = self.column(j), other.column(j)
            cells = np.union1d(mine, theirs)
            wide = np.zeros((2, self.k, len(cells)))
            wide[0][:, np.searchsorted(cells, mine)] = a
            wide[1][:, np.searchsorted(cells, theirs)] = b
            found.append(of_fractions(*wide))
        return Divergences.side_by_side(found)

    def place(self, index: Ints, k: int) -> Self:
        size = np.zeros((k, self.d), np.int64)
        size[index] = self._sizes
        order = np.argsort(index, kind="stable")
        return self._of(self._starts[order], self._sizes[order], k, self.origin, self.unit, size)

    def columns(self, index: Ints) -> Self:
        unit = self.unit[index] if len(self.unit) else NO_UNITS
        starts, sizes = self._starts[:, index], self._sizes[:, index]
        return self._of(starts, sizes, self.k, self.origin[index], unit)

    def only(self, index: Ints) -> Self:
        """Return the columns; the cells of those that are not at ``index`` are empty."""
        if len(index) == self.d:
            return self
        sizes = np.zeros_like(self._sizes)
        sizes[:, index] = self._sizes[:, index]
        return self._of(self._starts, sizes, self.k, self.origin, self.unit)

    def take(self, index: Ints) -> Self:
        starts, sizes = self._starts[index], self._sizes[index]
        return self._of(starts, sizes, len(index), self.origin, self.unit)

    @property
    def _starts(self) -> NDArray[np.int64]:
        return self.start[:-1].reshape(self.k, self.d)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """Numbers of cells that each class shows of every column, (k, d)."""
        return np.diff(self.start).reshape(self.k, self.d)

    def _of(
        self,
        starts: NDArray[np.int64],
        sizes: NDArray[np.int64],
        k: int,
        origin: Floats,
        unit: Floats,
        shown: NDArray[np.int64] | None = None,
        more: BinnedCounts | None = None,
    ) -> Self:
        """So many cells from every start on, in that order: of these, then those of ``more``.

        ``shown`` says how many each column has in each of k classes, if other than ``sizes``.
        """
        arrays: list[NDArray[Any]] = [self.cell, self.high, self.low]
        if more is not None:
            both = DoubleDouble.concatenate([self._count, more._count])
            arrays = [np.append(self.cell, more.cell), both.hi, both.lo]
        begin = starts[sizes > 0]
        end = begin + sizes[sizes > 0]
        apart, every = begin[1:] != end[:-1], np.ones(min(1, len(begin)), np.bool_)
        starting, ending = np.append(every, apart), np.append(apart, every)
        own = list(map(slice, begin[starting].tolist(), end[ending].tolist()))
        cell, high, low = (
            np.concatenate([part[:0], *(part[cells] for cells in own if len(part))])
            for part in arrays
        )
        upto = np.append(0, np.cumsum(sizes if shown is None else shown))
        return type(self)(k, origin, upto, cell, high, low if low.any() else low[:0], unit)

    def with_columns(self, index: Ints, other: BinnedCounts, theirs: Ints) -> Self:
        """Replace the columns at ``index`` by those at ``theirs`` of another."""
        origin = self.origin.copy()
        origin[index] = other.origin[theirs]
        unit = self.unit
        if len(unit) or len(other.unit):
            unit = self.units.copy()
            unit[index] = other.units[theirs]
        starts, sizes = self._starts.copy(), self._sizes
        starts[:, index] = len(self.cell) + other._starts[:, theirs]
        sizes[:, index] = other._sizes[:, theirs]
        return self._of(starts, sizes, self.k, origin, unit, more=other)


FEW = 65_536  # numbers of a block, which need no table of all cells
FEW_ROWS = CELLS // 8  # to a class, whose numbers take less memory than the table
SORTED = 2**18  # numbers of rows with weights whose keys are made at a time
MOST_WAITING = 2**22  # of them, that are kept to be sorted
SNAPPED = 1e-6  # units: what division by a unit may leave of a whole number
MOST_COUNTED = 2**24 - 1  # rows that a place of the table can count

Weighted: TypeAlias = tuple[NDArray[np.signedinteger[Any]], Floats]


class BinnedCountAccumulator:
    """Builds `BinnedCounts` of columns of numbers, measured from their origins (d,).

    Where they have units, they are divided by them, and whole numbers stay whole.

    It counts in a table with a place for every cell: 124 kB a column and class, and of rows with
    weights 664 kB. The system gives memory to parts of it in which numbers lie, of 2 MB where it
    has such pages.
    """

    def __init__(self, origin: Floats, unit: Floats = NO_UNITS) -> None:
        self._grid = np.array(origin, np.float64), np.array(unit, np.float64)
        d = len(origin)
        self._origin = np.zeros(d) if len(unit) else self._grid[0]  # of numbers in their units
        self._bounds = (  # of the codes of a column, −1 included, side by side in a table
            np.full(d, -1, np.int64),
            np.full(d, CELLS + 1, np.int64),
            np.arange(d, dtype=np.int64) * (CELLS + 1),
        )
        self._low = np.zeros((0, d * (CELLS + 1)), np.uint8)  # rows of weight one, modulo 256
        self._carried = np.zeros(self._low.shape, np.uint16)  # how often 256 of them
        self._counted = 0  # how many those are
        self._table = np.zeros((0, 2, d * (CELLS + 1)))  # the others, as pairs
        self._few: list[BinnedCounts] = []  # of single blocks
        self._few_weighted: list[Weighted] = []  # keys of cells, and a weight for each number
        self._waiting = 0  # how many cells and keys those are
        self._total: BinnedCounts | None = None  # what more of them were
        self._k = 0

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        self._k = max(k, self._k)
        x, (origin, unit) = block.values, self._grid
        if len(unit):
            x = (np.asarray(converted(x), np.float64) - origin) / unit
            whole = np.rint(x)
            own = (origin != 0) | (unit != 1)  # the others are counted as by a grid without units
            np.copyto(x, whole, where=own & (np.abs(x - whole) <= SNAPPED))
        if len(weights) and (weights[codes >= 0] == 1).all():
            weights = weights[:0]
        few = self._are_few(x)
        if x.dtype == np.float64 and not len(weights):
            (self._count_apart if few else self._count)(x, codes, 0)
            return
        for start, part in tiles(x, np.float64):
            own, rows = codes[start : start + len(part)], weights[start : start + len(part)]
            if not len(weights):
                (self._count_apart if few else self._count)(part, own, start)
                continue
            self._refuse_infinite(part, own, start)
            (self._add_few if few else self._add_to_table)(part, own, rows)

    def _add_to_table(self, x: Floats, codes: Ints, weights: Floats) -> None:
        cells = np.empty(x.shape, np.int32)
        kernels.bins.cells(x, self._origin, cells)
        self._table = grown(self._table, self._k)
        kernels.counts.add_weighted_codes(cells, *self._bounds, codes, weights, self._table)

    def _count_apart(self, x: Floats, codes: Ints, first: int) -> None:
        """Count cells in a table for one class and column at a time."""
        origin, unit = self._grid
        found = places_of_cells(self._k * len(origin), x.size)
        size = kernels.bins.count_apart(x, self._origin, codes, self._k, *found)
        counts = BinnedCounts.of_cells(self._k, origin, found, size, unit)
        if ((counts.cell == 0) | (counts.cell == CELLS - 1)).any():
            self._refuse_infinite(x, codes, first)
        self._wait(size)
        self._few.append(counts)

    def _wait(self, more: int) -> None:
        self._waiting += more
        if self._waiting > MOST_WAITING:
            self._total, self._waiting = self._of_few(), more

    def _count(self, x: Floats, codes: Ints, first: int) -> None:
        self._low, self._carried = grown(self._low, self._k), grown(self._carried, self._k)
        for start in range(0, len(x), MOST_COUNTED):
            rows = slice(start, start + MOST_COUNTED)
            self._counted += len(x[rows])
            if self._counted > MOST_COUNTED:
                self._total, self._counted = self._of_tally(), len(x[rows])
                self._low[:], self._carried[:] = 0, 0
            tally = self._low, self._carried
            if kernels.bins.count(x[rows], self._origin, codes[rows], *tally):
                self._refuse_infinite(x[rows], codes[rows], first + start)

    def _are_few(self, x: NDArray[Any]) -> bool:
        """Tell whether a place for every cell takes more time, or memory."""
        return x.size < FEW or len(x) < FEW_ROWS * self._k

    def _add_few(self, x: Floats, codes: Ints, weights: Floats) -> None:
        """Keep the keys of cells, and their weights."""
        d = len(self._origin)
        step = max(1, SORTED // max(1, d))
        for rows in [slice(start, start + step) for start in range(0, len(x), step)]:
            cells = np.empty(x[rows].shape, np.int32)
            kernels.bins.cells(x[rows], self._origin, cells)
            shown = (cells >= 0) & (codes[rows] >= 0)[:, None]
            keys = ((codes[rows, None] * d + np.arange(d)) * CELLS + cells)[shown]
            each = np.broadcast_to(weights[rows, None], cells.shape)[shown]
            self._wait(len(keys))
            self._few_weighted.append((keys, each))

    def statistic(self) -> BinnedCounts:
        total = self._of_tally()
        if self._table.size:
            total = total + self._of_keys(*self._of_table())
        return total

    def _of_tally(self) -> BinnedCounts:
        """Sum up the keys, which are not kept any longer, and the tally."""
        total = self._total = self._of_few()
        if not self._low.size:
            return total
        self._low, self._carried = grown(self._low, self._k), grown(self._carried, self._k)
        origin, unit = self._grid
        most = min(self._low.size, self._counted * len(self._origin))  # memory that is not touched
        found = places_of_cells(self._k * len(self._origin), most)
        size = kernels.bins.shown(self._low, self._carried, *found)
        return total + BinnedCounts.of_cells(self._k, origin, found, size, unit)

    def _of_few(self) -> BinnedCounts:
        origin, unit = self._grid
        parts = [one.padded(self._k) for one in self._few]
        total = tree_sum(parts or [BinnedCounts.empty(self._k, origin, unit)])
        if self._few_weighted:
            total = total + self._of_keys(*_summed(self._few_weighted))
        if self._total is not None:
            total = total + self._total.padded(self._k)
        self._few, self._few_weighted, self._waiting, self._total = [], [], 0, None
        return total

    def _of_table(self) -> tuple[NDArray[np.int64], DoubleDouble]:
        """The keys of the cells of the table that hold a number, ascending, and their counts.

        Only these are copied: the table may be as large as memory allows.
        """
        keys, pairs = [], []
        for c, (high, low) in enumerate(self._table):
            at = np.flatnonzero(high)  # weights are positive
            column, cell = np.divmod(at, CELLS + 1)
            at, shown = at[cell > 0], cell > 0  # the first place of a column is for NaN
            keys.append((c * len(self._origin) + column[shown]) * CELLS + cell[shown] - 1)
            pairs.append(np.stack([high[at], low[at]]))
        return np.concatenate(keys), DoubleDouble.from_table(np.concatenate(pairs, axis=1)[None])[0]

    def _of_keys(self, keys: NDArray[np.int64], count: DoubleDouble) -> BinnedCounts:
        origin, unit = self._grid
        return BinnedCounts.of_places(self._k, origin, keys, count, unit)

    def _refuse_infinite(self, x: Floats, codes: Ints, first: int) -> None:
        for row, column in np.argwhere(np.isinf(x) & (codes >= 0)[:, None])[:1].tolist():
            raise BadCell(first + row, column, float(x[row, column]), "a number must be finite")


def _summed(weighted: list[Weighted]) -> tuple[NDArray[np.int64], DoubleDouble]:
    """The keys, ascending, and the exact sum of the weights at each, where it is above 0."""
    keys, weights = map(np.concatenate, zip(*weighted, strict=True))
    found, place = np.unique(keys, return_inverse=True)
    count = DoubleDouble.by_place(len(found), (weights[:, None], place))[:, 0]
    shown = count.hi > 0
    return found[shown].astype(np.int64), count[shown]


# -- beside moments


@dataclass(frozen=True, eq=False, repr=False)
class MomentsAndBins(ClassSums):
    """Moments and binned counts of the same d columns of numbers."""

    moments: Moments
    bins: BinnedCounts

    @rule("both are of the same classes and columns")
    def _is_of_one_table(self) -> bool:
        return (self.bins.k, self.bins.d) == (self.k, self.d)

    k, d = axis("k"), axis("d")

    @property
    def total(self) -> Floats:
        return self.moments.total

    @property
    def too_small(self) -> Bools:
        return self.moments.too_small

    def divergences(self, other: Self) -> Divergences:
        return self.moments.divergences(other.moments)

    def columns(self, index: Ints) -> Self:
        return type(self)(self.moments.columns(index), self.bins.columns(index))


class MomentsAndBinsAccumulator:
    """Builds `MomentsAndBins` of d columns; numbers are binned from 0."""

    def __init__(self, d: int) -> None:
        self._moments = MomentsAccumulator(d)
        self._binned = np.arange(d)
        self.bin_from(np.zeros(d))

    def bin_from(self, origin: Floats, unit: Floats = NO_UNITS) -> None:
        """Bin numbers from other origins, in units of their own, (d,); before any is added."""
        self._origin, self._unit = origin, unit
        self.bin_only(self._binned)

    def bin_only(self, columns: Ints) -> None:
        """Leave the cells of all but some columns empty; before any number is added."""
        unit = self._unit[columns] if len(self._unit) else NO_UNITS
        self._binned, self._bins = columns, BinnedCountAccumulator(self._origin[columns], unit)

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        self._moments.add(block, codes, weights, k)
        every = len(self._binned) == block.width
        binned = block if every else RealBlock(block.values[:, self._binned])
        self._bins.add(binned, codes, weights, k)

    def statistic(self) -> MomentsAndBins:
        bins, d = self._bins.statistic(), len(self._origin)
        if bins.d < d:
            size = np.zeros((bins.k, d), np.int64)
            size[:, self._binned] = np.diff(bins.start).reshape(bins.k, bins.d)
            start = np.append(0, np.cumsum(size))
            bins = replace(bins, origin=self._origin, unit=self._unit, start=start)
        return MomentsAndBins(self._moments.statistic(), bins)
