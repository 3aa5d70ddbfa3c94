"""Sums of Gaussian kernels against SciPy's density."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

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


def test_wrong_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bandwidth has shape \(2,\); it must be \(1,\)"):
        kernels.densities.sum_kernels(np.zeros(3), np.zeros((1, 3)), np.ones(2), np.zeros((1, 3)))
