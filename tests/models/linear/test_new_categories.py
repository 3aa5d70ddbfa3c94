"""A category that the first rows of a linear model did not show: a term from then on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.errors import DataError, SchemaError
from suffice.linear_model import LinearRegression, Ridge

N = 60


def frame(levels: list[Any], seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    level = rng.integers(0, len(levels), N)
    size = rng.normal(size=N)
    return pd.DataFrame(
        {
            "size": size,
            "color": [levels[q] for q in level],
            "y": size + level + rng.normal(size=N),
            "z": (size + level + rng.normal(size=N) > 1).astype(int),
        }
    )


MODELS: dict[str, tuple[Callable[..., Any], str]] = {
    "linear": (LinearRegression, "y"),
    "ridge": (Ridge, "y"),
    "linear, complete rows": (lambda **o: LinearRegression(incomplete="drop", **o), "y"),
    "linear, expected cells": (lambda **o: LinearRegression(incomplete="gaussian", **o), "y"),
}


def in_csv(table: pd.DataFrame, home: Path) -> Path:
    table.to_csv(home / "t.csv", index=False)
    return home / "t.csv"


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "strings": lambda table, home: table,
    "a dictionary": lambda table, home: table.astype({"color": "category"}),
    "polars": lambda table, home: pl.from_pandas(table),
    "CSV": in_csv,
}


@pytest.mark.parametrize(("name", "form"), list(zip(MODELS, FORMS, strict=True)))
@pytest.mark.parametrize("new", ["amber", "lilac", "white"])  # before, between, after the others
def test_a_new_category_has_a_term(name: str, form: str, new: str, tmp_path: Path) -> None:
    (make, target), given = MODELS[name], FORMS[form]
    first, more = frame(["blue", "red"]), frame(["blue", "red"], seed=1)
    more.loc[7, "color"] = new
    columns = ["size", "color", target]
    model = make().partial_fit(given(first[columns], tmp_path), target)
    before = model.statistic_
    both = make().fit(pd.concat([first, more])[columns], target)
    if "expected" not in name:
        with pytest.raises(DataError) as caught:
            model.evaluate(given(more[columns], tmp_path), target)
        place = "line 9 of t.csv" if form == "CSV" else "row 7"
        assert f"column 'color', {place}: {new!r}" in str(caught.value)
        assert "unseen='reference'" in str(caught.value)
    model.partial_fit(given(more[columns], tmp_path), target)
    assert model.terms_ == both.terms_
    np.testing.assert_array_equal(model.coef_, both.coef_)
    assert model.forget(given(more[columns], tmp_path), target).statistic_ == before


@pytest.mark.parametrize("name", MODELS)
def test_a_new_number_among_categories_is_one_of_a_type(name: str) -> None:
    make, target = MODELS[name]
    columns = ["size", "color", target]
    model = make(categorical=["color"]).partial_fit(frame([0, 1])[columns], target)
    with pytest.raises(
        SchemaError, match="column 'color' holds true and false; in training it held whole"
    ):
        model.partial_fit(frame([False, True])[columns], target)
    assert "color[2]" in model.partial_fit(frame([0, 1, 2])[columns], target).terms_


@pytest.mark.parametrize("solver", ["normal", "gradient"])
@pytest.mark.parametrize("missing", ["error", "drop"])
def test_a_row_of_weight_zero_shows_no_category(solver: Any, missing: Any) -> None:
    table = frame(["blue", "red"])[["size", "color", "y"]].assign(times=1.0)
    table.loc[3, ["color", "times"]] = ["white", 0.0]
    model, expected = (
        LinearRegression(solver=solver, incomplete=missing).fit(rows, "y", sample_weight="times")
        for rows in (table, table.drop(3))
    )
    assert model.design_ == expected.design_
    if solver == "normal":  # a descent takes the rows in an order of its own
        np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("stored", [object, "float64"])
def test_a_first_batch_without_a_category_is_refused(stored: Any) -> None:
    table = frame(["blue", "red"])[["size", "color", "y"]]
    table["color"] = pd.Series([None] * N, dtype=stored)
    with pytest.raises(DataError, match="column 'color'"):
        LinearRegression().partial_fit(table, "y")


@pytest.mark.parametrize("missing", ["drop", "gaussian"])
def test_one_value_whose_missing_cells_the_sums_do_not_know_gets_no_second(missing: Any) -> None:
    one, two = (frame(levels)[["size", "color", "y"]] for levels in (["blue"], ["blue", "red"]))
    model = LinearRegression(incomplete=missing).fit(one, "y")
    with pytest.raises(SchemaError, match="'color'"):
        model.partial_fit(two, "y")
    with pytest.raises(SchemaError, match="'color'"):
        model.merge(LinearRegression(incomplete=missing).fit(two, "y"))
    assert LinearRegression().fit(one, "y").partial_fit(two, "y").terms_[1:] == (
        "size",
        "color[red]",
    )


def test_a_discriminant_of_one_value_alone_takes_others() -> None:
    one, two = (frame(levels)[["color", "z"]] for levels in (["blue"], ["blue", "red"]))
    whole = LinearDiscriminantAnalysis().fit(pd.concat([one, two]), "z")
    fits = [LinearDiscriminantAnalysis().fit(rows, "z") for rows in (one, two)]
    more = LinearDiscriminantAnalysis().fit(one, "z").partial_fit(two, "z")
    for found in (fits[0].merge(fits[1]), more):
        np.testing.assert_array_equal(found.coef_, whole.coef_)
    assert whole.coef_.any()
