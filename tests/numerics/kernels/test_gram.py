"""Products of a matrix: those of NumPy to rounding, whatever the shape."""

from collections.abc import Iterator

import numpy as np
import pytest

from suffice.numerics import kernels

SHAPES = [(0, 3), (1, 1), (5, 0), (7, 13), (36, 8), (70, 33)]


def matrices() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        yield rng.normal(size=shape)


def test_products_are_those_of_numpy() -> None:
    for a in matrices():
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
    for given in (terms[:, :m], np.asfortranarray(terms[:, :m])):
        kernels.gram.place_terms(given, place, -0.5, out)
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
