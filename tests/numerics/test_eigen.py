"""Eigenvalues of matrices of every rank, against what they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.numerics.eigen import eigh


def residual(matrix: np.ndarray) -> float:
    """The largest error of X Λ Xᵀ = A and of Xᵀ X = I, next to the largest element of A."""
    values, vectors = eigh(matrix[None])
    x, size = vectors[0], np.abs(matrix).max() or 1.0
    product = x @ np.diag(values[0]) @ x.T
    off = np.abs(product - matrix).max() / size
    return float(max(off, np.abs(x.T @ x - np.eye(len(x))).max()))


@given(st.integers(1, 40), st.integers(0, 40), st.floats(0, 8), st.integers(0, 2**32 - 1))
def test_matrices_of_every_rank(d: int, rank: int, decades: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    factor = random.normal(size=(d, min(rank, d))) * 10.0 ** -random.uniform(0, decades, (d, 1))
    assert residual(factor @ factor.T) < 1e-14 * (d + 1)


@pytest.mark.parametrize("rows", [99, 199])
def test_many_more_columns_than_rows(rows: int) -> None:
    x = np.random.default_rng(rows).normal(size=(rows, 500))
    assert residual(x.T @ x) < 1e-12
