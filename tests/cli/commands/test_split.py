"""``suffice split``, ``demo --files`` and completion: before the first fit, and beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice

from ..conftest import Run

ROWS = [f'00{i};"a; b {i}";{i % 7},5;{"NA" if i % 9 == 0 else "ab"[i % 3 > 1]}' for i in range(60)]


@pytest.fixture
def table() -> Path:
    Path("t.csv").write_text("\n".join(["id;note;size;kind", *ROWS, ""]))
    return Path("t.csv")


def parts(run: Run, *words: object) -> list[list[str]]:
    found = run("split", *words, "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    lines = [Path(file).read_text().splitlines() for file in facts["files"]]
    assert [len(part) - 1 for part in lines] == facts["rows"]
    assert lines[0][0] == lines[1][0]
    return [part[1:] for part in lines]


def test_cells_and_order_stay(run: Run, table: Path) -> None:
    train, test = parts(run, "t.csv")
    assert (len(train), len(test)) == (45, 15)
    assert sorted(train + test) == sorted(ROWS)
    for part in (train, test):
        assert part == [row for row in ROWS if row in part]
    assert parts(run, "t.csv") == [train, test]
    assert parts(run, "t.csv", "--seed", 1) != [train, test]
    assert parts(run, "t.csv", "--in-order", "--test", 0.2)[1] == ROWS[48:]


def test_labels_and_groups(run: Run, table: Path) -> None:
    _, test = parts(run, "t.csv", "--label", "kind", "--test", 0.3)
    labels = [row.rpartition(";")[2] for row in ROWS]
    shares = {c: sum(row.endswith(f";{c}") for row in test) / labels.count(c) for c in set(labels)}
    assert all(abs(share - 0.3) < 0.1 for share in shares.values())
    train, test = parts(run, "t.csv", "--by", "size")
    groups = [{row.split(";")[-2] for row in part} for part in (train, test)]
    assert groups[0].isdisjoint(groups[1])
    assert 5 < len(test) < 25


def test_other_formats_stay(run: Run, table: Path) -> None:
    pq.write_table(pa.table({"x": list(range(20)), "y": ["a", "b"] * 10}), "t.parquet")
    assert run("split", "t.parquet", "--label", "y").exit_code == 0
    found = [pq.read_table(f"t_{part}.parquet") for part in ("train", "test")]
    assert sorted(pa.concat_tables(found)["x"].to_pylist()) == list(range(20))
    Path("bare.csv").write_text("1,2\n3,4\n5,6\n7,8\n")
    assert run("split", "bare.csv").exit_code == 0
    assert Path("bare_train.csv").read_text().count("\n") == 3


def test_files_that_need_options(run: Run) -> None:
    Path("t.csv").write_text("Preis €,,y\n1,,u\n?,,v\n3,,u\n9\n", "cp1252")
    refused = run("split", "t.csv").stderr
    assert "byte 0x80" in refused
    assert "--encoding cp1252" in refused
    found = run("split", "t.csv", "--encoding", "cp1252", "--missing", "?", "--skip-bad-rows", 1)
    assert found.exit_code == 0, found.stderr
    assert "utf8" in found.stderr
    assert "'column_2'" in found.stderr
    train, test = (Path(f"t_{part}.csv").read_text().split() for part in ("train", "test"))
    assert sorted(train + test) == ["1,u", "3,u", "?,v", "Preis", "Preis", "€,y", "€,y"]
    assert run("fit", "t_train.csv", "--label", "y", "-o", "m.suffice").exit_code == 0
    Path("new.csv").write_text("Preis €,,y\n7,,u\n")
    assert "7,u" in run("predict", "m.suffice", "new.csv", "--keep", "Preis €").stdout
    assert "--output o.pdf" in run("report", "m.suffice", "-o", "o.pdf").stderr


def test_files_to_play_with(run: Run) -> None:
    assert "4 files written to fun" in run("demo", "--files", "fun").stdout
    assert run("fit", "fun/diabetes.csv", "--target", "progression").exit_code == 0
    assert isinstance(suffice.load("diabetes.suffice"), suffice.LinearRegression)
    assert run("fit", "fun/january.csv", "--label", "left").exit_code == 0
    assert run("update", "january.suffice", "fun/february.csv").exit_code == 0
    assert run("demo", "--files", "fun").exit_code == 2


def test_completion() -> None:
    asked = {"COMP_WORDS": "suffice cv --met", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "suffice"],
        env=os.environ | asked | {"_SUFFICE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "--metric\n"


def test_a_fit_and_show_without_a_model_name(run: Run, table: Path) -> None:
    words = ("t.csv", "--ignore", "id,note", "--written", "size:1,5")
    done = run("fit", *words, "--target", "size", "--incomplete", "drop", "-o", "size.suffice")
    assert done.exit_code == 0, done.stderr
    assert "'size' holds numbers, which --model linear predicts" in done.stderr
    shown = run("show", "size.suffice")
    assert (shown.exit_code, "kind[b]" in shown.stdout) == (0, True)
    assert "note: 'kind'" not in run("fit", *words, "--label", "kind", "-o", "kind.suffice").stderr
    for model in ("lasso", "elastic-net", "ridge", "linear"):
        names = ("--target", "size", "--model", model, "--incomplete", "drop", "-o", f"{model}.s")
        assert run("fit", *words, *names).exit_code == 0
        assert run("show", f"{model}.s").exit_code == 0
    assert run("sums", *words, "--label", "kind", "-o", "t.sums").exit_code == 0
    assert "sums for NaiveBayes: 53 rows" in run("show", "t.sums").stdout


def test_one_row_is_a_row(run: Run) -> None:
    Path("two.csv").write_text("a,y\n1,p\n2,q\n")
    assert "1 row to two_train.csv" in run("split", "two.csv", "--test", "0.5").stdout
