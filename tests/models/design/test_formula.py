"""Formulas: the terms of formulaic and statsmodels, functions of one row, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import formulaic
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice.errors import DataError, ParameterError, SchemaError, SufficeError
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.model_selection import cross_val_predict

RNG = np.random.default_rng(0)
N = 120
ROWS = pd.DataFrame(
    {
        "size": RNG.normal(3.0, 1.0, N),
        "floor area": RNG.random(N) + 0.5,
        "color": RNG.choice(["blue", "green", "red"], N),
        "shape": RNG.choice(["long", "round"], N),
        "year": RNG.choice([2001, 2002, 2003], N),
    }
)
ROWS["price"] = ROWS["size"] * 2 + (ROWS["color"] == "red") + RNG.normal(0, 0.1, N)
ATOMS = ["size", "color", "shape", "C(year)", "`floor area`"]


def coefficients(formula: str) -> pd.Series:
    model = LinearRegression(formula=formula).fit(ROWS, "price")
    return pd.Series([model.intercept_, *model.coef_], list(model.terms_))


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3, unique=True),
        min_size=1,
        max_size=4,
    )
)
def test_the_terms_span_what_those_of_formulaic_span(terms):
    formula = " + ".join(":".join(factors) for factors in terms)
    theirs = np.asarray(formulaic.model_matrix(formula, ROWS, output="numpy"))
    model = LinearRegression(formula=formula).fit(ROWS, "price")
    assert len(model.terms_) == theirs.shape[1]
    fitted = theirs @ np.linalg.lstsq(theirs, ROWS["price"].to_numpy(), rcond=None)[0]
    np.testing.assert_allclose(model.predict(ROWS), fitted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "formula",
    [
        "size * color",
        "color:shape",
        "C(year):size + color",
        "I(size**2) + size",
        "(size + color + shape)**2",
        "color / size",
        "price ~ size + log(size**2 + 1)",
        "size + sqrt(abs(size)) + exp(size/10) + I(size > 3)",
    ],
)
def test_fits_are_those_of_statsmodels(formula):
    theirs = formula if "~" in formula else f"price ~ {formula}"
    rows = ROWS.rename(columns={"floor area": "area"})
    for name in ("log", "sqrt", "exp"):
        theirs = theirs.replace(f"{name}(", f"np.{name}(")
    expected = smf.ols(theirs, rows).fit()
    found = LinearRegression(formula=formula).fit(ROWS, "price")
    np.testing.assert_allclose(found.predict(ROWS), expected.fittedvalues, rtol=1e-9)
    np.testing.assert_allclose(found.summary().log_likelihood, expected.llf, rtol=1e-9)
    assert len(found.terms_) == len(expected.params)


def test_a_logistic_fit_is_that_of_statsmodels():
    high = (ROWS["price"] > ROWS["price"].median()) ^ (RNG.random(N) < 0.2)
    rows = ROWS.assign(high=high.astype(int))
    formula = "size * color + C(year):size"
    expected = smf.logit(f"high ~ {formula}", rows).fit(disp=0, tol=1e-12)
    found = LogisticRegression(None, formula=formula).fit(rows, "high")
    np.testing.assert_allclose(found.likelihood_.value, expected.llf, rtol=1e-10)
    np.testing.assert_allclose(found.predict_proba(rows)[:, 1], expected.predict(), atol=1e-9)
    less = LogisticRegression(None, formula="high ~ size + color + C(year):size").fit(rows)
    assert found.anova(less).terms == ("size:color",)
    assert found.anova(less).difference == 2


def test_terms_are_named_by_columns_and_values():
    assert tuple(coefficients("size*color + I(size**2) + C(year):`floor area`").index) == (
        "(Intercept)",
        *("size", "color[green]", "color[red]", "I(size ** 2)"),
        *("size:color[green]", "size:color[red]"),
        *(f"year[{year}]:floor area" for year in (2001, 2002, 2003)),
    )


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=["ridge", "logistic"])
def test_what_columns_add_is_told_by_products_and_adds_up(model):
    rows = ROWS.assign(y=ROWS["price"] > 6.5)
    model.set_params(formula="size * color").fit(rows, "price" if "R" in str(model)[:1] else "y")
    found = model.explain(rows)
    assert found.columns == ("size", "color", "size:color")
    if isinstance(model, Ridge):
        np.testing.assert_allclose(found.predictions[:, 0], model.predict(rows))
    else:
        np.testing.assert_allclose(found.probabilities, model.predict_proba(rows))


def test_sums_are_added_and_forgotten_and_columns_chosen():
    formula = "size * color + C(year)"
    whole = LinearRegression(formula=formula).fit(ROWS, "price")
    parts = LinearRegression(formula=formula).fit(ROWS[:80], "price")
    first = parts.coef_.copy()
    parts.partial_fit(ROWS[80:], "price")
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    np.testing.assert_array_equal(parts.forget(ROWS[80:], "price").coef_, first)


@pytest.mark.parametrize("gone", ["blue", "green", "red"])
@pytest.mark.parametrize(
    "formula", ["size * color", "color / size + C(year)", "shape:color + color"]
)
def test_a_value_that_is_forgotten_leaves_the_fit_of_the_others(gone, formula):
    there = ROWS["color"] != gone
    model = LinearRegression(formula=formula).fit(ROWS, "price").forget(ROWS[~there], "price")
    expected = LinearRegression(formula=formula).fit(ROWS[there], "price")
    assert model.terms_ == expected.terms_
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_columns_that_no_term_has_are_neither_read_nor_needed(tmp_path):
    rows = ROWS.assign(junk=[None] * N)
    model = LinearRegression(formula="size + color").fit(rows, "price")
    assert list(model.feature_names_in_) == ["size", "color"]
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(ROWS[["size", "color"]]), model.predict(rows))
    assert again.design_ == model.design_


def test_an_array_has_its_columns_by_number():
    x = ROWS[["size", "year"]].to_numpy(float)
    model = LinearRegression(formula="x0 * x1").fit(x, ROWS["price"])
    assert model.terms_ == ("(Intercept)", "x0", "x1", "x0:x1")
    with pytest.raises(ParameterError, match=r"C\(x1\), and the rows are an array"):
        LinearRegression(formula="C(x1)").fit(x, ROWS["price"])


REFUSED = {
    "size**2": "write I\\(size\\*\\*2\\)",
    "`floor area`^2": "which formulas read as `floor area` alone",
    "poly(size, 2)": "poly\\(\\), whose value depends on other rows",
    "center(size)": "center\\(\\), whose value depends on other rows",
    "scale(size)": "scale\\(\\), whose value depends on other rows",
    "bs(size, df=4)": "bs\\(\\), whose value depends on other rows",
    "size - 1 - size": "it has a term at least",
    "sizes": "names the column 'sizes'",
    "y ~ size": "the formula's left side is y; the target is price",
    "C(size) + log(size)": "'size' in C\\(\\) and as a number",
    "C(year, contr.sum)": "C\\(\\) takes one column",
    "size | color": "several parts",
    "size + (": "matching",
    "open('x')": "open\\(\\) is unknown",
    "size.real": "no function of the cells of one row",
    "I(size**0.5)": "a power is a whole number from 1 to 64",
    f"I({'9' * 320} * size)": "a number in it is larger than a double holds",
    "1": "it has a term at least",
}


@pytest.mark.parametrize("formula", REFUSED)
def test_what_is_no_function_of_one_row_is_refused_by_name(formula):
    with pytest.raises(ParameterError, match=REFUSED[formula]):
        LinearRegression(formula=formula).fit(ROWS, "price")


def test_cells_without_a_value_of_the_term_are_named():
    rows = ROWS.assign(size=[-1.0, *ROWS["size"][1:]])
    with pytest.raises(DataError, match=r"column 'size', row 0: -1.0; log\(size\): the formula"):
        LinearRegression(formula="log(size)").fit(rows, "price")
    with pytest.raises(SchemaError, match="column 'color' holds categories"):
        LinearRegression(formula="log(color)").fit(ROWS, "price")


def test_missing_cells_keep_their_meaning():
    rows = ROWS.assign(size=[np.nan, *ROWS["size"][1:]])
    with pytest.raises(DataError, match="1 of column 'size', 1 of column 'size:color'"):
        LinearRegression(formula="size * color").fit(rows, "price")
    dropped = LinearRegression(formula="size * color", incomplete="drop").fit(rows, "price")
    alone = LinearRegression(formula="size * color").fit(rows[1:], "price")
    np.testing.assert_allclose(dropped.coef_, alone.coef_, rtol=1e-12)


@settings(max_examples=40)
@given(st.text("abxC()I*+-/`:.0123 size", max_size=30))
def test_any_text_is_a_formula_or_an_error_of_ours(formula):
    with suppress(SufficeError):
        LinearRegression(formula=formula).fit(ROWS, "price")


# -- the left side

INVERSES = {"log": np.exp, "log1p": np.expm1, "sqrt": np.square}
POSITIVE = ROWS.assign(price=np.exp(ROWS["price"] / 4), rest=ROWS["size"] + RNG.normal(0, 0.2, N))


@pytest.mark.parametrize("function", list(INVERSES))
def test_answers_are_in_units_of_the_target(function, tmp_path):
    formula = f"{function}(price) ~ size * color"
    model = LinearRegression(formula=formula).fit(POSITIVE)
    expected, back = smf.ols(f"np.{formula}", POSITIVE).fit(), INVERSES[function]
    np.testing.assert_allclose(model.predict(POSITIVE), back(expected.fittedvalues), rtol=1e-10)
    for kind, of_row in (("prediction", True), ("confidence", False)):
        ends = back(expected.get_prediction(POSITIVE).conf_int(obs=of_row))
        np.testing.assert_allclose(model.predict_interval(POSITIVE, kind), ends, rtol=1e-10)
    assert model.summary().target == f"{function}(price)"
    np.testing.assert_allclose(model.summary().log_likelihood, expected.llf, rtol=1e-10)
    error = POSITIVE["price"] - model.predict(POSITIVE)
    assert model.evaluate(POSITIVE).mean_squared_error[0] == pytest.approx((error**2).mean())
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(POSITIVE), model.predict(POSITIVE))
    halves = LinearRegression(formula=formula).fit(POSITIVE[:60]).partial_fit(POSITIVE[60:])
    np.testing.assert_array_equal(halves.coef_, model.coef_)
    with pytest.raises(SchemaError, match="left sides"):
        model.merge(LinearRegression(formula="size * color").fit(POSITIVE, "price"))


def test_rows_left_out_are_judged_in_units_of_the_target():
    formula = "log(price) ~ size"
    by_hand = LinearRegression(formula="size")
    logs = POSITIVE.assign(price=np.log(POSITIVE["price"]))
    alone = cross_val_predict(by_hand, logs, "price", cv="loo")
    found = cross_val_predict(LinearRegression(formula=formula), POSITIVE, "price", cv="loo")
    np.testing.assert_allclose(found, np.exp(alone), rtol=1e-12)
    ends = LinearRegression(formula=formula).fit(POSITIVE).calibrate(POSITIVE)
    of_logs = by_hand.fit(logs, "price").calibrate(logs, "price")
    np.testing.assert_allclose(
        ends.predict_interval(POSITIVE, "conformal"),
        np.exp(of_logs.predict_interval(logs, "conformal")),
        rtol=1e-12,
    )


def test_a_left_side_names_the_targets():
    model = LinearRegression(formula="log(price) + rest ~ size").fit(POSITIVE)
    assert model.target_names_ == ("price", "rest")
    for j, formula in enumerate(("np.log(price) ~ size", "rest ~ size")):
        values = smf.ols(formula, POSITIVE).fit().fittedvalues
        values = values if j else np.exp(values)
        np.testing.assert_allclose(model.predict(POSITIVE)[:, j], values, rtol=1e-10)
    label = LogisticRegression(formula="shape ~ size").fit(ROWS)
    assert label.score(ROWS) == label.score(ROWS, "shape")


@pytest.mark.parametrize(
    ("formula", "match"),
    [
        ("exp(price) ~ size", "left side is"),
        ("log(price + 1) ~ size", "left side is"),
        ("price + price ~ size", "left side is"),
        ("price ~ size ~ year", "one ~"),
        ("~ size", "requires y"),
    ],
)
def test_a_left_side_that_is_refused(formula, match):
    with pytest.raises(ParameterError, match=match):
        LinearRegression(formula=formula).fit(POSITIVE)


def test_a_left_side_without_a_value():
    rows = POSITIVE.assign(price=np.where(np.arange(N) == 4, 0.0, POSITIVE["price"]))
    with pytest.raises(DataError, match=r"column 'price', row 4: 0\.0; log\(price\)"):
        LinearRegression(formula="log(price) ~ size").fit(rows)
    for formula in ("log(shape) ~ size", "shape + color ~ size"):
        with pytest.raises(ParameterError, match="left side"):
            LogisticRegression(formula=formula).fit(ROWS)
