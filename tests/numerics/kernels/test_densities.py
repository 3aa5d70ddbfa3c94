"""Densities of a column against SciPy's, and of rows without one against those of all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm
from scipy.stats import t as student

from suffice.numerics import kernels


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 40))
def test_kernels_are_added_up(seed: int, k: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    x, h = np.sort(rng.normal(size=b)), rng.random(k) + 0.01
    count = rng.integers(0, 5, (k, b)) * 0.5
    found = np.empty((k, b))
    kernels.densities.sum_kernels(x, count, h, found)
    expected = [(norm.pdf(x[:, None], x, s) * n).sum(axis=1) for n, s in zip(count, h, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 20))
def test_logs_of_kernels_leave_one_out(seed: int, k: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    x, h, broad = np.sort(rng.normal(size=b)), rng.random(k) + 0.1, rng.random(b) + 0.1
    count = rng.integers(0, 3, (k, b)) * 1.0
    n = count.sum(axis=1)
    sums, logs, without = np.empty((k, b)), np.full((k, b), 7.0), np.full((k, b), 7.0)
    kernels.densities.sum_kernels(x, count, h, sums)
    kernels.densities.kernel_logs(sums, n, h, broad, logs, without)
    for c in range(k):
        for i in range(b):
            if not n[c]:
                assert logs[c, i] == without[c, i] == 7
                continue
            all_but = count[c].copy()
            assert logs[c, i] == pytest.approx(_log_sum(x, all_but, h[c], i, broad[i]))
            if count[c, i]:
                all_but[i] -= 1
                expected = _log_sum(x, all_but, h[c], i, broad[i])
                assert without[c, i] == pytest.approx(expected, abs=1e-9)


def _log_sum(
    x: NDArray[np.float64], n: NDArray[np.float64], h: float, i: int, broad: float
) -> float:
    total = (n * norm.pdf(x[i], x, h)).sum() + broad
    return float(np.log(total / (n.sum() + 1)))


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 12), min_size=1, max_size=4))
def test_student_is_the_posterior_predictive_of_the_rows(seed: int, rows: list[int]) -> None:
    rng = np.random.default_rng(seed)
    prior, x = (0.5, 2.0), rng.normal(size=13)
    classes = [x[:n] for n in rows]
    n, mean, scatter = np.array([_moments(some) for some in classes]).T
    logs, without = np.empty((2, len(rows), len(x)))
    kernels.densities.student(x, n, mean, scatter, *prior, logs, without)
    for c, some in enumerate(classes):
        np.testing.assert_allclose(logs[c], _predictive(x, some, *prior), rtol=1e-9)
        for i in range(len(some)):
            expected = _predictive(x[i], np.delete(some, i), *prior)
            assert without[c, i] == pytest.approx(float(expected), rel=1e-9)


def _moments(x: NDArray[np.float64]) -> tuple[float, float, float]:
    mean = x.mean() if len(x) else 0.0
    return len(x), mean, ((x - mean) ** 2).sum()


def _predictive(
    x: NDArray[np.float64], rows: NDArray[np.float64], mean0: float, variance0: float
) -> NDArray[np.float64]:
    """Murphy (2007), eqs. 86-89 and 110, by SciPy."""
    n, mean, scatter = _moments(rows)
    kappa, a = 1 + n, 1 + n / 2
    m = (mean0 + n * mean) / kappa
    b = variance0 + scatter / 2 + n * (mean - mean0) ** 2 / (2 * kappa)
    return np.asarray(student.logpdf(x, 2 * a, m, np.sqrt(b * (kappa + 1) / (a * kappa))))


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 300))
def test_losses_are_those_of_the_bayes_rule(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 4, (k, m)) * rng.integers(0, 2, (k, 1)) * 0.5
    logs, without = rng.normal(size=(2, k, m)) * 30
    with np.errstate(divide="ignore"):
        log_n = np.log(count.sum(axis=1))
    expected = 0.0
    for c, i in np.argwhere(count):
        joint = logs[:, i] + log_n
        joint[c] = without[c, i] + log_n[c]
        expected += count[c, i] * (logsumexp(joint) - joint[c])
    found = kernels.densities.log_losses(count, logs, without)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_wrong_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bandwidth has shape \(2,\); it must be \(1,\)"):
        kernels.densities.sum_kernels(np.zeros(3), np.zeros((1, 3)), np.ones(2), np.zeros((1, 3)))
