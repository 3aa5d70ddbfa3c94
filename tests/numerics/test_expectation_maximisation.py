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
from suffice.sums.block import RealBlock
from suffice.sums.comoments import ComomentsAccumulator

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


def singly(x: np.ndarray, codes: np.ndarray, k: int) -> IncompleteRows:
    """Every row a group of its own, without scatter."""
    d = x.shape[1]
    nobody = np.zeros((0, d, d)), np.full(len(x), -1)
    numbers = np.arange(len(x)), codes, np.ones(len(x))
    return IncompleteRows(k, ~np.isnan(x), *numbers, np.nan_to_num(x), *nobody)


def summed(x: np.ndarray, codes: np.ndarray, k: int, pooled: bool) -> IncompleteRows:
    """The groups of the statistic that the library keeps."""
    total = ComomentsAccumulator(x.shape[1], pooled)
    total.add(RealBlock(x), codes, np.empty(0), k)
    s = total.statistic()
    weight, mean, scatter = s.weight.sum(axis=1), s.mean.value, s.scatter.value
    return IncompleteRows(k, s.patterns, s.pattern, s.code, weight, mean, scatter, s.product_index)


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


def expected_sums(x, codes, mean, covariance):
    """The E-step as the books write it, row by row."""
    (k, d), s = mean.shape, len(covariance)
    filled, left = x.copy(), np.zeros((s, d, d))
    for i, c in enumerate(codes):
        o, m = ~np.isnan(x[i]), np.isnan(x[i])
        sigma = covariance[c % s]
        b = sigma[np.ix_(m, o)] @ np.linalg.inv(sigma[np.ix_(o, o)])
        filled[i, m] = mean[c, m] + b @ (x[i, o] - mean[c, o])
        left[c % s][np.ix_(m, m)] += sigma[np.ix_(m, m)] - b @ sigma[np.ix_(o, m)]
    weight = np.bincount(codes, minlength=k).astype(float)
    means = np.array([filled[codes == c].mean(axis=0) for c in range(k)])
    for deviation, c in zip(filled - means[codes], codes, strict=True):
        left[c % s] += np.outer(deviation, deviation)
    return weight, means, left


# -- one step


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6])
def test_a_step_agrees_with_rows_one_by_one(shared, share):
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=60)
    x = holes(normal(60, 4), share)
    x[np.isnan(x).all(axis=1), 0] = 0.5
    mean = rng.normal(size=(3, 4))
    root = rng.normal(size=(1 if shared else 3, 4, 4))
    covariance = root @ root.transpose(0, 2, 1)
    found = expectation_maximisation(
        grouped(x, codes, 3), lambda *_: (mean, covariance), shared, max_iterations=1
    )
    truth = log_likelihood(x, codes, mean, covariance)
    np.testing.assert_allclose(found.log_likelihood[1], truth, rtol=1e-12)
    for ours, theirs in zip(
        (found.weight, found.mean, found.scatter),
        expected_sums(x, codes, mean, covariance),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)
    np.testing.assert_array_equal(found.scatter, found.scatter.transpose(0, 2, 1))


@pytest.mark.parametrize("shared", [True, False])
def test_complete_rows_need_one_step(shared):
    x, codes = normal(40, 5), np.arange(40) % 2
    found = fit(x, codes, 2, shared)
    assert found.converged
    assert len(found.log_likelihood) == 3
    assert found.log_likelihood[1] == found.log_likelihood[2]
    of_class = [x[codes == c] for c in range(2)]
    scatter = np.array([(len(rows) - 1) * np.cov(rows.T) for rows in of_class])
    np.testing.assert_allclose(found.mean, [rows.mean(axis=0) for rows in of_class], atol=1e-15)
    truth = scatter.sum(axis=0, keepdims=True) if shared else scatter
    np.testing.assert_allclose(found.scatter, truth, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found.weight, [20.0, 20.0])


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


class Posterior:
    """Normal-inverse-Wishart priors about m₀ and its mode, with a covariance of each class."""

    def __init__(self, mean0, kappa0, nu0, psi0):
        self.mean0, self.kappa0, self.nu0, self.psi0 = np.array(mean0), kappa0, nu0, np.array(psi0)

    def estimate(self, weight, mean, scatter):
        kappa, shift = self.kappa0 + weight[:, None], mean - self.mean0
        moved = shift[:, :, None] * shift[:, None, :]
        psi = self.psi0 + scatter + (self.kappa0 * weight[:, None] / kappa)[:, :, None] * moved
        divisor = self.nu0 + weight + mean.shape[1] + 2
        return self.mean0 + shift * weight[:, None] / kappa, psi / divisor[:, None, None]

    def log_prior(self, mean, covariance):
        precision, shift = np.linalg.inv(covariance), mean - self.mean0
        log_determinant = np.linalg.slogdet(covariance)[1].sum()
        distance = self.kappa0 * np.einsum("ci,cij,cj", shift, precision, shift)
        distance += np.trace(precision @ self.psi0, axis1=1, axis2=2).sum()
        return -0.5 * ((self.nu0 + mean.shape[1] + 2) * log_determinant + distance)


def test_the_mode_of_a_posterior():
    prior = Posterior([0.5, -0.5], 2.0, 4.0, [[2.0, 0.5], [0.5, 1.0]])
    x, codes = holes(normal(30, 2, 5), 0.3, 6), np.arange(30) % 2
    rows = grouped(x, codes, 2)
    found = expectation_maximisation(rows, prior.estimate, False, prior.log_prior)
    assert found.converged
    mean, covariance = prior.estimate(found.weight, found.mean, found.scatter)
    (best_mean, best_covariance), best = by_optimiser(x, codes, (mean, covariance), prior.log_prior)
    np.testing.assert_allclose(found.log_likelihood[-1], best, atol=1e-8)
    np.testing.assert_allclose(mean, best_mean, atol=2e-5)
    np.testing.assert_allclose(covariance, best_covariance, atol=1e-4)
    unguided = expectation_maximisation(rows, prior.estimate, False)
    np.testing.assert_allclose(unguided.mean, found.mean, atol=1e-8)


@pytest.mark.parametrize("n", [60, 5000])
def test_a_prior_decides_on_a_column_that_a_class_never_shows(n):
    prior = Posterior([3.0, -4.0], 1.0, 5.0, np.eye(2))
    x, codes = holes(normal(n, 2, 7), 0.2, 8), np.arange(n) % 2
    x[codes == 1, 1] = np.nan
    rows = grouped(x, codes, 2)
    found = expectation_maximisation(rows, prior.estimate, False, prior.log_prior)
    assert found.converged  # by plain steps, each 1/n of the way, it would not
    mean, covariance = prior.estimate(found.weight, found.mean, found.scatter)
    # The data say nothing of what the prior says of this column given the other: no slope.
    np.testing.assert_allclose(mean[1, 1], -4.0, atol=1e-6)
    np.testing.assert_allclose(covariance[1, 0, 1], 0.0, atol=1e-6)


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


def test_it_says_when_it_did_not_converge():
    x = holes(normal(50, 3), 0.5)
    assert not fit(x, max_iterations=3).converged
    assert len(fit(x, max_iterations=3).log_likelihood) == 4
    assert fit(x).converged


# -- ways to sum the same rows


@pytest.mark.parametrize("shared", [True, False])
def test_how_rows_are_grouped_does_not_matter(shared):
    codes = np.random.default_rng(2).integers(3, size=200)
    x = holes(normal(200, 4), 0.3) + codes[:, None]
    x[np.isnan(x).all(axis=1), 0] = 0.5
    one = fit(x, codes, 3, shared)
    others = [singly(x, codes, 3), summed(x, codes, 3, False)]
    for rows in others + [summed(x, codes, 3, True)] * shared:
        other = expectation_maximisation(rows, maximum_likelihood, shared)
        assert other.converged
        np.testing.assert_array_equal(other.weight, one.weight)
        np.testing.assert_allclose(other.mean, one.mean, atol=1e-10)
        np.testing.assert_allclose(other.scatter, one.scatter, atol=1e-8)
        np.testing.assert_allclose(other.log_likelihood[-1], one.log_likelihood[-1], rtol=1e-12)


# -- units and order of the columns


# -- little to go by


def test_a_class_borrows_a_column_that_it_never_shows():
    x, codes = holes(normal(90, 3), 0.2), np.arange(90) % 3
    x[codes == 2, 1] = np.nan
    column = x[~np.isnan(x[:, 1]), 1]
    for shared in (True, False):
        found = fit(x, codes, 3, shared)
        assert found.converged
        np.testing.assert_allclose(found.mean[2, 1], column.mean(), rtol=1e-12)
    variance = parameters(found)[1][2, 1]
    np.testing.assert_allclose(variance, [0.0, column.var(), 0.0], rtol=1e-12, atol=1e-14)
    kept = [0, 2]
    without = fit(x[codes == 2][:, kept])
    np.testing.assert_allclose(found.mean[2, kept], without.mean[0], atol=1e-9)


def test_a_class_without_rows_and_a_column_without_cells():
    x, codes = holes(normal(40, 3), 0.2), np.arange(40) % 2
    x[:, 1] = np.nan
    some = ~np.isnan(x).all(axis=1)
    found = fit(x, codes, 3, False)
    assert found.converged
    np.testing.assert_array_equal(found.weight, [*np.bincount(codes[some]), 0.0])
    of_all = np.nanmean(x[:, 0]), 0.0, np.nanmean(x[:, 2])
    np.testing.assert_allclose(found.mean[2], of_all, rtol=1e-12)
    assert not found.mean[:, 1].any()
    assert not found.scatter[:, 1].any()
    assert not found.scatter[2].any()


def test_no_rows_at_all():
    found = fit(np.empty((0, 3)), np.empty(0, np.intp), 2, True)
    assert found.converged
    assert not found.weight.any()
    assert not found.mean.any()
    assert not found.scatter.any()


@pytest.mark.parametrize("shared", [True, False])
def test_a_constant_column_is_left_as_it_is(shared):
    x, codes = holes(normal(60, 3), 0.2), np.arange(60) % 2
    x[:, 1] = np.where(np.isnan(x[:, 1]), np.nan, 0.1)
    x = x[~np.isnan(x[:, [0, 2]]).all(axis=1)]
    codes = codes[: len(x)]
    found, without = fit(x, codes, 2, shared), fit(x[:, [0, 2]], codes, 2, shared)
    assert found.converged
    np.testing.assert_array_equal(found.mean[:, 1], 0.1)
    assert not found.scatter[:, 1].any()
    assert not found.scatter[:, :, 1].any()
    np.testing.assert_allclose(found.mean[:, [0, 2]], without.mean, atol=1e-10)
    np.testing.assert_allclose(found.log_likelihood[-1], without.log_likelihood[-1], rtol=1e-12)


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
