"""Squares of distances from means: every number of classes, columns and rows, cells missing."""

import numpy as np
import pytest

from suffice.numerics.kernels import squares
from suffice.numerics.logspace import scores


@pytest.mark.parametrize("k", [1, 2, 3, 8, 9, 17])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 50])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 40])
def test_what_is_missing_adds_nothing(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, mean = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, (k, d)) * 1.0
    root, log_scale = rng.integers(0, 9, (k, d)) * 1.0, rng.integers(-9, 9, (k, d)) * 1.0
    x[n // 2 :: 3, d // 2] = np.nan
    x[-1] = np.nan
    out = scores(n, k, 1.0)
    assert squares.add_gaussian(x, mean, root, log_scale, out) == -1
    terms = log_scale - (root * (x[:, None] - mean)) ** 2
    # Small whole numbers: every order of adding gives the same.
    np.testing.assert_array_equal(out, 1.0 + np.nansum(terms, axis=2))


@pytest.mark.parametrize("d", [3, 11])
def test_a_row_has_the_same_bits_beside_every_other(d: int) -> None:
    rng = np.random.default_rng(d)
    x, mean = rng.normal(size=(37, d)), rng.normal(size=(3, d))
    root, log_scale = rng.uniform(1, 2, (3, d)), rng.normal(size=(3, d))
    alone, among, holed = scores(37, 3, 0.0), scores(37, 3, 0.0), scores(37, 3, 0.0)
    for i in range(37):
        squares.add_gaussian(x[i : i + 1], mean, root, log_scale, alone[i : i + 1])
    squares.add_gaussian(x, mean, root, log_scale, among)
    x[::2, 1] = np.nan
    squares.add_gaussian(x, mean, root, log_scale, holed)
    np.testing.assert_array_equal(among, alone)
    np.testing.assert_array_equal(holed[1::2], alone[1::2])


@pytest.mark.parametrize(("row", "first"), [(0, 0), (15, 0), (16, 16), (39, 32)])
@pytest.mark.parametrize("beside", [1.0, np.nan])
def test_a_row_that_cannot_be_squared_stops(row: int, first: int, beside: float) -> None:
    x = np.ones((40, 3))
    x[row] = beside, 1e151, beside
    terms = np.ones((2, 3)), np.ones((2, 3)), np.full((2, 3), 2.0)
    out = np.zeros((40, 2))
    assert squares.add_gaussian(x, *terms, out) == first
    np.testing.assert_array_equal(out[:first], 6.0)
