"""Linear regression against printed numbers, and against other programs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as theirs
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_linnerud, load_wine

from suffice.linear_model import LinearRegression, Ridge

# -- An Introduction to Statistical Learning with Python, chapter 3


def test_boston_on_one_column(data, published):
    case = published["islp_boston_lstat"]["published"]
    boston = data / "islp" / "Boston.csv"
    model = LinearRegression().fit(pd.read_csv(boston)[["lstat", "medv"]], "medv")
    found = model.summary()
    assert found.terms == ("(Intercept)", "lstat")
    assert found.estimate == pytest.approx(case["coef"], abs=5e-5)
    assert found.standard_error == pytest.approx(case["se"], abs=5e-4)
    new = pd.DataFrame({"lstat": [5.0, 10.0, 15.0]})
    assert model.predict(new) == pytest.approx(case["pred_at_5_10_15"], abs=5e-9)
    for kind, key in (("confidence", "conf95"), ("prediction", "pred95")):
        assert_allclose(model.predict_interval(new, kind), case[key], rtol=0, atol=5e-9)
    assert str(found) == (
        "             Estimate  Std. Error  t value  Pr(>|t|)     2.5 %    97.5 %\n"
        "(Intercept)   34.5538      0.5626    61.42    <2e-16   33.4485   35.6592\n"
        "lstat        -0.95005     0.03873   -24.53    <2e-16  -1.02615  -0.87395\n"
        "\n"
        "Residual standard error: 6.216 on 504 degrees of freedom\n"
        "R²: 0.5441, adjusted R²: 0.5432\n"
        "F-statistic: 601.6 on 1 and 504 degrees of freedom, p-value: <2e-16\n"
        "Log-likelihood: -1641.49, AIC: 3286.97, BIC: 3295.43, rows: 506"
    )


def test_boston_on_all_columns(data, published):
    case = published["islp_boston_ols"]["published"]["coef"]
    model = LinearRegression().fit(data / "islp" / "Boston.csv", "medv")
    found = dict(zip(model.terms_, model.summary().estimate, strict=True))
    found["intercept"] = found.pop("(Intercept)")
    assert found == pytest.approx(case, abs=5.1e-5)


# -- statsmodels


def boston(data: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_csv(data / "islp" / "Boston.csv")
    return table.drop(columns="medv").to_numpy(float), table.medv.to_numpy(float)


def longley(data: Path) -> tuple[np.ndarray, np.ndarray]:
    both = sm.datasets.longley.load_pandas()
    return both.exog.to_numpy(float), both.endog.to_numpy(float)


SETS: dict[str, Callable] = {
    "boston": boston,
    "longley": longley,
    "diabetes": lambda _: load_diabetes(return_X_y=True),
    "linnerud": lambda _: (load_linnerud().data, load_linnerud().target[:, 0]),
    "wine": lambda _: (load_wine().data[:, 1:], load_wine().data[:, 0]),
}
SAME = {
    "estimate": "params",
    "standard_error": "bse",
    "t": "tvalues",
    "p": "pvalues",
    "r_squared": "rsquared",
    "adjusted_r_squared": "rsquared_adj",
    "f": "fvalue",
    "f_p": "f_pvalue",
    "dof": "df_resid",
    "log_likelihood": "llf",
    "aic": "aic",
    "bic": "bic",
}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", SETS)
def test_statsmodels_ordinary(case, intercept, data):
    x, y = SETS[case](data)
    design = sm.add_constant(x) if intercept else x
    other = sm.OLS(y, design, hasconst=intercept).fit()
    model = LinearRegression(fit_intercept=intercept).fit(x, y)
    found = model.summary(level=0.9)
    # theirs works in double: the condition number of Longley's columns is 5e9
    tolerance = 1e-8 if case != "longley" else 1e-6
    for mine, their in SAME.items():
        assert_allclose(getattr(found, mine), getattr(other, their), rtol=tolerance, err_msg=mine)
    assert_allclose(np.stack([found.lower, found.upper], 1), other.conf_int(0.1), rtol=tolerance)
    assert_allclose(found.sigma**2, other.scale, rtol=tolerance)
    predicted = other.get_prediction(design[:9]).summary_frame(0.05)
    for kind, key in (("confidence", "mean"), ("prediction", "obs")):
        ends = predicted[[f"{key}_ci_lower", f"{key}_ci_upper"]].to_numpy()
        assert_allclose(model.predict_interval(x[:9], kind), ends, rtol=tolerance)
    assert_allclose(model.leverage(x), other.get_influence().hat_matrix_diag, rtol=tolerance)


@pytest.mark.parametrize("case", [name for name in SETS if name != "longley"])
def test_statsmodels_weighted(case, data):
    x, y = SETS[case](data)
    weights = np.random.default_rng(0).gamma(2.0, size=len(y))
    weights *= len(y) / weights.sum()
    other = sm.WLS(y, sm.add_constant(x), weights).fit()
    found = LinearRegression().fit(x, y, weights).summary()
    for mine, their in SAME.items():
        if their not in ("llf", "aic", "bic"):  # theirs add ½Σ log w: weights as precisions
            assert_allclose(getattr(found, mine), getattr(other, their), rtol=1e-8, err_msg=mine)


def test_statsmodels_repeated_rows(data):
    x, y = SETS["diabetes"](data)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    other = sm.OLS(y[rows], sm.add_constant(x[rows])).fit()
    found = LinearRegression().fit(x, y, times.astype(float)).summary()
    for mine, their in SAME.items():
        assert_allclose(getattr(found, mine), getattr(other, their), rtol=1e-8, err_msg=mine)


# -- scikit-learn


@pytest.mark.parametrize("case", [name for name in SETS if name != "longley"])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"positive": True}], ids=str)
def test_scikit_learn_ordinary(case, options, data):
    x, y = SETS[case](data)
    y = np.stack([y, y**2], axis=1)
    weights = np.random.default_rng(0).random(len(y))
    exact = {} if options.get("positive") else {"tol": 0.0}
    for targets in (y[:, 0], y[:, :1], y):
        mine = LinearRegression(**options).fit(x, targets, weights)
        other = theirs.LinearRegression(**options, **exact).fit(x, targets, weights)
        assert_allclose(mine.coef_, other.coef_, rtol=1e-8, atol=1e-10)
        assert_allclose(mine.intercept_, other.intercept_, rtol=1e-8)
        assert_allclose(mine.predict(x), other.predict(x), rtol=1e-9)
        assert_allclose(mine.score(x, targets, weights), other.score(x, targets, weights))
        assert np.shape(mine.intercept_) == np.shape(other.intercept_)


@pytest.mark.parametrize("case", [name for name in SETS if name != "longley"])
def test_scikit_learn_singular_values(case, data):
    x, y = SETS[case](data)
    mine, other = LinearRegression().fit(x, y), theirs.LinearRegression(tol=0.0).fit(x, y)
    assert mine.rank_ == other.rank_
    assert_allclose(mine.singular_, other.singular_, rtol=1e-9)


@pytest.mark.parametrize("case", [name for name in SETS if name != "longley"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e4])
def test_scikit_learn_ridge(case, alpha, data):
    x, y = SETS[case](data)
    y = np.stack([y, y**2], axis=1)
    weights = np.random.default_rng(0).random(len(y))
    for intercept in (True, False):
        mine = Ridge(alpha, fit_intercept=intercept).fit(x, y, weights)
        other = theirs.Ridge(alpha, fit_intercept=intercept, solver="svd").fit(x, y, weights)
        assert_allclose(mine.coef_, other.coef_, rtol=1e-8, atol=1e-10)
        assert_allclose(mine.intercept_, other.intercept_, rtol=1e-8)
