"""Missing cells under a Gaussian of every class: points, expectations, and Bayes's theorem."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from suffice.models.logistic.missing_cells import ClassGaussians
from suffice.models.logistic.model import log_probabilities


def gaussians(k: int = 2, p: int = 3, seed: int = 0) -> ClassGaussians:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p))
    prior = rng.dirichlet(np.full(k, 3.0))
    return ClassGaussians(rng.normal(size=(k, p)), root @ root.T + 0.1 * np.eye(p), np.log(prior))


def gappy(n: int, p: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    x[rng.random((n, p)) < 0.4] = np.nan
    return x


def conditional(cells: ClassGaussians, row: np.ndarray, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of x_m given x_o and the class, from the joint precision matrix."""
    m = np.isnan(row)
    precision = np.linalg.inv(cells.covariance)
    covariance = np.linalg.inv(precision[np.ix_(m, m)])
    shift = precision[np.ix_(m, ~m)] @ (row - cells.mean[c])[~m]
    return cells.mean[c][m] - covariance @ shift, covariance


def bayes(cells: ClassGaussians, row: np.ndarray) -> np.ndarray:
    """P(c | x_o) by Bayes's theorem."""
    o = ~np.isnan(row)
    density = [
        multivariate_normal(mean[o], cells.covariance[np.ix_(o, o)]).pdf(row[o]) if o.any() else 1.0
        for mean in cells.mean
    ]
    joint = np.exp(cells.log_prior) * density
    return np.asarray(joint / joint.sum())


def discriminant(cells: ClassGaussians) -> np.ndarray:
    """B (m, 1 + F) of the logistic regression that the Gaussians imply."""
    slopes = np.linalg.solve(cells.covariance, cells.mean.T).T
    t = np.column_stack([cells.log_prior - 0.5 * (slopes * cells.mean).sum(axis=1), slopes])
    return t[1:] - t[:1] if len(t) == 2 else t


# -- points that stand for a row


@given(k=st.integers(1, 3), p=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_points_have_the_moments_of_what_is_missing(k, p, seed):
    cells, x = gaussians(k, p, seed), gappy(6, p, seed)
    codes = np.random.default_rng(seed).integers(k, size=6)
    points, places, shares = cells.completed(x, codes)
    assert (np.diff(places) >= 0).all()
    assert not np.isnan(points).any()
    for i, row in enumerate(x):
        mine, share, m = points[places == i], shares[places == i], np.isnan(row)
        assert len(mine) == max(4 * m.sum(), 1)
        assert_allclose(share.sum(), 1.0, rtol=1e-13)
        assert (mine[:, ~m] == row[~m]).all()
        if m.any():
            mean, covariance = conditional(cells, row, codes[i])
            assert_allclose(share @ mine[:, m], mean, atol=1e-9)
            centred = mine[:, m] - mean
            assert_allclose(centred.T @ (share[:, None] * centred), covariance, atol=1e-8)


def test_one_gap_is_integrated_to_degree_seven():
    cells = gaussians()
    x = np.array([[0.5, np.nan, -1.0]])
    points, _, shares = cells.completed(x, np.array([1]))
    mean, variance = conditional(cells, x[0], 1)
    z = (points[:, 1] - mean) / np.sqrt(variance[0])
    moments = [shares @ z**d for d in range(8)]
    assert_allclose(moments, [1, 0, 1, 0, 3, 0, 15, 0], atol=1e-10)


def test_neither_units_nor_the_order_of_columns_matter():
    cells, x, codes = gaussians(p=4), gappy(9, 4), np.zeros(9, np.intp)
    points, places, _ = cells.completed(x, codes)
    unit, order = np.array([1e-6, 1.0, 3.0, 1e5]), np.array([2, 0, 3, 1])
    scaled = ClassGaussians(
        cells.mean * unit, cells.covariance * np.outer(unit, unit), cells.log_prior
    )
    assert_allclose(scaled.completed(x * unit, codes)[0] / unit, points, rtol=1e-7, atol=1e-9)
    moved = ClassGaussians(
        cells.mean[:, order], cells.covariance[np.ix_(order, order)], cells.log_prior
    )
    other = moved.completed(x[:, order], codes)[0][:, np.argsort(order)]
    for i in range(9):
        mine, theirs = points[places == i], other[places == i]
        by_value = (np.lexsort(np.round(rows, 6).T) for rows in (mine, theirs))
        first, second = by_value
        assert_allclose(mine[first], theirs[second], atol=1e-8)


def test_a_cell_that_the_others_determine_is_not_spread():
    covariance = np.array([[1.0, 1.0], [1.0, 1.0]])
    cells = ClassGaussians(np.zeros((1, 2)), covariance, np.zeros(1))
    points, _, _ = cells.completed(np.array([[2.0, np.nan]]), np.zeros(1, np.intp))
    assert_allclose(points, 2.0, rtol=1e-7)


# -- expected probabilities


@given(p=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=25)
def test_of_two_classes_the_expected_probability_is_that_of_bayes(p, seed):
    cells, x = gaussians(2, p, seed), gappy(8, p, seed)
    x = x[np.isnan(x).any(axis=1)]
    found = np.exp(cells.averaged(x, discriminant(cells), log_probabilities))
    expected = np.array([bayes(cells, row) for row in x]).reshape(-1, 2)
    assert_allclose(found, expected, atol=2e-5)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_any_coefficients_by_brute_force():
    cells = gaussians(2, 3, 4)
    x, b = np.array([[0.5, np.nan, -1.0]]), np.array([[0.25, 1.0, -0.75, 0.5]])
    total = 0.0
    for c, share in enumerate(bayes(cells, x[0])):
        mean, variance = conditional(cells, x[0], c)
        sd = np.sqrt(variance[0, 0])

        def weighted(u: float, mean: float = mean[0], sd: float = sd) -> float:
            t = b[0] @ [1.0, 0.5, mean + sd * u, -1.0]
            return float(np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi) / (1 + np.exp(-t)))

        total += share * quad(weighted, -12, 12, epsabs=1e-14, epsrel=1e-13)[0]
    found = np.exp(cells.averaged(x, b, log_probabilities))[0]
    assert_allclose(found, [1 - total, total], rtol=1e-9)


@pytest.mark.parametrize("k", [3, 4])
def test_of_more_classes_it_is_nearly_so(k):
    for seed in range(5):
        cells, x = gaussians(k, 4, seed), gappy(30, 4, seed)
        x = x[np.isnan(x).any(axis=1)]
        found = np.exp(cells.averaged(x, discriminant(cells), log_probabilities))
        expected = np.array([bayes(cells, row) for row in x])
        assert np.abs(found - expected).max() < 0.05
        one = np.isnan(x).sum(axis=1) == 1
        assert_allclose(found[one], expected[one], atol=1e-4)
        assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_cells_are_shipped():
    cells = gaussians()
    again = pickle.loads(pickle.dumps(cells))
    assert (again.mean == cells.mean).all()
    assert (cells.about(np.ones(3)).mean == cells.mean - 1.0).all()
