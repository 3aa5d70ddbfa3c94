"""Columns whose first rows are empty: what they are is told by their type, or by their values."""

import datetime
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from suffice import NaiveBayes, load
from suffice.data.table import BATCH_ROWS
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.naive_bayes import GaussianNB

N, EMPTY = 400, 150
RNG = np.random.default_rng(29)
CODE = RNG.integers(0, 2, N)
DAY = datetime.date(2026, 1, 1)

VALUES: dict[str, list[Any]] = {
    "float": (RNG.normal(size=N) + 2 * CODE).tolist(),
    "date": [DAY + datetime.timedelta(int(d)) for d in RNG.integers(0, 90, N) + 30 * CODE],
    "boolean": (RNG.random(N) < 0.2 + 0.6 * CODE).tolist(),
    "integer": (RNG.integers(0, 5, N) + CODE).tolist(),
    "two": (RNG.random(N) < 0.3 + 0.4 * CODE).astype(int).tolist(),
    "many": (RNG.integers(0, 10**6, N) * (1 + CODE)).tolist(),
    "string": [f"level {q}" for q in RNG.integers(0, 3, N) + CODE],
    "text": [
        f"row {i} of {N} says {['ham', 'spam'][c]} and {q}"
        for i, (c, q) in enumerate(zip(CODE, RNG.integers(0, 3, N), strict=True))
    ],
}
KINDS = {
    "float": "real",
    "date": "real",
    "boolean": "binary",
    "integer": "category",
    "two": "category",
    "many": "real",
    "string": "category",
    "text": "text",
}
TYPES = {"float": pa.float64(), "date": pa.date32(), "boolean": pa.bool_()}
STATED = {"float", "date", "boolean", "integer", "two", "many"}  # by the type of the column


def rows(kind: str) -> pa.Table:
    """A column that is empty in the first rows, between one of numbers and one of strings."""
    values = [None] * EMPTY + VALUES[kind][EMPTY:]
    return pa.table(
        {
            "size": RNG_SIZE,
            "late": pa.array(values, TYPES.get(kind)),
            "color": COLOR,
            "kind": pa.array(["ham", "spam"]).take(pa.array(CODE)),
        }
    )


RNG_SIZE = RNG.normal(size=N) + CODE
COLOR = [["red", "blue"][q] for q in RNG.integers(0, 2, N)]


def to_csv(table: pa.Table, home: Path, name: str) -> Path:
    pyarrow.csv.write_csv(table, home / f"{name}.csv")
    return home / f"{name}.csv"


def to_parquet(table: pa.Table, home: Path, name: str) -> Path:
    pq.write_table(table, home / f"{name}.parquet")
    return home / f"{name}.parquet"


def to_objects(table: pa.Table, home: Path, name: str) -> dict[str, list[Any]]:
    return table.to_pydict()


FORMS: dict[str, Callable[[pa.Table, Path, str], Any]] = {
    "pyarrow": lambda table, home, name: table,
    "pandas": lambda table, home, name: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda table, home, name: table.to_pandas(
        integer_object_nulls=True, date_as_object=True
    ),
    "polars": lambda table, home, name: pl.from_arrow(table),
    "polars lazy": lambda table, home, name: pl.from_arrow(table).lazy(),
    "Python objects": to_objects,
    "CSV": to_csv,
    "Parquet": to_parquet,
}


def predictions(model: NaiveBayes, table: pa.Table) -> NDArray[np.float64]:
    return model.predict_joint_log_proba(table.drop(["kind"]))


def kind_of(model: Any, name: str = "late") -> tuple[str, str]:
    return next((c.kind, c.reason) for c in model.schema_ if c.name == name)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_batches_of_which_the_first_is_empty_make_the_model_of_all_rows(
    form: str, kind: str, tmp_path: Path
) -> None:
    table, given = rows(kind), FORMS[form]
    parts = [table.slice(0, EMPTY), table.slice(EMPTY, 100), table.slice(EMPTY + 100)]
    whole = NaiveBayes.textbook().fit(given(table, tmp_path, "all"), "kind")
    assert kind_of(whole)[0] == KINDS[kind]
    model = NaiveBayes.textbook()
    for i, part in enumerate(parts):
        model.partial_fit(given(part, tmp_path, f"part{i}"), "kind")
    assert kind_of(model)[0] == kind_of(whole)[0]
    read = given(table.drop(["kind"]), tmp_path, "new")
    expected = whole.predict_joint_log_proba(read)
    np.testing.assert_array_equal(model.predict_joint_log_proba(read), expected)
    model.save(tmp_path / "parts.suffice")
    found = load(tmp_path / "parts.suffice").predict_joint_log_proba(read)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (pa.float32(), ("real", "numbers")),
        (pa.decimal128(5, 2), ("real", "numbers")),
        (pa.date32(), ("real", "dates, in seconds since 1970-01-01")),
        (pa.timestamp("ms", "UTC"), ("real", "dates, in seconds since 1970-01-01")),
        (pa.time32("s"), ("real", "times of day, in seconds since midnight")),
        (pa.duration("s"), ("real", "durations, in seconds")),
        (pa.bool_(), ("binary", "boolean")),
        (pa.dictionary(pa.int8(), pa.int64()), ("category", "a dictionary")),
        (pa.int16(), ("undecided", "no value yet")),
        (pa.large_string(), ("undecided", "no value yet")),
        (pa.string_view(), ("undecided", "no value yet")),
        (pa.dictionary(pa.int8(), pa.string()), ("undecided", "no value yet")),
        (pa.null(), ("undecided", "no value yet")),
    ],
    ids=str,
)
def test_a_type_says_what_an_empty_column_is_if_it_can(
    stored: pa.DataType, expected: tuple[str, str]
) -> None:
    table = rows("float").drop(["late"]).append_column("late", pa.nulls(N, stored))
    model = NaiveBayes.textbook().fit(table, "kind")
    assert kind_of(model) == expected
    without = NaiveBayes.textbook().fit(table.drop(["late"]), "kind")
    np.testing.assert_array_equal(
        predictions(model, table), predictions(without, table.drop(["late"]))
    )


@pytest.mark.parametrize("kind", VALUES)
def test_an_undecided_column_says_nothing(kind: str, tmp_path: Path) -> None:
    table = rows("string")
    blank = pa.nulls(N)
    first = table.set_column(1, "late", blank)
    model = NaiveBayes.textbook().fit(first, "kind")
    assert kind_of(model) == ("undecided", "no value yet")
    model.save(tmp_path / "m.suffice")
    for known in (model, load(tmp_path / "m.suffice")):
        assert kind_of(known) == ("undecided", "no value yet")
        new = rows(kind).slice(EMPTY)
        without = NaiveBayes.textbook().fit(table.drop(["late"]), "kind")
        expected = without.predict_joint_log_proba(new.drop(["late", "kind"]))
        np.testing.assert_array_equal(predictions(known, new), expected)
        explained = known.explain(new.drop(["kind"]))
        assert explained.columns == ("size", "late", "color")
        np.testing.assert_array_equal(explained.contributions[:, 1], 0.0)
        np.testing.assert_allclose(explained.log_joint, expected, rtol=1e-14)
        assert (
            known.evaluate(new, "kind").accuracy
            == without.evaluate(new.drop(["late"]), "kind").accuracy
        )
        drawn, _ = known.sample(3, 0)
        assert list(drawn) == ["size", "late", "color"]
        assert drawn["late"].tolist() == [None] * 3
        assert known.predict_joint_log_proba(drawn).shape == (3, 2)


@pytest.mark.parametrize("kind", VALUES)
def test_models_that_know_different_columns_are_merged_and_compared(kind: str) -> None:
    table = rows(kind)
    early = NaiveBayes.textbook().fit(table.slice(0, EMPTY), "kind")
    late = NaiveBayes.textbook().fit(table.slice(EMPTY), "kind")
    whole = NaiveBayes.textbook().fit(table, "kind")
    compared = {column.column: column for column in early.compare(late).columns}
    assert compared["late"].overall is None
    assert compared["late"].missing == (1.0, 0.0)
    if kind not in STATED:
        assert early.layout_.undecided == ("late",)
    both = [NaiveBayes.textbook().fit(table.slice(0, EMPTY), "kind").merge(late)]
    both.append(NaiveBayes.textbook().fit(table.slice(EMPTY), "kind").merge(early))
    for model in both:
        np.testing.assert_array_equal(predictions(model, table), predictions(whole, table))
        assert kind_of(model)[0] == kind_of(whole)[0]
    if kind not in STATED:
        assert early.layout_.undecided == ("late",)


def sampled(model: Any) -> list[tuple[int, float, Any]]:
    """The rows that weights are learnt from in the order of their hashes: weights, and labels."""
    return sorted(
        row
        for batch, hashes in model.statistic_.sample.pieces
        for row in zip(
            hashes.tolist(),
            batch.weights.tolist(),
            [batch.classes.values[code] for code in batch.codes.tolist()],
            strict=True,
        )
    )


@pytest.mark.parametrize("kind", VALUES)
def test_weights_are_learnt_from_rows_in_which_a_column_was_empty_too(kind: str) -> None:
    table, cuts = rows(kind), [0, EMPTY, EMPTY + 100, N]
    parts = [table[a:b].to_pydict() for a, b in pairwise(cuts)]  # without types
    whole = NaiveBayes().fit(table.to_pydict(), "kind")
    early = NaiveBayes().fit(parts[0], "kind")
    assert early.layout_.undecided == ("late",)
    late = [NaiveBayes().fit(part, "kind") for part in parts[1:]]
    grown = NaiveBayes()
    for part in parts:
        grown.partial_fit(part, "kind")
    merged = deepcopy(late[0]).merge(late[1]).merge(early)
    for model in (grown, early.merge(late[0]).merge(late[1]), merged):
        assert not model.calibration_.stale
        assert model.model_.family_names == whole.model_.family_names
        assert model.column_weights_ == whole.column_weights_
        assert model.statistic_ == whole.statistic_
        assert sampled(model) == sampled(whole)
        np.testing.assert_array_equal(
            model.predict_proba(table.drop(["kind"])), whole.predict_proba(table.drop(["kind"]))
        )


def test_a_window_keeps_rows_in_which_a_column_was_empty() -> None:
    table = rows("string")
    whole = NaiveBayes().fit(table[100:], "kind")
    model = NaiveBayes(window=3)
    for start in range(0, N, 100):
        model.partial_fit(table[start : start + 100], "kind")
    assert not model.calibration_.stale
    assert model.column_weights_ == whole.column_weights_
    assert sampled(model) == sampled(whole)


def test_a_column_that_neither_model_knows_is_compared_as_such() -> None:
    table = rows("float").set_column(1, "late", pa.nulls(N))
    one, other = (NaiveBayes.textbook().fit(part, "kind") for part in (table[:200], table[200:]))
    last = one.compare(other).columns[-1]
    assert (last.column, last.overall, last.missing) == ("late", None, (1.0, 1.0))
    assert one.merge(other).layout_.undecided == ("late",)


@pytest.mark.parametrize("kind", VALUES)
def test_rows_are_forgotten_from_a_column_that_was_empty_before(kind: str) -> None:
    table = rows(kind)
    first, rest = table.slice(0, EMPTY), table.slice(EMPTY)
    model = NaiveBayes.textbook().partial_fit(first, "kind").partial_fit(rest, "kind")
    model.forget(first, "kind")
    expected = predictions(NaiveBayes.textbook().fit(rest, "kind"), table)
    np.testing.assert_array_equal(predictions(model, table), expected)
    early = NaiveBayes.textbook().fit(first, "kind")
    without = predictions(NaiveBayes.textbook().fit(first.slice(30), "kind"), table)
    np.testing.assert_array_equal(predictions(early.forget(first[:30], "kind"), table), without)
    with pytest.raises(ForgetError, match="column 'late': fewer"):
        early.forget(first.slice(30, 30).set_column(1, "late", rest["late"][:30]), "kind")
    np.testing.assert_array_equal(predictions(early, table), without)


def test_a_window_and_a_decay_go_on_where_a_column_begins() -> None:
    table = rows("string")
    parts = [table.slice(start, 100) for start in range(0, N, 100)]
    model = NaiveBayes.textbook(window=2)
    for part in parts:
        model.partial_fit(part, "kind")
    whole = NaiveBayes.textbook().fit(table.slice(200), "kind")
    np.testing.assert_array_equal(predictions(model, table), predictions(whole, table))
    faded, expected = NaiveBayes.textbook(decay=0.5), NaiveBayes.textbook()
    for part in parts:
        faded.partial_fit(part, "kind")
    weights = np.repeat([0.125, 0.25, 0.5, 1.0], 100)
    expected.fit(table, "kind", sample_weight=weights)
    np.testing.assert_array_equal(predictions(faded, table), predictions(expected, table))


def test_a_batch_that_fails_leaves_the_column_undecided() -> None:
    table = rows("float")
    model = NaiveBayes.textbook().fit(table.set_column(1, "late", pa.nulls(N)), "kind")
    before = vars(model).copy()
    bad = pa.array([1.0, np.inf, *[2.0] * (N - 2)])
    with pytest.raises(DataError, match="column 'late', row 1: inf"):
        model.partial_fit(table.set_column(1, "late", bad), "kind")
    assert vars(model) == before


def test_a_family_that_is_given_decides() -> None:
    table, blank = rows("integer"), pa.nulls(EMPTY)
    first = table.slice(0, EMPTY).set_column(1, "late", blank)
    cases = [
        ({"late": "poisson"}, "real"),
        ({"late": "gaussian"}, "real"),
        ({"late": "categorical"}, "category"),
        ({("color", "late"): "joint_table"}, "category"),
    ]
    for families, kind in cases:
        model = NaiveBayes.textbook(families).fit(first, "kind")
        assert kind_of(model) == (kind, "no value yet, but a family")
        assert model.layout_.undecided == ()
        model.partial_fit(table.slice(EMPTY), "kind")
        whole = NaiveBayes.textbook(families).fit(table, "kind")
        np.testing.assert_array_equal(predictions(model, table), predictions(whole, table))
    assert kind_of(GaussianNB().fit(first.drop(["color"]), "kind")) == (
        "real",
        "no value yet, but a family",
    )


def test_a_table_of_empty_columns_predicts_the_prior(tmp_path: Path) -> None:
    table = pa.table({"late": pa.nulls(4), "kind": ["a", "b", "a", "a"]})
    model = NaiveBayes.textbook().fit(table, "kind")
    path = to_csv(pa.table({"late": ["x", "y"]}), tmp_path, "new")
    for new in (table, pa.table({"late": [1.0, 2.0]}), path):
        expected = np.log([[0.75, 0.25]] * 2)
        np.testing.assert_array_equal(model.predict_joint_log_proba(new)[:2], expected)
    with pytest.raises(ParameterError, match="no column had a value so far"):
        model.linear_form()


def test_a_column_must_still_be_there() -> None:
    table = rows("float").set_column(1, "late", pa.nulls(N))
    model = NaiveBayes.textbook().fit(table, "kind")
    for learn in (model.partial_fit, model.forget):
        with pytest.raises(SchemaError, match="column 'late' is not in the table"):
            learn(table.drop(["late"]), "kind")
    with pytest.raises(SchemaError, match="column 'late' is not in the table"):
        model.predict(table.drop(["late", "kind"]))


# -- one fit of rows of which more than the first 65,536 are empty


def late_rows(kind: str) -> pa.Table:
    """One value of a kind in the last of many rows, or a few hundred."""
    few = rows(kind).slice(EMPTY)
    empty = few.set_column(1, "late", pa.nulls(few.num_rows, few.schema.field("late").type))
    ahead = pa.concat_tables([empty] * (BATCH_ROWS // few.num_rows + 1))
    return pa.concat_tables([ahead, few])


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("form", ["pyarrow", "pandas objects", "polars lazy", "CSV", "Parquet"])
def test_one_fit_looks_further_than_the_first_rows(form: str, kind: str, tmp_path: Path) -> None:
    table, given = late_rows(kind), FORMS[form]
    assert table["late"].slice(0, BATCH_ROWS).null_count == BATCH_ROWS
    model = NaiveBayes.textbook().fit(given(table, tmp_path, "all"), "kind")
    assert kind_of(model)[0] == KINDS[kind]
    first = given(table.slice(0, BATCH_ROWS), tmp_path, "first")
    rest = given(table.slice(BATCH_ROWS), tmp_path, "rest")
    parts = NaiveBayes.textbook().partial_fit(first, "kind").partial_fit(rest, "kind")
    new = given(table.slice(table.num_rows - 200).drop(["kind"]), tmp_path, "new")
    expected = parts.predict_joint_log_proba(new)
    np.testing.assert_array_equal(model.predict_joint_log_proba(new), expected)


def test_a_label_may_come_late(tmp_path: Path) -> None:
    table = rows("float").drop(["late"]).slice(EMPTY)
    empty = table.set_column(2, "kind", pa.nulls(table.num_rows, pa.string()))
    whole = pa.concat_tables([*[empty] * (BATCH_ROWS // table.num_rows + 1), table])
    model = NaiveBayes.textbook().fit(to_csv(whole, tmp_path, "all"), "kind")
    assert model.layout_.label_stored == "string"
    assert model.classes_.tolist() == ["ham", "spam"]


def test_a_text_file_keeps_a_column_of_no_value_as_nothing(tmp_path: Path) -> None:
    table = late_rows("float").set_column(1, "late", pa.nulls(late_rows("float").num_rows))
    model = NaiveBayes.textbook().fit(to_csv(table, tmp_path, "all"), "kind")
    assert kind_of(model) == ("undecided", "no value yet")
    cells = pa.array([*[None] * (table.num_rows - 1), "word"])
    path = to_csv(table.set_column(1, "late", cells), tmp_path, "new")
    expected = model.predict(table.drop(["kind"]))
    assert model.predict(path_without_label(path, tmp_path)).tolist() == expected.tolist()


def path_without_label(path: Path, home: Path) -> Path:
    return to_csv(pyarrow.csv.read_csv(path).drop(["kind"]), home, "unlabelled")


# -- models that cannot do without values


def test_linear_models_name_a_column_without_a_value() -> None:
    table = pa.table({"x": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 1, 0]})
    for stored in (pa.null(), pa.float64(), pa.string()):
        empty = table.append_column("late", pa.nulls(4, stored))
        for model in (
            LinearRegression(),
            LogisticRegression(),
            LinearRegression(incomplete="drop"),
        ):
            with pytest.raises(DataError, match="'late'"):
                model.fit(empty, "y")
    with pytest.raises(DataError, match="column 'late' has no value"):
        LinearRegression(incomplete="gaussian").fit(empty, "y")


def test_options_of_reading_may_change_between_batches() -> None:
    model = NaiveBayes.textbook().fit(pa.table({"c": ["a", "b", "a"], "y": [0, 1, 0]}), "y")
    model.set_params(missing=["?"])
    model.partial_fit(pa.table({"c": ["?", "b"], "y": [0, 1]}), "y")
    assert model.statistic_.blocks[0].total.tolist() == [[2.0], [2.0]]
    model.forget(pa.table({"c": ["?", "b"], "y": [0, 1]}), "y")
    assert model.statistic_.blocks[0].total.tolist() == [[2.0], [1.0]]
