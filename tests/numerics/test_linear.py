"""Linear functions of rows: every number of functions, columns and rows."""

import numpy as np
import pytest

from suffice.numerics.kernels import linear
from suffice.numerics.logspace import scores


@pytest.mark.parametrize("k", [0, 1, 2, 3, 8, 9, 17])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 50])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 40])
def test_scores_of_complete_rows(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, origin = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, d) * 1.0
    slope, constant = rng.integers(-9, 9, (k, d)) * 1.0, rng.integers(-9, 9, k) * 1.0
    x[n // 2 :: 3, d // 2] = np.nan
    out, done = scores(n, k, 1.0), np.zeros(n, bool)
    assert linear.add_complete(x, origin, slope, constant, done, out) == -1
    complete = ~np.isnan(x).any(axis=1)
    np.testing.assert_array_equal(done, complete)
    # Small whole numbers: every order of adding gives the same.
    expected = 1.0 + (x[complete] - origin) @ slope.T + constant
    np.testing.assert_array_equal(out[complete], expected)
    np.testing.assert_array_equal(out[~complete], 1.0)


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize(("row", "first"), [(0, 0), (15, 0), (16, 16), (39, 32)])
def test_a_row_that_cannot_be_squared_stops(row: int, first: int, k: int) -> None:
    x = np.ones((40, 3))
    x[row, 1] = 1e151
    out, done = np.zeros((40, k)), np.zeros(40, bool)
    assert linear.add_complete(x, np.zeros(3), np.ones((k, 3)), np.zeros(k), done, out) == first
    assert done.sum() == first
    np.testing.assert_array_equal(out[:first], 3.0)


@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 50])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 40])
def test_what_is_written_of_rows_of_any_cells(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, origin = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, d) * 1.0
    slope, constant = rng.integers(1, 9, (k, d)) * 1.0, rng.integers(-9, 9, k) * 1.0
    x[n // 2 :: 3, d // 2] = [np.nan, np.inf, 1e160][n % 3]
    out = scores(n, k, 1.0)
    linear.write(x, origin, slope, constant, out)
    finite = np.isfinite(x).all(axis=1)
    # Small whole numbers, but for one cell: every order of adding gives the same.
    expected = (x[finite] - origin) @ slope.T + constant
    np.testing.assert_array_equal(out[finite], expected)
    assert not np.isfinite(out[~finite]).any()
