"""Exports of linear models whose terms are more than numbers and indicators."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pandas as pd
import pytest

from suffice import AutoClassifier, NaiveBayes
from suffice.errors import ParameterError
from suffice.export import to_json
from suffice.families import JointTable
from suffice.linear_model import LinearRegression, LogisticRegression

N = 60
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"size": RNG.normal(size=N), "grade": RNG.choice(["S", "M", "L"], N)})
ROWS["note"] = [f"{grade} has many words {i}" for i, grade in enumerate(ROWS["grade"])]
ROWS["delay"] = pd.to_timedelta(range(N), "D")
ROWS["price"] = ROWS["size"] + (ROWS["grade"] == "L") + 0.1 * RNG.normal(size=N)
ORDERED = {"grade": ["S", "M", "L"]}
NAMED = {"note": "column 'note' holds text", "delay": "column 'delay' holds durations"}


@pytest.mark.parametrize("column", NAMED)
@pytest.mark.parametrize("target", ["price", "kind"])
def test_what_other_programs_read_in_other_ways_is_refused_by_name(column, target):
    rows = ROWS.assign(kind=ROWS["price"] > 0)[["size", column, target]]
    kind = LinearRegression if target == "price" else LogisticRegression
    model = kind(words=2).fit(rows, target)
    with pytest.raises(ParameterError, match=NAMED[column]):
        to_json(model)


@pytest.mark.parametrize(
    ("values", "example"), [([1.5, 2.5, 1.5], "1.5"), ([1, 2**60, 1], f"{2**60}")]
)
def test_a_category_that_programs_would_compare_otherwise_is_refused(values, example):
    rows = pd.DataFrame({"x": values, "y": list("aab")})
    model = NaiveBayes.textbook(families={"x": "categorical"}).fit(rows, "y")
    with pytest.raises(ParameterError, match=f"column 'x' has the value {example}; an export"):
        to_json(model)


def test_a_label_that_no_program_writes_is_refused():
    days = [date(2024, 1, 1), date(2024, 1, 1), date(2025, 1, 1)]
    model = NaiveBayes.textbook().fit(pd.DataFrame({"x": [1.5, 2.5, 1.5], "y": days}), "y")
    with pytest.raises(ParameterError, match="is of the type date; an export writes labels"):
        to_json(model)


def test_columns_that_are_modelled_together_are_refused_by_name():
    rows = ROWS[["size", "grade"]].assign(town=list("AB") * (N // 2), y=list("aabb") * (N // 4))
    joint = NaiveBayes.textbook(families={("grade", "town"): JointTable()}).fit(rows, "y")
    with pytest.raises(ParameterError, match="column 'grade' is modelled by JointTable"):
        to_json(joint)
    average = AutoClassifier(["naive-bayes"]).fit(ROWS[["size", "delay"]], list("aabb") * (N // 4))
    with pytest.raises(ParameterError, match="naive-bayes, a member of the average"):
        to_json(average)


def test_a_formula_is_refused_by_its_text():
    model = LinearRegression(formula="size * grade").fit(ROWS, "price")
    with pytest.raises(ParameterError, match=r"the model has the formula size \* grade"):
        to_json(model)


def test_steps_of_an_ordered_category_are_added_up():
    rows = ROWS[["size", "grade", "price"]]
    model = LinearRegression(ordered=ORDERED).fit(rows, "price")
    written = json.loads(to_json(model))
    term = written["terms"][1]
    cases = {v: adds for v, (adds,) in zip(term["values"], term["table"], strict=True)}
    start = written["outputs"][0]["start"]
    for grade, weight in cases.items():
        answer = model.predict([{"size": 0.0, "grade": grade}])[0]
        np.testing.assert_allclose(start + weight, answer, rtol=1e-12)
    assert cases.keys() == {"S", "M", "L"}


def test_errors_that_a_regression_has_learnt_change_no_export():
    rows = ROWS[["size", "grade", "price"]]
    model = LinearRegression().fit(rows, "price")
    before = to_json(model)
    assert to_json(model.calibrate(rows, "price")) == before
