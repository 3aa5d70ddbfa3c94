"""The distances kernels against exact rationals."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from suffice.numerics.kernels import distances


def whitenings(s: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return np.tril(rng.normal(size=(s, d, d))) + 2 * np.eye(d)


def exact_scores(
    x: np.ndarray, origin: np.ndarray, w: np.ndarray, shift: np.ndarray, log_scale: np.ndarray
) -> np.ndarray:
    """−½|W(x − o) − shift|² + log_scale of complete rows, in rational arithmetic."""
    fraction = np.vectorize(Fraction, otypes=[object])
    out = np.empty((len(x), len(shift)))
    for c in range(len(shift)):
        m = 0 if len(w) == 1 else c
        white = (fraction(x) - fraction(origin[m])) @ fraction(w[m]).T - fraction(shift[c])
        out[:, c] = Fraction(log_scale[c]) - (white**2).sum(axis=1) / 2
    return out


def added(x: np.ndarray, terms: Any, k: int) -> tuple[int, np.ndarray, np.ndarray]:
    done, out = np.zeros(len(x), bool), np.zeros((len(x), k))
    stopped = distances.add_complete(x, *terms, done, out)
    return stopped, done, out


@pytest.mark.parametrize("d", [1, 8, 9])
@pytest.mark.parametrize("n", [1, 65])
@pytest.mark.parametrize("shared", [False, True])
def test_complete_rows(d: int, n: int, shared: bool) -> None:
    rng, k = np.random.default_rng(d), 3
    s = 1 if shared else k
    x = rng.normal(size=(n, d)) + 1e4
    terms = rng.normal(size=(s, d)) + 1e4, whitenings(s, d, rng), rng.normal(size=(k, d))
    terms = (*terms, rng.normal(size=k))
    stopped, done, out = added(x, terms, k)
    assert stopped == -1
    assert done.all()
    np.testing.assert_allclose(out, exact_scores(x, *terms), rtol=1e-13, atol=1e-13)
    start = rng.normal(size=(n, k))
    more = start.copy()
    distances.add_complete(x, *terms, done, more)
    np.testing.assert_array_equal(more, start + out)


@pytest.mark.parametrize("d", [1, 5, 70])
@pytest.mark.parametrize("shared", [False, True])
def test_a_score_does_not_depend_on_the_rows_beside_it(d: int, shared: bool) -> None:
    rng, k = np.random.default_rng(d), 2
    s = 1 if shared else k
    x = rng.normal(size=(200, d))
    terms = np.zeros((s, d)), whitenings(s, d, rng), rng.normal(size=(k, d)), np.zeros(k)
    together = added(x, terms, k)[2]
    for rows in (slice(0, 1), slice(3, 70), slice(199, 200)):
        np.testing.assert_array_equal(added(x[rows].copy(), terms, k)[2], together[rows])


# -- rows with missing cells


def marginal(
    x: np.ndarray, mean: np.ndarray, covariance: np.ndarray, rest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, s, k = len(x), len(covariance), len(mean)
    out = np.zeros((n, k)), np.zeros((n, s)), np.zeros((n, s))
    rest = np.zeros_like(mean) if rest is None else rest
    distances.add_marginal(x, mean, rest, covariance, *out)
    return out


def exact_marginal(v: list[Fraction], a: list[list[Fraction]]) -> tuple[float, float]:
    """vᵀ A⁻¹ v and log det A, by elimination."""
    rows = [[*row, b] for row, b in zip(a, v, strict=True)]
    distance, determinant = Fraction(0), Fraction(1)
    for i, row in enumerate(rows):
        distance += row[-1] ** 2 / row[i]
        determinant *= row[i]
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / row[i]
            rows[j] = [b - factor * a for a, b in zip(row, rows[j], strict=True)]
    return float(distance), float(np.log(float(determinant)))


@pytest.mark.parametrize("shared", [False, True])
def test_every_pattern_of_missing_cells(shared: bool) -> None:
    rng, k, d = np.random.default_rng(1), 2, 4
    s = 1 if shared else k
    w = rng.normal(size=(s, d, 9))
    covariance = w @ w.transpose(0, 2, 1)
    covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
    mean = rng.normal(size=(k, d)) + 1e3
    rest = rng.normal(size=(k, d)) * 1e-14
    patterns = np.array(list(product([False, True], repeat=d)))
    x = np.where(np.repeat(patterns, 3, axis=0), rng.normal(size=(48, d)) + 1e3, np.nan)
    distance, log_determinant, rank = marginal(x, mean, covariance, rest)
    for i, row in enumerate(x):
        shown = np.flatnonzero(~np.isnan(row))
        assert (rank[i] == len(shown)).all()
        for c in range(k):
            m = 0 if shared else c
            v = [Fraction(row[j]) - Fraction(mean[c, j]) - Fraction(rest[c, j]) for j in shown]
            a = [[Fraction(covariance[m, i, j]) for j in shown] for i in shown]
            truth = exact_marginal(v, a)
            assert distance[i, c] == pytest.approx(truth[0], rel=1e-11)
            assert log_determinant[i, m] == pytest.approx(truth[1], rel=1e-11, abs=1e-11)
