"""Scores of rows: linear, squares, distances, tables and densities in bins."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest

from suffice.numerics import kernels

# -- log-likelihoods of blocks, and best classes


def test_a_table_has_a_row_for_every_value() -> None:
    values, low, size, offsets = np.ones((4, 2), np.int64), *np.array([[0, 0], [2, 1], [0, 3]])
    table, out = np.ones((5, 8)), np.zeros((4, 2))
    kernels.scores.add_table(values, low, size, offsets, table, out)
    assert out.all()
    for wrong in (
        (low, size, offsets, table[:4]),
        (low, size, offsets, table[:, :7].copy()),
        (low, -size, offsets, table),
        (low, size, offsets - 1, table),
        (low, size, offsets[:1], table),
        (low, size + 2**62, offsets, table),
    ):
        with pytest.raises(ValueError, match=r"row of the table|whole class tiles"):
            kernels.scores.add_table(values, *wrong, out)


def test_rows_that_are_no_compressed_rows_are_refused() -> None:
    data, indices, slope, out = np.ones(3), np.zeros(3, np.int32), np.ones((2, 8)), np.zeros((2, 1))
    for indptr in ([0, 1], [0, 1, 4], [-1, 1, 3], [0, 2, 1], []):
        with pytest.raises(ValueError, match="indptr"):
            kernels.scores.add_sparse_linear(data, indices, np.array(indptr, np.int32), slope, out)
    starts = np.array([0, 1, 3])
    with pytest.raises(ValueError, match="indices"):
        kernels.scores.add_sparse_linear(data, indices[:2], starts, slope, out)
    for dtype, largest in ((np.int32, 2**31 - 1), (np.int64, 2**62)):
        far, found = np.array([-1, largest, 1], dtype), np.zeros((2, 1))
        kernels.scores.add_sparse_linear(data, far, starts, slope, found)
        np.testing.assert_array_equal(found, [[0.0], [1.0]])


def test_terms_of_student_add_up_to_its_sums() -> None:
    random = np.random.default_rng(4)
    for n, d, k in ((1, 1, 1), (9, 3, 2), (70, 5, 4)):
        x, parameters = random.normal(size=(n, d)), random.random((4, k, d)) + 0.1
        x[random.random((n, d)) < 0.2] = np.nan
        sums, terms = np.zeros((n, k)), np.full((d, k, n), 7.0)
        kernels.scores.add_student(x, *parameters, sums)
        kernels.scores.student_terms(x, *parameters, terms)
        np.testing.assert_allclose(terms.sum(axis=0).T, sums, rtol=1e-12, atol=1e-12)
        assert (terms.transpose(2, 0, 1)[np.isnan(x)] == 0).all()


# -- squares of distances from means


@pytest.mark.parametrize(("k", "shape"), [(1, (1, 1)), (12, (40, 9)), (3, (17, 8)), (3, (5, 50))])
@pytest.mark.parametrize("dtype", "dfbBhHiI?")
def test_rows_are_read_as_they_lie(dtype: str, k: int, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(2)
    x = (8 * random.standard_normal(shape)).astype(dtype)
    if dtype in "df":
        x[random.random(shape) < 0.05] = np.nan
    table, origin = random.standard_normal((k, shape[1])), random.standard_normal(shape[1])
    wide = np.zeros((2 * shape[0], 3 * shape[1]), x.dtype)
    wide[::2, ::3] = x
    found = []
    for given in (x.astype(np.float64), x, np.asfortranarray(x), wide[::2, ::3], x[::-1][::-1]):
        squares, linear, written = np.zeros((3, k, shape[0])).transpose(0, 2, 1)
        done = np.zeros(shape[0], bool)
        assert kernels.squares.add_gaussian(given, table, table, table, squares) == -1
        assert (
            kernels.linear.add_complete(given, origin, table, table[:, 0].copy(), done, linear)
            == -1
        )
        kernels.linear.write(given, origin, table, table[:, 0].copy(), written)
        found.append([squares, linear, written, done])
    for results in found[1:]:
        for one, other in zip(found[0], results, strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("d", [3, 20])
def test_a_number_too_large_is_found_where_it_lies(d: int, order: Literal["C", "F"]) -> None:
    x, table, out = np.ones((50, d), order=order), np.ones((2, d)), np.zeros((50, 2))
    x[37, d - 1] = 1e160
    assert kernels.squares.add_gaussian(x, table, table, table, out) == 32
    x[37, d - 1] = -np.inf
    x = x.astype(np.float32)
    assert kernels.squares.add_gaussian(x, table, table, table, out) == 32


# -- log densities that are constant in bins


SHAPES = ((0, 3, 2), (1, 1, 1), (7, 9, 2), (8, 8, 8), (65, 17, 9), (130, 3, 300), (200, 2, 5))


def numbers(random: np.random.Generator, n: int, d: int) -> np.ndarray[Any, Any]:
    """Numbers with gaps, of which some are where a bin begins."""
    x = np.round(random.standard_normal((n, d)), 1)
    x[random.random((n, d)) < 0.1] = np.nan
    return x


def cases_of_piecewise() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(11)
    for n, d, k in SHAPES:
        for most in (1, 5, 70, 200):
            start = np.append(0, np.cumsum(random.integers(1, most + 1, d)))
            low = np.round(random.standard_normal(start[-1]), 1)
            for a, b in pairwise(start):
                low[a:b].sort()
            x, logs = numbers(random, n, d), random.standard_normal((k, start[-1]))
            for given in (x, np.asfortranarray(x), np.repeat(x, 3, axis=1)[::-1, ::3]):
                out = random.standard_normal((k, n)).T
                before = out.copy()
                stopped = kernels.piecewise.add(given, start, low, logs, out)
                yield f"{n} {d} {k} {most}", [given, start, low, logs, before, out, stopped]


def test_bins_are_those_of_a_search_and_columns_are_added_in_turn() -> None:
    for name, (x, start, low, logs, expected, found, stopped) in cases_of_piecewise():
        for j in range(x.shape[1]):
            own = slice(start[j], start[j + 1])
            bins = np.searchsorted(low[own][1:], x[:, j], side="right")
            expected += np.where(np.isnan(x[:, j]), 0.0, logs[:, own][:, bins]).T
        assert np.array_equal(expected, found), name
        assert stopped == -1


@pytest.mark.parametrize("row", [0, 63, 64, 129])
def test_an_infinite_number_stops_it(row: int) -> None:
    x, start, logs = np.zeros((130, 9)), np.arange(10), np.ones((2, 9))
    x[row, 8] = np.inf if row % 2 else -np.inf
    out = np.zeros((130, 2))
    assert kernels.piecewise.add(x, start, np.zeros(9), logs, out) == row // 64 * 64
    assert (out[: row // 64 * 64] == 9).all()
