"""Passes of fits: the logistic loss, coordinate and gradient descent."""

from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import random_array
from scipy.special import expit, softmax

from suffice.numerics import kernels

from .inputs import powers_of_ten
from .recorded import check
from .rows import rows, shapes

# -- the logistic loss and its gradient


def of_outcomes() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(9)
    for n, m in product((0, 1, 5, 300), (1, 2, 3, 7)):
        t = random.standard_normal((n, m)) * powers_of_ten(random.integers(-9, 4, (n, m)))
        t[random.random((n, m)) < 0.05] = 0.0
        t[random.random((n, m)) < 0.05] = -0.0
        codes = random.integers(max(m, 2), size=n)
        out = np.zeros(n), *(np.zeros((n, m)) for _ in range(3))
        kernels.logistic.loss_derivatives(t, codes, *out)
        yield f"loss_derivatives {n} {m}", [*out]


def sums(random: np.random.Generator, n: int, k: int) -> tuple[Any, ...]:
    """Codes, weights and class_weights, and where weights and fingerprints are added."""
    weights = random.choice([0.5, 1.0, 1.0, 2.0], n) if n % 2 else np.empty(0)
    return random.integers(k, size=n), weights, random.random(k) + 0.5, np.ones(k), np.ones(k)


def of_dense() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(10)
    for (n, d, k), kind in product((*shapes((2, 3, 2, 5)), (0, 4, 2)), ("plain", "wide", "far")):
        if kind == "wide" and not n:
            continue
        m = 1 if k == 2 else k
        x, directions = rows(random, n, d, kind), random.standard_normal((m + 1, 1 + d))
        origin = random.standard_normal(d) + (1e6 if kind == "far" else 0.0)
        added, gradient = sums(random, n, k), random.standard_normal((m, 1 + d))
        loss = kernels.logistic.add_gradient(x, origin, directions, *added, gradient)
        yield f"add_gradient {n} {d} {k} {kind}", [loss, *added[3:], gradient]


def of_sparse() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(11)
    dtypes = np.float64, np.float32, np.int64, np.int32, np.uint8
    some = tuple(shapes((2, 3, 2, 9)))[::11]
    for (n, d, k), dtype, index in product(some, dtypes, (np.int32, np.int64)):
        m = 1 if k == 2 else k
        table = random_array((n, d), density=0.2, format="csr", rng=random)
        data = (table.data * 9 - 4).astype(dtype)
        cells = table.indptr.astype(index), table.indices.astype(index), data
        width = -(-(m + 1) // 8) * 8
        directions, gradient = np.zeros((1 + d, width)), np.zeros((1 + d, width))
        directions[:, : m + 1] = random.standard_normal((1 + d, m + 1))
        codes, *added = sums(random, n, k)
        codes[random.random(n) < 0.1] = -1
        loss = kernels.logistic.add_sparse_gradient(*cells, directions, codes, *added, gradient)
        name = f"add_sparse_gradient {n} {d} {k} {np.dtype(dtype)} {np.dtype(index)}"
        yield name, [loss, *added[2:], gradient]


def pairs_of(m: int) -> int:
    """Room for each two of m scores."""
    return 1 if m == 1 else -(-(m * (m + 1) // 2) // 8) * 8


def of_second_order() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(13)
    for (n, d, k), dtype in product(tuple(shapes((2, 3, 2, 5)))[::5], (np.float64, np.int32)):
        m = 1 if k == 2 else k
        table = random_array((n, d), density=0.3, format="csr", rng=random)
        cells = table.indptr, table.indices, (table.data * 9 - 4).astype(dtype)
        directions = np.zeros((1 + d, -(-(m + 1) // 8) * 8))
        directions[:, : m + 1] = random.standard_normal((1 + d, m + 1))
        codes, *added = sums(random, n, k)
        codes[random.random(n) < 0.1] = -1
        gradient, hessian = np.zeros(directions.shape), np.zeros(((1 + d) ** 2, pairs_of(m)))
        call = *cells, directions, codes, *added, gradient, hessian
        loss = kernels.logistic.add_sparse_hessian(*call)
        yield f"add_sparse_hessian {n} {d} {k} {np.dtype(dtype)}", [loss, *call[7:]]


def test_as_recorded() -> None:
    cases = of_outcomes(), of_dense(), of_sparse(), of_second_order()
    check("logistic", chain.from_iterable(cases))


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


# -- gradient descent on sums over rows


SIZES = tuple(product((1, 5, 40), (0, 1, 3, 4, 7, 8, 9, 30), (1, 2, 3)))


def problem(random: np.random.Generator, n: int, p: int, m: int, of_codes: bool) -> Any:
    """Rows, targets, weights, order, centres and units; coefficients and room for a row."""
    table = random.standard_normal((n, p + 2))
    targets = random.integers(max(m, 2), size=n) if of_codes else random.standard_normal((n, m))
    given = table, targets, random.random(n) + 0.5, random.integers(n, size=2 * n)
    units = random.standard_normal(p), random.random(p) + 0.5
    return given, units, random.standard_normal((m, 1 + p)), (np.ones(1 + p), np.zeros(m))


def of_gradients() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(12)
    for (n, p, m), of_codes in product(SIZES, (False, True)):
        given, units, v, room = problem(random, n, p, m, of_codes)
        g, loss = random.standard_normal(v.shape), np.zeros(1 if of_codes else m)
        kernels.descent.add_gradient(*given, *units, v, *room, g, loss)
        yield f"add_gradient {n} {p} {m} {of_codes}", [*room, g, loss]


def of_steps() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(13)
    for (n, p, m), of_codes, size in product(SIZES, (False, True), (1, 3, 64)):
        given, units, v, room = problem(random, n, p, m, of_codes)
        penalty, nesterov = random.random(1 + p), bool(n % 2)
        velocity, path, loss = np.zeros_like(v), np.zeros_like(v), np.zeros(1 if of_codes else m)
        kernels.descent.descend(
            *(*given, size, *units, penalty, 0.01, 0.7, nesterov, *room),
            *(v, velocity, loss, path),
        )
        yield f"descend {n} {p} {m} {of_codes} {size}", [v, velocity, loss, path]


def test_as_recorded_descent() -> None:
    check("descent", (*of_gradients(), *of_steps()))
