"""Gaussians from incomplete rows: against rows one by one, closed forms, and an optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from suffice.numerics.expectation_maximisation import (
    Expected,
    IncompleteRows,
    expectation_maximisation,
)

SOME = settings(max_examples=25)


def grouped(x: np.ndarray, codes: np.ndarray | None = None, k: int = 1) -> IncompleteRows:
    """Groups of the rows that share a class and a pattern."""
    codes = np.zeros(len(x), np.intp) if codes is None else codes
    some = ~np.isnan(x).all(axis=1)
    x, codes, shown = x[some], codes[some], ~np.isnan(x[some])
    patterns = np.unique(shown, axis=0)
    pattern, code, weight, mean, scatter = [], [], [], [], []
    for i, columns in enumerate(patterns):
        for c in range(k):
            rows = x[(shown == columns).all(axis=1) & (codes == c)]
            if len(rows):
                centre = rows[0] + (rows - rows[0]).mean(axis=0)
                centre = np.where(columns, centre, 0.0)
                deviation = np.where(columns, rows - centre, 0.0)
                pattern.append(i)
                code.append(c)
                weight.append(float(len(rows)))
                mean.append(centre)
                scatter.append(deviation.T @ deviation)
    product_index = np.arange(len(pattern))
    d = x.shape[1]
    means, scatters = np.array(mean).reshape(-1, d), np.array(scatter).reshape(-1, d, d)
    numbers = np.array(pattern, np.intp), np.array(code, np.intp), np.array(weight)
    return IncompleteRows(k, patterns, *numbers, means, scatters, product_index)


def maximum_likelihood(weight, mean, scatter):
    n = weight if len(scatter) == len(weight) else weight.sum(keepdims=True)
    return mean, scatter / np.maximum(n, 1.0)[:, None, None]


def fit(x: np.ndarray, codes: np.ndarray | None = None, k: int = 1, shared=False, **options):
    return expectation_maximisation(grouped(x, codes, k), maximum_likelihood, shared, **options)


def parameters(expected: Expected) -> tuple[np.ndarray, np.ndarray]:
    return maximum_likelihood(expected.weight, expected.mean, expected.scatter)


def holes(x: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """The rows with a share of their cells missing."""
    gone = np.random.default_rng(seed).random(x.shape) < share
    return np.where(gone, np.nan, x)


def normal(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Correlated rows."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / 2) + rng.normal(size=d)


def log_likelihood(x, codes, mean, covariance) -> float:
    """Row by row, of what each row shows; columns of one value take no part."""
    used = np.nanmax(x, axis=0) > np.nanmin(x, axis=0)
    total = 0.0
    for row, c in zip(x, codes, strict=True):
        o = ~np.isnan(row) & used
        if o.any():
            sigma = covariance[c % len(covariance)][np.ix_(o, o)]
            total += multivariate_normal.logpdf(row[o], mean[c][o], sigma)
    return total


# -- closed forms and other judges


def sequential_regressions(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum likelihood of a monotone pattern: each column on those before it (Anderson 1957)."""
    d = x.shape[1]
    mean, covariance = np.zeros(d), np.zeros((d, d))
    for j in range(d):
        rows = x[~np.isnan(x[:, j])]
        design = np.column_stack([np.ones(len(rows)), rows[:, :j]])
        b = np.linalg.lstsq(design, rows[:, j])[0]
        residual = ((rows[:, j] - design @ b) ** 2).mean()
        mean[j] = b[0] + b[1:] @ mean[:j]
        covariance[j, :j] = covariance[:j, j] = covariance[:j, :j] @ b[1:]
        covariance[j, j] = residual + b[1:] @ covariance[:j, :j] @ b[1:]
    return mean, covariance


@pytest.mark.parametrize("shown", [(30, 18), (40, 30, 12), (50, 20, 20, 10)])
def test_monotone_missingness_has_a_closed_form(shown):
    x = normal(shown[0], len(shown))
    for j, n in enumerate(shown):
        x[n:, j] = np.nan
    found = fit(x)
    assert found.converged
    mean, covariance = sequential_regressions(x)
    np.testing.assert_allclose(parameters(found)[0][0], mean, atol=1e-9)
    np.testing.assert_allclose(parameters(found)[1][0], covariance, atol=1e-9)


def by_optimiser(x, codes, near, log_prior=lambda mean, covariance: 0.0):
    """Maximise over means and Cholesky factors, from somewhere near."""
    k, s = len(near[0]), len(near[1])
    d = x.shape[1]
    low, i = np.tril_indices(d), np.arange(d)

    def unpacked(theta):
        lower = np.zeros((s, d, d))
        lower[:, *low] = theta[k * d :].reshape(s, -1)
        lower[:, i, i] = np.exp(lower[:, i, i])
        return theta[: k * d].reshape(k, d), lower @ lower.transpose(0, 2, 1)

    def minus(theta):
        at = unpacked(theta)
        return -log_likelihood(x, codes, *at) - log_prior(*at)

    lower = np.linalg.cholesky(near[1])
    lower[:, i, i] = np.log(lower[:, i, i])
    start = np.concatenate([near[0].ravel(), lower[:, *low].ravel()]) + 0.02
    best = minimize(minus, start, method="BFGS", options={"gtol": 1e-5})
    return unpacked(best.x), -best.fun


@pytest.mark.parametrize(("d", "k", "shared"), [(2, 1, False), (2, 2, True)])
def test_an_optimiser_finds_no_better(d, k, shared):
    x, codes = holes(normal(24, d, 3), 0.25, 4), np.arange(24) % k
    x += codes[:, None]
    found = fit(x, codes, k, shared)
    assert found.converged
    (mean, covariance), best = by_optimiser(x, codes, parameters(found))
    np.testing.assert_allclose(found.log_likelihood[-1], best, atol=1e-8)
    np.testing.assert_allclose(parameters(found)[0], mean, atol=2e-5)
    np.testing.assert_allclose(parameters(found)[1], covariance, atol=1e-4)
    truth = log_likelihood(x, codes, *parameters(found))
    np.testing.assert_allclose(found.log_likelihood[-1], truth, rtol=1e-12)


# -- the likelihood never falls


@st.composite
def tables(draw):
    n, d, k = draw(st.integers(1, 25)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = normal(n, d, draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        x = np.round(x)
    x[rng.random(x.shape) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.8]))] = np.nan
    return x, rng.integers(k, size=n), k


def assert_rising(found: Expected, x: np.ndarray) -> None:
    """At the floor, 1e-9 of all rows' variance, its logarithm loses seven digits to rounding."""
    history = np.array(found.log_likelihood)
    assert np.isfinite(history).all()
    sd = np.nanstd(np.where(np.isnan(x).all(axis=0), 0.0, x), axis=0)
    sd = np.where(sd > 0.0, sd, 1.0)
    least = np.linalg.eigvalsh(parameters(found)[1] / np.outer(sd, sd)).min()
    rounding = 1e-12 * np.abs(history).max()
    if least < 1e-6:
        rounding += 1e-5 * found.weight.sum()
    assert (np.diff(history) >= -rounding).all()


@SOME
@given(tables(), st.booleans())
def test_the_likelihood_never_falls(table, shared):
    x, codes, k = table
    found = fit(x, codes, k, shared, max_iterations=60)
    assert_rising(found, x)
    for sums in (found.weight, found.mean, found.scatter):
        assert np.isfinite(sums).all()
    assert np.linalg.eigvalsh(found.scatter).min() >= -1e-9 * max(np.abs(found.scatter).max(), 1.0)


def test_a_step_that_rounding_makes_worse_ends_the_search():
    estimates = []

    def rounded(weight, mean, scatter):
        means, covariance = maximum_likelihood(weight, mean, scatter)
        estimates.append(covariance)
        return means, covariance * (4.0 if len(estimates) > 3 else 1.0)

    x = holes(normal(40, 3), 0.3)
    found = expectation_maximisation(grouped(x), rounded, shared=False)
    best = fit(x, max_iterations=3)
    assert (len(estimates), found.converged) == (4, False)
    assert found.log_likelihood == best.log_likelihood
    np.testing.assert_array_equal(found.scatter, best.scatter)


# -- little to go by


SINGULAR = {
    "one row per class": (holes(normal(3, 4), 0.3), np.arange(3)),
    "more columns than rows": (holes(normal(8, 12), 0.3), np.arange(8) % 2),
    "one row, over and over": (np.tile([[1.0, np.nan, 2.0]], (9, 1)), np.arange(9) % 2),
    "one value in a class": (
        np.where(np.arange(40)[:, None] % 2, 7.0, holes(normal(40, 3), 0.3)),
        np.arange(40) % 2,
    ),
    "a sum of columns": (
        holes(np.column_stack([normal(50, 3), normal(50, 3).sum(axis=1)]), 0.3),
        np.arange(50) % 2,
    ),
    "columns never together": (
        np.where(np.arange(40)[:, None] % 2 == np.arange(2), normal(40, 2), np.nan),
        np.arange(40) // 20,
    ),
    "one cell of a column": (
        np.where((np.arange(60) > 0).reshape(20, 3), normal(20, 3), np.nan),
        np.arange(20) % 2,
    ),
    "huge and tiny": (holes(normal(30, 3), 0.3) * [1e100, 1e-100, 1.0], np.arange(30) % 2),
}


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_rows_end_with_finite_numbers(name, shared):
    x, codes = SINGULAR[name]
    found = fit(x, codes, int(codes.max()) + 1, shared, max_iterations=300)
    assert_rising(found, x)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.scatter).all()
    assert (np.diagonal(found.scatter, axis1=1, axis2=2) >= 0.0).all()
