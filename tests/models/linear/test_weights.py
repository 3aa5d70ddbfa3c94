"""Weights as copies of rows and as precisions: what R and statsmodels say of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import suffice
from suffice.errors import DataError, ParameterError
from suffice.linear_model import Lasso, LinearRegression, Ridge

RNG, N = np.random.default_rng(0), 120
ROWS = pd.DataFrame({"x": RNG.normal(size=N), "w": RNG.uniform(0.5, 2.0, N)})
ROWS["y"] = 2 * ROWS["x"] + RNG.normal(size=N) / np.sqrt(ROWS["w"])
X, Y = ROWS[["x"]], ROWS["y"]


def known(weights: Any, rows: Any = slice(None)) -> Any:
    return sm.WLS(Y[rows], sm.add_constant(X[rows]), weights=weights[rows]).fit()


@pytest.mark.parametrize("scale", [1.0, 0.001, 1000.0])
def test_precisions_are_the_weights_of_weighted_least_squares(scale: float) -> None:
    w = scale * ROWS["w"]
    model = LinearRegression(weights_are="precisions").fit(X, Y, w)
    found, expected = model.summary(), known(w)
    np.testing.assert_allclose(found.estimate, expected.params, rtol=1e-10)
    np.testing.assert_allclose(found.standard_error, expected.bse, rtol=1e-10)
    np.testing.assert_allclose(found.p, expected.pvalues, rtol=1e-8)
    names = ("scale", "llf", "aic", "bic", "fvalue", "rsquared", "rsquared_adj")
    values = found.sigma**2, found.log_likelihood, found.aic, found.bic, found.f
    values = *values, found.r_squared, found.adjusted_r_squared
    np.testing.assert_allclose(values, [getattr(expected, name) for name in names], rtol=1e-10)
    assert (found.rows, found.dof) == (N, N - 2)
    for kind in ("HC0", "HC1", "HC2", "HC3"):
        robust = model.robust_summary(X, Y, w, kind=kind).standard_error
        np.testing.assert_allclose(robust, getattr(expected, f"{kind}_se"), rtol=1e-10)
    frame = expected.get_prediction(sm.add_constant(X)).summary_frame()
    ends = frame[["mean_ci_lower", "mean_ci_upper"]]
    np.testing.assert_allclose(model.predict_interval(X, "confidence"), ends, rtol=1e-8)


def test_the_scale_of_precisions_changes_no_chosen_penalty() -> None:
    fits = [
        Ridge("gcv", weights_are="precisions").fit(X, Y, scale * ROWS["w"]) for scale in (1.0, 1e3)
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-5)
    np.testing.assert_allclose(
        fits[0].predict_interval(X, "confidence"),
        fits[1].predict_interval(X, "confidence"),
        rtol=1e-5,
    )


def test_copies_are_rows_and_are_counted_apart() -> None:
    w = RNG.integers(1, 4, N)
    found = LinearRegression().fit(X, Y, w).summary()
    again = np.repeat(np.arange(N), w)
    expected = sm.OLS(Y[again].to_numpy(), sm.add_constant(X.iloc[again]).to_numpy()).fit()
    np.testing.assert_allclose(found.standard_error, expected.bse, rtol=1e-10)
    np.testing.assert_allclose(found.log_likelihood, expected.llf, rtol=1e-10)
    assert found.rows == N
    assert f"Sum of weights: {w.sum()}" in str(found)
    assert "whole" not in str(found)
    assert "eights" not in str(LinearRegression().fit(X, Y).summary())
    fractional = LinearRegression().fit(X, Y, ROWS["w"]).summary()
    assert f"{N} of the weights are no whole numbers" in str(fractional)
    assert "copies" in str(Lasso(0.1).fit(X, Y, ROWS["w"]).summary())


def test_weights_that_add_up_to_less_than_the_coefficients_are_named() -> None:
    model = LinearRegression().fit(X, Y, ROWS["w"] / 1000)
    with pytest.raises(DataError, match=r"weights of 120 rows .* weights_are='precisions'"):
        model.summary()
    with pytest.raises(ParameterError, match="weights_are='frequency'"):
        LinearRegression(weights_are="frequency").fit(X, Y)


def test_rows_are_counted_through_streams_and_files(tmp_path: Path) -> None:
    model = LinearRegression(weights_are="precisions")
    w = ROWS["w"]
    model.fit(X[:70], Y[:70], w[:70]).partial_fit(X[70:], Y[70:], w[70:])
    np.testing.assert_allclose(model.summary().standard_error, known(w).bse, rtol=1e-10)
    model.forget(X[:10], Y[:10], w[:10])
    rest = slice(10, None)
    np.testing.assert_allclose(model.summary().standard_error, known(w, rest).bse, rtol=1e-10)
    model.save(tmp_path / "m.suffice")
    assert suffice.load(tmp_path / "m.suffice").summary().rows == N - 10
    assert LinearRegression().fit(model.sums_).summary().dof == pytest.approx(w[10:].sum() - 2)
    parts = [LinearRegression(weights_are="precisions").fit(X[p], Y[p], w[p]) for p in HALVES]
    merged = parts[0].merge(parts[1]).summary()
    np.testing.assert_allclose(merged.standard_error, known(w).bse, rtol=1e-10)


HALVES = slice(0, 40), slice(40, None)


def test_rows_that_are_left_out_are_not_counted() -> None:
    x = X.where(RNG.random((N, 1)) > 0.2)
    shown = x["x"].notna()
    model = LinearRegression(weights_are="precisions", incomplete="drop").fit(x, Y, ROWS["w"])
    found = model.summary()
    assert found.rows == shown.sum()
    np.testing.assert_allclose(found.standard_error, known(ROWS["w"], shown).bse, rtol=1e-10)
    none = ROWS["w"].where(ROWS.index > 9, 0.0)
    assert LinearRegression().fit(X, Y, none).summary().rows == N - 10
