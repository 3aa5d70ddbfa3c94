"""Linear regression against certified and printed numbers, and against other programs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.linear_model as theirs
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_diabetes, load_linnerud, load_wine

from suffice.linear_model import LinearRegression, Ridge

# -- NIST Statistical Reference Datasets, linear: https://www.itl.nist.gov/div898/strd/

# Correct digits of the worst coefficient that the *doubles* of each file hold, measured with exact
# fractions against the certified value, where these are fewer than 14: 1.11111 is not a double.
DIGITS = {"Norris": 14, "Longley": 14, "Wampler1": 15, "Wampler2": 13}
DIGITS |= {"Wampler3": 15, "Wampler4": 15, "Wampler5": 15}

mpmath.mp.dps = 50


def digits(found: float, certified: str) -> float:
    """Correct digits, as NIST counts them: −log₁₀ of the relative error, or of the error from 0."""
    truth = mpmath.mpf(certified)
    error = abs(mpmath.mpf(float(found)) - truth) / (abs(truth) or 1)
    return float(-mpmath.log10(error)) if error else np.inf


@pytest.fixture(params=DIGITS)
def name(request) -> str:
    return request.param


@pytest.fixture
def table(data: Path, name: str) -> pd.DataFrame:
    lines = (data / "nist_strd" / "linear" / f"{name}.dat").read_text().splitlines()
    start = max(i for i, line in enumerate(lines) if line.startswith("Data:"))
    rows = np.array(
        [[float(cell) for cell in line.split()] for line in lines[start + 1 :] if line.strip()]
    )
    y, x = rows[:, 0], rows[:, 1:]
    if name.startswith("Wampler"):
        x = x ** np.arange(1, 6)
    return pd.DataFrame(x, columns=[f"x{j + 1}" for j in range(x.shape[1])]).assign(y=y)


def everything(model: LinearRegression) -> list[float]:
    """All that a certificate is about."""
    found = model.summary()
    return [*found.estimate, *found.standard_error, found.sigma, found.r_squared]


def features(table: pd.DataFrame) -> np.ndarray:
    return table.drop(columns="y").to_numpy()


def test_as_many_digits_as_the_doubles_hold(name, table, published):
    certified = published[name]
    found = LinearRegression().fit(features(table), table.y).summary()
    assert (found.rows, len(found.terms)) == (certified["n"], len(certified["params"]))
    estimates, errors = zip(*certified["params"].values(), strict=True)
    pairs = zip(found.estimate, estimates, strict=True)
    assert min(digits(*pair) for pair in pairs) >= DIGITS[name] - 0.5
    for value, truth in zip(found.standard_error, errors, strict=True):
        assert digits(value, truth) >= 13.5
    assert digits(found.sigma, certified["residual_sd"]) >= 13.5
    assert digits(found.r_squared, certified["r_squared"]) >= 13.5


def test_shuffled_batches_give_the_same_bits(table):
    x, y = features(table), table.y.to_numpy()
    whole, rng = everything(LinearRegression().fit(x, y)), np.random.default_rng(0)
    for _ in range(20):
        model, order = LinearRegression(), rng.permutation(len(y))
        for rows in np.split(order, np.sort(rng.integers(8, len(y), 3))):
            if len(rows):
                model.partial_fit(x[rows], y[rows])
        assert everything(model) == whole


TABLES: dict[str, Callable] = {
    "pandas": lambda table, _: table,
    "polars": lambda table, _: pl.DataFrame(table.to_dict("list")),
    "pyarrow": lambda table, _: pa.table(table.to_dict("list")),
    "stream": lambda table, _: pa.table(table.to_dict("list")).to_reader(max_chunksize=5),
}


@pytest.mark.parametrize("kind", [*TABLES, "csv", "parquet", "file list"])
def test_every_table_gives_the_same_bits(kind, table, tmp_path):
    whole = everything(LinearRegression().fit(features(table), table.y))
    rows = pa.table(table.to_dict("list"))
    if kind == "csv":
        source = tmp_path / "t.csv"
        table.to_csv(source, index=False)
    elif kind == "parquet":
        source = tmp_path / "t.parquet"
        pq.write_table(rows, source, row_group_size=5)
    elif kind == "file list":
        source = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
        for part, path in zip((rows[10:], rows[:10]), source, strict=True):
            pq.write_table(part, path)
    else:
        source = TABLES[kind](table, tmp_path)
    assert everything(LinearRegression().fit(source, "y")) == whole


def arrays(x: np.ndarray) -> Iterator:
    yield from (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x.tolist())
    yield from (sparse.csr_array(x), sparse.csc_matrix(x))


def test_every_array_gives_the_same_bits(table):
    x, y = features(table), table.y.to_numpy()
    whole = everything(LinearRegression().fit(x, y))
    for X in arrays(x):
        assert everything(LinearRegression().fit(X, y)) == whole


# -- An Introduction to Statistical Learning with Python, chapter 3


def test_boston_on_one_column(data, published):
    case = published["islp_boston_lstat"]["published"]
    boston = data / "islp" / "Boston.csv"
    model = LinearRegression().fit(boston, "medv").refit(["lstat"])
    found = model.summary()
    assert found.terms == ("(Intercept)", "lstat")
    assert found.estimate == pytest.approx(case["coef"], abs=5e-5)
    assert found.standard_error == pytest.approx(case["se"], abs=5e-4)
    new = pd.DataFrame({"lstat": [5.0, 10.0, 15.0]})
    assert model.predict(new) == pytest.approx(case["pred_at_5_10_15"], abs=5e-9)
    for kind, key in (("confidence", "conf95"), ("prediction", "pred95")):
        assert_allclose(model.predict_interval(new, kind), case[key], rtol=0, atol=5e-9)
    assert str(found) == (
        "             Estimate  Std. Error  t value  Pr(>|t|)\n"
        "(Intercept)   34.5538      0.5626    61.42    <2e-16\n"
        "lstat        -0.95005     0.03873   -24.53    <2e-16\n"
        "\n"
        "Residual standard error: 6.216 on 504 degrees of freedom\n"
        "R²: 0.5441, adjusted R²: 0.5432\n"
        "F-statistic: 601.6 on 1 and 504 degrees of freedom, p-value: <2e-16"
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


@pytest.mark.parametrize("case", [name for name in SETS if name != "longley"])
@pytest.mark.parametrize("threads", [1, 2])
def test_scikit_learn_leave_one_out(case, threads, data):
    x, y = SETS[case](data)
    x = (x - x.mean(0)) / x.std(0)
    alphas = np.geomspace(1e-2, 1e4, 40)
    mine = Ridge("loo", alphas=alphas, threads=threads).fit(x, y)
    assert mine.alpha_ == theirs.RidgeCV(alphas).fit(x, y).alpha_
    assert (mine.coef_ == Ridge(mine.alpha_).fit(x, y).coef_).all()
