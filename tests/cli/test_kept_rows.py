"""``predict --keep``: predictions beside the columns of their rows, and rows that were left out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import Run

ROWS = 'key,size,color,note\n007,1.10,red,"a, b"\nNA,,,x\n1e3,5.2,green,y\n'


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


@pytest.fixture
def new(model: Path) -> Path:
    path = Path("new.csv")
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize("option", ["--keep", "--id"])
def test_cells_stand_as_in_the_file(run: Run, model: Path, new: Path, option: str) -> None:
    result = run("predict", model, new, option, "key,size,note")
    assert "left out" not in result.stderr or "'note'" not in result.stderr
    header, *rows = rows_of(result.stdout)
    assert header == ["key", "size", "note", "prediction"]
    assert [row[:3] for row in rows] == [
        ["007", "1.10", "a, b"],
        ["NA", "", "x"],
        ["1e3", "5.2", "y"],
    ]
    alone = rows_of(run("predict", model, new).stdout)[1:]
    assert [row[3:] for row in rows] == alone


def test_all_columns_of_several_files_in_json(run: Run, model: Path, new: Path) -> None:
    Path("more.csv").write_text(ROWS)
    printed = run("predict", model, new, "more.csv", "--keep", "all", "--proba", "--json").stdout
    rows = list(map(json.loads, printed.splitlines()))
    assert list(rows[0])[:5] == ["key", "size", "color", "note", "prediction"]
    assert [row["key"] for row in rows] == ["007", "NA", "1e3"] * 2


def test_stored_values_of_parquet(run: Run, model: Path) -> None:
    keys = pa.array([7, None, 9], pa.int32())
    pq.write_table(
        pa.table({"key": keys, "size": [1.1, None, 5.2], "color": ["red"] * 3}), "n.parquet"
    )
    result = run("predict", model, "n.parquet", "--keep", "key", "-o", "out.parquet")
    assert result.exit_code == 0, result.stderr
    found = pq.read_table("out.parquet")
    assert found.column("key").combine_chunks().equals(keys)
    assert found.column_names == ["key", "prediction"]


BAD = "id,size,color\nk1,1.0,red\nk2,2,red,EXTRA\nk3,5.1,blue\nk4\n"


def test_a_malformed_row_has_an_empty_prediction(run: Run, model: Path) -> None:
    Path("bad.csv").write_text(BAD)
    Path("good.csv").write_text("id,size,color\nk5,1.0,\n")
    words = ("predict", model, "bad.csv", "good.csv", "--skip-bad-rows", 2, "--keep", "id")
    assert rows_of(run(*words).stdout)[1:] == [
        ["k1", "apple"],
        ["", ""],
        ["k3", "plum"],
        ["", ""],
        ["k5", "apple"],
    ]


def test_parameters_are_options_of_their_own(run: Run) -> None:
    Path("rows.csv").write_text("a;1,5;?\nb;2,5;3\na;1,0;4\nb;3,0;5\n" * 3)
    words = ("fit", "rows.csv", "--label", "column_1", "-o", "m.suffice", "--json")
    long = run(*words, "--missing", "?", "--no-header", "--alpha=2", "--decimal", ",")
    short = run(*words, "-r", "missing=?", "-r", "header=false", "-p", "alpha=2", "-r", "decimal=,")
    assert long.exit_code == 0, long.stderr
    assert json.loads(long.stdout)["columns"] == json.loads(short.stdout)["columns"]
    wrong = run(*words, "--mising", "?")
    assert wrong.exit_code == 2
    assert "--mising" in wrong.stderr
