"""Influence of rows, inflation of variances, and tests of nested models, against statsmodels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.typing import NDArray
from scipy.sparse import csr_array
from statsmodels.stats.outliers_influence import variance_inflation_factor
from tests.running import on

from suffice.errors import DataError, ParameterError
from suffice.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge

RANDOM = np.random.default_rng(3)
N = 90
ROWS = pd.DataFrame(
    {
        "size": RANDOM.normal(3.0, 1.0, N),
        "age": RANDOM.normal(40.0, 9.0, N),
        "color": RANDOM.choice(["blue", "green", "red"], N),
    }
)
ROWS["rooms"] = ROWS["size"] * 2.0 + RANDOM.normal(0.0, 0.5, N)
ROWS["price"] = np.exp(0.3 * ROWS["size"] + (ROWS["color"] == "red") + RANDOM.normal(0, 0.4, N))
ROWS["cost"] = ROWS["age"] + RANDOM.normal(0.0, 3.0, N)
WEIGHTS = RANDOM.integers(1, 4, N).astype(float)
NAMES = {
    "leverage": "hat_matrix_diag",
    "standardized": "resid_studentized_internal",
    "studentized": "resid_studentized_external",
}


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


def agree(found: Any, fit: Any) -> None:
    """Every measure of the rows is that of statsmodels."""
    known = fit.get_influence()
    for mine, theirs in NAMES.items():
        close(getattr(found, mine), getattr(known, theirs))
    close(found.cooks_distance, known.cooks_distance[0])


def dummies(rows: pd.DataFrame) -> NDArray[np.float64]:
    """Size, age, rooms, green, red."""
    colors = [rows["color"] == color for color in ("green", "red")]
    return np.column_stack([rows[["size", "age", "rooms"]], *colors]).astype(float)


# -- influence


@pytest.mark.parametrize("formula", ["log(price) ~ size * age + color", "cost ~ 0 + size + age"])
def test_influence_is_that_of_statsmodels(formula: str) -> None:
    model = LinearRegression(formula=formula).fit(ROWS)
    fit = smf.ols(formula.replace("log", "np.log"), ROWS).fit()
    found = on("processes", model).influence(ROWS)
    agree(found, fit)
    close(found.residual, fit.resid)
    close(found.fitted, fit.fittedvalues)
    assert found.outlier_p == pytest.approx(min(fit.outlier_test()["bonf(p)"].min(), 1.0))
    assert list(found.frame().columns) == list(found.columns)


def test_weights_are_copies_or_precisions() -> None:
    columns = ["size", "age"]
    x, y = ROWS[columns].to_numpy(), ROWS["cost"].to_numpy()
    copies = LinearRegression().fit(x, y, WEIGHTS).influence(x, y, WEIGHTS)
    each = np.repeat(np.arange(N), WEIGHTS.astype(int))
    alone = LinearRegression().fit(x[each], y[each]).influence(x[each], y[each])
    for name in copies.columns:
        close(getattr(copies, name)[each], getattr(alone, name))
    model = LinearRegression(weights_are="precisions").fit(x, y, WEIGHTS)
    found, root = model.influence(x, y, WEIGHTS), np.sqrt(WEIGHTS)
    scaled = sm.OLS(root * y, root[:, None] * sm.add_constant(x)).fit()
    agree(found, scaled)
    close(found.residual * root, scaled.resid)


def test_rows_that_are_left_out_that_decide_and_columns_that_depend() -> None:
    rows = ROWS.assign(twice=2 * ROWS["size"], alone=(np.arange(N) == 5).astype(float))
    rows.loc[3, "age"] = np.nan
    rows.loc[7, "cost"] = np.nan
    rows.loc[9, "color"] = None
    columns = ["size", "age", "color", "twice", "alone", "cost"]
    with pytest.warns(UserWarning, match="'twice'"):
        model = LinearRegression(incomplete="drop").fit(rows[columns], "cost")
    found = model.influence(rows[columns], "cost")
    gone = [3, 7, 9]
    assert np.isnan(found.residual[gone]).all()
    assert found.leverage[5] == pytest.approx(1.0)
    assert np.isnan([found.studentized[5], found.cooks_distance[5]]).all()
    kept = rows.drop(index=[*gone, 5])
    known = smf.ols("cost ~ size + age + color", kept).fit().get_influence()
    for mine, theirs in NAMES.items():
        close(getattr(found, mine)[kept.index], getattr(known, theirs))
    assert "Rows that the fit left out: 3" in repr(found)


def test_sparse_rows_weights_of_zero_and_a_perfect_fit() -> None:
    x = RANDOM.integers(0, 2, (N, 4)) * RANDOM.normal(size=(N, 4))
    y, weights = x.sum(axis=1) + RANDOM.normal(size=N), np.ones(N)
    weights[4] = 0.0
    found = LinearRegression().fit(csr_array(x), y, weights).influence(csr_array(x), y, weights)
    rest = np.delete(np.arange(N), 4)
    other = LinearRegression().fit(x[rest], y[rest]).influence(x[rest], y[rest])
    agree(other, sm.OLS(y[rest], sm.add_constant(x[rest])).fit())
    for name in found.columns:
        close(getattr(found, name)[rest], getattr(other, name))
    assert np.isfinite(found.residual[4])
    assert np.isnan(found.studentized[4])
    exact = x @ [1.0, 2.0, 3.0, 4.0]
    perfect = LinearRegression().fit(x, exact).influence(x, exact)
    assert perfect.outlier_p == 1.0
    assert np.isnan(perfect.studentized).all()


def test_what_has_no_influence() -> None:
    table = ROWS[["size", "age", "cost", "rooms"]]
    model = LinearRegression().fit(table, ["cost", "rooms"])
    agree(
        model.influence(table, target="rooms", y=["cost", "rooms"]),
        smf.ols("rooms ~ size + age", ROWS).fit(),
    )
    with pytest.raises(ParameterError, match="target=None"):
        model.influence(table, ["cost", "rooms"])
    model = LinearRegression().fit(table, "cost")
    with pytest.raises(DataError, match="weigh 89, those of the fit 90"):
        model.influence(table[1:], "cost")
    with pytest.raises(DataError, match="squares of residuals"):
        model.influence(table.assign(age=table["age"] + table["size"]), "cost")
    for other in (Ridge(1.0), Lasso(0.1)):
        with pytest.raises(ParameterError, match="penalty"):
            other.fit(table, "cost").influence(table, "cost")
    assert Ridge(0.0).fit(table, "cost").influence(table, "cost").dof == N - 4
    with pytest.raises(ParameterError, match="gradient"):
        LinearRegression(solver="gradient").fit(table, "cost").influence(table, "cost")


# -- inflation of variances


def test_inflation_is_that_of_statsmodels_and_of_the_columns_alone() -> None:
    columns = ["size", "age", "rooms"]
    x = sm.add_constant(ROWS[columns].to_numpy())
    expected = [variance_inflation_factor(x, j) for j in (1, 2, 3)]
    for model in (LinearRegression(), Ridge(3.0), Lasso(1.0)):
        close(model.fit(ROWS[columns], ROWS["cost"]).variance_inflation().inflation, expected)
    raw = ROWS[columns].to_numpy()
    about_0 = np.diagonal(raw.T @ raw) * np.diagonal(np.linalg.inv(raw.T @ raw))
    plain = LinearRegression(fit_intercept=False).fit(raw, ROWS["cost"])
    close(plain.variance_inflation().inflation, about_0)
    doubled = LinearRegression()
    with pytest.warns(UserWarning, match="'twice'"):
        doubled.fit(ROWS[["size", "age"]].assign(twice=2 * ROWS["size"]), ROWS["cost"])
    found = doubled.variance_inflation().inflation
    assert np.isinf(found[[0, 2]]).all()
    close(found[1], variance_inflation_factor(x[:, :3], 2))


def generalised(correlation: NDArray[np.float64], own: list[int]) -> float:
    """det R₁₁ det R₂₂/det R, as car::vif computes it of the correlations of coefficients."""
    rest = [j for j in range(len(correlation)) if j not in own]
    parts = (correlation[np.ix_(one, one)] for one in (own, rest))
    return float(np.prod([np.linalg.det(part) for part in parts]) / np.linalg.det(correlation))


@pytest.mark.parametrize("reference", ["blue", "red"])
def test_a_category_is_inflated_as_a_whole(reference: str) -> None:
    rows = ROWS[["size", "age", "rooms", "color", "cost"]]
    correlation = np.corrcoef(dummies(ROWS).T)
    expected = [generalised(correlation, own) for own in ([0], [1], [2], [3, 4])]
    found = LinearRegression(reference={"color": reference}).fit(rows, "cost").variance_inflation()
    assert found.columns == ("size", "age", "rooms", "color")
    assert found.terms.tolist() == [1, 1, 1, 2]
    close(found.inflation, expected)
    close(found.root[3], expected[3] ** 0.25)
    high = rows.assign(cost=rows["cost"] + 9 * RANDOM.normal(size=N) > 40)
    fit = sm.Logit(high["cost"].astype(float), sm.add_constant(dummies(rows))).fit(
        disp=0, tol=1e-14
    )
    covariance = np.asarray(fit.cov_params())[1:, 1:]
    unit = np.sqrt(np.diagonal(covariance))
    expected = [generalised(covariance / np.outer(unit, unit), own) for own in ([0], [3, 4])]
    model = LogisticRegression(None, reference={"color": reference}).fit(high, "cost")
    np.testing.assert_allclose(model.variance_inflation().inflation[[0, 3]], expected, rtol=1e-8)
    with pytest.raises(ParameterError, match="3 classes"):
        LogisticRegression(None).fit(rows, "color").variance_inflation()


# -- nested models


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_f_is_that_of_statsmodels(weights: NDArray[np.float64] | None) -> None:
    large, small = "cost + rooms ~ size * age + color", "cost + rooms ~ size + age"
    how = {"weights_are": "precisions"}
    models = [LinearRegression(formula=f, **how).fit(ROWS, None, weights) for f in (small, large)]
    fits = [
        smf.wls(formula.replace("cost + ", ""), ROWS, weights=1.0 if weights is None else weights)
        for formula in (small, large)
    ]
    expected = fits[1].fit().compare_f_test(fits[0].fit())
    for one, other in (models, models[::-1]):
        found = one.anova(other, "rooms")
        close((found.statistic, found.p, found.difference), expected)
        assert found.terms == ("color", "size:age")
    with pytest.raises(ParameterError, match="target=None"):
        models[0].anova(models[1])


def test_likelihoods_are_those_of_statsmodels() -> None:
    rows = ROWS.assign(high=(ROWS["cost"] + 9 * RANDOM.normal(size=N) > 40).astype(int))
    formulas = "high ~ age", "high ~ age * size + color"
    small, large = (LogisticRegression(None, formula=f).fit(rows) for f in formulas)
    fits = [smf.logit(f, rows).fit(disp=0, tol=1e-14) for f in formulas]
    found = large.anova(small)
    close(found.statistic, 2 * (fits[1].llf - fits[0].llf))
    assert found.difference == 4
    assert repr(found) == repr(small.anova(large))
    for other in (LogisticRegression(formula=formulas[0]).fit(rows), LinearRegression()):
        with pytest.raises(ParameterError):
            large.anova(other)


def fitted(formula: str, rows: pd.DataFrame = ROWS, **options: Any) -> LinearRegression:
    return LinearRegression(formula=formula, **options).fit(rows)


@pytest.mark.parametrize(
    ("other", "error", "match"),
    [
        (lambda: fitted("cost ~ rooms"), ParameterError, "'rooms' is in the smaller model only"),
        (lambda: fitted("cost ~ size + age"), ParameterError, "0 parameters more"),
        (lambda: fitted("log(cost) ~ size"), DataError, r"of log\(cost\), the other of cost"),
        (lambda: fitted("cost ~ size", ROWS[:80]), DataError, "of 80 and 90 rows"),
        (lambda: fitted("cost ~ size", ROWS.assign(cost=ROWS.rooms)), DataError, "targets differ"),
        (lambda: Ridge(1.0, formula="cost ~ size").fit(ROWS), ParameterError, "has a penalty"),
        (lambda: fitted("cost ~ size", cluster="color"), ParameterError, "by cluster"),
        (lambda: 3, ParameterError, "two linear models"),
    ],
)
def test_what_is_not_compared(other: Callable[[], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        fitted("cost ~ size + age").anova(other())
    with pytest.raises(ParameterError, match="Intercept"):
        fitted("cost ~ 0 + size + age + rooms").anova(fitted("cost ~ size"))
