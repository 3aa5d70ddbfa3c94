"""Exports of linear models whose terms are more than numbers and indicators."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from suffice.errors import ParameterError
from suffice.export import to_json
from suffice.export.reading import log_joint
from suffice.linear_model import LinearRegression, LogisticRegression

N = 60
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"size": RNG.normal(size=N), "grade": RNG.choice(["S", "M", "L"], N)})
ROWS["note"] = [f"{grade} has many words {i}" for i, grade in enumerate(ROWS["grade"])]
ROWS["day"] = pd.date_range("2024-01-01", periods=N)
ROWS["price"] = ROWS["size"] + (ROWS["grade"] == "L") + 0.1 * RNG.normal(size=N)
ORDERED = {"grade": ["S", "M", "L"]}
NAMED = {
    "note": "column 'note' holds text",
    "day": "column 'day' holds dates or times",
}


@pytest.mark.parametrize("column", NAMED)
@pytest.mark.parametrize("target", ["price", "kind"])
def test_what_other_programs_read_in_other_ways_is_refused_by_name(column, target):
    rows = ROWS.assign(kind=ROWS["price"] > 0)[["size", column, target]]
    kind = LinearRegression if target == "price" else LogisticRegression
    model = kind(words=2).fit(rows, target)
    with pytest.raises(ParameterError, match=NAMED[column]):
        log_joint(model)


def test_a_formula_is_refused_by_its_text():
    model = LinearRegression(formula="size * grade").fit(ROWS, "price")
    with pytest.raises(ParameterError, match=r"the model has the formula size \* grade"):
        log_joint(model)


def test_steps_of_an_ordered_category_are_added_up():
    rows = ROWS[["size", "grade", "price"]]
    model = LinearRegression(ordered=ORDERED).fit(rows, "price")
    written = json.loads(to_json(model))
    cases = dict(written["terms"][1]["by_output"][0]["cases"])
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
