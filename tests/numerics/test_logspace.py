"""Logarithms of sums against mpmath with 60 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.numerics import kernels
from suffice.numerics.logspace import log_normalise, log_sum_exp, row_sums, safe_log, scores
from suffice.numerics.rows import affine, linear, row_major

LOGS = st.one_of(st.just(-np.inf), st.floats(-1e5, 1e5), st.floats(-5, 5))
ROWS = st.integers(1, 5).flatmap(lambda k: st.lists(LOGS, min_size=k, max_size=k))


def reference(row: list[float]) -> mpmath.mpf:
    with mpmath.workdps(60):
        return mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in row))


@settings(max_examples=150)
@given(ROWS)
def test_log_sum_exp_and_posterior(row: list[float]) -> None:
    prior = np.log(np.full(len(row), 1 / len(row)))
    found = log_sum_exp(np.array([row]))[0]
    posterior, impossible = log_normalise(np.array([row]), prior)
    if max(row) == -np.inf:
        assert found == -np.inf
        assert impossible == 1
        np.testing.assert_array_equal(posterior[0], prior)
        return
    truth = reference(row)
    scale = max(1.0, abs(float(truth)))
    assert abs(found - float(truth)) <= 2 * np.spacing(scale)
    assert impossible == 0
    for x, log_p in zip(row, posterior[0], strict=True):
        if x == -np.inf:
            assert log_p == -np.inf
        else:
            assert abs(log_p - float(mpmath.mpf(x) - truth)) <= 1e-15 * max(scale, abs(x))


def test_very_unlikely_rows_keep_their_odds() -> None:
    joint = np.array([[-1e6, -1e6 + np.log(3)], [-1e-300, -1e6]])
    posterior, impossible = log_normalise(joint, np.log([0.5, 0.5]))
    np.testing.assert_allclose(np.exp(posterior[0]), [0.25, 0.75], rtol=2e-10)
    np.testing.assert_allclose(posterior[1], [0.0, -1e6])
    assert impossible == 0


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    joint = rng.normal(size=(999, 11)) * 50
    prior = np.log(np.full(11, 1 / 11))
    whole = log_normalise(joint, prior)[0]
    alone = np.concatenate([log_normalise(joint[i : i + 1], prior)[0] for i in range(999)])
    np.testing.assert_array_equal(alone, whole)


def test_the_logarithm_of_nothing_is_minus_infinity() -> None:
    np.testing.assert_array_equal(safe_log(np.array([0.0, 1.0])), [-np.inf, 0.0])
    assert log_sum_exp(np.empty((0, 3))).shape == (0,)
    np.testing.assert_array_equal(log_sum_exp(np.empty((2, 0))), [-np.inf, -np.inf])


# -- the best class of every row, against NumPy


def best(of_rows: list[list[float]]) -> tuple[np.ndarray, int]:
    table = np.array(of_rows)
    given = scores(*table.shape)
    given[:] = table
    codes = np.empty(len(table), np.intp)
    return codes, kernels.scores.best_class(given, codes)


SCORES = st.sampled_from([-np.inf, -1.5, 0.0, 0.5, 1e300])


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    """Up to 40 rows of up to 6 scores, many of them equal."""
    k = draw(st.integers(1, 6))
    return draw(st.lists(st.lists(SCORES, min_size=k, max_size=k), min_size=1, max_size=40))


@given(tables())
def test_the_first_of_the_largest(of_rows: list[list[float]]) -> None:
    table = np.array(of_rows)
    impossible = (table == -np.inf).all(axis=1)
    codes, count = best(of_rows)
    np.testing.assert_array_equal(codes, np.where(impossible, -1, table.argmax(axis=1)))
    assert count == impossible.sum()


@pytest.mark.parametrize("n", [511, 512, 513, 1030])
def test_rows_of_several_blocks(n: int) -> None:
    table = np.random.default_rng(n).normal(size=(n, 3))
    codes, count = best(table.tolist())
    np.testing.assert_array_equal(codes, table.argmax(axis=1))
    assert count == 0


# -- linear functions of rows: any type and order of cells, and the same bits in any company


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_type_and_order(dtype: str, order: str) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype, order=order)
    slope = np.array([[1.0, 10.0, 100.0], [0.0, 0.0, 1.0]])
    expected = [[321.0 - 111.0 + 7.0, 2.0], [654.0 - 111.0 + 7.0, 5.0]]
    found = affine(x, np.ones(3), slope, np.array([7.0, 0.0]))
    np.testing.assert_array_equal(found, expected)


def test_rows_without_columns_or_functions() -> None:
    x = np.empty((2, 0))
    found = affine(x, np.empty(0), np.empty((3, 0)), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [[1.0, 2.0, 3.0]] * 2)
    assert linear(np.ones((2, 4)), np.empty((4, 0))).shape == (2, 0)
    assert linear(np.empty((0, 4)), np.ones((4, 2))).shape == (0, 2)


@pytest.mark.parametrize("m", [1, 2, 9, 50])
@pytest.mark.parametrize("d", [1, 8, 11, 50])
def test_linear_functions_of_a_row_have_the_same_bits_beside_every_other(d: int, m: int) -> None:
    rng = np.random.default_rng([d, m])
    x, matrix = rng.normal(size=(50, d)), rng.normal(size=(d, m))
    among = linear(x, matrix)
    np.testing.assert_allclose(among, x @ matrix, rtol=1e-12, atol=1e-12)
    for first, rows in ((0, 1), (49, 1), (1, 7), (2, 8), (5, 9), (3, 17)):
        part = slice(first, first + rows)
        np.testing.assert_array_equal(linear(x[part], matrix), among[part])
        np.testing.assert_array_equal(linear(x[part].copy("F"), matrix), among[part])
        np.testing.assert_array_equal(linear(x[::-1][part], matrix), among[::-1][part])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 20), (3, 20), (30, 20), (5, 0), (0, 5), (4, 20, 3)])
def test_sums_of_rows_are_added_from_left_to_right(shape: tuple[int, ...], order: str) -> None:
    terms = np.random.default_rng(0).normal(size=shape)
    expected = np.zeros((shape[0], *shape[2:]))
    for place in np.ndindex(expected.shape):
        expected[place] = sum(terms[(place[0], slice(None), *place[1:])].tolist(), 0.0)
    np.testing.assert_array_equal(row_sums(np.array(terms, order=order)), expected)


def test_what_lies_by_rows_is_not_copied() -> None:
    x = np.ones((3, 2))
    assert row_major(x, np.float64) is x
    assert row_major(x.T, np.float64).flags.c_contiguous
    np.testing.assert_array_equal(row_major(np.arange(6.0).reshape(2, 3).T, np.float64)[1], [1, 4])


# -- linear functions of rows: every number of functions, columns and rows


@pytest.mark.parametrize("k", [0, 1, 8, 17])
@pytest.mark.parametrize("d", [1, 8, 9])
@pytest.mark.parametrize("n", [1, 16, 17])
def test_scores_of_complete_rows(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, origin = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, d) * 1.0
    slope, constant = rng.integers(-9, 9, (k, d)) * 1.0, rng.integers(-9, 9, k) * 1.0
    x[n // 2 :: 3, d // 2] = np.nan
    out, done = scores(n, k, 1.0), np.zeros(n, bool)
    assert kernels.linear.add_complete(x, origin, slope, constant, done, out) == -1
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
    assert (
        kernels.linear.add_complete(x, np.zeros(3), np.ones((k, 3)), np.zeros(k), done, out)
        == first
    )
    assert done.sum() == first
    np.testing.assert_array_equal(out[:first], 3.0)


@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize("d", [1, 8, 9])
@pytest.mark.parametrize("n", [1, 16, 17])
def test_what_is_written_of_rows_of_any_cells(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, origin = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, d) * 1.0
    slope, constant = rng.integers(1, 9, (k, d)) * 1.0, rng.integers(-9, 9, k) * 1.0
    x[n // 2 :: 3, d // 2] = [np.nan, np.inf, 1e160][n % 3]
    out = scores(n, k, 1.0)
    kernels.linear.write(x, origin, slope, constant, out)
    finite = np.isfinite(x).all(axis=1)
    # Small whole numbers, but for one cell: every order of adding gives the same.
    expected = (x[finite] - origin) @ slope.T + constant
    np.testing.assert_array_equal(out[finite], expected)
    assert not np.isfinite(out[~finite]).any()


# -- squares of distances from means: every number of classes, columns and rows, cells missing


@pytest.mark.parametrize("k", [1, 8, 17])
@pytest.mark.parametrize("d", [1, 8, 9])
@pytest.mark.parametrize("n", [1, 16, 17])
def test_what_is_missing_adds_nothing(k: int, d: int, n: int) -> None:
    rng = np.random.default_rng([k, d, n])
    x, mean = rng.integers(-9, 9, (n, d)).astype(np.float64), rng.integers(-9, 9, (k, d)) * 1.0
    root, log_scale = rng.integers(0, 9, (k, d)) * 1.0, rng.integers(-9, 9, (k, d)) * 1.0
    x[n // 2 :: 3, d // 2] = np.nan
    x[-1] = np.nan
    out = scores(n, k, 1.0)
    assert kernels.squares.add_gaussian(x, mean, root, log_scale, out) == -1
    terms = log_scale - (root * (x[:, None] - mean)) ** 2
    # Small whole numbers: every order of adding gives the same.
    np.testing.assert_array_equal(out, 1.0 + np.nansum(terms, axis=2))


@pytest.mark.parametrize("d", [3, 11])
def test_squares_of_a_row_have_the_same_bits_beside_every_other(d: int) -> None:
    rng = np.random.default_rng(d)
    x, mean = rng.normal(size=(37, d)), rng.normal(size=(3, d))
    root, log_scale = rng.uniform(1, 2, (3, d)), rng.normal(size=(3, d))
    alone, among, holed = scores(37, 3, 0.0), scores(37, 3, 0.0), scores(37, 3, 0.0)
    for i in range(37):
        kernels.squares.add_gaussian(x[i : i + 1], mean, root, log_scale, alone[i : i + 1])
    kernels.squares.add_gaussian(x, mean, root, log_scale, among)
    x[::2, 1] = np.nan
    kernels.squares.add_gaussian(x, mean, root, log_scale, holed)
    np.testing.assert_array_equal(among, alone)
    np.testing.assert_array_equal(holed[1::2], alone[1::2])


@pytest.mark.parametrize(("row", "first"), [(0, 0), (15, 0), (16, 16), (39, 32)])
@pytest.mark.parametrize("beside", [1.0, np.nan])
def test_squares_stop_at_a_row_that_cannot_be_squared(row: int, first: int, beside: float) -> None:
    x = np.ones((40, 3))
    x[row] = beside, 1e151, beside
    terms = np.ones((2, 3)), np.ones((2, 3)), np.full((2, 3), 2.0)
    out = np.zeros((40, 2))
    assert kernels.squares.add_gaussian(x, *terms, out) == first
    np.testing.assert_array_equal(out[:first], 6.0)
