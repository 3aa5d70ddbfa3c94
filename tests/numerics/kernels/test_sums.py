"""Sums over rows: pairs, counts, moments, co-moments, columns and bins."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.sums.bins import CELLS

# -- counts of codes and of events


def test_what_would_be_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="places in seen"):
        kernels.counts.mark(np.array([1, 9]), 1, np.zeros(8, bool))
    with pytest.raises(ValueError, match="places in table"):
        kernels.counts.look_up(np.array([0]), 1, np.zeros(8, int), np.zeros(1, int))
    codes, tally = np.zeros(2, int), np.zeros((1, 4), int)
    values, low, size, offsets = np.zeros((2, 1), int), np.zeros(1, int), np.array([4]), np.ones(1)
    with pytest.raises(ValueError, match="must have its places"):
        kernels.counts.add_codes(values, low, size, offsets.astype(int), codes, tally)
    with pytest.raises(ValueError, match="codes must be below 1"):
        kernels.counts.add_codes(values, low, size, low, codes + 1, tally)
    csr, sums = (np.ones(2), np.array([0, 5]), np.array([0, 1, 2])), np.zeros((2, 1, 5))
    with pytest.raises(ValueError, match="below the number of columns"):
        kernels.counts.add_sparse_events(*csr, codes, np.empty(0), *sums)
    csr = np.ones(2), np.array([0, 4]), np.array([0, 1, 3])
    with pytest.raises(ValueError, match="must not decrease"):
        kernels.counts.add_sparse_events(*csr, codes, np.empty(0), *sums)
    bits = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="fewer bits"):
        kernels.counts.read_codes(codes, bits, 7, np.zeros(2, np.int32), np.zeros(2, bool))


# -- class-wise moments


def empty(k: int, d: int) -> list[Any]:
    return [np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d))]


def test_rows_that_lie_otherwise_give_the_same() -> None:
    x, codes = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    expected, found = empty(2, 3), empty(2, 3)
    kernels.moments.add_rows(x, codes, *expected)
    apart = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    apart[:] = x
    kernels.moments.add_rows(apart, np.repeat(codes, 2)[::2], *found)
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "?"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((700, 3), "C"), ((700, 19), "F"), ((9, 1), "every second"), ((300, 8), "wider")],
)
def test_numbers_of_every_type_and_order_give_the_same(
    shape: tuple[int, int], kind: str, order: str
) -> None:
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 2 if kind == "?" else 100, shape).astype(kind)
    codes = rng.integers(-1, 3, len(numbers))
    lying = {
        "C": numbers,
        "F": np.asfortranarray(numbers),
        "every second": np.repeat(numbers, 2, axis=1)[:, ::2],
        "wider": np.hstack([numbers, numbers])[:, : shape[1]],
    }[order]
    expected, found = empty(3, shape[1]), empty(3, shape[1])
    assert kernels.moments.add_rows(numbers.astype(np.float64), codes, *expected) == -1
    assert kernels.moments.add_rows(lying, codes, *found) == -1
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()


# -- co-moments of groups


def empty_of_comoments(product_index: Any, d: int) -> list[Any]:
    g, matrices = len(product_index), max([*product_index, -1]) + 1
    sums = [np.zeros((g, 2)), np.zeros((g, d)), np.zeros((g, 2, d))]
    return [*sums, np.array(product_index, np.intp), np.zeros((matrices, 2, d, d))]


def test_wrong_arrays_are_refused() -> None:
    state, codes, weights = empty_of_comoments([0, 1], 3), np.zeros(4, np.intp), np.empty(0)
    x, y = np.zeros((4, 2)), np.zeros((4, 1))
    kernels.comoments.add_rows(x, y, codes, weights, *state)
    with pytest.raises(ValueError, match="the columns of pivot"):
        kernels.comoments.add_rows(x, x, codes, weights, *state)
    with pytest.raises(ValueError, match="codes must be below 2"):
        kernels.comoments.add_rows(x, y, codes + 2, weights, *state)
    with pytest.raises(ValueError, match="product_index must be below 1"):
        kernels.comoments.add_rows(x, y, codes, weights, *state[:4], state[4][:1].copy())
    product_index = np.array([1, 0])
    with pytest.raises(ValueError, match="side by side"):
        kernels.comoments.add_rows(x, y, codes, weights, *state[:3], product_index, state[4])
    with pytest.raises(ValueError, match="groups must be from 0"):
        kernels.comoments.add_scattered_rows(np.zeros((4, 3)), codes - 1, weights, *state)


# -- numbers of any column into doubles, and columns into rows


def test_columns_are_written_among_others() -> None:
    x, rows = np.arange(170.0).reshape(17, 10, order="F"), np.zeros((17, 12))
    kernels.columns.to_rows(x, rows[:, 1:11])
    assert (rows == np.pad(x, ((0, 0), (1, 1)))).all()


# -- counts of cells are added, taken away and read from a tally, against dictionaries


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
    no_cuts, found = np.zeros(0, np.int64), (np.zeros(CELLS, np.uint16), np.zeros(CELLS))
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.counts_of(start, cell, count, 1, 0, outside, no_cuts, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.cells_of(start, outside, count, 1, 0, *found)


def test_columns_that_do_not_follow_each_other_are_refused() -> None:
    start, cell, count = arrays_of([Counter([1]), Counter([2])])
    with pytest.raises(ValueError, match="the cells of columns follow each other"):
        combined((start[::-1].copy(), cell, count), (start, cell, count), 1.0)
