"""Logistic regression of wide and sparse tables, and of many classes, to the minimum."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression as Theirs

from suffice.errors import DataError
from suffice.linear_model import LogisticRegression


def wide(n: int, p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels depend on five columns; columns of several units, one of them constant."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    y = (x[:, :5] @ rng.standard_normal((5, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    x[:, 5:9] *= [1e-2, 10.0, 1.0, 0.0]
    return x, y


def slopes(model: Any, x: Any, y: np.ndarray) -> np.ndarray:
    """The gradient of the negative log-likelihood by coefficients and then intercepts."""
    rest = model.predict_proba(x) - np.eye(len(model.classes_))[y]
    found = np.column_stack([np.asarray(x.T @ rest).T, rest.sum(axis=0)])
    return found[-len(model.coef_) :]


@pytest.mark.parametrize(
    ("n", "p", "k"), [(60, 900, 2), (60, 900, 3), (60, 900, 12), (40, 90, 39), (60, 130, 5)]
)
@pytest.mark.parametrize("c", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_wide_table_is_fitted_in_the_space_of_its_rows(n, p, k, c, intercept):
    x, y = wide(n, p, k)
    model = LogisticRegression(C=c, fit_intercept=intercept).fit(x, y)
    found = slopes(model, x, y)
    found[:, :-1] += model.coef_ / c
    size = np.abs(x).T.sum(axis=1).max()
    assert np.abs(found[:, : None if intercept else -1]).max() < 1e-9 * size
    assert n == 40 or model.n_passes_ < 16


def test_weights_of_rows_and_standardised_columns_of_a_wide_table():
    x, y = wide(80, 500, 3)
    weight = 1.0 + np.arange(80) % 3
    first = LogisticRegression(standardize=True, class_weight="balanced").fit(x, y, weight)
    rows = np.repeat(np.arange(80), weight.astype(int))
    again = LogisticRegression(standardize=True, class_weight="balanced").fit(x[rows], y[rows])
    assert_allclose(first.coef_, again.coef_, rtol=0, atol=1e-9 * np.abs(first.coef_).max())


@pytest.mark.parametrize("units", [0.0, 2.0])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_many_classes_of_few_rows_end_at_the_minimum(units, sparse_rows, recwarn):
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(150), 3)
    x = rng.standard_normal((150, 15))[y] + rng.standard_normal((450, 15))
    x *= 10.0 ** np.linspace(-units, units, 15)
    if sparse_rows:
        x[np.abs(x) < 1e-2] = 0.0
    model = LogisticRegression().fit(sparse.csr_array(x) if sparse_rows else x, y)
    found = slopes(model, x, y)
    found[:, :-1] += model.coef_
    assert (np.abs(found).max(axis=0) <= 1e-7 * np.append(np.abs(x).sum(axis=0), 450)).all()
    assert units or (model.n_passes_ < 16 and not recwarn.list)


def objective(coef: Any, intercept: Any, x: Any, y: np.ndarray, c: float, ratio: float) -> float:
    t = np.asarray(x @ coef.T) + intercept
    t = np.column_stack([np.zeros(len(t)), t]) if t.shape[1] == 1 else t
    loss = (logsumexp(t, axis=1) - t[np.arange(len(y)), y]).sum()
    return float(loss + ((1 - ratio) * (coef**2).sum() / 2 + ratio * np.abs(coef).sum()) / c)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("c", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_absolute_values_beyond_a_hessian(k, c, sparse_rows):
    x, y = wide(100, 2_500, k, seed=2)
    if sparse_rows:
        x = sparse.csr_array(np.where(np.abs(x) > 1, x, 0.0))
    for ratio in (1.0, 0.7):
        model = LogisticRegression(C=c, l1_ratio=ratio).fit(x, y)
        found = slopes(model, x, y)
        w, cost = model.coef_, ratio / c
        assert 0 < np.count_nonzero(w) < w.size / 10
        found[:, :-1] += (1 - ratio) * w / c
        far = np.abs(found[:, :-1] + cost * np.sign(w)) - cost * (w == 0)
        assert (far <= 1e-7 * np.abs(x).sum(axis=0)).all()
        assert np.abs(found[:, -1]).max() < 1e-7 * len(y)


def test_the_objective_is_no_higher_than_that_of_liblinear():
    x, y = wide(100, 2_500, 2, seed=3)
    for c in (0.1, 100.0):
        mine = LogisticRegression(C=c, l1_ratio=1.0, fit_intercept=False).fit(x, y)
        other = Theirs(C=c, l1_ratio=1.0, solver="liblinear", tol=1e-8, fit_intercept=False)
        other.fit(x, y)
        ours, theirs = (objective(m.coef_, 0.0, x, y, c, 1.0) for m in (mine, other))
        assert ours <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_categories_are_their_indicators(k):
    rng, n = np.random.default_rng(k), 300
    frame = pd.DataFrame({f"hue {j}": rng.choice(list("abcdefgh"), n) for j in range(5)})
    frame["size"] = 1e6 + rng.normal(size=n)
    y = (rng.integers(0, k, n) + (frame["hue 0"] == "b")) % k
    few = LogisticRegression(standardize=True).fit(frame, y)
    x = pd.get_dummies(frame, drop_first=True, dtype=float)
    one = x[[term.replace("[", "_").rstrip("]") for term in few.terms_[1:]]]
    dense = LogisticRegression(standardize=True).fit(one, y)
    assert_allclose(few.coef_, dense.coef_, rtol=0, atol=1e-10)


def test_a_few_rows_of_many_decide_on_separation():
    rng = np.random.default_rng(2)
    x = np.sort(rng.normal(size=(40_000, 1)), axis=0)
    y = (x[:, 0] > 0).astype(int)
    with pytest.raises(DataError, match="separates the classes"):
        LogisticRegression(C=np.inf).fit(x, y)
    y[0], y[-1] = 1, 0
    assert LogisticRegression(C=np.inf).fit(x, y).likelihood_ is not None
