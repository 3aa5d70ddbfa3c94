"""Linear algebra: factors, eigenvalues, products, and the expectation step."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.numerics import kernels
from suffice.numerics.linalg import eigh

# -- eigenvalues and eigenvectors of symmetric matrices


ROUNDING = 2.0**-52


def products(factor: Any) -> Any:
    """Return A Aᵀ of matrices A (s, d, m)."""
    return np.einsum("sim,sjm->sij", factor, factor)


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


def test_they_are_those_of_the_matrix() -> None:
    for name, a in matrices():
        values, vectors = eigh(a)
        d, size = len(a), np.abs(a).max()
        assert (np.diff(values) >= 0).all(), name
        bound = 8 * d * ROUNDING
        assert np.abs(vectors.T @ vectors - np.eye(d)).max() <= bound, name
        unit = 2.0 ** -np.frexp(size)[1]
        off = np.abs((a * unit) @ vectors - vectors * (values * unit)).max()
        assert off <= bound * max(1.0, np.abs(values).max() * unit), name


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


# -- products of a matrix: those of NumPy to rounding, whatever the shape


SHAPES = [(0, 3), (1, 1), (5, 0), (7, 13), (36, 8), (70, 33)]


def matrices_of_gram() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        yield rng.normal(size=shape)


def test_products_are_those_of_numpy() -> None:
    for a in matrices_of_gram():
        m, g = a.shape
        x, r = np.linspace(-1, 1, g), np.linspace(0, 3, m)
        out = np.full(m, 7.0)
        kernels.gram.times(a, x, out)
        np.testing.assert_allclose(out, a @ x, rtol=0, atol=1e-13)
        out = np.ones(g)
        kernels.gram.add_transposed(a, r, out)
        np.testing.assert_allclose(out, 1 + a.T @ r, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "k", "g"), [(0, 3, 2), (1, 1, 1), (9, 2, 17), (40, 5, 13), (70, 3, 40)]
)
def test_covariances_are_those_of_numpy(n: int, k: int, g: int) -> None:
    rng = np.random.default_rng(1)
    a, weights = rng.normal(size=(n, k, g)) - 50, rng.random(n)
    p = rng.dirichlet(np.full(k, 0.3), n)
    p[:1] = np.eye(k)[0]  # a row without doubt
    out = np.ones((g, g))
    for first in range(0, g, 8):  # rows that threads would add apart
        stop = min(first + 8, g)
        kernels.gram.add_covariances(a.reshape(n * k, g), p, weights, first, stop, out)
    expected = np.ones((g, g))
    for rows, shares, weight in zip(a, p, weights, strict=True):
        apart = rows - shares @ rows
        expected += weight * (apart.T * shares) @ apart
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(out, out.T)


@pytest.mark.parametrize(("g", "m", "k"), [(1, 1, 2), (8, 8, 3), (13, 21, 5), (50, 70, 2)])
def test_terms_are_placed_by_row(g: int, m: int, k: int) -> None:
    terms = np.random.default_rng(2).normal(size=(g * k, m + 1))
    place, out = np.random.default_rng(4).permutation(m + 3)[:m], np.full((m + 3, k, g), 7.0)
    expected = out.copy()
    expected[place] = np.maximum(terms[:, :m], -0.5).reshape(g, k, m).T
    for each in (terms[:, :m], np.asfortranarray(terms[:, :m])):
        kernels.gram.place_terms(each, place, -0.5, out)
        assert np.array_equal(out, expected)
    with pytest.raises(ValueError, match="place"):
        kernels.gram.place_terms(terms[:, :m], place + m + 3, 0.0, out)


def test_squares_are_added_in_the_order_of_rows() -> None:
    """Sums that round show the order; each square is (1 − 0)²/4 times a weight."""
    weights = np.random.default_rng(3).random(1000)
    a, p = np.tile([[1.0], [0.0]], (len(weights), 1)), np.full((len(weights), 2), 0.5)
    out = np.zeros((1, 1))
    kernels.gram.add_covariances(a, p, 4 * weights, 0, 1, out)
    squares = np.sqrt(weights) ** 2
    orders = squares, squares[::-1], np.sort(squares), squares.reshape(-1, 8).T.ravel()
    total, *others = (np.cumsum(order)[-1] for order in orders)
    assert out[0, 0] == total
    assert total not in others


# -- the expectation step for rows with missing cells


def scatters() -> Iterator[tuple[list[Any], Any]]:
    """Calls of `add_scatter`, and what was added."""
    random = np.random.default_rng(16)
    for g, d, k, shared in product((0, 1, 30), (1, 3, 8, 9), (1, 3), (True, False)):
        x, mean = random.standard_normal((g, d)), random.standard_normal((k, d))
        code, weight = random.integers(k, size=g), random.random(g)
        scatter = np.zeros((1 if shared else k, d, d))
        kernels.sweep.add_scatter(x, code, weight, mean, scatter)
        yield [x, code, weight, mean], scatter


def test_scatter_about_means() -> None:
    for (x, code, weight, mean), scatter in scatters():
        expected = np.zeros((len(mean), *scatter.shape[1:]))
        for c in range(len(mean)):
            deviation = (x - mean[code])[code == c]
            expected[c] = (deviation.T * weight[code == c]) @ deviation
        if len(scatter) == 1:
            expected = expected.sum(axis=0, keepdims=True)
        np.testing.assert_allclose(scatter, expected, rtol=1e-12, atol=1e-12)
