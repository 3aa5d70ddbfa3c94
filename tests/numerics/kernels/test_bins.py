"""Counts of cells are added, taken away and read from a tally, against dictionaries."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.sums.bins import CELLS

Arrays = tuple[NDArray[Any], ...]


def arrays_of(columns: list[Counter[int]]) -> Arrays:
    """Start, cells and counts."""
    start = np.cumsum([0, *map(len, columns)])
    cells = [cell for column in columns for cell in sorted(column)]
    counts = [column[cell] for column in columns for cell in sorted(column)]
    return start, np.array(cells, np.uint16), np.array(counts, np.float64)


def combined(a: Arrays, b: Arrays, sign: float) -> tuple[int, Arrays]:
    size = len(a[1]) + len(b[1])
    found = np.empty_like(a[0]), np.empty(size, np.uint16), np.empty(size)
    many = kernels.bins.add(*a, *b, sign, *found)
    return many, (found[0], found[1][:many], found[2][:many])


def drawn(rng: np.random.Generator, columns: int) -> list[Counter[int]]:
    return [Counter(rng.integers(0, 9, rng.integers(0, 12)).tolist()) for _ in range(columns)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_counts_are_added_and_taken_away(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = drawn(rng, columns), drawn(rng, columns)
    both = [x + y for x, y in zip(a, b, strict=True)]
    many, found = combined(arrays_of(a), arrays_of(b), 1.0)
    assert many == sum(map(len, both))
    for x, y in zip(found, arrays_of(both), strict=True):
        assert x.tolist() == y.tolist()
    many, rest = combined(found, arrays_of(b), -1.0)
    assert many == sum(map(len, a))
    for x, y in zip(rest, arrays_of(a), strict=True):
        assert x.tolist() == y.tolist()


def test_sums_that_are_no_double_and_negative_ones_are_left_to_others() -> None:
    one, tiny = (np.array([0, 1]), np.array([3], np.uint16), np.ones(1)), 2.0**-60
    assert combined(one, (*one[:2], np.array([tiny])), 1.0)[0] == -1
    assert combined(one, (*one[:2], np.array([2.0])), -1.0)[0] == -1
    assert combined(one, (one[0], np.array([4], np.uint16), np.ones(1)), -1.0)[0] == -1


def test_cells_of_a_tally() -> None:
    rng = np.random.default_rng(0)
    tally = np.zeros((2, 3 * (CELLS + 1)), np.uint32)
    at = rng.choice(tally.size, 400, replace=False)
    tally.reshape(-1)[at] = rng.integers(1, 2**24, 400)
    tally.reshape(-1)[at[:9]] <<= np.uint32(8)  # nothing is left in the byte
    tally &= np.uint32(2**24 - 1)
    parts = tally.astype(np.uint8), (tally >> np.uint32(8)).astype(np.uint16)
    found = np.empty(7, np.int64), np.empty(400, np.uint16), np.empty(400)
    many = kernels.bins.shown(*parts, *found)
    columns = tally.reshape(6, CELLS + 1)[:, 1:]
    place, cell = np.nonzero(columns)
    assert many == len(cell)
    assert found[0].tolist() == np.searchsorted(place, np.arange(7)).tolist()
    assert found[1][:many].tolist() == cell.tolist()
    assert found[2][:many].tolist() == columns[place, cell].tolist()
    assert kernels.bins.shown(*parts, found[0], found[1][: many - 1], found[2][: many - 1]) == -1


def test_cells_outside_the_grid_are_refused() -> None:
    start, cell, count = np.array([0, 1]), np.array([3], np.uint16), np.ones(1)
    outside = np.array([CELLS], np.uint16)
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.counts_of(start, cell, count, 1, 0, outside, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.cells_of(start, outside, count, 1, 0, np.zeros(CELLS, np.uint16))


def test_columns_that_do_not_follow_each_other_are_refused() -> None:
    start, cell, count = arrays_of([Counter([1]), Counter([2])])
    with pytest.raises(ValueError, match="the cells of columns follow each other"):
        combined((start[::-1].copy(), cell, count), (start, cell, count), 1.0)
