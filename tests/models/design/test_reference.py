"""The value that the others of a category are compared with, chosen by the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge

smf = pytest.importorskip("statsmodels.formula.api")

HUES, YEARS = ("blue", "green", "red"), (2007, 2008, 2009)
EXACT = {
    "linear": (LinearRegression, "y"),
    "ridge": (lambda **more: Ridge(alpha=0.0, **more), "y"),
    "logistic": (lambda **more: LogisticRegression(C=np.inf, **more), "kind"),
}


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        {"size": rng.normal(size=n), "hue": rng.choice(HUES, n), "year": rng.choice(YEARS, n)}
    )
    noise = rng.normal(size=n)
    rows["y"] = rows["size"] + 2.0 * (rows["hue"] == "red") + 0.1 * rows["year"] + noise
    rows["kind"] = np.where(rows["y"] > rows["y"].median(), "yes", "no")
    return rows


ROWS = frame()
COLUMNS = ["size", "hue", "year"]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(("hue", "year"), [("red", 2008), ("green", "2009"), ("blue", 2007)])
def test_answers_stay_and_coefficients_are_differences(name: str, hue: str, year: Any) -> None:
    make, target = EXACT[name]
    plain = make(categorical=["year"]).fit(ROWS[[*COLUMNS, target]], target)
    chosen = make(categorical=["year"], reference={"hue": hue, "year": year})
    chosen.fit(ROWS[[*COLUMNS, target]], target)
    others = [f"hue[{value}]" for value in HUES if value != hue]
    years = [f"year[{value}]" for value in YEARS if value != int(year)]
    assert chosen.terms_ == ("(Intercept)", "size", *others, *years)
    answer = "predict" if target == "y" else "decision_function"
    np.testing.assert_allclose(
        getattr(chosen, answer)(ROWS[COLUMNS]), getattr(plain, answer)(ROWS[COLUMNS]), atol=1e-8
    )
    assert str(chosen.summary()).endswith(f"Categories are compared with hue[{hue}], year[{year}].")


def test_as_statsmodels_has_it() -> None:
    model = LinearRegression(reference={"hue": "red"}).fit(ROWS[["size", "hue", "y"]], "y")
    judge = smf.ols('y ~ size + C(hue, Treatment("red"))', ROWS).fit()
    summary = model.summary()
    place = [0, 3, 1, 2]  # intercept, size, blue, green
    np.testing.assert_allclose(summary.estimate, judge.params.iloc[place], rtol=1e-10)
    np.testing.assert_allclose(summary.standard_error, judge.bse.iloc[place], rtol=1e-10)


def test_in_products_of_a_formula() -> None:
    pytest.importorskip("formulaic")
    formula = "size * C(year)"
    rows = ROWS.drop(columns="kind")
    model = LinearRegression(formula=formula, reference={"year": 2009}).fit(rows, "y")
    judge = smf.ols("y ~ size * C(year, Treatment(2009))", ROWS).fit()
    years = "size", "year[2007]", "year[2008]", "size:year[2007]", "size:year[2008]"
    assert model.terms_[1:] == years
    found = dict(zip(model.terms_, [model.intercept_, *model.coef_], strict=True))
    np.testing.assert_allclose(found["size:year[2008]"], judge.params.iloc[-1], rtol=1e-9)
    np.testing.assert_allclose(found["year[2007]"], judge.params.iloc[1], rtol=1e-9)


@pytest.mark.parametrize("make", [LinearRegression, Ridge, Lasso, ElasticNet, LogisticRegression])
def test_a_file_keeps_it(make: Any, tmp_path: Path) -> None:
    target = "kind" if make is LogisticRegression else "y"
    model = make(reference={"hue": "green"}).fit(ROWS[["size", "hue", target]], target)
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert loaded.reference == {"hue": "green"}
    assert loaded.terms_ == ("(Intercept)", "size", "hue[blue]", "hue[red]")
    np.testing.assert_array_equal(
        loaded.predict(ROWS[COLUMNS[:2]]), model.predict(ROWS[COLUMNS[:2]])
    )


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 59), min_size=1, max_size=40, unique=True), st.sampled_from(HUES))
def test_forgotten_rows_leave_what_a_fit_of_the_others_has(gone: list[int], hue: str) -> None:
    rows, left = ROWS[["hue", "y"]], ROWS[["hue", "y"]].drop(index=gone)
    model = LinearRegression(reference={"hue": hue}).fit(rows, "y")
    model.forget(rows.loc[gone], "y")
    kept = {"hue": hue} if hue in set(left["hue"]) else None
    again = LinearRegression(reference=kept).fit(left, "y")
    assert model.terms_ == again.terms_
    assert model.design_ == again.design_
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-9)


def test_models_with_other_references_are_not_merged() -> None:
    rows = ROWS[["size", "hue", "y"]]
    one, other = (LinearRegression(reference={"hue": h}).fit(rows, "y") for h in ("red", "blue"))
    with pytest.raises(SchemaError, match="reference levels"):
        one.merge(other)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"tint": "red"}, "reference names the column 'tint'; the columns are 'size', 'hue'."),
        (
            {"hue": "pink"},
            "column 'hue' has no value 'pink' to be its reference; its values are 'blue', "
            "'green', 'red'; take one of them.",
        ),
        (
            {"size": 1},
            "reference names the column 'size'; only the values of a category without an order "
            "are compared with one of them; name it in categorical=['size'] too, or leave it out "
            "of reference.",
        ),
        (
            "hue",
            "reference='hue'; it says of every column which value the others are compared with; "
            "write reference={'column': 'value'}.",
        ),
    ],
)
@pytest.mark.parametrize("name", EXACT)
def test_what_is_no_reference(name: str, reference: Any, said: str) -> None:
    make, target = EXACT[name]
    rows = ROWS[["size", "hue", target]]
    with pytest.raises((ParameterError, SchemaError)) as caught:
        make(reference=reference).fit(rows, target)
    assert str(caught.value) == said


# -- what a model does not know is taken for the reference

NEW = pd.DataFrame({"size": [0.5, 1.0, 2.0, np.nan], "hue": ["red", "pink", None, "blue"]})


@pytest.mark.parametrize("name", EXACT)
def test_unknown_and_missing_categories_are_answered_as_the_reference(name: str) -> None:
    make, target = EXACT[name]
    model = make(reference={"hue": "red"}).fit(ROWS[["size", "hue", target]], target)
    with pytest.raises(DataError, match="'pink'"):
        model.predict(NEW[:3])
    model.set_params(unseen="reference")  # answers change, the fit does not
    as_red = NEW.assign(hue="red")[:3]
    assert list(model.predict(NEW[:3])) == list(model.predict(as_red))
    assert [*model.predict(NEW[1:2])] == [*model.predict(as_red[1:2])]  # one row alone
    with pytest.warns(UserWarning, match="1 of 4 rows has no answer"):
        (table,) = model.predict_batches(NEW, unanswerable="empty")
    expected = pa.array([*model.predict(as_red).tolist(), None])
    assert table.column("prediction").combine_chunks().equals(expected)
    effects = model.explain(NEW[:3]), model.explain(as_red)
    np.testing.assert_array_equal(effects[0].contributions, effects[1].contributions)
    assert "pink" in str(effects[0].row(1))
