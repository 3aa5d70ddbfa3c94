"""Least squares from exact sums, against exact rational arithmetic."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from suffice.errors import DataError
from suffice.linear_model import LinearRegression
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.posterior import Posterior
from suffice.models.linear.ridge import RidgeSpectrum
from suffice.sums.block import RealBlock
from suffice.sums.comoments import Comoments, ComomentsAccumulator

Matrix = list[list[Fraction]]
FEW = settings(max_examples=25)


def summed(x: np.ndarray, y: np.ndarray, weights=None) -> Comoments:
    z = np.concatenate([x, y.reshape(len(x), -1)], axis=1)
    weights = np.empty(0) if weights is None else weights
    total = ComomentsAccumulator(z.shape[1])
    total.add(RealBlock(z), np.zeros(len(z), np.intp), weights, 1)
    return total.statistic()


def fitted(x, y, penalty=0.0, intercept=True, weights=None) -> LeastSquares:
    p = x.shape[1]
    equations = NormalEquations.of(summed(x, y, weights), p, intercept)
    return LeastSquares(equations, np.full(p, penalty))


# -- exact answers


def rational(values: np.ndarray) -> Matrix:
    return [[Fraction(v) for v in row] for row in values.tolist()]


def times(a: Matrix, b: Matrix) -> Matrix:
    return [
        [sum(u * v for u, v in zip(r, c, strict=True)) for c in zip(*b, strict=True)] for r in a
    ]


def turned(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def inverted(a: Matrix) -> Matrix:
    """Gauss and Jordan, without rounding."""
    d = len(a)
    rows = [[*row, *(Fraction(i == j) for j in range(d))] for i, row in enumerate(a)]
    for j in range(d):
        pivot = next(i for i in range(j, d) if rows[i][j])
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(d):
            if i != j:
                rows[i] = [u - rows[i][j] * v for u, v in zip(rows[i], rows[j], strict=True)]
    return [row[d:] for row in rows]


def exactly(x, y, penalty=0.0, intercept=True) -> tuple[list[float], float, list[float]]:
    """Coefficients with the intercept first, RSS and the diagonal of the inverse."""
    a, b = rational(x), rational(y.reshape(-1, 1))
    if intercept:
        a = [[Fraction(1), *row] for row in a]
    gram = times(turned(a), a)
    for j in range(int(intercept), len(gram)):
        gram[j][j] += Fraction(penalty)
    inverse = inverted(gram)
    w = times(inverse, times(turned(a), b))
    left = [u[0] - v[0] for u, v in zip(b, times(a, w), strict=True)]
    rss = sum(e * e for e in left)
    return [float(v[0]) for v in w], float(rss), [float(inverse[j][j]) for j in range(len(w))]


def all_of(fit: LeastSquares) -> list[float]:
    first = [fit.intercept[0]] if fit.equations.intercept else []
    return [*map(float, first), *fit.coefficients[:, 0].tolist()]


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Columns of different scales and offsets, of full rank."""
    d, rng = draw(st.integers(1, 4)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(d + 2, 12))
    scale = 10.0 ** rng.integers(-12, 13, d)
    offset = rng.integers(-3, 4, d) * scale * draw(st.sampled_from([0.0, 1.0, 1e6]))
    x = rng.integers(-9, 10, (n, d)) * scale + offset + rng.normal(size=(n, d)) * scale
    return x, rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)


@FEW
@given(tables(), st.booleans(), st.sampled_from([0.0, 0.5, 1e3]))
def test_exact_to_the_last_digits(table, intercept, penalty):
    x, y = table
    fit = fitted(x, y, penalty, intercept)
    w, rss, inverse = exactly(x, y, penalty, intercept)
    assert_allclose(all_of(fit), w, rtol=1e-15)
    assert_allclose(fit.rss[0], rss, rtol=1e-14)
    assert_allclose(np.diagonal(fit.covariance), inverse, rtol=1e-15)


def test_a_penalty_far_above_the_squares_of_a_column_takes_no_digits():
    x, y = np.array([[3e-12, 1e4], [-1e-12, 3e4], [4e-12, 2e4], [1e-12, 5e4]]), np.arange(4.0) - 1
    for intercept in (True, False):
        w, rss, _ = exactly(x, y, 1e3, intercept)
        fit = fitted(x, y, 1e3, intercept)
        assert all_of(fit) == w
        assert_allclose(fit.rss[0], rss, rtol=1e-15)


@FEW
@given(tables(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e3]))
def test_neither_order_nor_partition_reach_the_bits(table, seed, penalty):
    x, y = table
    rng = np.random.default_rng(seed)
    whole = fitted(x, y, penalty)
    order = rng.permutation(len(x))
    parts = np.split(order, np.sort(rng.integers(0, len(x) + 1, 2)))
    first, *rest = (summed(x[rows], y[rows]) for rows in parts if len(rows))
    for part in rest:
        first = first + part
    other = LeastSquares(NormalEquations.of(first, x.shape[1]), np.full(x.shape[1], penalty))
    for name in ("coefficients", "intercept", "rss", "covariance"):
        assert (getattr(whole, name) == getattr(other, name)).all(), name


@FEW
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3), st.integers(-(2**20), 2**20)
)
def test_a_difference_of_means_goes_to_the_even_double(seed, zeros, ones, constant):
    """Of two values of x, it is a sum of few numbers, and may lie half-way between two doubles."""
    rng = np.random.default_rng(seed)
    x = np.repeat([[0.0], [1.0]], [zeros, ones], axis=0)
    y = rng.normal(size=zeros + ones)
    w, _, _ = exactly(x, y)
    assert fitted(x + constant, y).coefficients[0, 0] == w[1]
    assert fitted(x[::-1], y[::-1]).coefficients[0, 0] == w[1]


@FEW
@given(tables(), st.integers(-60, 60), st.integers(-10, 10))
def test_units_are_nothing(table, power, decimal):
    x, y = table
    fit = fitted(x, y)
    two = fitted(x * 2.0**power, y)
    assert (two.coefficients * 2.0**power == fit.coefficients).all()
    assert (two.intercept == fit.intercept).all()
    ten = fitted(x * 10.0**decimal, y)
    # the columns themselves are rounded, and each coefficient is as sensitive to that as it is
    scale = np.sqrt(np.diagonal(fit.covariance)[1:] * fit.tss) * np.sqrt(fit.equations.rows)
    sd = np.sqrt(fit.equations.variance)
    reach = np.abs(fit.origin) / sd + 3
    condition = np.sqrt(np.diagonal(fit.covariance)[1:] * fit.equations.rows) * sd
    bound = 1e-14 * scale * condition.max() * reach.max()
    assert (np.abs(ten.coefficients[:, 0] * 10.0**decimal - fit.coefficients[:, 0]) <= bound).all()


@FEW
@given(tables(), st.integers(-(2**20), 2**20))
def test_a_constant_moves_the_intercept_only(table, constant):
    x, y = table
    x = np.round(x / np.exp2(np.floor(np.log2(np.abs(x).max(axis=0))) - 20))
    fit, moved = fitted(x, y), fitted(x + constant, y)
    assert (moved.coefficients == fit.coefficients).all()
    assert (moved.rss == fit.rss).all()
    rounding = 1e-12 * (np.abs(y).max() + (np.abs(x) @ np.abs(fit.coefficients)).max() * 1e-3)
    assert_allclose(moved.predict(x + constant), fit.predict(x), rtol=1e-12, atol=rounding)


# -- weights


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    x, y, times_ = rng.normal(size=(20, 3)), rng.normal(size=20), rng.integers(0, 4, 20)
    rows = np.repeat(np.arange(20), times_)
    kept = times_ > 0
    weighted = fitted(x[kept], y[kept], weights=times_[kept].astype(float))
    repeated = fitted(x[rows], y[rows])
    for name in ("coefficients", "intercept", "rss", "covariance"):
        assert (getattr(weighted, name) == getattr(repeated, name)).all(), name
    assert weighted.equations.rows == len(rows)


# -- columns that depend on each other


def test_dependent_columns_have_the_coefficients_of_least_norm():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    x = np.concatenate([x, x[:, :1] - 2 * x[:, 1:2], np.full((40, 1), 7.0), x[:, 2:] * 1e-9], 1)
    for intercept in (True, False):
        fit = fitted(x, y, intercept=intercept)
        centred = (x - x.mean(0), y - y.mean(0)) if intercept else (x, y)
        # without an intercept the constant column stands for one, and is independent
        assert fit.rank == 3 + (not intercept)
        assert_allclose(fit.coefficients, np.linalg.pinv(centred[0]) @ centred[1], atol=1e-13)
        pseudo = np.linalg.pinv(centred[0].T @ centred[0], rcond=1e-12)
        size = np.abs(pseudo).max()
        found = fit.covariance[intercept:, intercept:]
        assert_allclose(found, pseudo, atol=1e-9 * size)


def test_a_null_direction_far_from_the_units_of_others():
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 10, (30, 2)).astype(float)
    x = np.concatenate([x, x[:, :1] * 2.0**-40], axis=1)
    y = rng.integers(-9, 10, 30).astype(float)
    w, rss, _ = exactly(x[:, :2], y)
    fit = fitted(x, y)
    share = 1 / (1 + 2.0**-80)  # w = (w₀, w₀ 2⁻⁴⁰)/(1 + 2⁻⁸⁰) has the least norm
    assert_allclose(fit.coefficients[:, 0], [w[1] * share, w[2], w[1] * 2.0**-40], rtol=1e-15)
    assert_allclose(fit.rss[0], rss, rtol=1e-15)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [2.0**-45, 2.0**-52])
def test_what_a_remark_leaves_over_bounds_what_there_is(size: float, intercept: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 2))
    third = x[:, 0] - 2 * x[:, 1] + size * rng.normal(size=60)
    (said,) = fitted(np.c_[x, third], x[:, 0], intercept=intercept).remarks("abc")
    bound = float(re.search(", up to (.*) of its ", said)[1])
    rest = [Fraction(c) - Fraction(a) + 2 * Fraction(b) for a, b, c in np.c_[x, third].tolist()]
    own = [Fraction(c) for c in third.tolist()]
    mean, middle = (sum(v) / 60 * intercept for v in (rest, own))
    squares = sum((v - mean) ** 2 for v in rest) / sum((v - middle) ** 2 for v in own)
    assert 0 < squares <= bound**2 < 1e-23


def test_a_column_that_varies_by_rounding_is_not_said_to_be_constant() -> None:
    x = np.array([[1e16, 1.0], [1e16 + 2, 2.0], [1e16 + 2, 4.0], [1e16, 5.0]])
    assert list(fitted(x, x[:, 1]).remarks("ab")) == [
        "column 'a' varies by no more than the rounding of its values"
    ]


def test_remarks_name_the_columns():
    x = np.array([[1.0, 2.0, 4.0, 5.0], [2.0, 4.0, 6.0, 5.0], [3.0, 6.0, 5.0, 5.0]])
    said = list(fitted(x, x[:, 0]).remarks(["a", "b", "c", "d"]))
    assert said == [
        "column 'b' is 2 × 'a' plus a constant, up to 2e-12 of its standard deviation",
        "column 'd' has one value only",
    ]
    x = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    said = list(fitted(x, x[:, 0], intercept=False).remarks(["a", "b", "c"]))
    assert said == [
        "column 'b' is 2 × 'a', up to 2e-12 of its root mean square",
        "column 'c' is 0 in every row",
    ]
    x = np.arange(40.0).reshape(2, 20) ** 2
    *_, last = fitted(x, x[:, 0]).remarks([f"x{j}" for j in range(20)])
    assert last == (
        "14 columns more are combinations of the columns before them, 'x6' the first of these"
    )


def test_more_columns_than_rows():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(4, 9)), rng.normal(size=4)
    fit = fitted(x, y)
    assert fit.rank == 3
    assert fit.rss[0] < 1e-25
    assert_allclose(fit.coefficients[:, 0], np.linalg.pinv(x - x.mean(0)) @ (y - y.mean()))
    with pytest.raises(DataError, match="rows of weight 4 for 4 parameters; nothing is left"):
        Posterior.of(fit, ["b", *"abcdefghi"], ["y"])


# -- coefficients that may not be negative


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_nonnegative_coefficients(seed, intercept):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 5)), rng.normal(size=(30, 2))
    fit = LinearRegression(fit_intercept=intercept, positive=True).fit(x, y).model_.fit
    centred = (x - x.mean(0), y - y.mean(0)) if intercept else (x, y)
    for j in range(2):
        assert_allclose(fit.coefficients[:, j], nnls(centred[0], centred[1][:, j])[0], atol=1e-13)
        gradient = centred[0].T @ (centred[0] @ fit.coefficients[:, j] - centred[1][:, j])
        assert (gradient > -1e-11).all()


# -- ridge


def test_one_decomposition_answers_for_every_penalty():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(50, 6)) * 10.0 ** np.arange(-3, 3), rng.normal(size=(50, 2))
    equations = NormalEquations.of(summed(x, y), 6)
    for unit in (np.ones(6), equations.variance):
        spectrum = RidgeSpectrum.of(equations, unit)
        for alpha in (0.0, 1e-3, 1.0, 1e4):
            fit = LeastSquares(equations, alpha * unit)
            expected = 50 * fit.rss / (50 - fit.effective_parameters) ** 2
            assert_allclose(spectrum.gcv(alpha), expected, rtol=1e-11)


def test_generalised_cross_validation_finds_the_least():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(60, 8))
    y = x @ rng.normal(size=8) * 0.3 + rng.normal(size=60)
    spectrum = RidgeSpectrum.of(NormalEquations.of(summed(x, y), 8), np.ones(8))
    best = spectrum.best(None)
    hat = np.linalg.pinv
    centred = x - x.mean(0)
    for alpha in (best, best * 1.01, best / 1.01):
        h = centred @ hat(centred.T @ centred + alpha * np.eye(8)) @ centred.T + 1 / 60
        e = y - h @ y
        assert_allclose(spectrum.gcv(alpha)[0], 60 * (e @ e) / np.trace(np.eye(60) - h) ** 2)
        assert spectrum.gcv(alpha) >= spectrum.gcv(best)


# -- posterior


def test_the_posterior_is_the_product_of_prior_and_likelihood():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    alpha = 0.8
    found = Posterior.of(fitted(x, y, alpha), ["b", "u", "v"], ["y"])

    def log_density(b, w, s2):
        """Flat in b, N(0, σ²/α) in w, 1/σ² in σ², times the likelihood."""
        e = y - b - x @ w
        prior = -np.log(s2) - alpha * (w @ w) / (2 * s2) - np.log(s2)
        return prior - 6 * np.log(s2) - (e @ e) / (2 * s2)

    def log_posterior(b, w, s2):
        far = np.array([b, *w]) - found.location[:, 0]
        normal = -1.5 * np.log(s2) - far @ np.linalg.solve(found.covariance, far) / (2 * s2)
        return normal - (found.shape + 1) * np.log(s2) - found.rate[0] / s2

    points = [(rng.normal(), rng.normal(size=2), rng.gamma(2.0)) for _ in range(20)]
    offset = [log_density(*point) - log_posterior(*point) for point in points]
    assert np.ptp(offset) < 1e-10


# -- some of the columns
