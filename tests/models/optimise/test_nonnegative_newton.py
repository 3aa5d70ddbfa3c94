"""Minima of convex functions of numbers that are 0 or more."""

import numpy as np
import pytest

from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum


@pytest.mark.parametrize("seed", range(10))
def test_functions_without_curvature_along_some_directions(seed: int) -> None:
    """f(x) = Σᵢ exp(zᵢᵀx) + cᵀx of columns that depend on each other, and c of a known minimum."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(5, 9)) / 3
    z[:, 7], z[:, 8] = z[:, 0], z[:, 1] + z[:, 2]
    least = np.maximum(rng.normal(size=9), 0.0)
    c = (least == 0) * rng.random(9) - z.T @ np.exp(z @ least)

    def f(x: np.ndarray) -> Value:
        e = np.exp(z @ x)
        return Value(e.sum() + c @ x, z.T @ e + c, (z.T * e) @ z)

    found = nonnegative_minimum(f, np.ones(9))
    assert (found >= 0).all()
    assert f(found).value == pytest.approx(f(least).value, rel=1e-9)
