"""Binned counts: how the numbers of every class lie, on a grid that no data decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import FINITE, NONNEGATIVE, Shape, Within, check_form, rule
from suffice.statistics.block import BadCell, RealBlock, tiles
from suffice.statistics.counts import grown, nonnegative
from suffice.statistics.divergence import Divergences, of_fractions
from suffice.statistics.statistic import described
from suffice.statistics.value_grid import CELLS

__all__ = ["YEAR_2000", "BinnedCountAccumulator", "BinnedCounts"]

YEAR_2000 = 946_684_800.0
"""2000-01-01 in seconds since 1970-01-01: where the grid of a column of dates has its 0."""
FEW, FEW_ROWS = 65_536, 2_048  # numbers, or rows, of a block, which are sorted and not counted
MOST_WAITING = 2**22  # numbers that are kept to be sorted


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

    Examples
    --------
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

    __repr__ = described

    def __post_init__(self) -> None:
        check_form(self)

    @rule("the cells of every class and column are distinct and sorted, and each has a count")
    def _has_cells(self) -> bool:
        start, size = self.start, len(self.cell)
        if len(start) != self.k * self.d + 1 or start[0] != 0 or start[-1] != size:
            return False
        ordered = bool((np.diff(start) >= 0).all() and (np.diff(self._keys) > 0).all())
        return ordered and bool((self.high > 0).all())

    @rule("low is what rounding left of every sum, or empty where it left nothing")
    def _is_normal(self) -> bool:
        if not len(self.low):
            return True
        whole = len(self.low) == len(self.high) and bool(self.low.any())
        return whole and bool((self.high + self.low == self.high).all())

    @classmethod
    def empty(cls, k: int, origin: NDArray[np.float64]) -> Self:
        """The counts of no rows."""
        return cls.of_places(k, origin, np.zeros(0, np.int64), DoubleDouble.zeros(0))

    @classmethod
    def of_places(
        cls, k: int, origin: NDArray[np.float64], keys: NDArray[np.int64], count: DoubleDouble
    ) -> Self:
        """Counts above 0 at keys (class · d + column) · CELLS + cell, ascending."""
        place, cell = np.divmod(keys, CELLS)
        start = np.searchsorted(place, np.arange(k * len(origin) + 1)).astype(np.int64)
        low = count.lo if count.lo.any() else np.zeros(0)
        return cls(k, origin, start, cell.astype(np.uint16), count.hi, low)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.origin)

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
        spans = [slice(*self.start[c * self.d + j :][:2]) for c in range(self.k)]
        cells = np.unique(np.concatenate([self.cell[:0], *(self.cell[span] for span in spans)]))
        counts = np.zeros((self.k, len(cells)))
        for row, span in zip(counts, spans, strict=True):
            row[np.searchsorted(cells, self.cell[span])] = self.high[span]
        return cells, counts

    def __add__(self, other: Self) -> Self:
        keys, mine, theirs = self._aligned(other)
        return self.of_places(self.k, self.origin, keys, mine + theirs)

    def __sub__(self, other: Self) -> Self:
        keys, mine, theirs = self._aligned(other)
        try:
            rest = nonnegative(mine - theirs, mine)
        except ForgetError as error:
            error.column = int(keys[error.column or 0]) // CELLS % self.d
            raise
        return self._kept(keys, rest)

    def _aligned(self, other: Self) -> tuple[NDArray[np.int64], DoubleDouble, DoubleDouble]:
        """The keys of both, and the counts of each at all of them."""
        if (self.k, self.origin.tolist()) != (other.k, other.origin.tolist()):
            raise ParameterError(
                f"binned counts of {other.k} classes with the origins {other.origin.tolist()}",
                f"they are added to those of {self.k} classes, {self.origin.tolist()}",
            )
        if np.array_equal(self._keys, other._keys):
            return self._keys, self._count, other._count
        both = np.concatenate([self._keys, other._keys])
        order = np.argsort(both, kind="stable")  # two runs, which are merged
        first = np.diff(both[order], prepend=-1) > 0
        place = np.empty(len(both), np.intp)
        place[order] = np.cumsum(first) - 1
        keys = both[order][first]
        mine, theirs = np.split(place, [len(self._keys)])
        counts = self._count.scatter(mine, keys.shape), other._count.scatter(theirs, keys.shape)
        return keys, *counts

    def _kept(self, keys: NDArray[np.int64], count: DoubleDouble) -> Self:
        """The cells that still hold a number."""
        shown = count.hi > 0
        return self.of_places(self.k, self.origin, keys[shown], count[shown])

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return self._kept(self._keys, self._count.scaled(factor))

    def canonical(self) -> Self:
        """Counts have one form only."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinnedCounts):
            return NotImplemented
        same = self.k == other.k and np.array_equal(self.origin, other.origin)
        return same and np.array_equal(self._keys, other._keys) and self._count == other._count

    __hash__ = None  # type: ignore[assignment]

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        total = self.empty(1, self.origin)
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
        return self.of_places(k, self.origin, keys[order], self._count[order])

    def widened(self, index: NDArray[np.intp], d: int) -> Self:
        """The same columns at ``index``, increasing, among d; no cell of others was observed."""
        origin = np.zeros(d)
        origin[index] = self.origin
        place, cell = np.divmod(self._keys, CELLS)
        c, j = np.divmod(place, max(1, self.d))
        columns = np.asarray(index, np.int64)
        keys = (c * d + columns[j]) * CELLS + cell if len(columns) else self._keys
        return self.of_places(self.k, origin, keys, self._count)

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        width, keys, parts = self.d * CELLS, [self._keys[:0]], [np.zeros(0, np.intp)]
        for new, c in enumerate(np.asarray(index).tolist()):
            at = np.arange(self.start[c * self.d], self.start[(c + 1) * self.d])
            keys.append(self._keys[at] + (new - c) * width)
            parts.append(at)
        count = self._count[np.concatenate(parts)]
        return self.of_places(len(index), self.origin, np.concatenate(keys), count)


class BinnedCountAccumulator:
    """Builds `BinnedCounts` of columns of numbers, measured from their origins (d,).

    It counts in a table with a place for every cell: 332 kB a column and class, twice that again
    with weights. The system gives memory to those parts only in which numbers lie.
    """

    def __init__(self, origin: NDArray[np.float64]) -> None:
        self._origin = np.array(origin, np.float64)
        d = len(self._origin)
        self._bounds = (  # of the codes of a column, −1 included, side by side in a table
            np.full(d, -1, np.int64),
            np.full(d, CELLS + 1, np.int64),
            np.arange(d, dtype=np.int64) * (CELLS + 1),
        )
        self._tally = np.zeros((0, d * (CELLS + 1)), np.int64)  # rows of weight one
        self._table = np.zeros((0, 2, d * (CELLS + 1)))  # the others, as pairs
        self._few: list[NDArray[np.int64]] = []  # keys of cells, one for each number
        self._few_weighted: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._waiting = 0  # how many keys those are
        self._total: BinnedCounts | None = None  # what more of them were
        self._k = 0

    def add(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite.
        """
        self._k = max(k, self._k)
        x = block.values
        if len(weights) and (weights[codes >= 0] == 1).all():
            weights = weights[:0]
        if _are_few(x) or len(weights) or x.dtype != np.float64:
            for start, part in tiles(x, np.float64):
                rows = slice(start, start + len(part))
                self._add(part, codes[rows], weights[rows], start)
        else:
            self._count(x, codes, 0)

    def _add(
        self,
        x: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        first: int,
    ) -> None:
        """Add rows of doubles, of which the block has ``first`` before them."""
        if not (len(weights) or _are_few(x)):
            self._count(x, codes, first)
            return
        self._refuse_infinite(x, codes, first)
        cells = np.empty(x.shape, np.int32)
        kernels.bins.cells(x, self._origin, cells)
        if not _are_few(x):
            self._table = grown(self._table, self._k)
            kernels.counts.add_weighted_codes(cells, *self._bounds, codes, weights, self._table)
        else:
            self._add_few(cells, codes, weights)

    def _count(self, x: NDArray[np.float64], codes: NDArray[np.intp], first: int) -> None:
        """Count rows of weight one in the table with a place for every cell."""
        self._tally = grown(self._tally, self._k)
        if kernels.bins.count(x, self._origin, codes, self._tally):
            self._refuse_infinite(x, codes, first)

    def _add_few(
        self, cells: NDArray[np.int32], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        """Count cells by their keys: few of them need no table with a place for every one."""
        d = len(self._origin)
        place = (codes[:, None] * d + np.arange(d)) * CELLS
        shown = (cells >= 0) & (codes >= 0)[:, None]
        keys = (place + cells)[shown]
        if len(weights):
            each = np.broadcast_to(weights[:, None], cells.shape)[shown]
            self._few_weighted.append((keys, each))
        else:
            self._few.append(keys)
        self._waiting += len(keys)
        if self._waiting > MOST_WAITING:
            self._total = self._of_few()

    def statistic(self) -> BinnedCounts:
        """Freeze what was added."""
        total = self._total = self._of_few()
        if self._tally.size:
            at, keys = self._shown(self._tally)
            total = total + self._of_keys(keys, DoubleDouble.of(self._tally.reshape(-1)[at]))
        if self._table.size:
            table = DoubleDouble.from_table(self._table.copy())
            at, keys = self._shown(table.hi)
            pairs = DoubleDouble(table.hi.reshape(-1)[at], table.lo.reshape(-1)[at])
            total = total + self._of_keys(keys, pairs)
        return total

    def _of_few(self) -> BinnedCounts:
        """What was added by keys, which are not kept any longer."""
        keys, count = np.unique(np.concatenate([[0][:0], *self._few]), return_counts=True)
        total = self._of_keys(keys.astype(np.int64), DoubleDouble.of(count))
        if self._few_weighted:
            total = total + self._of_keys(*_summed(self._few_weighted))
        if self._total is not None:
            total = total + self._total.place(np.arange(self._total.k), self._k)
        self._few, self._few_weighted, self._waiting, self._total = [], [], 0, None
        return total

    def _shown(self, table: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The places of a table (k', d(CELLS + 1)) that hold a number, and the keys of their cells.

        The first place of a column is for NaN.
        """
        at = np.flatnonzero(table)
        column, cell = np.divmod(at, CELLS + 1)
        shown = cell > 0
        return at[shown], (column * CELLS + cell - 1)[shown]

    def _of_keys(self, keys: NDArray[np.int64], count: DoubleDouble) -> BinnedCounts:
        return BinnedCounts.of_places(self._k, self._origin, keys, count)

    def _refuse_infinite(self, x: NDArray[np.float64], codes: NDArray[np.intp], first: int) -> None:
        for row, column in np.argwhere(np.isinf(x) & (codes >= 0)[:, None])[:1].tolist():
            raise BadCell(first + row, column, float(x[row, column]), "a number must be finite")


def _are_few(x: NDArray[Any]) -> bool:
    """Whether sorting numbers takes less time than a place for every cell."""
    return x.size < FEW or len(x) < FEW_ROWS


def _summed(
    weighted: list[tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> tuple[NDArray[np.int64], DoubleDouble]:
    """The keys, ascending, and the exact sum of the weights at each, where it is above 0."""
    keys, weights = map(np.concatenate, zip(*weighted, strict=True))
    found, place = np.unique(keys, return_inverse=True)
    table = np.zeros((1, 2, len(found) + 1))
    bounds = np.full(1, -1, np.int64), np.full(1, len(found) + 1, np.int64), np.zeros(1, np.int64)
    one_class = np.zeros(len(keys), np.intp)
    kernels.counts.add_weighted_codes(
        place.astype(np.int32)[:, None], *bounds, one_class, weights, table
    )
    count = DoubleDouble.from_table(table)[0, 1:]
    shown = count.hi > 0
    return found[shown], count[shown]
