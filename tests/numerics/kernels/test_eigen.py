"""Eigenvalues and eigenvectors of symmetric matrices."""

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.numerics import kernels
from suffice.numerics.linalg import eigh

from .inputs import products

ROUNDING = 2.0**-52


def matrices() -> Iterator[tuple[str, Any]]:
    """Matrices of full and of lesser rank, with equal eigenvalues, large, small and graded."""
    random = np.random.default_rng(0)
    for d in (1, 2, 3, 7, 8, 9, 17, 40):
        factor = random.standard_normal((1, d, d))
        (full,) = products(factor)
        yield f"full {d}", full
        yield f"indefinite {d}", factor[0] + factor[0].T
        yield f"lesser rank {d}", products(factor[:, :, : d // 2])[0]
        yield f"equal {d}", np.eye(d) + 1.0
        yield f"diagonal {d}", np.diag(random.integers(0, 3, d).astype(float))
        yield f"zero {d}", np.zeros((d, d))
        yield f"small {d}", full * 2.0**-1000
        yield f"large {d}", full * 2.0**1000
        scale = np.ldexp(1.0, -np.arange(d))
        yield f"graded {d}", full * scale * scale[:, None]


def called() -> Iterator[Any]:
    """Calls of the kernel, for the tests of wrong calls."""
    for _, a in matrices():
        rows, values = np.stack([a, a]), np.empty((2, len(a)))
        yield kernels.eigen.symmetric(rows, values)


@pytest.mark.parametrize("a", [pytest.param(a, id=name) for name, a in matrices()])
def test_they_are_those_of_the_matrix(a: Any) -> None:
    values, vectors = eigh(a)
    d, size = len(a), np.abs(a).max()
    assert (np.diff(values) >= 0).all()
    bound = 8 * d * ROUNDING
    assert np.abs(vectors.T @ vectors - np.eye(d)).max() <= bound
    unit = 2.0 ** -np.frexp(size)[1]
    assert np.abs((a * unit) @ vectors - vectors * (values * unit)).max() <= bound * max(
        1.0, np.abs(values).max() * unit
    )


@pytest.mark.parametrize("d", [2, 5, 12])
def test_values_are_those_of_exact_arithmetic(d: int) -> None:
    (a,) = products(np.random.default_rng(d).standard_normal((1, d, d)))
    with mpmath.workdps(50):
        expected, _ = mpmath.eigsy(mpmath.matrix(a.tolist()))
        found, _ = eigh(a)
        off = max(abs(x - mpmath.mpf(y)) for x, y in zip(expected, found.tolist(), strict=True))
        assert off <= 4 * d * ROUNDING * max(expected)


def test_only_lower_triangles_are_read() -> None:
    (a,) = products(np.random.default_rng(1).standard_normal((1, 6, 6)))
    for one, other in zip(eigh(a), eigh(np.tril(a)), strict=True):
        assert one.tobytes() == other.tobytes()


def test_each_matrix_of_many_is_alone() -> None:
    a = products(np.random.default_rng(2).standard_normal((3, 5, 5)))
    values, vectors = eigh(a)
    for m in range(3):
        for one, other in zip(eigh(a[m]), (values[m], vectors[m]), strict=True):
            assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        eigh(np.array([[1.0, bad], [bad, 1.0]]))


def test_no_matrix_and_no_column() -> None:
    assert eigh(np.zeros((0, 3, 3)))[0].shape == (0, 3)
    assert eigh(np.zeros((2, 0, 0)))[1].shape == (2, 0, 0)


# -- eigenvalues of matrices of every rank, against what they are made of


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
