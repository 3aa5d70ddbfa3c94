"""Gradient descent: its gradient, its steps, and where it ends, against exact arithmetic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from suffice.errors import ParameterError
from suffice.models.optimise.gradient_descent import GradientDescent
from suffice.numerics import kernels


def table(n: int = 40, p: int = 2, t: int = 1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-64, 64, (n, p + t)) / 8.0


def summed(rows, v, weights=None, order=None, center=None, inverse=None):
    """Loss (t,) and gradient (t, 1 + p) as the kernel adds them."""
    n, t, p = len(rows), len(v), v.shape[1] - 1
    center = np.zeros(p + t) if center is None else center
    inverse = np.ones(p + t) if inverse is None else inverse
    g, loss, z = np.zeros_like(v), np.zeros(t), np.ones(v.shape[1])
    kernels.descent.add_gradient(
        *(rows, (rows[:, p:] - center[p:]) * inverse[p:]),
        np.ones(n) if weights is None else weights,
        np.arange(n) if order is None else order,
        *(center[:p], inverse[:p], v, z, np.empty(t), g, loss),
    )
    return loss, g


# -- the gradient


@given(p=st.integers(0, 9), t=st.integers(1, 3), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_sums_of_small_fractions_are_exact(p, t, seed):
    rng = np.random.default_rng(seed)
    rows, v = table(12, p, t, seed), rng.integers(-8, 8, (t, 1 + p)) / 4.0
    weights = rng.integers(0, 4, 12).astype(float)
    loss, g = summed(rows, v, weights)
    for k in range(t):
        z = [[Fraction(1), *map(Fraction, row[:p].tolist())] for row in rows]
        e = [
            sum(Fraction(a) * b for a, b in zip(v[k].tolist(), x, strict=True))
            - Fraction(row[p + k])
            for x, row in zip(z, rows, strict=True)
        ]
        w = [Fraction(a) for a in weights.tolist()]
        assert Fraction(loss[k]) == sum(a * b * b for a, b in zip(w, e, strict=True)) / 2
        assert [Fraction(a) for a in g[k].tolist()] == [
            sum(a * b * x[j] for a, b, x in zip(w, e, z, strict=True)) for j in range(1 + p)
        ]


def test_the_gradient_is_the_derivative_of_the_loss():
    rows, v = table(15, 3), np.array([[0.25, -1.5, 2.0, 0.125]])
    center, inverse = rows.mean(axis=0), 1.0 / rows.std(axis=0)
    loss, g = summed(rows, v, center=center, inverse=inverse)

    def exactly(*at: mpmath.mpf) -> mpmath.mpf:
        total = mpmath.mpf(0)
        for row in rows.tolist():
            u = [(mpmath.mpf(a) - c) * i for a, c, i in zip(row, center, inverse, strict=True)]
            total += (at[0] + mpmath.fdot(at[1:], u[:-1]) - u[-1]) ** 2 / 2
        return total

    with mpmath.workdps(40):
        assert_allclose(loss[0], float(exactly(*v[0].tolist())), rtol=1e-14)
        for j in range(4):
            order = tuple(int(i == j) for i in range(4))
            slope = mpmath.diff(exactly, tuple(v[0].tolist()), order)
            assert_allclose(g[0, j], float(slope), rtol=1e-13)
    for j in range(4):
        h = np.zeros((1, 4))
        h[0, j] = 1e-4
        up, down = (summed(rows, v + d, center=center, inverse=inverse)[0] for d in (h, -h))
        assert_allclose(g[0, j], (up[0] - down[0]) / 2e-4, rtol=1e-7)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("size", [1, 7])
def test_steps_are_those_of_the_book(size, nesterov):
    rows, order = table(30, 5, 2), np.random.default_rng(1).integers(30, size=30)
    weights = np.random.default_rng(2).random(30) + 0.5
    penalty, rate, momentum = np.array([0.0, 1.0, 2.0, 0.5, 0.1, 0.3]), 1e-3, 0.5
    v, velocity, loss, path = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2), np.zeros((2, 6))
    kernels.descent.descend(
        *(rows, rows[:, 5:].copy(), weights, order, size, np.zeros(5), np.ones(5), penalty),
        *(rate, momentum, nesterov, np.ones(6), np.empty(2), v, velocity, loss, path),
    )
    z, y = np.concatenate([np.ones((30, 1)), rows[:, :5]], axis=1), rows[:, 5:]
    mine, d, total, way = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2), np.zeros((2, 6))
    for first in range(0, 30, size):
        chosen = order[first : first + size]
        e = z[chosen] @ mine.T - y[chosen]
        total += 0.5 * weights[chosen] @ e**2
        g = (weights[chosen, None] * e).T @ z[chosen] / len(chosen) + penalty * mine
        d = momentum * d - rate * g
        mine = mine + (momentum * d - rate * g if nesterov else d)
        way += mine
    assert_allclose(v, mine, rtol=1e-12)
    assert_allclose(velocity, d, rtol=1e-12)
    assert_allclose(loss, total, rtol=1e-12)
    assert_allclose(path, way, rtol=1e-12)


# -- the logistic loss


def logistic_sums(rows, codes, v, weights):
    """Loss (1,) and gradient (m, 1 + p) as the kernel adds them."""
    (m, width), n = v.shape, len(rows)
    g, loss, z = np.zeros_like(v), np.zeros(1), np.ones(width)
    units = np.zeros(width - 1), np.ones(width - 1)
    kernels.descent.add_gradient(
        *(rows, codes, weights, np.arange(n), *units, v, z, np.empty(m), g, loss)
    )
    return loss, g


def exact_logistic_sums(rows, codes, v, weights):
    """The same with 40 digits, of two classes from the scores (0, t)."""
    k = max(len(v), 2)
    every = np.concatenate([np.zeros_like(v), v]) if len(v) == 1 else v
    loss, g = mpmath.mpf(0), np.zeros((k, v.shape[1]), object)
    for row, code, weight in zip(rows.tolist(), codes, weights, strict=True):
        z = [mpmath.mpf(1), *map(mpmath.mpf, row)]
        t = [mpmath.fdot(b, z) for b in every.tolist()]
        total = sum(map(mpmath.exp, t))
        loss += weight * (mpmath.log(total) - t[code])
        for c in range(k):
            e = mpmath.exp(t[c]) / total - int(c == code)
            g[c] += [weight * e * a for a in z]
    return float(loss), (g[1:] if len(v) == 1 else g).astype(float)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_logistic_sums_against_forty_digits(m, scale):
    rng = np.random.default_rng(m)
    rows, v = table(25, 4, 0), scale * rng.normal(size=(m, 5))
    codes, weights = rng.integers(max(m, 2), size=25), rng.integers(0, 4, 25) / 2.0
    loss, g = logistic_sums(rows, codes, v, weights)
    with mpmath.workdps(40):
        exact_loss, exact = exact_logistic_sums(rows, codes, v, weights)
    assert_allclose(loss, exact_loss, rtol=1e-13)
    assert_allclose(g, exact, rtol=1e-12, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("m", [1, 3])
def test_a_row_that_is_far_on_its_side_has_no_slope_and_on_the_other_a_whole_one(m):
    v = np.zeros((m, 2))
    v[-1, 1] = 1.0
    for x, code, loss, slope in ((900.0, max(m, 2) - 1, 0.0, 0.0), (900.0, 0, 900.0, 900.0)):
        found, g = logistic_sums(np.array([[x]]), np.array([code]), v, np.ones(1))
        assert (found[0], g[-1, 1]) == (loss, slope)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("size", [1, 7])
def test_logistic_steps_are_those_of_the_book(m, size):
    rng = np.random.default_rng(5)
    rows, codes = table(30, 4, 0), rng.integers(max(m, 2), size=30)
    order, weights = rng.permutation(30), rng.random(30) + 0.5
    penalty, rate, momentum = np.array([0.0, 1.0, 2.0, 0.5, 0.1]), 1e-2, 0.5
    v, velocity, loss = np.zeros((m, 5)), np.zeros((m, 5)), np.zeros(1)
    kernels.descent.descend(
        *(rows, codes, weights, order, size, np.zeros(4), np.ones(4), penalty),
        *(rate, momentum, False, np.ones(5), np.empty(m), v, velocity, loss, np.zeros((m, 5))),
    )
    mine, d, total = np.zeros((m, 5)), np.zeros((m, 5)), 0.0
    for first in range(0, 30, size):
        chosen = order[first : first + size]
        of_chosen, g = logistic_sums(rows[chosen], codes[chosen], mine, weights[chosen])
        total += of_chosen[0]
        d = momentum * d - rate * (g / len(chosen) + penalty * mine)
        mine = mine + d
    assert_allclose(v, mine, rtol=1e-12)
    assert_allclose(velocity, d, rtol=1e-12)
    assert_allclose(loss[0], total, rtol=1e-12)


# -- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": "fast"}, "learning_rate='fast'; learning_rate is a finite number"),
        ({"learning_rate": 0.0}, "learning_rate=0.0; learning_rate is a finite number above 0"),
        ({"decay": -1.0}, "decay=-1.0; decay is a finite number, 0 or more"),
        ({"batch_size": 0}, "batch_size=0; batch_size is a whole number, 1 or more"),
        ({"passes": 1.5}, "passes=1.5; passes is a whole number, 1 or more"),
        ({"tol": np.nan}, "tol=nan; tol is a finite number, 0 or more"),
        ({"tol": -1.0}, "tol=-1.0; tol is a finite number, 0 or more"),
        ({"decay": None}, "decay=None; decay is a finite number, 0 or more"),
    ],
)
def test_options_outside_their_rules_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        GradientDescent(**options)
