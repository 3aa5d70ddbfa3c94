"""Columns that tell one row from another say nothing of the class; all rows learnt decide it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import suffice
from suffice import NaiveBayes
from suffice.errors import SchemaError, SufficeWarning
from suffice.families import Categorical, Gaussian
from suffice.models.generative.described import advice
from suffice.naive_bayes import CategoricalNB, GaussianNB

N = 40
RNG = np.random.default_rng(0)
Y = np.array(["a", "b"])[(np.arange(N) > 24).astype(int)]
X = RNG.normal(size=N)
NAMES = [f"person {i}" for i in range(N)]
COLUMNS = {"name": NAMES, "number": np.arange(N) + 7}


def table(*columns: str) -> pd.DataFrame:
    return pd.DataFrame({"x": X, **{name: COLUMNS[name] for name in columns}})


def quiet(learn: Any, *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return learn(*args)


@pytest.mark.parametrize("estimation", ["bayes", "mle"])
@pytest.mark.parametrize("column", COLUMNS)
def test_what_an_identifier_says_is_the_same_for_all_classes(column: str, estimation: Any) -> None:
    with pytest.warns(SufficeWarning) as caught:
        found = NaiveBayes.textbook(estimation=estimation).fit(table(column), Y)
    assert [str(one.message) for one in caught] == [
        f"column {column!r} tells one row from another, as an identifier does, and is left out; "
        f"a family keeps it, such as families={{{column!r}: 'categorical'}}."
    ]
    assert tuple(advice(found.model_)) == ()
    without = NaiveBayes.textbook(estimation=estimation).fit(table(), Y)
    assert_allclose(found.predict_proba(table(column)), without.predict_proba(table()), rtol=1e-12)
    evidence = found.explain(table(column)).contributions[:, 1]
    assert (evidence == evidence[:, :1]).all()
    drawn, labels = found.sample(5, random_state=0)
    assert len(drawn[column]) == len(labels) == 5


def test_two_identifiers_are_said_in_one_line() -> None:
    with pytest.warns(SufficeWarning, match="columns .* tell .* are left out; .* keeps them"):
        NaiveBayes.textbook().fit(table("name", "number"), Y)


@pytest.mark.parametrize("column", COLUMNS)
def test_it_is_kept_where_the_user_says_so(column: str) -> None:
    usual = {"name": Categorical(), "number": Gaussian()}[column]
    kept = NaiveBayes.textbook({column: usual}).fit(table(column), Y)
    x = table(column)
    without = NaiveBayes.textbook().fit(table(), Y).predict_proba(table())
    assert abs(kept.predict_proba(x) - without).max() > 1e-3


@settings(max_examples=15)
@given(st.permutations(range(N)), st.integers(0, N), st.sampled_from(sorted(COLUMNS)))
def test_all_rows_decide_it_in_any_order_and_in_any_batches(
    order: list[int], cut: int, column: str
) -> None:
    x, y = table(column), Y
    whole = quiet(NaiveBayes.textbook().fit, x, y)
    model = NaiveBayes.textbook()
    for rows in (order[:cut], order[cut:]):
        if rows:
            quiet(model.partial_fit, x.iloc[rows], y[rows])
    assert_allclose(model.predict_proba(x), whole.predict_proba(x), rtol=1e-9)


@pytest.mark.parametrize("column", COLUMNS)
def test_it_follows_rows_that_are_added_and_forgotten(column: str, tmp_path: Any) -> None:
    x, y = table(column), Y
    again = x.iloc[[3]]
    model = quiet(NaiveBayes.textbook().fit, x, y)
    model.partial_fit(again, y[[3]])  # the same person again: no identifier any more
    expected = NaiveBayes.textbook().fit(pd.concat([x, again]), [*y, y[3]])
    assert (model.predict_proba(x) == expected.predict_proba(x)).all()
    quiet(model.forget, again, y[[3]])
    expected = quiet(NaiveBayes.textbook().fit, x, y)
    assert (model.predict_proba(x) == expected.predict_proba(x)).all()
    model.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")  # without a warning: it was said at the fit
    assert (loaded.predict_proba(x) == expected.predict_proba(x)).all()
    even = np.arange(N) % 2 == 0
    halves = [quiet(NaiveBayes.textbook().fit, x.iloc[rows], y[rows]) for rows in (even, ~even)]
    quiet(halves[0].merge, halves[1])
    assert_allclose(halves[0].predict_proba(x), expected.predict_proba(x), rtol=1e-9)


@pytest.mark.parametrize(
    "cells",
    [
        [*range(N - 1), 3],  # a number twice
        [i * 2 for i in range(N)],  # not in a row
        [i + 0.25 for i in range(N)],  # no whole numbers
        [f"person {i % (N - 1)}" for i in range(N)],
    ],
    ids=["twice", "even", "fractions", "names"],
)
def test_other_columns_are_no_identifiers(cells: list[Any]) -> None:
    NaiveBayes.textbook().fit(table().assign(odd=cells), Y)


def test_nineteen_rows_show_nothing() -> None:
    rows = np.arange(N)[10:29]
    NaiveBayes.textbook().fit(table("name", "number").iloc[rows], Y[rows])
    with pytest.warns(
        SufficeWarning, match="columns 'number', 'name' tell|columns 'name', 'number'"
    ):
        NaiveBayes.textbook().fit(table("name", "number").iloc[10:30], Y[10:30])


def test_models_with_scikit_learns_names_keep_every_column() -> None:
    GaussianNB().fit(np.c_[X, COLUMNS["number"]], Y)
    CategoricalNB().fit(np.c_[NAMES], Y)


def test_missing_cells_are_no_values() -> None:
    cells = [None if i % 5 == 0 else name for i, name in enumerate(NAMES)]
    with pytest.warns(SufficeWarning, match="column 'name' tells one row from another"):
        NaiveBayes.textbook().fit(table().assign(name=cells), Y)


def test_arrays_and_an_only_column_are_learnt_from() -> None:
    NaiveBayes.textbook().fit(np.c_[X, COLUMNS["number"]], Y)
    NaiveBayes.textbook().fit(np.c_[np.arange(N) % 7, COLUMNS["number"]], Y)
    NaiveBayes.textbook().fit(np.c_[NAMES, NAMES], Y)
    NaiveBayes.textbook().fit(pd.DataFrame({"number": COLUMNS["number"]}), Y)


@pytest.mark.parametrize("form", [pd.DataFrame, "csv"])
def test_tables_to_be_answered_need_no_identifier(form: Any, tmp_path: Any) -> None:
    x = table("name", "number")
    model = quiet(NaiveBayes.textbook().fit, x, Y)
    without = table()
    if form == "csv":
        without.to_csv(tmp_path / "new.csv", index=False)
    new = str(tmp_path / "new.csv") if form == "csv" else without
    assert_allclose(model.predict_proba(new), model.predict_proba(x), rtol=1e-12)
    labelled = without.assign(y=Y)
    assert model.score(labelled, "y") == model.score(x, Y)
    for learn in (model.partial_fit, model.forget):
        with pytest.raises(SchemaError, match="is not in the table"):
            learn(without, Y)
    with pytest.raises(SchemaError, match="column 'x' is not in the table"):
        model.predict(x.drop(columns="x"))
