"""Logistic regression with a penalty of absolute values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

import suffice
from suffice.errors import ParameterError
from suffice.linear_model import LogisticRegression


def objective(model: Any, x: Any, y: Any, c: float, ratio: float) -> float:
    places = np.searchsorted(model.classes_, y)
    loss = -model.predict_log_proba(x)[np.arange(len(y)), places].sum()
    w = model.coef_
    return float(loss + ((1 - ratio) * (w**2).sum() / 2 + ratio * np.abs(w).sum()) / c)


def violation(w: Any, slope: Any, cost: Any) -> Any:
    """How far coefficients are from the conditions of a minimum with costs of absolute values."""
    return np.where(w, np.abs(slope + cost * np.sign(w)), np.maximum(np.abs(slope) - cost, 0))


def rows(n: int = 300, d: int = 8, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n, d, n_informative=5, n_redundant=1, n_classes=k, random_state=seed
    )  # fmt: skip


@pytest.mark.parametrize(
    ("k", "ratio", "c"), [(2, 1.0, 0.01), (2, 0.4, 1.0), (3, 1.0, 1.0), (3, 0.4, 0.1)]
)
def test_the_objective_is_that_of_scikit_learn(k: int, ratio: float, c: float) -> None:
    x, y = rows(k=k)
    mine = LogisticRegression(C=c, l1_ratio=ratio).fit(x, y)
    other = Theirs(C=c, l1_ratio=ratio, solver="saga", tol=1e-12, max_iter=50_000).fit(x, y)
    expected = objective(other, x, y, c, ratio)
    assert objective(mine, x, y, c, ratio) == pytest.approx(expected, rel=1e-10)
    assert_allclose(mine.coef_, other.coef_, rtol=0, atol=1e-6)
    assert ((mine.coef_ == 0) == (other.coef_ == 0)).all()


@settings(max_examples=20)
@given(
    st.integers(0, 2**32),
    st.sampled_from([2, 3, 4]),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([1.0, 0.1, 10.0]),
    st.booleans(),
)
def test_the_conditions_of_a_minimum_hold(
    seed: int, k: int, ratio: float, c: float, intercept: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 60)), int(rng.integers(1, 6))
    x = (rng.standard_normal((n, d)) + rng.integers(-3, 3, d)) * 10.0 ** rng.integers(-2, 3, d)
    y, w = np.append(np.arange(k), rng.integers(0, k, n - k)), rng.integers(1, 4, n).astype(float)
    model = LogisticRegression(C=c, l1_ratio=ratio, fit_intercept=intercept).fit(x, y, w)
    rest = w[:, None] * (model.predict_proba(x) - np.eye(k)[y])
    rest = rest[:, 1:] if k == 2 else rest
    slope = rest.T @ x + (1 - ratio) * model.coef_ / c
    far = violation(model.coef_, slope, np.full(model.coef_.shape, ratio / c))
    assert (far <= 1e-8 * w.sum() * np.abs(x).max(0)).all()
    if intercept:
        assert np.abs(rest.sum(0)).max() <= 1e-8 * w.sum()
        assert k == 2 or abs(model.intercept_.sum()) <= 1e-9 * (1 + np.abs(model.intercept_).max())


def test_names_of_the_same_penalty() -> None:
    x, y = rows()
    first = LogisticRegression(penalty="l1", C=0.1).fit(x, y)
    assert (first.coef_ == LogisticRegression(l1_ratio=1, C=0.1).fit(x, y).coef_).all()
    mixed = LogisticRegression(penalty="elasticnet", l1_ratio=0.5, C=0.1).fit(x, y)
    assert (mixed.coef_ == LogisticRegression(l1_ratio=0.5, C=0.1).fit(x, y).coef_).all()
    nothing = LogisticRegression(l1_ratio=1, C=1e-6).fit(x, y)
    assert not nothing.coef_.any()
    assert_allclose(nothing.predict_proba(x)[0], np.bincount(y) / len(y), rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_sparse_rows_weights_and_units(k: int) -> None:
    x, y = rows(k=k)
    x[np.abs(x) < 0.5] = 0.0
    model = LogisticRegression(l1_ratio=0.8, C=0.1).fit(x, y)
    compressed = LogisticRegression(l1_ratio=0.8, C=0.1).fit(sparse.csr_array(x), y)
    assert_allclose(compressed.coef_, model.coef_, rtol=0, atol=1e-8)
    twice = np.concatenate([x, x[:50]]), np.concatenate([y, y[:50]])
    weight = 1.0 + (np.arange(len(y)) < 50)
    weighted = LogisticRegression(l1_ratio=0.8, C=0.1).fit(x, y, weight)
    assert_allclose(
        weighted.coef_, LogisticRegression(l1_ratio=0.8, C=0.1).fit(*twice).coef_, atol=1e-9
    )
    unit = 2.0 ** np.arange(-4, 4)
    plain = LogisticRegression(penalty="l1", C=0.1, standardize=True).fit(x, y)
    scaled = LogisticRegression(penalty="l1", C=0.1, standardize=True).fit(x * unit, y)
    assert_allclose(scaled.coef_ * unit, plain.coef_, rtol=0, atol=1e-9)


def test_a_saved_model_is_the_same(tmp_path: Path) -> None:
    x, y = load_iris(return_X_y=True)
    model = LogisticRegression(penalty="l1", C=0.3).fit(x, y)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert (loaded.predict_proba(x) == model.predict_proba(x)).all()
    with pytest.raises(ParameterError, match="a penalised estimate has no standard error"):
        model.summary()


def test_a_penalty_of_no_coefficient_is_a_penalty() -> None:
    model = LogisticRegression(numbers="bins").fit({"x": [5.0] * 6}, list("ababab"))
    assert_allclose(model.predict_proba({"x": [5.0]}), [[0.5, 0.5]])
    with pytest.raises(ParameterError, match="a penalised estimate has no standard error"):
        model.summary()


def test_the_weights_of_classes_are_weights_of_rows() -> None:
    x, y = rows()
    weights = {0: 2.0, 1: 0.5}
    model = LogisticRegression(penalty="l1", C=0.1, class_weight=weights).fit(x, y)
    expected = LogisticRegression(penalty="l1", C=0.1).fit(x, y, np.where(y == 0, 2.0, 0.5))
    assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_many_coefficients_of_compressed_rows(classes: int) -> None:
    rng = np.random.default_rng(0)
    x = sparse.random_array((1_500, 4_000), density=0.01, rng=rng, format="csr")
    score = x @ rng.standard_normal(4_000) + 0.5 * rng.standard_normal(1_500)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    model = LogisticRegression(penalty="l1", C=10.0).fit(x, y)
    rest = model.predict_proba(x) - np.eye(classes)[y]
    slope = 10.0 * (x.T @ rest).T[-len(model.coef_) :]
    assert np.count_nonzero(model.coef_) > 500
    assert violation(model.coef_, slope, np.ones(slope.shape)).max() < 1e-6


def test_coefficients_in_single_precision_and_compressed(tmp_path: Path) -> None:
    x, y = rows()
    model = LogisticRegression(penalty="l1", C=0.05).fit(x.astype(np.float32), y)
    assert (model.coef_.dtype, model.intercept_.dtype) == (np.float32, np.float32)
    double = LogisticRegression(penalty="l1", C=0.05).fit(x.astype(np.float32).astype(float), y)
    assert (model.coef_ == double.coef_.astype(np.float32)).all()
    assert (model.predict_proba(x) == double.predict_proba(x)).all()
    model.save(tmp_path / "model")
    assert suffice.load(tmp_path / "model").coef_.dtype == np.float32
    assert LogisticRegression().fit(x.astype(np.float32), y).fit(x, y).coef_.dtype == np.float64
    compressed = double.sparsify().coef_
    assert compressed.nnz == np.count_nonzero(compressed.toarray()) < 8
    assert (compressed.toarray() == double.densify().coef_).all()


def test_options_without_effect_are_said() -> None:
    x, y = rows()
    x = x + np.random.default_rng(1).standard_normal(x.shape)
    with pytest.warns(UserWarning, match="penalty=None will ignore the C and l1_ratio"):
        LogisticRegression(penalty=None, C=2.0).fit(x, y)
    with pytest.warns(UserWarning, match="only used when penalty is 'elasticnet'"):
        LogisticRegression(penalty="l1", l1_ratio=0.5).fit(x, y)


def test_without_an_iteration_nothing_is_learnt() -> None:
    with pytest.warns(ConvergenceWarning, match="newton failed to converge"):
        model = LogisticRegression(max_iter=0).fit(*rows())
    assert (model.n_iter_[0], model.intercept_[0]) == (0, 0.0)
    assert not model.coef_.any()
