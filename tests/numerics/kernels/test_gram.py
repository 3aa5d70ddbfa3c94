"""Products of a matrix: those of NumPy to rounding, whatever the shape."""

from collections.abc import Iterator

import numpy as np

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
        out = np.ones((g, g))
        kernels.gram.add_gram(a, r, out)
        np.testing.assert_allclose(out, 1 + (a.T * r) @ a, rtol=0, atol=1e-11)
        assert np.array_equal(out, out.T)


def test_rows_are_added_in_their_order() -> None:
    """A sum that rounds at every step shows the order."""
    a = np.array([[1.0], [2.0**-53], [2.0**-53], [-1.0], [1.0]])
    out = np.zeros((1, 1))
    kernels.gram.add_gram(a, np.sign(a[:, 0]) * np.array([1, 2.0**53, 2.0**53, 1, 1]), out)
    total = 0.0
    for term in (1.0, 2.0**-53, 2.0**-53, -1.0, 1.0):
        total += term
    assert out[0, 0] == total
