"""The lasso and the elastic net: minima, and functions of the sums over the rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import linear_model as theirs
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from suffice.errors import ParameterError
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, Ridge


def violation(w: Any, slope: Any, cost: Any) -> Any:
    """How far coefficients are from the conditions of a minimum with costs of absolute values."""
    return np.where(w, np.abs(slope + cost * np.sign(w)), np.maximum(np.abs(slope) - cost, 0))


def rows(n: int = 120, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.standard_normal((d, d)))
    return x + 3.0, x[:, 0] - 2.0 * x[:, 2] + rng.standard_normal(n) / 2 + 7.0


def objective(x: Any, y: Any, w: Any, b: Any, alpha: float, ratio: float) -> float:
    rest = y - b - x @ w
    return rest @ rest / (2 * len(y)) + alpha * (ratio * abs(w).sum() + (1 - ratio) * w @ w / 2)


# -- the minimum


@pytest.mark.parametrize(
    ("table", "alpha", "ratio"),
    [
        ("diabetes", 2.0, 0.5),
        ("diabetes", 0.01, 1.0),
        ("random", 0.3, 0.1),
        ("random", 1e-4, 1.0),
        ("wide", 0.3, 1.0),
        ("wide", 0.01, 0.5),
    ],
)
def test_the_objective_is_that_of_scikit_learn(table: str, alpha: float, ratio: float) -> None:
    x, y = load_diabetes(return_X_y=True) if table == "diabetes" else rows(d=6)
    if table == "wide":
        x, y = rows(n=20, d=30)
    mine = ElasticNet(alpha, l1_ratio=ratio).fit(x, y)
    other = theirs.ElasticNet(alpha, l1_ratio=ratio, tol=1e-13, max_iter=1_000_000).fit(x, y)
    found = objective(x, y, mine.coef_, mine.intercept_, alpha, ratio)
    expected = objective(x, y, other.coef_, other.intercept_, alpha, ratio)
    assert found == pytest.approx(expected, rel=1e-10)
    assert ((mine.coef_ == 0) == (other.coef_ == 0)).all()


def test_the_objective_is_that_of_glmnet() -> None:
    """R's glmnet, printed to seven digits: its objective is ours to 1e-8.

    It divides targets by their standard deviation s (divisor n), and its squares by s.

    Source: statsmodels, regression/tests/results/glmnet_r_results.py and lasso_r_results.R.
    """
    from statsmodels.regression.tests.results import glmnet_r_results

    table = np.loadtxt(Path(glmnet_r_results.__file__).with_name("lasso_data.csv"), delimiter=",")
    for j in range(81):
        n, p, ratio, alpha, *printed = getattr(glmnet_r_results, f"rslt_{j}")
        data = table[: int(n), : int(p) + 1]
        data = (data - data.mean(0)) / data.std(0, ddof=1)
        x, y = data[:, 1:], data[:, 0]
        absolute, squares = alpha * ratio, alpha * (1 - ratio) / y.std()
        total, share = absolute + squares, absolute / (absolute + squares)
        w = ElasticNet(total, l1_ratio=share, fit_intercept=False).fit(x, y).coef_
        mine = objective(x, y, w, 0.0, total, share)
        found = objective(x, y, np.array(printed), 0.0, total, share)
        assert -1e-14 <= found - mine <= 1e-8, j
        assert ((w == 0) == (np.array(printed) == 0)).all(), j


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([0.9, 0.5, 0.1, 1e-3]), st.sampled_from([1.0, 0.3]))
def test_the_conditions_of_a_minimum_hold(seed: int, fraction: float, ratio: float) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 40)), int(rng.integers(1, 8))
    unit = 10.0 ** rng.integers(-3, 4, d)
    x = (rng.standard_normal((n, d)) + rng.integers(-5, 5, d)) * unit
    y, w = x @ rng.standard_normal(d) + rng.standard_normal(n), rng.integers(1, 4, n).astype(float)
    xc, yc = x - np.average(x, 0, w), y - np.average(y, weights=w)
    alpha = fraction * np.abs(xc.T @ (w * yc)).max() / w.sum() / ratio
    model = ElasticNet(alpha, l1_ratio=ratio).fit(x, y, w)
    slope = -(w * (y - model.predict(x))) @ xc / w.sum() + alpha * (1 - ratio) * model.coef_
    assert model.intercept_ == pytest.approx(
        np.average(y - x @ model.coef_, weights=w), rel=1e-9, abs=1e-9 * np.abs(y).max()
    )
    far = violation(model.coef_, slope, np.full(d, alpha * ratio))
    assert (far <= 1e-9 * np.abs(xc).max(0) * np.abs(y).max()).all()


def test_limits_are_least_squares_ridge_and_nothing() -> None:
    x, y = rows()
    assert (Lasso(0.0).fit(x, y).coef_ == LinearRegression().fit(x, y).coef_).all()
    ridge = Ridge(0.3 * len(y)).fit(x, y)
    assert_allclose(ElasticNet(0.3, l1_ratio=0.0).fit(x, y).coef_, ridge.coef_, rtol=1e-14)
    nothing = Lasso(1e6).fit(x, y)
    assert not nothing.coef_.any()
    assert nothing.intercept_ == pytest.approx(y.mean(), rel=1e-15)


def test_units_do_not_matter_where_columns_are_standardised() -> None:
    x, y = rows()
    unit = 2.0 ** np.arange(-3, 3)
    plain = Lasso(0.1, standardize=True).fit(x, y)
    assert (plain.coef_ != 0).any()
    assert (Lasso(0.1, standardize=True).fit(x * unit, y).coef_ == plain.coef_ / unit).all()
    spread = Lasso(0.1).fit((x - x.mean(0)) / x.std(0), y).coef_
    assert_allclose(plain.coef_ * x.std(0), spread, rtol=1e-12)


def test_several_targets_are_fitted_apart() -> None:
    x, y = rows()
    both = Lasso(0.1).fit(x, np.column_stack([y, -y + x[:, 1]]))
    assert (both.coef_[0] == Lasso(0.1).fit(x, y).coef_).all()
    assert both.sparse_coef_.shape == (2, 6)
    assert (both.sparse_coef_.toarray() == both.coef_).all()


# -- a function of the sums


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    x, y = rows()
    twice = np.repeat(np.arange(120), 1 + np.arange(120) % 2)
    weighted = Lasso(0.1).fit(x, y, 1 + np.arange(120) % 2)
    assert (weighted.coef_ == Lasso(0.1).fit(x[twice], y[twice]).coef_).all()


def test_a_path_is_what_fits_would_find() -> None:
    x, y = rows()
    model = Lasso(0.1).fit(x, y)
    path = model.path()
    alphas, coefficients, _ = theirs.lasso_path(x - x.mean(0), y - y.mean(), tol=1e-13)
    assert_allclose(path.alphas, alphas, rtol=1e-12)
    assert_allclose(path.coef, coefficients.T, rtol=0, atol=1e-6)
    assert path.converged.all()
    for alpha, mine, other in zip(alphas, path.coef, coefficients.T, strict=True):
        found, expected = (
            objective(x, y, w, y.mean() - x.mean(0) @ w, alpha, 1.0) for w in (mine, other)
        )
        assert found == pytest.approx(expected, rel=1e-8)
    for j in (0, 10, 99):
        fit = clone(model).set_params(alpha=path.alphas[j]).fit(model.sums_)
        assert (fit.coef_ == path.coef[j]).all()
        assert fit.intercept_ == path.intercept[j]
        assert path.rss[j] == pytest.approx(((y - fit.predict(x)) ** 2).sum(), rel=1e-12)


def test_columns_of_strings_and_missing_cells() -> None:
    x, y = rows()
    table = pd.DataFrame(x, columns=list("abcdef")).assign(kind=np.where(y > 7, "up", "down"), y=y)
    table.loc[3, "a"] = np.nan
    model = Lasso(0.05, incomplete="drop").fit(table, "y")
    assert model.terms_[-1] == "kind[up]"
    indicator = table.drop(index=3).assign(kind=lambda t: (t.kind == "up") * 1.0)
    assert_allclose(model.coef_, Lasso(0.05).fit(indicator, "y").coef_, rtol=1e-13)


# -- what is not known, and mistakes


def test_a_summary_says_that_standard_errors_are_not_given() -> None:
    model = Lasso(0.5).fit(*rows())
    text = str(model.summary())
    assert (
        "Standard errors are not given: the penalty chose these columns by the same rows." in text
    )
    assert f"columns chosen: {np.count_nonzero(model.coef_)} of 6; rows: 120" in text
    assert model.summary(as_frame=True)["estimate"].tolist() == [model.intercept_, *model.coef_]
    for ask in (model.posterior, lambda: model.predict_interval(rows()[0])):
        with pytest.raises(ParameterError, match="chosen the columns by the same rows"):
            ask()


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": "gcv"}, "alpha='gcv'"),
        ({"l1_ratio": 1.5}, "l1_ratio is a number, from 0 to 1"),
        ({"l1_ratio": True}, "l1_ratio=True"),
        ({"max_iter": 0}, "max_iter is a whole number above 0"),
    ],
)
def test_options_outside_their_rules(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(ParameterError, match=rule):
        ElasticNet(**options).fit(*rows())


def test_a_path_of_squares_alone_has_no_largest_penalty() -> None:
    with pytest.raises(ParameterError, match="makes no coefficient 0"):
        ElasticNet(l1_ratio=0.0).fit(*rows()).path()


def test_coefficients_whose_squares_overflow() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    units, unit = 2.0 ** np.array([0, -420, 0]), 2.0**465
    expected = Lasso(2.0**-30, standardize=True).fit(x, y).coef_
    found = Lasso(2.0**-30 * unit, standardize=True).fit(x * units, y * unit).coef_
    assert_allclose(found * units / unit, expected, rtol=1e-9)


def test_too_few_sweeps_are_a_warning() -> None:
    x, y = rows(n=20, d=30)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 sweeps; raise max_iter"):
        Lasso(1e-3, max_iter=1).fit(x, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [Lasso(), ElasticNet()], ids=str)
def test_scikit_learns_checks(model: Any) -> None:
    check_estimator(model)
