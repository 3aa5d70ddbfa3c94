"""Functions of numbers: log space, integrals, evidence of α, floors; and long calls."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf
from sklearn.datasets import load_digits

import suffice
from suffice import NaiveBayes, load
from suffice.errors import ParameterError
from suffice.families import Gaussian
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from suffice.numerics.dirichlet_evidence import alpha_by_evidence
from suffice.numerics.interruption import LARGE, interruptible
from suffice.numerics.logspace import log_normalise, log_sum_exp, row_sums
from suffice.numerics.quadrature import integrate
from suffice.numerics.rows import linear
from suffice.numerics.variance_floor import FRACTIONS, StandardMoments, expected_log_loss

# -- logarithms of sums against mpmath with 60 digits


LOGS = st.one_of(st.just(-np.inf), st.floats(-1e5, 1e5), st.floats(-5, 5))
ROWS = st.integers(1, 5).flatmap(lambda k: st.lists(LOGS, min_size=k, max_size=k))


def reference(row: list[float]) -> mpmath.mpf:
    with mpmath.workdps(60):
        return mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in row))


@settings(max_examples=40)
@given(ROWS)
def test_log_sum_exp_and_posterior(row: list[float]) -> None:
    prior = np.log(np.full(len(row), 1 / len(row)))
    found = log_sum_exp(np.array([row]))[0]
    posterior, impossible = log_normalise(np.array([row]), prior)
    if max(row) == -np.inf:
        assert found == -np.inf
        assert impossible == 1
        np.testing.assert_array_equal(posterior[0], prior)
        return
    truth = reference(row)
    scale = max(1.0, abs(float(truth)))
    assert abs(found - float(truth)) <= 2 * np.spacing(scale)
    assert impossible == 0
    for x, log_p in zip(row, posterior[0], strict=True):
        if x == -np.inf:
            assert log_p == -np.inf
        else:
            assert abs(log_p - float(mpmath.mpf(x) - truth)) <= 1e-15 * max(scale, abs(x))


def test_very_unlikely_rows_keep_their_odds() -> None:
    joint = np.array([[-1e6, -1e6 + np.log(3)], [-1e-300, -1e6]])
    posterior, impossible = log_normalise(joint, np.log([0.5, 0.5]))
    np.testing.assert_allclose(np.exp(posterior[0]), [0.25, 0.75], rtol=2e-10)
    np.testing.assert_allclose(posterior[1], [0.0, -1e6])
    assert impossible == 0


# -- linear functions of rows: the same bits in any company


@pytest.mark.parametrize(("d", "m"), [(1, 1), (1, 50), (8, 9), (11, 2), (50, 1), (50, 50)])
def test_linear_functions_of_a_row_have_the_same_bits_beside_every_other(d: int, m: int) -> None:
    rng = np.random.default_rng([d, m])
    x, matrix = rng.normal(size=(50, d)), rng.normal(size=(d, m))
    among = linear(x, matrix)
    np.testing.assert_allclose(among, x @ matrix, rtol=1e-12, atol=1e-12)
    for first, rows in ((0, 1), (49, 1), (1, 7), (2, 8), (5, 9), (3, 17)):
        part = slice(first, first + rows)
        np.testing.assert_array_equal(linear(x[part], matrix), among[part])
        np.testing.assert_array_equal(linear(x[part].copy("F"), matrix), among[part])
        np.testing.assert_array_equal(linear(x[::-1][part], matrix), among[::-1][part])


@pytest.mark.parametrize("shape", [(1, 20), (30, 20), (5, 0), (0, 5), (4, 20, 3)])
def test_sums_of_rows_are_added_from_left_to_right(shape: tuple[int, ...]) -> None:
    terms = np.random.default_rng(0).normal(size=shape)
    expected = np.zeros((shape[0], *shape[2:]))
    for place in np.ndindex(expected.shape):
        expected[place] = sum(terms[(place[0], slice(None), *place[1:])].tolist(), 0.0)
    for lying in (terms, np.asfortranarray(terms)):
        np.testing.assert_array_equal(row_sums(lying), expected)


# -- integrals against mpmath: smooth functions, kinks, jumps, poles and noise


@pytest.mark.parametrize(
    ("f", "same", "edges"),
    [
        (np.sin, mpmath.sin, [0.0, 1.0, 3.0]),
        (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x), [-9.0, -1.0, 9.0]),
        (lambda x: np.abs(x - 0.3), lambda x: abs(x - mpmath.mpf(0.3)), [0.0, 0.3, 1.0]),
        (lambda x: x**-0.5, lambda x: x ** mpmath.mpf(-0.5), [0.0, 1.0]),
    ],
    ids=["sine", "bell", "kink on an edge", "pole on an edge"],
)
def test_against_mpmath(f, same, edges):
    value, error = integrate(f, np.array(edges))
    with mpmath.workdps(40):
        truth = float(mpmath.quad(same, edges))
    assert abs(value - truth) < 1e-13
    assert error < 1e-13


@pytest.mark.parametrize("place", [0.1, 1 / 3, 0.7])
def test_a_jump_or_kink_inside_a_piece_is_found_by_halving(place):
    value, error = integrate(lambda x: np.where(x > place, 1.0, 0.0), np.array([0.0, 1.0]))
    assert abs(value - (1 - place)) < 1e-13
    assert error < 1e-13
    value, error = integrate(lambda x: np.abs(x - place), np.array([0.0, 1.0]))
    assert abs(value - (place**2 + (1 - place) ** 2) / 2) < 1e-14


# -- α of greatest evidence, beside mpmath's integrals and its root of their derivative


RNG = np.random.default_rng(5)


def log_evidence(tables: Sequence[Any], sizes: Sequence[int], alpha: Any) -> Any:
    """Σ log B(N_c + α)/B(α) with 40 digits."""
    total = mpmath.mpf(0)
    for table, m in zip(tables, sizes, strict=True):
        for counts in np.asarray(table).tolist():
            for n in counts:
                total += mpmath.loggamma(n + alpha) - mpmath.loggamma(alpha)
            total -= mpmath.loggamma(sum(counts) + m * alpha) - mpmath.loggamma(m * alpha)
    return total


def maximum(tables: Sequence[Any], sizes: Sequence[int], near: float) -> Any:
    """The α at which the evidence is highest near a place: by halving its numerical derivative."""
    with mpmath.workdps(40):

        def slope(log_alpha: Any) -> Any:
            return mpmath.diff(lambda t: log_evidence(tables, sizes, mpmath.exp(t)), log_alpha)

        ends = mpmath.log(near) - 0.6, mpmath.log(near) + 0.6
        assert slope(ends[0]) > 0 > slope(ends[1])
        return mpmath.exp(mpmath.findroot(slope, ends, solver="ridder", tol=1e-40))


TABLES = (
    [[[9, 1], [2, 8]]],
    [[[30, 4, 0], [11, 12, 2], [0, 0, 7]], [[5, 40, 1], [3, 2, 20]]],
    [RNG.poisson(RNG.gamma(2, 2, (2, 9))).tolist()],
    [[[1.5, 0.25, 3.0], [2.0, 0.5, 0.0]]],
)


@pytest.mark.parametrize("tables", TABLES)
def test_each_maximum_is_that_of_mpmath(tables):
    arrays = [np.array(table, float) for table in tables]
    sizes = [table.shape[1] + (j == 0) for j, table in enumerate(arrays)]
    found = alpha_by_evidence(arrays, sizes)
    for j, alpha in enumerate(found.alpha):
        one = tables[j : j + 1], sizes[j : j + 1]
        assert alpha == pytest.approx(float(maximum(*one, alpha)), rel=1e-9)
        assert found.log_evidence[j] == pytest.approx(float(log_evidence(*one, alpha)), rel=1e-12)
        for tried, value in list(zip(found.tried, found.curves[j], strict=True))[::20]:
            assert value == pytest.approx(float(log_evidence(*one, tried)), rel=1e-10)
    shared = alpha_by_evidence(arrays, sizes, shared=True)
    assert shared.alpha[0] == pytest.approx(
        float(maximum(tables, sizes, shared.alpha[0])), rel=1e-9
    )
    assert shared.curves[0] == pytest.approx(found.curves.sum(axis=0), rel=1e-10)


def test_counts_that_say_nothing_leave_laplace():
    empty, one, single = np.zeros((2, 3)), np.eye(3)[:2], np.array([[7.0], [3.0]])
    assert alpha_by_evidence([empty, one, single], [3, 3, 1]).alpha.tolist() == [1, 1, 1]
    assert alpha_by_evidence([], []).alpha.tolist() == []


def test_pure_classes_want_little_and_even_ones_much():
    pure, even = np.array([[50.0, 0], [0, 50]]), np.array([[50.0, 50], [50, 50]])
    found = alpha_by_evidence([pure, even], [2, 2])
    assert found.alpha[0] == 1e-3
    assert found.alpha[1] >= 5e4


CODES = RNG.integers(0, 4, (200, 3))
CODES[:, 1] = np.minimum(CODES[:, 1], 1)
Y = np.where(RNG.random(200) < 0.7, CODES[:, 0] > 1, RNG.random(200) < 0.5)


def test_categories():
    model = CategoricalNB(alpha="evidence").fit(CODES, Y)
    found = model.alpha_evidence_
    tables = model.category_count_
    assert found.alpha.tolist() == alpha_by_evidence(tables, [4, 2, 4]).alpha.tolist()
    for a, table, j in zip(found.alpha, tables, range(3), strict=True):
        theta = (table + a) / (table.sum(axis=1, keepdims=True) + table.shape[1] * a)
        assert np.exp(model.feature_log_prob_[j]) == pytest.approx(theta, rel=1e-14)


def test_outcomes_and_events():
    outcomes = (CODES > 1).astype(int)
    model = BernoulliNB(alpha="evidence").fit(outcomes, Y)
    ones, rows = model.feature_count_, model.class_count_[:, None]
    tables = [np.c_[rows - ones[:, [j]], ones[:, [j]]] for j in range(3)]
    a = alpha_by_evidence(tables, [2, 2, 2]).alpha
    assert np.exp(model.feature_log_prob_) == pytest.approx((ones + a) / (rows + 2 * a), rel=1e-14)
    events = MultinomialNB(alpha="evidence").fit(CODES, Y)
    count = events.feature_count_
    (a,) = alpha_by_evidence([count], [3]).alpha
    theta = (count + a) / (count.sum(axis=1, keepdims=True) + 3 * a)
    assert np.exp(events.feature_log_prob_) == pytest.approx(theta, rel=1e-14)
    assert events.alpha_evidence_.names == ("x0, x1, x2",)
    assert MultinomialNB().fit(CODES, Y).alpha_evidence_ is None


def mixed_table():
    n = len(Y)
    return {
        "hue": np.array(["red", "blue", "green", "grey"])[CODES[:, 0]],
        "old": CODES[:, 1] == 1,
        "note": np.array(
            [f"see item {i} of {w}, as w{u} says" for i, (u, _, w) in enumerate(CODES.tolist())]
        ),
        "size": RNG.normal(size=n) + Y,
    }


@pytest.mark.parametrize("options", [{}, {"calibration": "none"}])
def test_mixed_tables_learn_merge_forget_and_are_saved(tmp_path, options):
    table, y, alpha = mixed_table(), Y.astype(str), "evidence"
    model = NaiveBayes(alpha=alpha, **options).fit(table, y)
    assert sorted(model.alpha_evidence_.names) == ["hue", "note", "old"]
    half = {name: column[:100] for name, column in table.items()}
    rest = {name: column[100:] for name, column in table.items()}
    parts = NaiveBayes(alpha=alpha, **options).fit(half, y[:100]).partial_fit(rest, y[100:])
    assert parts.alpha_evidence_.alpha.tolist() == model.alpha_evidence_.alpha.tolist()
    forgot = NaiveBayes(alpha=alpha, calibration="none").fit(table, y).forget(rest, y[100:])
    only = NaiveBayes(alpha=alpha, calibration="none").fit(half, y[:100])
    assert forgot.alpha_evidence_.alpha.tolist() == only.alpha_evidence_.alpha.tolist()
    model.save(tmp_path / "m.suffice")
    loaded = load(tmp_path / "m.suffice")
    assert loaded.predict_proba(table).tolist() == model.predict_proba(table).tolist()
    assert loaded.alpha_evidence_.curves.tolist() == model.alpha_evidence_.curves.tolist()
    if options:
        ends = np.asarray(model.predict_proba_interval(half))
        assert (ends[..., 0] < ends[..., 1]).all()


def test_other_families_keep_their_own():
    rows = {"visits": RNG.poisson(3, 200).astype(float), "hue": mixed_table()["hue"]}
    model = NaiveBayes({"visits": "poisson"}, alpha="evidence").fit(rows, Y.astype(str))
    given = NaiveBayes({"visits": "poisson"}).fit(rows, Y.astype(str))
    assert model.model_.parameters[0].describe(0) == given.model_.parameters[0].describe(0)


# -- the variance floor that moments choose


def by_hand(moments: StandardMoments, fraction: float) -> mpf:
    """The formula, cell by cell, with 50 digits."""
    k, d = moments.n.shape
    n, mean, scatter, variance = ([[mpf(x) for x in row] for row in a.tolist()] for a in moments)
    rows = [max(row) for row in n]

    def likelihood(b: int, j: int, distance: mpf) -> mpf:
        v = max(variance[b][j], mpf(fraction))
        return -log(v) / 2 - distance / (2 * v)

    def distance(c: int, b: int, j: int) -> mpf:
        if b == c:
            return scatter[c][j] * ((n[c][j] / (n[c][j] - 1)) ** 2 if n[c][j] > 1 else 1)
        return scatter[c][j] + (mean[c][j] - mean[b][j]) ** 2

    loss = mpf(0)
    for c in range(k):

        def h(surprise: int | None, c: int = c) -> mpf:
            odds = []
            for b in range(k):
                at = [1 + mean[b][j] ** 2 if j == surprise else distance(c, b, j) for j in range(d)]
                odds.append(log(rows[b]) + sum(likelihood(b, j, q) for j, q in enumerate(at)))
            return log(sum(exp(o - odds[c]) for o in odds))

        extra = sum((h(j) - h(None)) / (n[c][j] + 1) for j in range(d))
        loss += rows[c] / sum(rows) * (h(None) + extra)
    return loss


@st.composite
def moments(draw: st.DrawFn) -> StandardMoments:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, d = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    scatter = rng.choice([0.0, 1e-6, 0.3, 1.0], (k, d)) * rng.random((k, d))
    n = rng.integers(1, 30, (k, d)).astype(float)
    return StandardMoments(n, rng.normal(size=(k, d)), scatter, scatter)


@settings(max_examples=20)
@given(moments(), st.sampled_from(FRACTIONS))
def test_the_loss_is_that_of_its_formula(given_: StandardMoments, fraction: float) -> None:
    with mp.workdps(50):
        expected = by_hand(given_, fraction)
        scale = max(abs(expected), mpf(1) / mpf(fraction) * mpf("1e-4"), mpf(1))
        assert abs(mpf(expected_log_loss(given_, fraction)) - expected) <= scale * mpf("1e-9")


def test_the_choice_follows_rows_that_are_added_and_forgotten(tmp_path) -> None:  # type: ignore[no-untyped-def]
    x, y = load_digits(return_X_y=True)
    fitted = GaussianNB(var_smoothing="loo").fit(x[:900], y[:900])
    learnt = GaussianNB(var_smoothing="loo").fit(x[400:], y[400:])
    learnt.partial_fit(x[:400], y[:400]).forget(x[900:], y[900:])
    assert np.array_equal(learnt.epsilon_, fitted.epsilon_)
    assert np.array_equal(learnt.predict_proba(x[:50]), fitted.predict_proba(x[:50]))
    fitted.save(tmp_path / "model")
    assert np.array_equal(suffice.load(tmp_path / "model").var_, fitted.var_)


def test_naive_bayes_chooses_by_itself() -> None:
    x, y = load_digits(return_X_y=True)
    mixed = NaiveBayes.textbook("gaussian", estimation="mle").fit(x, y)
    alone = GaussianNB(var_smoothing="loo").fit(x, y)
    assert np.array_equal(mixed.predict_proba(x), alone.predict_proba(x))


def test_units_change_nothing() -> None:
    x, y = load_digits(return_X_y=True)
    units = 2.0 ** np.random.default_rng(0).integers(-20, 20, x.shape[1])
    plain = GaussianNB(var_smoothing="loo").fit(x, y)
    moved = GaussianNB(var_smoothing="loo").fit(x * units, y)
    assert np.array_equal(moved.epsilon_, plain.epsilon_ * units**2)


def test_other_words_are_refused() -> None:
    with pytest.raises(ParameterError, match="var_smoothing is a number, finite, 0 or more, or"):
        GaussianNB(var_smoothing="auto").fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="variance_floor is a number, finite, 0 or more, or"):
        Gaussian("mle", variance_floor="best")  # type: ignore[arg-type]


# -- long calls of other libraries: the same results and errors, and Ctrl-C does not wait for them


MANY = np.arange(float(LARGE))


def test_errors_reach_the_caller_with_its_settings() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(np.linalg.cholesky, -np.eye(200))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(np.divide, MANY, 0.0)
    with np.errstate(all="ignore"):
        assert np.isinf(interruptible(np.divide, MANY, 0.0)[1:]).all()


def test_an_interrupt_leaves_the_call_behind() -> None:
    begun, left = threading.Event(), threading.Event()

    def wait(_: Any) -> bool:
        begun.set()
        os.kill(os.getpid(), signal.SIGINT)
        return left.wait()

    with pytest.raises(KeyboardInterrupt):
        interruptible(wait, MANY)
    assert begun.is_set()
    left.set()
