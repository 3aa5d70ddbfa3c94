"""The variance floor that moments choose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

import suffice
from suffice.errors import ParameterError
from suffice.families import Gaussian
from suffice.naive_bayes import GaussianNB, NaiveBayes
from suffice.numerics.variance_floor import (
    FRACTIONS,
    StandardMoments,
    expected_log_loss,
)


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


def test_digits_are_told_apart_at_least_as_well_as_by_scikit_learn() -> None:
    x, y = load_digits(return_X_y=True)
    ours = cross_val_score(GaussianNB(var_smoothing="loo"), x, y, cv=5).mean()
    theirs = cross_val_score(TheirGaussianNB(), x, y, cv=5).mean()
    assert ours >= theirs
    assert ours >= 0.85


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
    with pytest.raises(ParameterError, match="variance_floor is a finite number, 0 or more, or"):
        Gaussian("mle", variance_floor="most")  # type: ignore[arg-type]


def test_units_change_nothing() -> None:
    x, y = load_digits(return_X_y=True)
    units = 2.0 ** np.random.default_rng(0).integers(-20, 20, x.shape[1])
    plain = GaussianNB(var_smoothing="loo").fit(x, y)
    moved = GaussianNB(var_smoothing="loo").fit(x * units, y)
    assert np.array_equal(moved.epsilon_, plain.epsilon_ * units**2)


def test_other_words_are_refused() -> None:
    with pytest.raises(ParameterError, match="var_smoothing is a finite number, 0 or more, or"):
        GaussianNB(var_smoothing="auto").fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="variance_floor is a finite number, 0 or more, or"):
        Gaussian("mle", variance_floor="best")  # type: ignore[arg-type]
