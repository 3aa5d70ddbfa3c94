"""Whole numbers in binned counts: those of up to 256 in size have cells of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.block import BadCell, RealBlock, converted
from suffice.statistics.counts import Counts
from suffice.statistics.value_grid import CELLS, WHOLE, cells_of
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["WholeValues", "codes_of", "counts_of", "value_of_cells", "whole_values"]

STEP = 2 * WHOLE + 1  # how many values have cells of their own


class WholeValues(NamedTuple):
    """The values of one column, of all classes together.

    Parameters
    ----------
    values : ndarray of int (m,)
        Ascending.
    weight : ndarray (m,)
        Σw of the cells that show each, rounded.
    observed : float
        Σw of all cells that are not missing.
    """

    values: NDArray[np.int64]
    weight: NDArray[np.float64]
    observed: float


def whole_values(bins: BinnedCounts) -> list[WholeValues | None]:
    """The values of every column; None where one is no whole number, or above 256 in size.

    Examples
    --------
    >>> from suffice.statistics.binned_count_accumulator import BinnedCountAccumulator
    >>> total = BinnedCountAccumulator(np.zeros(2))
    >>> rows = RealBlock(np.array([[2.0, 0.5], [7.0, 1.0], [7.0, 1.0]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> first, second = whole_values(total.statistic())
    >>> first.values.tolist(), first.observed, second
    ([2, 7], 3.0, None)
    """
    pooled = bins.one_class
    (value, whole), units = value_of_cells(pooled.cell), bins.units
    found: list[WholeValues | None] = []
    for j, (a, b) in enumerate(pairwise(pooled.start.tolist())):
        if bins.origin[j] or units[j] != 1 or not whole[a:b].all():
            found.append(None)
            continue
        high, low = pooled.high[a:b], pooled.low[a:b]
        found.append(WholeValues(value[a:b], high, fsum([*high.tolist(), *low.tolist()])))
    return found


def counts_of(bins: BinnedCounts, columns: NDArray[np.intp]) -> Counts:
    """The counts of some columns, (k, M), of which every value has a cell of its own."""
    some = bins.columns(columns)
    c, j = np.divmod(np.repeat(np.arange(some.k * some.d), np.diff(some.start)), max(1, some.d))
    value, _ = value_of_cells(some.cell)
    keys, place = np.unique(j * STEP + WHOLE + value, return_inverse=True)
    of_column, value = np.divmod(keys, STEP)
    vocabularies = tuple(
        Vocabulary(tuple((value[of_column == j] - WHOLE).tolist())) for j in range(some.d)
    )
    low = some.low if len(some.low) else np.zeros(len(some.high))
    count = DoubleDouble(some.high, low).scatter((c, place), (some.k, len(keys)))
    return Counts(vocabularies, count)


def codes_of(block: RealBlock, vocabularies: Sequence[Vocabulary]) -> NDArray[np.int32]:
    """The code of every cell, (n, d): −1 where it is missing, m where it is none of the m values.

    Raises
    ------
    BadCell
        If a number is infinite, or no double holds it.

    Examples
    --------
    >>> rows = RealBlock(np.array([[7.0], [2.5], [np.nan], [2.0]]))
    >>> codes_of(rows, (Vocabulary((2, 7)),)).ravel().tolist()
    [1, 2, -1, 0]
    """
    x = np.ascontiguousarray(converted(block.values), np.float64)
    codes = np.empty(x.shape, np.int32)
    kernels.bins.cells(x, np.zeros(x.shape[1]), codes)
    for row, column in np.argwhere(np.isinf(x))[:1].tolist():
        raise BadCell(row, column, float(x[row, column]), "a number must be finite")
    for j, vocabulary in enumerate(vocabularies):
        place = np.full(CELLS + 1, len(vocabulary), np.int32)
        place[-1] = -1  # the cell of NaN
        place[cells_of(np.array(vocabulary.values, np.float64))] = np.arange(len(vocabulary))
        codes[:, j] = place[codes[:, j]]
    return codes


def value_of_cells(
    cells: NDArray[np.integer[Any]],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The whole number of each cell, and whether the cell has one; 0 where it has none.

    Examples
    --------
    >>> value, whole = value_of_cells(cells_of(np.array([3.0, 3.5, -256.0, 257.0])))
    >>> value.tolist(), whole.tolist()
    ([3, 0, -256, 0], [True, False, True, False])
    """
    values, whole = _values()
    at = np.asarray(cells, np.intp)
    return values[at], whole[at]


@cache
def _values() -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    numbers = np.arange(-WHOLE, WHOLE + 1)
    cells = cells_of(numbers.astype(np.float64))
    values, whole = np.zeros(CELLS, np.int64), np.zeros(CELLS, np.bool_)
    values[cells], whole[cells] = numbers, True
    return values, whole
