"""α of greatest evidence, beside mpmath's integrals and its root of their derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import NaiveBayes, load
from suffice.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB
from suffice.numerics.dirichlet_evidence import alpha_by_evidence

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


@settings(max_examples=20)
@given(
    st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(3, 5),
)
def test_nothing_that_was_tried_is_better(table, m):
    found = alpha_by_evidence([np.array(table, float)], [m])
    assert found.log_evidence[0] >= found.curves.max() - 1e-9 * abs(found.curves.max())
    twice = alpha_by_evidence([np.array(table[::-1], float)[:, ::-1]], [m])
    assert twice.alpha[0] == found.alpha[0]


def test_counts_that_say_nothing_leave_laplace():
    empty, one, single = np.zeros((2, 3)), np.eye(3)[:2], np.array([[7.0], [3.0]])
    assert alpha_by_evidence([empty, one, single], [3, 3, 1]).alpha.tolist() == [1, 1, 1]
    assert alpha_by_evidence([], []).alpha.tolist() == []


def test_pure_classes_want_little_and_even_ones_much():
    pure, even = np.array([[50.0, 0], [0, 50]]), np.array([[50.0, 50], [50, 50]])
    found = alpha_by_evidence([pure, even], [2, 2])
    assert found.alpha[0] == 1e-3
    assert found.alpha[1] >= 5e4


X = RNG.integers(0, 4, (200, 3))
X[:, 1] = np.minimum(X[:, 1], 1)
Y = np.where(RNG.random(200) < 0.7, X[:, 0] > 1, RNG.random(200) < 0.5)


def test_categories():
    model = CategoricalNB(alpha="evidence").fit(X, Y)
    found = model.alpha_evidence_
    tables = model.category_count_
    assert found.alpha.tolist() == alpha_by_evidence(tables, [4, 2, 4]).alpha.tolist()
    for a, table, j in zip(found.alpha, tables, range(3), strict=True):
        theta = (table + a) / (table.sum(axis=1, keepdims=True) + table.shape[1] * a)
        assert np.exp(model.feature_log_prob_[j]) == pytest.approx(theta, rel=1e-14)


def test_outcomes_and_events():
    outcomes = (X > 1).astype(int)
    model = BernoulliNB(alpha="evidence").fit(outcomes, Y)
    ones, rows = model.feature_count_, model.class_count_[:, None]
    tables = [np.c_[rows - ones[:, [j]], ones[:, [j]]] for j in range(3)]
    a = alpha_by_evidence(tables, [2, 2, 2]).alpha
    assert np.exp(model.feature_log_prob_) == pytest.approx((ones + a) / (rows + 2 * a), rel=1e-14)
    events = MultinomialNB(alpha="evidence").fit(X, Y)
    count = events.feature_count_
    (a,) = alpha_by_evidence([count], [3]).alpha
    theta = (count + a) / (count.sum(axis=1, keepdims=True) + 3 * a)
    assert np.exp(events.feature_log_prob_) == pytest.approx(theta, rel=1e-14)
    assert events.alpha_evidence_.names == ("x0, x1, x2",)
    assert MultinomialNB().fit(X, Y).alpha_evidence_ is None


def mixed_table():
    n = len(Y)
    return {
        "hue": np.array(["red", "blue", "green", "grey"])[X[:, 0]],
        "old": X[:, 1] == 1,
        "note": np.array(
            [f"see item {i} of {w}, as w{u} says" for i, (u, _, w) in enumerate(X.tolist())]
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
