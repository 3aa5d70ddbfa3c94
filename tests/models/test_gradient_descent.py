"""Gradient descent: its gradient, its steps, and where it ends, against exact arithmetic."""

from fractions import Fraction
from itertools import islice

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from suffice.errors import ParameterError
from suffice.models.gradient_descent import GradientDescent, by_batch
from suffice.numerics import kernels

SCALES = np.array([0.5, 4.0, 3.0])


def table(n: int = 40, p: int = 2, t: int = 1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-64, 64, (n, p + t)) / 8.0


def summed(rows, v, weights=None, order=None, center=None, inverse=None):
    """Loss (t,) and gradient (t, 1 + p) as the kernel adds them."""
    n, t, width = len(rows), len(v), rows.shape[1]
    g, loss, z = np.zeros_like(v), np.zeros(t), np.ones(v.shape[1])
    kernels.descent.add_gradient(
        rows,
        np.ones(n) if weights is None else weights,
        np.arange(n) if order is None else order,
        np.zeros(width) if center is None else center,
        np.ones(width) if inverse is None else inverse,
        *(v, z, g, loss),
    )
    return loss, g


# -- the gradient


@given(p=st.integers(0, 9), t=st.integers(1, 3), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
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
    v, velocity, loss = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2)
    kernels.descent.descend(
        *(rows, weights, order, size, np.zeros(7), np.ones(7), penalty),
        *(rate, momentum, nesterov, np.ones(6), v, velocity, loss),
    )
    z, y = np.concatenate([np.ones((30, 1)), rows[:, :5]], axis=1), rows[:, 5:]
    mine, d, total = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2)
    for first in range(0, 30, size):
        chosen = order[first : first + size]
        e = z[chosen] @ mine.T - y[chosen]
        total += 0.5 * weights[chosen] @ e**2
        g = (weights[chosen, None] * e).T @ z[chosen] / len(chosen) + penalty * mine
        d = momentum * d - rate * g
        mine = mine + (momentum * d - rate * g if nesterov else d)
    assert_allclose(v, mine, rtol=1e-12)
    assert_allclose(velocity, d, rtol=1e-12)
    assert_allclose(loss, total, rtol=1e-12)


# -- descent by all rows


def bowl(v):
    """½ Σ s v² − Σ v for every target, whose minimum is at 1/s."""
    return 0.5 * (SCALES * v**2).sum(axis=1) - v.sum(axis=1), SCALES * v - 1.0


@pytest.mark.parametrize("momentum", [0.0, 0.3])
def test_a_line_search_never_goes_up_and_needs_one_pass_an_epoch(momentum):
    passes = []

    def counted(v):
        passes.append(v)
        return bowl(v)

    start, how = np.array([[5.0, -3.0, 2.0], [0.0, 0.0, 9.0]]), GradientDescent(momentum=momentum)
    course = list(islice(by_batch(counted, start, how), 101))
    losses = np.array([loss for _, loss, _ in course])
    assert (np.diff(losses, axis=0) <= 0.0).all()
    assert len(passes) == 101
    assert_allclose(course[-1][0], np.broadcast_to(1 / SCALES, (2, 3)), rtol=1e-10)
    assert_allclose(losses[50], bowl(course[50][0])[0], rtol=1e-12)


def test_the_first_step_of_a_line_search_is_exact():
    start = np.array([[5.0, -3.0, 2.0]])
    _, (v, loss, _) = islice(by_batch(bowl, start, GradientDescent()), 2)
    g = SCALES * start - 1.0
    alpha = (g**2).sum() / (SCALES * g**2).sum()
    assert_allclose(v, start - alpha * g, rtol=1e-13)
    assert_allclose(loss, bowl(v)[0], rtol=1e-13)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_takes_fewer_epochs(nesterov):
    def epochs(**options: object) -> int:
        how = GradientDescent(learning_rate="constant", eta0=0.2, tol=1e-9, **options)
        course = by_batch(bowl, np.full((1, 3), 9.0), how)
        return next(e for e, (_, _, there) in enumerate(course) if there)

    assert epochs(momentum=0.5, nesterov=nesterov) < epochs()


# -- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": "fast"}, "learning_rate='fast'; learning_rate is one of"),
        ({"sampling": "some"}, "sampling='some'; sampling is one of"),
        ({"eta0": 0.0}, "eta0=0.0; eta0 is a finite number above 0"),
        ({"decay": -1.0}, "decay=-1.0; decay is a finite number, 0 or more"),
        ({"momentum": 1.0}, "momentum=1.0; momentum is from 0 to less than 1"),
        ({"batch_size": 0}, "batch_size=0; batch_size is a whole number, 1 or more"),
        ({"max_iter": 1.5}, "max_iter=1.5; max_iter is a whole number, 1 or more"),
        ({"tol": np.nan}, "tol=nan; tol is a finite number, 0 or more"),
    ],
)
def test_options_outside_their_rules_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        GradientDescent(**options)


def test_learning_rates():
    how = GradientDescent(eta0=0.5, decay=0.25)
    assert [how.eta(e, 3, "decaying") for e in (0, 4)] == [0.5, 0.25]
    assert how.eta(7, 3, "constant") == 0.5
    assert GradientDescent().eta(0, 4, "constant") == 0.1
    assert how.rate_for("gradient") == "line_search"
    assert how.rate_for("sgd") == how.rate_for("minibatch") == "decaying"
