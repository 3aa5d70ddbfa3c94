"""Squares of distances from means."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check
from .rows import KINDS, rows, scores, shapes


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(1)
    for n, d, k in (*shapes(), (0, 5, 3)):
        results: list[Any] = []
        for kind in KINDS if n else KINDS[:1]:
            x, mean = rows(random, n, d, kind), random.standard_normal((k, d))
            root, log_scale = random.uniform(0.0, 2.0, (k, d)), random.standard_normal((k, d))
            out = scores(random, n, k, "CF-"[d % 3])
            stopped = kernels.squares.add_gaussian(x, mean, root, log_scale, out)
            results += stopped, out
        yield f"add_gaussian {n} {d} {k}", results


def test_as_recorded() -> None:
    check("squares", cases())


@pytest.mark.parametrize("shape", [(1, 1), (40, 9), (33, 3), (17, 8), (5, 50)])
@pytest.mark.parametrize("k", [1, 3, 12])
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
