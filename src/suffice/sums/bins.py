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
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Shape, rule
from suffice.sums.base import ClassSums, axis, forgotten, tree_sum
from suffice.sums.block import RealBlock, converted, require_finite
from suffice.sums.comparison import Divergences, of_fractions
from suffice.sums.moments import Moments, MomentsAccumulator

PARTS = 256  # of an octave
OCTAVES = 40  # below 1, and above it
WHOLE = 256  # the largest whole number with a cell of its own
FIRST = 2  # rank of the cell that starts at 2⁻⁴⁰: zero and tiny numbers come before it
LAST = FIRST + 2 * OCTAVES * PARTS + WHOLE  # rank of the cell of huge numbers
CELLS = 2 * LAST + 1
"""How many cells there are: 41,477, numbered by the order of the numbers in them."""


def cell_bounds(cells: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Return the least and the largest number that a cell may hold; −∞ and ∞ at the ends.

    Neighbouring cells share a bound. The cell of a whole number has that number twice.

    Examples
    --------
    >>> low, high = cell_bounds(np.array([0, 20738, 34041, 34042]))
    >>> low.tolist(), high.tolist()
    ([-inf, 0.0, 2004.0, 2008.0], [-1099511627776.0, 0.0, 2008.0, 2012.0])
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

LONGEST_COUNT, SHORT_COUNT = 24, 4  # bytes of a cell at most, and of each number of weight 1


@dataclass(frozen=True, eq=False, repr=False)
class BinnedCounts(ClassSums):
    """Weight of the numbers of d columns in every cell of `suffice.sums.bins`.

    Only cells that hold a number are kept, so equal rows give equal counts whatever was added and
    taken away before. Where weights are 1, most take a byte or two: ``src/native/sums/bins.hpp``.

    Parameters
    ----------
    k : int
        Number of classes.
    origin : ndarray (d,)
        What is subtracted from the numbers of each column before they are counted.
    start : ndarray of int (dk + 1,)
        Where the cells of column j and class c start: at ``start[jk + c]``.
    packed : ndarray of uint8 (M,)
        The cells, ascending in every column and class, and Σw of the numbers in each.
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
    packed: Annotated[NDArray[np.uint8], Shape("M")]
    unit: Annotated[Floats, Shape("u"), POSITIVE] = field(default_factory=lambda: NO_UNITS)

    @rule("cells are packed as they are written here")
    def _has_cells(self) -> bool:
        start = self.start
        if len(start) != self.k * self.d + 1 or start[0] != 0 or start[-1] != len(self.packed):
            return False
        if (np.diff(start) < 0).any():
            return False
        again = self._combined(self.empty(self.k, self.origin, self.unit), 1.0)
        return np.array_equal(again.start, start) and np.array_equal(again.packed, self.packed)

    @rule("every column has a unit, or none has one")
    def _has_units(self) -> bool:
        return len(self.unit) in (0, self.d)

    @classmethod
    def empty(cls, k: int, origin: Floats, unit: Floats = NO_UNITS) -> Self:
        start = np.zeros(k * len(origin) + 1, np.int64)
        return cls(k, origin, start, np.zeros(0, np.uint8), unit)

    d = axis("d")

    @property
    def units(self) -> Floats:
        return self.unit if len(self.unit) else np.ones(self.d)

    @cached_property
    def total(self) -> Floats:
        total = np.zeros((self.k, self.d))
        for j in range(self.d):
            total[:, j] = self.column(j)[1].sum(axis=1)
        return total

    def column(self, j: int) -> tuple[NDArray[np.uint16], Floats]:
        """Return the cells (m,) of column j that any class shows, ascending, and counts (k, m)."""
        cells, _ = self.cells(j)
        return cells, self.counts(j, cells, np.arange(1, len(cells)))

    def cells(self, j: int) -> tuple[NDArray[np.uint16], Floats]:
        """Return the cells of column j that any class shows, ascending, and Σw in each, (m,)."""
        cells, every = np.empty(CELLS, np.uint16), np.empty(CELLS)
        size = kernels.bins.cells_of(self.start, self.packed, self.k, j, cells, every)
        return cells[:size].copy(), every[:size].copy()

    def counts(self, j: int, cells: NDArray[np.uint16], cuts: Ints) -> Floats:
        """Return the counts (k, b) in parts of these cells, each of which begins at a cut."""
        counts = np.empty((self.k, len(cuts) + 1 if len(cells) else 0))
        kernels.bins.counts_of(self.start, self.packed, j, cells, cuts, counts)
        return counts

    def __add__(self, other: Self) -> Self:
        return self._combined(other, 1.0)

    def __sub__(self, other: Self) -> Self:
        return self._combined(other, -1.0)

    def _combined(self, other: Self, sign: float) -> Self:
        """Add or take away counts; refuse those of other classes or columns, or on another grid."""
        same = self.k == other.k and np.array_equal(self.origin, other.origin)
        if not (same and np.array_equal(self.unit, other.unit)):
            mine, theirs = (
                f"{counts.k} classes, with the origins {counts.origin.tolist()} and the units "
                f"{counts.units.tolist()}"
                for counts in (self, other)
            )
            raise ParameterError(f"binned counts are of {theirs}", f"they are added to {mine}")
        start, packed = np.empty_like(self.start), room_for(len(self.packed) + len(other.packed))
        both = self.start, self.packed, other.start, other.packed
        size = kernels.bins.add(*both, sign, start, packed)
        if size < 0:
            raise forgotten("fewer rows than are to be forgotten", (-1 - size) // self.k)
        return replace(self, start=start, packed=packed[:size].copy())

    def scaled(self, factor: float) -> Self:
        """Return the sums of the same rows, their weights multiplied by a factor.

        Counts within 1e-12 of a whole number are that number: equal weights whose unit is rounded
        would decide ties between bins in another way than rows do.
        """
        start, packed = np.empty_like(self.start), room_for(LONGEST_COUNT * len(self.packed))
        size = kernels.bins.scale(self.start, self.packed, float(factor), start, packed)
        return replace(self, start=start, packed=packed[:size].copy())

    @property
    def one_class(self) -> Self:
        classes = [self.take(np.array([c])) for c in range(self.k)]
        return tree_sum([self.empty(1, self.origin, self.unit), *classes])

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
        starts, sizes = np.zeros((2, self.d, k), np.int64)
        starts[:, index], sizes[:, index] = self._starts, self._sizes
        return replace(self, k=k)._of(starts, sizes)

    def take(self, index: Ints) -> Self:
        return replace(self, k=len(index))._of(self._starts[:, index], self._sizes[:, index])

    def columns(self, index: Ints) -> Self:
        grid = replace(
            self, origin=self.origin[index], unit=self.unit[index] if len(self.unit) else NO_UNITS
        )
        return grid._of(self._starts[index], self._sizes[index])

    def with_columns(self, index: Ints, other: BinnedCounts, theirs: Ints) -> Self:
        """Replace the columns at ``index`` by those at ``theirs`` of another."""
        origin, unit = self.origin.copy(), self.unit
        origin[index] = other.origin[theirs]
        if len(unit) or len(other.unit):
            unit = self.units.copy()
            unit[index] = other.units[theirs]
        starts, sizes = self._starts.copy(), self._sizes
        starts[index] = len(self.packed) + other._starts[theirs]
        sizes[index] = other._sizes[theirs]
        packed = np.append(self.packed, other.packed)
        return replace(self, origin=origin, unit=unit, packed=packed)._of(starts, sizes)

    @property
    def _starts(self) -> NDArray[np.int64]:
        return self.start[:-1].reshape(self.d, self.k)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """Bytes of the cells of every column and class, (d, k)."""
        return np.diff(self.start).reshape(self.d, self.k)

    def _of(self, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Self:
        """So many bytes from every place on, (d, k), in that order."""
        begin = starts[sizes > 0]
        end = begin + sizes[sizes > 0]
        apart, every = begin[1:] != end[:-1], np.ones(min(1, len(begin)), np.bool_)
        starting, ending = np.append(every, apart), np.append(apart, every)
        own = map(slice, begin[starting].tolist(), end[ending].tolist())
        packed = np.concatenate([self.packed[:0], *(self.packed[cells] for cells in own)])
        return replace(self, start=np.append(0, np.cumsum(sizes)), packed=packed)


def room_for(size: int) -> NDArray[np.uint8]:
    """Reserve bytes that a kernel fills; where it does not, they take no memory."""
    return np.empty(size + LONGEST_COUNT, np.uint8)


COLUMNS, NUMBERS = 64, 2**19  # that are counted at a time; more columns of few rows
TALL, TABLES = 2**13, 256  # rows and scores of which counts stay in tables
TOGETHER = 16  # counts of batches that are added pairwise
MOST_TALLIED = 2**23 - 1  # rows, in a place of these
SNAPPED = 1e-6  # units: what division by a unit may leave of a whole number


class BinnedCountAccumulator:
    """Builds `BinnedCounts` of columns of numbers, measured from their origins (d,).

    Where they have units, they are divided by them, and whole numbers stay whole.
    """

    def __init__(self, origin: Floats, unit: Floats = NO_UNITS) -> None:
        self._grid = np.array(origin, np.float64), np.array(unit, np.float64)
        self._parts: list[BinnedCounts] = []
        self._one, self._tables, self._tallied = tables(1), tables(0), 0

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        x, (origin, unit) = block.values, self._grid
        if len(weights) and (weights[codes >= 0] == 1).all():
            weights = weights[:0]
        scores = k * len(origin)
        stay = not len(weights) and len(x) >= TALL and scores <= TABLES
        if stay:
            if len(self._tables[0]) != scores or self._tallied + len(x) > MOST_TALLIED:
                if self._tallied:
                    self._put_by()
                self._tables = tables(scores)
            self._tallied += len(x)
        starts, cells = [np.zeros(1, np.int64)], [np.zeros(0, np.uint8)]
        width = max(COLUMNS, NUMBERS // max(1, len(x)))
        for left in range(0, len(origin), width):
            numbers, begin = self._measured(x, slice(left, left + width))
            low, carried = self._tables if stay else self._one
            own = slice(left * k, (left + width) * k) if stay else slice(None)
            start = np.empty(k * len(begin) + 1, np.int64)
            long = LONGEST_COUNT if len(weights) else SHORT_COUNT
            packed = cells[0] if stay else room_for(long * numbers.size)
            size = kernels.bins.count(
                numbers, begin, codes, weights, k, low[own], carried[own], start, packed
            )
            if size < 0:  # a number is infinite: it is refused where its row has a class
                size = -1 - size
                require_finite(np.where((codes >= 0)[:, None], numbers, 0.0), left=left)
            starts.append(start[1:] + starts[-1][-1])
            cells.append(packed[:size].copy())
        self._join(BinnedCounts(k, origin, np.concatenate(starts), np.concatenate(cells), unit))

    def _put_by(self) -> None:
        """Join what is in the tables."""
        (low, _), (origin, unit) = self._tables, self._grid
        start = np.empty(len(low) + 1, np.int64)
        packed = room_for(SHORT_COUNT * min(self._tallied * len(origin), low.size))
        size = kernels.bins.taken(*self._tables, start, packed)
        k = len(low) // len(origin)
        self._join(BinnedCounts(k, origin, start, packed[:size].copy(), unit))
        self._tallied = 0

    def _join(self, counts: BinnedCounts) -> None:
        self._parts.append(counts)
        if len(self._parts) > TOGETHER:
            self._parts = [self._joined()]

    def _joined(self) -> BinnedCounts:
        k = max(part.k for part in self._parts)
        return tree_sum(part.padded(k) for part in self._parts)

    def _measured(self, x: NDArray[Any], columns: slice) -> tuple[Floats, Floats]:
        """Some columns in their units, and what is still subtracted from them."""
        origin, unit = (part[columns] for part in self._grid)
        numbers = np.asarray(converted(x[:, columns]), np.float64)
        if not len(unit):
            return numbers, origin
        numbers = (numbers - origin) / unit
        whole = np.rint(numbers)
        own = (origin != 0) | (unit != 1)  # the others are counted as by a grid without units
        np.copyto(numbers, whole, where=own & (np.abs(numbers - whole) <= SNAPPED))
        return numbers, np.zeros_like(origin)

    def statistic(self) -> BinnedCounts:
        if self._tallied:
            self._put_by()
        if len(self._parts) > 1:
            self._parts = [self._joined()]
        return self._parts[0] if self._parts else BinnedCounts.empty(0, *self._grid)


def tables(many: int) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Zeros in which a kernel counts, a place for every cell in each table."""
    shape = many, CELLS + 65
    return np.zeros(shape, np.uint8), np.zeros(shape, np.uint16)


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


class MomentsAndBinsAccumulator:
    """Builds `MomentsAndBins` of d columns.

    Numbers are binned from their origins (d,), by default 0, and in units of their own (d,), where
    these are given. The cells of all but some ``columns`` stay empty, where these are given.
    """

    def __init__(
        self,
        d: int,
        origin: Floats | None = None,
        unit: Floats = NO_UNITS,
        columns: Ints | None = None,
    ) -> None:
        self._moments = MomentsAccumulator(d)
        self._grid = np.zeros(d) if origin is None else origin, unit
        self._binned = slice(None) if columns is None or len(columns) == d else columns
        grid = [part[self._binned] if len(part) else part for part in self._grid]
        self._bins = BinnedCountAccumulator(*grid)

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        self._moments.add(block, codes, weights, k)
        self._bins.add(RealBlock(block.values[:, self._binned]), codes, weights, k)

    def statistic(self) -> MomentsAndBins:
        bins = self._bins.statistic()
        if not isinstance(self._binned, slice):
            every = BinnedCounts.empty(bins.k, *self._grid)
            bins = every.with_columns(self._binned, bins, np.arange(bins.d))
        return MomentsAndBins(self._moments.statistic(), bins)
