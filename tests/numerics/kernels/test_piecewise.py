"""Log densities that are constant in bins."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

SHAPES = ((0, 3, 2), (1, 1, 1), (7, 9, 2), (8, 8, 8), (65, 17, 9), (130, 3, 300), (200, 2, 5))


def numbers(random: np.random.Generator, n: int, d: int) -> np.ndarray[Any, Any]:
    """Numbers with gaps, of which some are where a bin begins."""
    x = np.round(random.standard_normal((n, d)), 1)
    x[random.random((n, d)) < 0.1] = np.nan
    return x


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(11)
    for n, d, k in SHAPES:
        for most in (1, 5, 70, 200):
            start = np.append(0, np.cumsum(random.integers(1, most + 1, d)))
            low = np.round(random.standard_normal(start[-1]), 1)
            for a, b in pairwise(start):
                low[a:b].sort()
            x, logs = numbers(random, n, d), random.standard_normal((k, start[-1]))
            for rows in (x, np.asfortranarray(x), np.repeat(x, 3, axis=1)[::-1, ::3]):
                out = random.standard_normal((k, n)).T
                before = out.copy()
                stopped = kernels.piecewise.add(rows, start, low, logs, out)
                yield f"{n} {d} {k} {most}", [rows, start, low, logs, before, out, stopped]


def test_bins_are_those_of_a_search_and_columns_are_added_in_turn() -> None:
    for name, (x, start, low, logs, expected, found, stopped) in cases():
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
