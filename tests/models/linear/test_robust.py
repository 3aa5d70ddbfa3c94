"""Robust standard errors, against statsmodels and the textbook's matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from tests.running import on

from suffice.errors import DataError, ParameterError
from suffice.linear_model import LinearRegression

RANDOM = np.random.default_rng(9)
N = 120
X = RANDOM.normal(size=(N, 3)) * [1.0, 30.0, 0.01] + [0.0, 500.0, 1.0]
Y = X @ [1.0, 0.1, 20.0] + RANDOM.normal(size=N) * (0.1 + np.abs(X[:, 0]))
KINDS = ["HC0", "HC1", "HC2", "HC3"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_errors_are_those_of_statsmodels(kind: str, intercept: bool) -> None:
    found = LinearRegression(fit_intercept=intercept).fit(X, Y).robust_summary(X, Y, kind=kind)
    design = sm.add_constant(X) if intercept else X
    truth = sm.OLS(Y, design).fit(cov_type=kind, use_t=True)
    np.testing.assert_allclose(found.standard_error, truth.bse, rtol=1e-8)
    np.testing.assert_allclose(found.t, truth.tvalues, rtol=1e-8)
    np.testing.assert_allclose(found.p, truth.pvalues, rtol=1e-6)
    np.testing.assert_allclose(
        np.stack([found.lower, found.upper], axis=1), truth.conf_int(), rtol=1e-7
    )
    assert found.f == pytest.approx(float(truth.fvalue), rel=1e-6)
    assert found.f_p == pytest.approx(float(truth.f_pvalue), rel=1e-5)
    assert f"robust: {kind}" in repr(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_weight_2_is_the_row_twice(kind: str) -> None:
    weights = RANDOM.integers(0, 4, N).astype(float)
    model = LinearRegression().fit(X, Y, weights)
    twice = np.repeat(np.arange(N), weights.astype(int))
    found = model.robust_summary(X, Y, weights, kind=kind)
    alone = LinearRegression().fit(X[twice], Y[twice]).robust_summary(X[twice], Y[twice], kind=kind)
    np.testing.assert_allclose(found.standard_error, alone.standard_error, rtol=1e-12)
    assert found.f == pytest.approx(alone.f, rel=1e-10)


def test_tables_targets_and_engines() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        color=RANDOM.choice(["red", "blue"], N), y=Y, z=2 * Y
    )
    table.loc[7, "a"] = np.nan
    model = on("processes", LinearRegression(incomplete="drop")).fit(table, ["y", "z"])
    found = model.robust_summary(table, ["y", "z"], target="z", kind="HC3")
    whole = table.drop(index=7)
    dummies = (whole.color == "red").astype(float)
    design = sm.add_constant(whole[["a", "b", "c"]].assign(red=dummies))
    truth = sm.OLS(whole.z, design).fit(cov_type="HC3", use_t=True)
    order = ["(Intercept)", *model.terms_[1:]]
    names = {"(Intercept)": "const", "color[red]": "red"}
    expected = truth.bse[[names.get(name, name) for name in order]]
    np.testing.assert_allclose(found.standard_error, expected, rtol=1e-8)


def test_what_has_no_robust_errors() -> None:
    model = LinearRegression().fit(X, Y)
    with pytest.raises(ParameterError, match="kind is one of 'HC0', 'HC1', 'HC2', 'HC3'"):
        model.robust_summary(X, Y, kind="HC4")
    with pytest.raises(DataError, match="these rows weigh 119, those of the fit 120"):
        model.robust_summary(X[1:], Y[1:])
    alone = np.hstack([X, np.eye(N)[:, 5:6]])
    model = LinearRegression().fit(alone, Y)
    with pytest.raises(DataError, match=r"row 5: 1\.0; that is its leverage"):
        model.robust_summary(alone, Y)
    assert np.isfinite(model.robust_summary(alone, Y, kind="HC1").standard_error).all()
    with pytest.raises(ParameterError):
        LinearRegression(solver="gradient").fit(X, Y).robust_summary(X, Y)


def test_a_formula_has_its_target() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    model = LinearRegression(formula="y ~ a + b + c").fit(table)
    expected = LinearRegression().fit(X, Y).robust_summary(X, Y)
    np.testing.assert_allclose(
        model.robust_summary(table).standard_error, expected.standard_error, rtol=1e-12
    )
