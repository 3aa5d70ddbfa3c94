"""Passes of fits: the logistic loss, coordinate and gradient descent."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import random_array
from scipy.special import expit, softmax

from suffice.numerics import kernels

# -- the logistic loss and its gradient


def pairs_of(m: int) -> int:
    """Room for each two of m scores."""
    return 1 if m == 1 else -(-(m * (m + 1) // 2) // 8) * 8


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("weighted", [True, False])
def test_second_derivatives_of_compressed_rows(k: int, weighted: bool) -> None:
    """Σ w f_y (diag p − p pᵀ) ⊗ z zᵀ; loss and slope are those of the other kernel."""
    random, n, d, m = np.random.default_rng(k), 200, 7, 1 if k == 2 else k
    x = random_array((n, d), density=0.4, format="csr", rng=random)
    directions = np.zeros((1 + d, 8))
    directions[:, : m + 1] = random.standard_normal((1 + d, m + 1))
    codes, f = random.integers(-1, k, n), random.random(k) + 0.5
    weights = random.random(n) if weighted else np.empty(0)
    hessian, found = np.zeros(((1 + d) ** 2, pairs_of(m))), []
    for add, more in (
        (kernels.logistic.add_sparse_gradient, ()),
        (kernels.logistic.add_sparse_hessian, (hessian,)),
    ):
        out = np.zeros(k), np.zeros(k), np.zeros(directions.shape)
        loss = add(x.indptr, x.indices, x.data, directions, codes, weights, f, *out, *more)
        found.append((loss, *(array.tolist() for array in out)))
    assert found[0] == found[1]
    z = np.column_stack([np.ones(n), x.toarray()])[codes >= 0]
    w = (weights if weighted else np.ones(n))[codes >= 0] * f[codes[codes >= 0]]
    t = z @ directions[:, :m]
    p = expit(t) if k == 2 else softmax(t, axis=1)
    curvature = p[:, :, None] * np.eye(m) - p[:, :, None] * p[:, None]
    expected = np.einsum("i,iab,ij,il->ajbl", w, curvature, z, z)
    for p, (a, b) in enumerate(zip(*np.tril_indices(m), strict=True)):
        half = hessian[:, p].reshape(1 + d, 1 + d)
        block = half + half.T - np.diag(np.diagonal(half))
        np.testing.assert_allclose(block, expected[a, :, b], rtol=1e-12, atol=1e-13)


def test_cells_outside_of_the_table_are_refused() -> None:
    starts, indices, data = np.array([0, 1, 3]), np.array([0, 1, 1]), np.ones(3)
    directions, gradient = np.ones((3, 8)), np.zeros((3, 8))
    codes, none, ones = np.zeros(2, np.int64), np.empty(0), np.ones(2)
    rest = none, ones, ones.copy(), ones.copy(), gradient
    add = kernels.logistic.add_sparse_gradient
    add(starts, indices, data, directions, codes, *rest)
    for wrong in (
        (starts, indices + 1, data, directions, codes),
        (starts, indices - 1, data, directions, codes),
        (starts, indices[:2], data, directions, codes),
        (starts + 1, indices, data, directions, codes),
        (starts, indices, data, directions, codes + 2),
        (starts, indices, data, directions[:, :7].copy(), codes),
        (starts, indices, data, directions, codes[:1]),
    ):
        with pytest.raises(ValueError, match="must"):
            add(*wrong, *rest)


# -- coordinate descent: a sweep is that of a loop in Python


def cases() -> Iterator[tuple[Any, ...]]:
    random = np.random.default_rng(6)
    for p in (0, 1, 2, 7, 33):
        for nonnegative in (False, True):
            root = random.standard_normal((p, p))
            hessian, cost = root @ root.T, random.random(p)
            if p > 1:
                hessian[1], hessian[:, 1] = 0.0, 0.0
            x = np.abs(random.standard_normal(p)) * (random.random(p) < 0.5)
            given = hessian, cost, nonnegative, x.copy(), hessian @ x - random.standard_normal(p)
            before = given[4].copy()
            kernels.coordinate.sweep(*given)
            yield hessian, cost, nonnegative, x, before, given[3], given[4]


def test_a_sweep_is_that_of_a_loop() -> None:
    for hessian, cost, nonnegative, x, gradient, swept, left in cases():
        for j in np.flatnonzero(np.diagonal(hessian) > 0):
            middle = hessian[j, j] * x[j] - gradient[j]
            reached = np.sign(middle) * max(abs(middle) - cost[j], 0.0) / hessian[j, j]
            step = (max(reached, 0.0) if nonnegative else reached) - x[j]
            x[j] += step
            gradient += step * hessian[j]
        np.testing.assert_allclose(swept, x, rtol=0, atol=1e-13)
        np.testing.assert_allclose(left, gradient, rtol=0, atol=1e-11)
