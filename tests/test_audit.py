"""What a model tells about single rows, held against the rows."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
    load,
)
from suffice.errors import ParameterError
from suffice.families import JointTable
from suffice.naive_bayes import MultinomialNB
from suffice.privacy import Audit, audit


def of_kind(found: Audit, what: str) -> list[Any]:
    return [one for one in found.findings if one.what == what]


TOWNS, LABELS = ["Ulm", "Bonn", "Kiel", None], ["ill", "well"]
ROWS = st.lists(
    st.tuples(st.sampled_from(TOWNS), st.sampled_from(LABELS), st.sampled_from([1.5, 2.0, None])),
    min_size=4,
    max_size=40,
)


@settings(max_examples=20, deadline=None)
@given(ROWS, st.integers(1, 6))
def test_rare_facts_are_those_of_the_rows(rows: list[tuple[Any, Any, Any]], m: int) -> None:
    rows = [("Ulm", "ill", 1.5), ("Ulm", "well", 2.0), *rows]  # a classifier needs two classes
    towns, labels, numbers = zip(*rows, strict=True)
    table = {
        "town": pa.array(towns, pa.string()),
        "dose": pa.array(numbers, pa.float64()),
        "kind": pa.array(labels),
    }
    model = NaiveBayes.textbook({"town": "categorical"}).fit(pa.table(table), "kind")
    found = audit(model, m)
    by_label = Counter(labels)
    assert {(one.value, one.rows) for one in of_kind(found, "rare label")} == {
        (label, n) for label, n in by_label.items() if n < m
    }
    by_town = Counter((label, town) for town, label, _ in rows if town is not None)
    assert {(one.label, one.value, one.rows) for one in of_kind(found, "rare value")} == {
        (*place, n) for place, n in by_town.items() if n < m
    }
    missing = Counter((label, "town") for town, label, _ in rows if town is None)
    missing += Counter((label, "dose") for _, label, dose in rows if dose is None)
    assert {(o.label, o.column, o.rows) for o in of_kind(found, "few missing")} == {
        (*place, n) for place, n in missing.items() if n < m
    }
    shown = Counter(label for _, label, dose in rows if dose is not None)
    assert {(one.label, one.rows) for one in of_kind(found, "few numbers")} == {
        (label, n) for label, n in shown.items() if n < m
    }


def test_the_numbers_of_one_row_and_of_two_are_read_from_the_sums() -> None:
    x = [[31.25], [86.5], [91.75], *([20.0 + i] for i in range(20))]
    y = ["a", "b", "b", *"c" * 20]
    (one, two) = of_kind(audit(NaiveBayes.textbook().fit(x, y), 3), "few numbers")
    assert (one.label, one.value) == ("a", "31.25")
    assert (two.label, two.value) == ("b", "86.5 and 91.75")


def test_the_same_number_in_all_rows() -> None:
    table = {"dose": [5.25] * 12 + list(range(12)), "kind": ["a"] * 12 + ["b"] * 12}
    (found,) = of_kind(audit(NaiveBayes.textbook().fit(table, "kind")), "same number")
    assert (found.column, found.label, found.value, found.rows) == ("dose", "a", "5.25", 12.0)


def test_rows_that_miss_the_same_cells_have_sums_of_their_own() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), np.repeat(["a", "b"], 30)
    x[7, 1] = np.nan
    found = audit(LinearDiscriminantAnalysis().fit(x, y))
    (one,) = of_kind(found, "few rows of a pattern")
    assert (one.column, one.rows) == ("x1", 1.0)
    assert one.value == f"its cells: x0 {x[7, 0]:.6g}, x2 {x[7, 2]:.6g}"


def test_combinations_and_words() -> None:
    rows = pa.table(
        {"a": ["p", "p", "q"] * 5, "b": ["u", "v", "v"] * 5, "kind": ["x", "x", "y"] * 5}
    )
    more = rows.slice(0, 1).set_column(0, "a", pa.array(["q"]))  # q and u, of class x
    joint = NaiveBayes.textbook({("a", "b"): JointTable()}).fit(
        pa.concat_tables([rows, more]), "kind"
    )
    (found,) = of_kind(audit(joint, 2), "rare combination")
    assert (found.column, found.value, found.rows) == ("a, b", "q, u", 1.0)
    counts = np.array([[3, 0, 1], [2, 5, 0]] * 10)
    counts[0, 1] = 1
    rare = of_kind(audit(MultinomialNB().fit(counts, [0, 1] * 10), 2), "rare value")
    assert [(one.column, one.label, one.rows) for one in rare] == [("x1", 0, 1.0)]


def test_categories_of_a_linear_model() -> None:
    rng = np.random.default_rng(0)
    table = {"town": ["Ulm"] * 20 + ["Bonn"] * 2 + ["Kiel"], "cost": rng.normal(size=23)}
    found = audit(LinearRegression().fit(table, "cost"), 3)
    rare = {(one.column, one.value, one.rows) for one in of_kind(found, "rare value")}
    assert rare == {("town", "Bonn", 2.0), ("town", "Kiel", 1.0)}
    assert of_kind(found, "listed values")[0].value == "3: Bonn, Kiel, Ulm"


def by_rows(rows: pa.Table, by: list[str], m: float) -> set[tuple[Any, ...]]:
    """Town, label and numbers of the rows of a town, where these are fewer than m."""
    grouped = rows.group_by(["town", *by])
    few = grouped.aggregate([("age", "count"), ("age", "mean"), ("pay", "mean")]).to_pylist()
    return {
        (
            one["town"],
            one[by[0]] if by else None,
            f"age {one['age_mean']:.8g}, pay {one['pay_mean']:.8g}",
        )
        for one in few
        if one["age_count"] < m
    }


def people(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    towns = rng.choice(list("abcdef"), n, p=2.0 ** -np.r_[5, 5:0:-1])
    age, pay = np.round(rng.normal(50, 9, n), 1), np.round(rng.normal(4e4, 9e3, n), 2)
    return pa.table({"town": towns, "age": age, "pay": pay, "kind": rng.choice(["x", "y"], n)})


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (QuadraticDiscriminantAnalysis(), "kind"),
        (LinearRegression(), "pay"),
        (LinearRegression(ordered={"town": list("fedcba")}), "pay"),
        (Ridge(), "pay"),
    ],
)
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_products_tell_the_numbers_of_few_rows_of_a_category(model: Any, label: str) -> None:
    rows = people(80, seed=1)
    by = ["kind"] if label == "kind" else []
    found = audit(model.fit(rows if by else rows.drop(["kind"]), label), 5)
    told = {
        (value, one.label, numbers.removeprefix("means "))
        for one in of_kind(found, "numbers of a rare value")
        for value, numbers in [one.value.split(": ")]
    }
    assert told == by_rows(rows, by, 5)
    assert {value for value, *_ in told} > {"a"}


def test_products_tell_the_cells_beside_numbers_that_are_0_or_1() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    x[:, 1] = np.arange(60) == 7
    found = audit(LinearDiscriminantAnalysis().fit(x, y), 3)
    (one,) = of_kind(found, "numbers of a rare value")
    assert (one.column, one.label, one.value) == ("x1", "a", f"1: x0 {x[7, 0]:.8g}")
    (one,) = of_kind(found, "rare value")
    assert (one.column, one.value, one.rows) == ("x1", 1, 1.0)


def test_rare_terms_of_a_formula_and_combinations_of_a_linear_model() -> None:
    rng = np.random.default_rng(0)
    town, hue = np.repeat(["Bonn", "Ulm"], 20), np.tile(["blue", "red"], 20)
    town[7], hue[9] = "Kiel", "green"
    table = {"town": town, "hue": hue, "cost": rng.normal(size=40)}
    model = LinearRegression(formula="C(town)")
    (one,) = of_kind(
        audit(model.fit({"town": town, "cost": table["cost"]}, "cost"), 3), "rare value"
    )
    assert (one.value, one.rows) == (1, 1.0)
    assert "Kiel" in one.column
    shown = of_kind(audit(LinearRegression().fit(table, "cost"), 3), "rare combination")
    expected = Counter(zip(town.tolist(), hue.tolist(), strict=True))
    few = {f"{a}, {b}": n for (a, b), n in expected.items() if n < 3}
    assert {one.value: one.rows for one in shown} == few
    assert {one.column for one in shown} == {"town, hue"}


def test_doubts_are_those_of_rows() -> None:
    """Whether a row was learnt can be read from a file."""
    rows = people(60, 3)
    model = NaiveBayes(calibration="temperature").fit(rows, "kind")
    doubts = model.calibration_.doubts
    assert len(np.unique(doubts)) == 60
    (one,) = of_kind(audit(model, 5), "doubts of rows")
    assert (one.rows, one.value) == (1.0, "1,001 quantiles of 1 - P(class) of 60 rows")
    average = AutoClassifier(["naive-bayes", "lda"]).fit(rows, "kind")
    assert len(of_kind(audit(average, 5), "doubts of rows")) == 1 + sum(
        isinstance(member, NaiveBayes) for member in average.members_
    )


def test_models_without_sums_and_averages() -> None:
    rng = np.random.default_rng(0)
    table = {"town": ["Ulm", "Bonn"] * 20, "age": rng.normal(size=40), "kind": ["a", "b"] * 20}
    table["kind"][1] = "a"
    found = audit(LogisticRegression().fit(table, "kind"))
    assert [one.what for one in found.findings] == [
        "listed values",
        "listed values",
        "coefficients",
    ]
    average = AutoClassifier(["naive-bayes", "logistic"]).fit(table, "kind")
    inside = {one.what for one in audit(average).findings}
    assert {"coefficients", "rare value", "listed values"} <= inside


def test_nothing_to_find() -> None:
    model = NaiveBayes.textbook().fit(np.random.default_rng(0).normal(size=(50, 1)), [0, 1] * 25)
    found = [one for one in audit(model, 2).findings if one.what != "listed values"]
    assert found == []
    assert str(Audit("NaiveBayes", 2, ())) == "NaiveBayes: nothing about fewer than 2 rows"


@pytest.mark.parametrize("m", [0, -1, "ten", float("nan"), float("inf")])
def test_a_number_of_rows_is_above_0(m: Any) -> None:
    with pytest.raises(ParameterError, match="it is a number of rows, above 0"):
        audit(NaiveBayes.textbook().fit([[1.0], [2.0]], [0, 1]), m)


def test_other_models_are_refused() -> None:
    with pytest.raises(ParameterError, match="is no model of this library"):
        audit(object())


def test_roots_of_fewer_rows_than_columns() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(13, 300))
    model = LinearDiscriminantAnalysis().fit(rows, ["a"] * 12 + ["b"])
    (span,) = of_kind(audit(model, 5), "span of rows")
    assert span.value.startswith("11 directions")
    (mean,) = of_kind(audit(model, 5), "few numbers")
    assert (mean.label, mean.rows) == ("b", 1.0)
    assert f"{rows[12, 0]:.6g}" in mean.value


def test_roots_of_more_categories_than_products_are_kept_of() -> None:
    rng = np.random.default_rng(0)
    towns = rng.permutation(np.repeat([f"town {i}" for i in range(400)], 4))
    table = {"town": towns, "age": rng.normal(size=1_600), "kind": np.tile(["a", "b"], 800)}
    found = audit(LinearDiscriminantAnalysis().fit(table, "kind"), 5)
    assert {one.what for one in found.findings} == {"listed values", "span of rows"}


@pytest.mark.parametrize("estimator", [NaiveBayes.textbook(), LinearRegression()])
def test_sums_are_audited_group_by_group(estimator: Any, tmp_path: Path) -> None:
    rng, cities = np.random.default_rng(0), ["Ulm", "Bonn", "Kiel", None]
    city = [cities[i] for i in np.repeat(range(4), [3, 40, 9, 2])]
    n = len(city)
    table = pa.table(
        {
            "city": city,
            "town": rng.choice(["x", "y", "z"], n, p=[0.1, 0.45, 0.45]),
            "dose": rng.integers(0, 50, n) / 4,
            "target": rng.permutation(np.arange(n) % 2 + 0.0),
        }
    )
    estimator.sums(table, "target", by="city").save(tmp_path / "cities.sums")
    sums: Any = load(tmp_path / "cities.sums")
    found = audit(sums, 4)
    few = of_kind(found, "few rows of a group")
    assert {(one.group, one.rows) for one in few} == {("Ulm", 3), ("(missing)", 2)}
    for key in cities:
        name = "(missing)" if key is None else key
        facts = {replace(one, group=None) for one in found.findings if one.group == name}
        alone = set(audit(sums[key], 4).findings)
        listings = {one for one in alone if one.what == "listed values"}
        assert {one for one in facts if one.what != few[0].what} >= alone - listings
    assert "group" in str(found)
