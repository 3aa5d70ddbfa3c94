"""Sums over rows: pairs, counts, moments, co-moments, columns and bins."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


# -- counts of cells


def test_cells_outside_the_grid_are_refused() -> None:
    counts = np.array([0, 1]), np.zeros(1, np.uint8)
    outside, no_cuts = np.array([CELLS], np.uint16), np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.counts_of(*counts, 0, outside, no_cuts, np.zeros((1, 1)))


@pytest.mark.parametrize("start", [[2, 1, 2], [0, 1, 9], [-1, 0, 1]])
def test_columns_that_do_not_follow_each_other_are_refused(start: list[int]) -> None:
    counts, to = (np.array(start), np.zeros(2, np.uint8)), (np.zeros(3, int), np.zeros(9, np.uint8))
    with pytest.raises(ValueError, match="the cells of columns follow each other"):
        kernels.bins.add(*counts, *counts, 1.0, *to)


@given(st.binary(max_size=60), st.integers(0, 60), st.binary(max_size=60))
def test_any_bytes_are_cells_of_the_grid(one: bytes, cut: int, other: bytes) -> None:
    packed, more = np.frombuffer(one, np.uint8).copy(), np.frombuffer(other, np.uint8).copy()
    start, of_more = np.array([0, min(cut, len(one)), len(one)]), np.array([0, 0, len(other)])
    to = np.zeros(3, int), np.zeros(200, np.uint8)
    cells, every = np.zeros(CELLS, np.uint16), np.zeros(CELLS)
    size = kernels.bins.cells_of(start, packed, 1, 1, cells, every)
    assert (np.diff(cells[:size].astype(int)) > 0).all()
    assert kernels.bins.add(start, packed, of_more, more, 1.0, *to) <= 200
    assert 0 <= kernels.bins.scale(start, packed, 0.5, *to) <= 200
