"""Numbers, dates and truth values stored as text: one thing from every source."""

from __future__ import annotations

import datetime as dt
import sqlite3
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.data.spellings import SPELLINGS

from suffice import LinearRegression, NaiveBayes, read_sql, read_table
from suffice.errors import ReadError, SchemaError, SufficeWarning

pytestmark = pytest.mark.filterwarnings("ignore:strings are read:suffice.errors.SufficeWarning")


def _database(frame: pd.DataFrame, _: Path) -> Any:
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("rows", connection, index=False)
        return read_sql("SELECT * FROM rows", connection)


def _file(name: str, write: Callable[[pd.DataFrame, Path], Any]) -> Callable[..., Any]:
    def written(frame: pd.DataFrame, folder: Path) -> Path:
        write(frame, folder / name)
        return folder / name

    return written


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "Parquet": _file("rows.parquet", lambda frame, path: frame.to_parquet(path)),
    "Excel": _file("rows.xlsx", lambda frame, path: frame.to_excel(path, index=False)),
    "JSON": _file("rows.json", lambda frame, path: frame.to_json(path, orient="records")),
    "SQLite": _database,
    "pandas": lambda frame, _: frame.astype(object),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars, lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "Arrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
}


def check_read(spellings: Iterable[str], source: str, folder: Path) -> None:
    """Columns of a table hold what their cells stand for."""
    columns = {name: [*SPELLINGS[name].cells, None] for name in spellings}
    rows = pd.DataFrame(columns | {"row": range(5)})
    table = read_table(SOURCES[source](rows, folder))
    head = table.head()
    (part,) = table.parts(dict.fromkeys(columns))
    read = next(part.record_batches())
    for name in columns:
        found, values = head.column(name).to_pylist(), SPELLINGS[name].values
        if isinstance(values[0], dt.datetime):  # in a time zone, or without
            found = [value if value is None else value.replace(tzinfo=None) for value in found]
        assert found == [*values, None]
        assert not pa.types.is_string(head.schema.field(name).type)
        assert read.column(name).equals(head.column(name))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_read(spelling: str, tmp_path: Path) -> None:
    check_read([spelling], "pandas", tmp_path)


@pytest.mark.parametrize("source", SOURCES)
def test_spellings_of_every_source_are_read(source: str, tmp_path: Path) -> None:
    check_read(SPELLINGS, source, tmp_path)


@pytest.mark.parametrize("spelling", ["dollars", "German dates"])
def test_a_model_of_any_source_predicts_any_other(spelling: str, tmp_path: Path) -> None:
    rows = pd.DataFrame({"x": SPELLINGS[spelling].cells * 5, "kind": list("aabbabbbab") * 2})
    sources = [make(rows, tmp_path) for make in SOURCES.values()]
    models = [NaiveBayes().fit(source, "kind") for source in sources]
    expected = models[0].predict_proba(sources[0])
    for model in models:
        np.testing.assert_array_equal(model.predict_proba(sources[0]), expected)
    for source in sources:
        np.testing.assert_array_equal(models[-1].predict_proba(source), expected)


@pytest.mark.parametrize("source", ["Parquet", "pandas"])
@pytest.mark.parametrize(
    "cells", [["01", "1"], ["007", "10"], ["a", "b"], ["1", "x"], ["1.5.1", "2.0.0"]]
)
def test_codes_and_words_stay_text(cells: list[str], source: str, tmp_path: Path) -> None:
    table = read_table(SOURCES[source](pd.DataFrame({"x": cells}), tmp_path))
    with warnings.catch_warnings(action="ignore"):
        assert table.head().column(0).to_pylist() == cells


@pytest.mark.parametrize("source", SOURCES)
def test_a_few_odd_cells_are_named(source: str, tmp_path: Path) -> None:
    rows = pd.DataFrame({"x": [*map(str, range(30)), "<0.5"], "y": ["a", "b", "a"] * 10 + ["b"]})
    with pytest.warns(SufficeWarning, match=r"'x' would be .* 1 of 31 cells, first '<0.5'"):
        model = NaiveBayes().fit(SOURCES[source](rows, tmp_path), "y")
    assert model.schema_[0].kind == "category"
    with warnings.catch_warnings(action="ignore"):
        table = read_table(SOURCES[source](rows, tmp_path), missing=["<0.5"])
        assert NaiveBayes().fit(table, "y").schema_[0].kind == "real"


def test_blank_cells_are_missing_and_said() -> None:
    rows = pd.DataFrame({"x": [" ", "1.5", "2.5", "NA"]})
    with pytest.warns(SufficeWarning, match="2 cells of column 'x' stand for a missing value"):
        assert read_table(rows).head().to_pydict() == {"x": [None, 1.5, 2.5, None]}


def test_the_label_keeps_its_spelling() -> None:
    rows = pd.DataFrame({"x": ["1", "2", "8", "9"], "kind": ["01", "01", "1E1", "1E1"]})
    assert NaiveBayes.textbook().fit(rows, "kind").predict({"x": ["1", "9"]}).tolist() == [
        "01",
        "1E1",
    ]


def test_dates_of_which_nobody_knows_the_day_stay_text() -> None:
    rows = pd.DataFrame({"x": ["01/02/2024", "03/04/2024"]})
    with pytest.warns(SufficeWarning, match="'x' is kept as text.* two ways"):
        assert read_table(rows).head().to_pydict() == rows.to_dict("list")


def test_a_categorical_type_keeps_the_text() -> None:
    rows = pd.DataFrame({"x": pd.Categorical(["$1", "$2"])})
    assert read_table(rows).head().to_pydict() == {"x": ["$1", "$2"]}


def test_a_later_cell_that_does_not_obey_is_named(tmp_path: Path) -> None:
    rows = pd.DataFrame({"x": ["$1.5", "$2.5", "$4"], "y": [1.0, 2.0, 4.0]})
    model = LinearRegression().fit(rows, "y")
    wrong = rows.assign(x=["$1", "two", "$3"])
    with pytest.raises(SchemaError, match=r"column 'x', row 1: 'two'"):
        model.predict(wrong)
    wrong.to_parquet(tmp_path / "rows.parquet", row_group_size=1)
    with pytest.raises(ReadError, match=r"row 2 of rows.parquet, column 'x': 'two'"):
        model.predict(tmp_path / "rows.parquet")


def test_whole_numbers_of_first_rows_may_be_followed_by_fractions(tmp_path: Path) -> None:
    n = 70_000
    rows = pd.DataFrame({"x": ["1", "2"] * (n // 2) + ["2.5"], "y": [1.0, 2.0] * (n // 2) + [2.5]})
    rows.to_parquet(tmp_path / "rows.parquet")
    model = LinearRegression().fit(tmp_path / "rows.parquet", "y")
    np.testing.assert_allclose(model.coef_, [1.0])
