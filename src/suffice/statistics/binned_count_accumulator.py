"""How binned counts are summed: by sorting a few numbers, or in a table of all cells."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.binned_counts import NO_UNITS, BinnedCounts, places_of_cells
from suffice.statistics.block import BadCell, RealBlock, converted, tiles
from suffice.statistics.counts import grown
from suffice.statistics.value_grid import CELLS

__all__ = ["SNAPPED", "BinnedCountAccumulator"]

FEW, FEW_ROWS = 65_536, 2_048  # numbers, or rows, of a block, which are sorted and not counted
FEW_WEIGHTED_ROWS = 8_192  # the same of rows with weights, whose table is five times as large
FEW_CLASSES = 8  # of more, as many times more rows are few: so much larger is the table
SORTED = 2**18  # numbers whose keys are made at a time
MOST_WAITING = 2**22  # numbers that are kept to be sorted
SNAPPED = 1e-6  # units: what division by a unit may leave of a whole number
MOST_COUNTED = 2**24 - 1  # rows that a place of the table can count

Weighted: TypeAlias = tuple[NDArray[np.signedinteger[Any]], NDArray[np.float64]]


class BinnedCountAccumulator:
    """Builds `BinnedCounts` of columns of numbers, measured from their origins (d,).

    Where they have units, they are divided by them, and whole numbers stay whole.

    It counts in a table with a place for every cell: 124 kB a column and class, and of rows with
    weights 664 kB. The system gives memory to parts of it in which numbers lie, of 2 MB where it
    has such pages.
    """

    def __init__(self, origin: NDArray[np.float64], unit: NDArray[np.float64] = NO_UNITS) -> None:
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
        self._few: list[NDArray[np.signedinteger[Any]]] = []  # keys of cells, one for each number
        self._few_weighted: list[Weighted] = []
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
        x, (origin, unit) = block.values, self._grid
        if len(unit):
            x = (np.asarray(converted(x), np.float64) - origin) / unit
            whole = np.rint(x)
            np.copyto(x, whole, where=np.abs(x - whole) <= SNAPPED)
        if len(weights) and (weights[codes >= 0] == 1).all():
            weights = weights[:0]
        if self._are_few(x, weights) or len(weights) or x.dtype != np.float64:
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
        if not (len(weights) or self._are_few(x, weights)):
            self._count(x, codes, first)
            return
        self._refuse_infinite(x, codes, first)
        if self._are_few(x, weights):
            step = max(1, SORTED // max(1, x.shape[1]))
            for start in range(0, len(x), step):
                rows = slice(start, start + step)
                self._add_few(x[rows], codes[rows], weights[rows])
            return
        cells = np.empty(x.shape, np.int32)
        kernels.bins.cells(x, self._origin, cells)
        self._table = grown(self._table, self._k)
        kernels.counts.add_weighted_codes(cells, *self._bounds, codes, weights, self._table)

    def _count(self, x: NDArray[np.float64], codes: NDArray[np.intp], first: int) -> None:
        """Count rows of weight one in the table with a place for every cell."""
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

    def _are_few(self, x: NDArray[Any], weights: NDArray[np.float64]) -> bool:
        rows = FEW_WEIGHTED_ROWS if len(weights) else FEW_ROWS
        return _are_few(len(x), x.shape[1], self._k, rows)

    def _add_few(
        self, x: NDArray[np.float64], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        """Count cells by their keys: few of them need no table with a place for every one."""
        d = len(self._origin)
        cells = np.empty(x.shape, np.int32)
        kernels.bins.cells(x, self._origin, cells)
        place = (codes[:, None] * d + np.arange(d)) * CELLS
        if self._k * d * CELLS < 2**31:  # such keys are sorted in half of the time
            place = place.astype(np.int32)
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
        total = self._of_tally()
        if self._table.size:
            total = total + self._of_keys(*self._of_table())
        return total

    def _of_tally(self) -> BinnedCounts:
        """What was added by keys, which are not kept any longer, and what the tally holds."""
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
        """What was added by keys, which are not kept any longer."""
        few = np.concatenate(self._few or [np.zeros(0, np.int64)])
        keys, count = np.unique(few, return_counts=True)
        total = self._of_keys(keys.astype(np.int64), DoubleDouble.of(count))
        if self._few_weighted:
            total = total + self._of_keys(*_summed(self._few_weighted))
        if self._total is not None:
            total = total + self._total.place(np.arange(self._total.k), self._k)
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

    def _refuse_infinite(self, x: NDArray[np.float64], codes: NDArray[np.intp], first: int) -> None:
        for row, column in np.argwhere(np.isinf(x) & (codes >= 0)[:, None])[:1].tolist():
            raise BadCell(first + row, column, float(x[row, column]), "a number must be finite")


def _are_few(rows: int, d: int, k: int, few: int) -> bool:
    """Whether sorting numbers takes less time, or less memory, than a place for every cell."""
    return rows * d < FEW or rows * FEW_CLASSES < few * max(FEW_CLASSES, k)


def _summed(weighted: list[Weighted]) -> tuple[NDArray[np.int64], DoubleDouble]:
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
    return found[shown].astype(np.int64), count[shown]
