"""What the rows of a fit do not determine: no interval, no error, no test; and perfect fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from suffice.errors import SufficeWarning
from suffice.linear_model import LinearRegression, Ridge

RNG, N = np.random.default_rng(1), 90
FULL = pd.DataFrame(
    {"g": RNG.choice(list("abc"), N), "h": RNG.choice(list("uv"), N), "x": RNG.normal(size=N)}
)
FULL["y"] = FULL["g"].map({"a": 10.0, "b": 12.0, "c": 13.0}) + FULL["x"] + RNG.normal(size=N)
ROWS = FULL[(FULL["g"] != "b") | (FULL["h"] != "v")].reset_index(drop=True)
NEW = pd.DataFrame({"g": list("abcabc"), "h": list("uuuvvv"), "x": 0.5})
EMPTY = 4  # of NEW: the combination that no row of the fit shows
REFERENCES: list[dict[str, str]] = [{}, {"g": "b", "h": "v"}, {"g": "c"}, {"h": "v"}]
FORMULAS = ["g*h+x", "g*h*x", "0+g*h", "g:h+x", "h+g:h", "x+h:g:x"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:column .*least norm:suffice.errors.SufficeWarning"),
    pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient"),
]


def collinear() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"x": rng.normal(size=50), "u": rng.normal(size=50)})
    rows = rows.assign(z=2 * rows["x"], c=5.0)
    return rows.assign(y=rows["x"] + rows["u"] + rng.normal(size=50))


@pytest.mark.parametrize("formula", FORMULAS)
def test_an_empty_combination_is_marked_and_no_answer_depends_on_the_reference(
    formula: str,
) -> None:
    answers, known = [], np.delete(np.arange(len(NEW)), EMPTY)
    for reference in REFERENCES:
        model = LinearRegression(formula=formula, reference=reference).fit(ROWS, "y")
        with pytest.warns(SufficeWarning, match="1 of 6 rows is not determined"):
            answers.append(model.predict(NEW))
        with pytest.warns(SufficeWarning, match="1 of 6 rows is not determined"):
            ends = model.predict_interval(NEW, "confidence")
        assert np.isinf(ends).all(axis=1).tolist() == [i == EMPTY for i in range(len(NEW))]
    np.testing.assert_allclose(answers, [answers[0]] * len(answers), rtol=1e-9)
    fitted = smf.ols(f"y ~ {formula}", ROWS).fit()
    np.testing.assert_allclose(answers[0][known], fitted.predict(NEW)[known], rtol=1e-9)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_term_that_is_left_open_has_no_error_and_no_test(reference: dict[str, str]) -> None:
    found = LinearRegression(formula="g*h+x", reference=reference).fit(ROWS, "y").summary()
    frame = found.frame()
    assert frame.loc["x"].notna().all()
    open_terms = frame.index[frame["standard_error"].isna()]
    assert len(open_terms) > 0
    assert frame.loc[open_terms].drop(columns="estimate").isna().all(axis=None)
    assert all(repr(term) in str(found) for term in open_terms)
    if not reference:
        rows = ROWS.assign(both=(ROWS["g"] == "c") & (ROWS["h"] == "v"))
        known = smf.ols("y ~ C(g) + C(h) + x + I(both * 1)", rows).fit().bse
        names = ["Intercept", "C(g)[T.b]", "C(g)[T.c]", "C(h)[T.v]", "x", "I(both * 1)"]
        assert list(open_terms) == ["g[b]:h[v]"]
        np.testing.assert_allclose(frame["standard_error"].dropna(), known[names], rtol=1e-10)


def test_collinear_columns_are_marked_where_new_rows_break_the_dependence() -> None:
    rows = collinear()
    model = LinearRegression().fit(rows, "y")
    found = model.summary().frame()
    assert found.index[found["p"].isna()].tolist() == ["x", "z", "c"]
    kept = sm.OLS(rows["y"], sm.add_constant(rows[["x", "u"]])).fit()
    np.testing.assert_allclose(
        found.loc[["(Intercept)", "u"], "standard_error"], kept.bse[["const", "u"]], rtol=1e-10
    )
    new = pd.DataFrame({"x": 1.0, "u": 0.0, "z": [2.0, 3.0, 2.0], "c": [5.0, 5.0, 6.0]})
    with pytest.warns(SufficeWarning, match="2 of 3 rows are not determined .*'x', 'z', 'c'"):
        ends = model.predict_interval(new)
    expected = kept.get_prediction([[1.0, 1.0, 0.0]]).summary_frame()
    lower, upper = expected["obs_ci_lower"][0], expected["obs_ci_upper"][0]
    np.testing.assert_allclose(ends[0], [lower, upper], rtol=1e-10)
    assert np.isinf(ends[1:]).all()
    with pytest.warns(SufficeWarning, match="2 of 3 rows"):
        (table,) = model.predict_batches(new, interval="prediction", unanswerable="empty")
    assert table.column("lower").null_count == 2
    assert table.column("prediction").null_count == 0
    with pytest.warns(SufficeWarning, match="1 of 1 row"):
        model.predict(new[1:2])
    assert np.isfinite(model.predict_interval(rows)).all()  # rows of the fit are determined
    robust = model.robust_summary(rows, "y")
    assert np.isnan(robust.standard_error).tolist() == found["p"].isna().tolist()


def test_no_coefficient_depends_on_what_a_category_is_called() -> None:
    rows = collinear().assign(hue=["red", "blue"] * 25)
    model, other = (LinearRegression().fit(rows.rename(columns={"hue": n}), "y") for n in "h`")
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_fewer_rows_than_terms_are_told() -> None:
    x, y = RNG.normal(size=(4, 6)), RNG.normal(size=4)
    with pytest.warns(SufficeWarning, match="least norm"):
        model = LinearRegression().fit(x, y)
    np.testing.assert_allclose(model.predict(x), y)
    with pytest.warns(SufficeWarning, match="1 of 1 row is not determined"):
        model.predict(x[:1] + 1.0)


def test_a_penalty_determines_everything() -> None:
    model = Ridge().fit(collinear(), "y")
    assert np.isfinite(model.predict_interval(collinear().assign(z=0.0))).all()


# -- R² without an intercept


def test_r_squared_without_an_intercept_is_uncentred_everywhere() -> None:
    rows = FULL[["x", "y"]].assign(x=FULL["x"] + 1.0)
    model = LinearRegression(fit_intercept=False).fit(rows, "y")
    known = sm.OLS(rows["y"], rows["x"]).fit()
    found = model.evaluate(rows, "y")
    np.testing.assert_allclose(model.summary().r_squared, known.rsquared, rtol=1e-10)
    np.testing.assert_allclose(found.r_squared, known.rsquared, rtol=1e-10)
    assert "uncentred" in str(model.summary())
    assert "uncentred" in str(found)
    np.testing.assert_allclose(model.score(rows, "y"), found.centred.r_squared[0])
    assert model.score(rows, "y") < 0
    with_b = LinearRegression().fit(rows, "y")
    assert "uncentred" not in str(with_b.summary()) + str(with_b.evaluate(rows, "y"))


# -- perfect fits


X = pd.DataFrame({"x": RNG.normal(50, 10, 80).round(2), "z": RNG.normal(size=80)})
PERFECT = {
    "a sum": (X, 3 * X["x"] + X["z"], True),
    "a sum without an intercept": (X, 3 * X["x"] + X["z"], False),
    "a copy": (X, X["x"], True),
    "far from 0": (X + 1e9, X["x"] + 1e9 - 7e8, True),
    "one value": (X, pd.Series(np.full(80, 0.1)), True),
}


@pytest.mark.parametrize("name", PERFECT)
def test_a_perfect_fit_is_told_and_has_no_tests(name: str) -> None:
    x, y, intercept = PERFECT[name]
    model = LinearRegression(fit_intercept=intercept).fit(x, y)
    found = model.summary()
    assert found.perfect
    assert np.isnan(found.p).all()
    assert "essentially perfect fit" in str(found)
    assert "F-statistic" not in str(found)
    assert np.isnan(model.robust_summary(x, y, kind="HC0").p).all()


def test_a_fit_that_is_nearly_perfect_keeps_its_tests() -> None:
    x, y, _ = PERFECT["a sum"]
    found = LinearRegression().fit(x, y + 1e-9 * RNG.normal(size=80)).summary()
    assert not found.perfect
    assert (found.p[1:] < 1e-10).all()


# -- on the command line
