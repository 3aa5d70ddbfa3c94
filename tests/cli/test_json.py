"""``--json``: what commands that write a file report to programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from .conftest import COMMANDS, Run, facts_of


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "demo"])
def test_every_command_has_the_option(run: Run, command: str) -> None:
    assert "--json" in run(command, "--help").stdout


def test_a_merge(run: Run, model: Path) -> None:
    found = facts_of(run, "merge", model, model, "-o", "both.suffice")
    assert found == {"model": "both.suffice", "merged": 2, "rows": 12.0}


NEW = "size,color\n1.1,red\n,\n5.2,green\n"


def test_answers_are_lines(run: Run, model: Path) -> None:
    Path("new.csv").write_text(NEW)
    rows = list(csv.DictReader(run("predict", model, "new.csv", "--proba").stdout.splitlines()))
    printed = run("predict", model, "new.csv", "--proba", "--json").stdout
    assert [
        {name: str(cell) for name, cell in json.loads(line).items()}
        for line in printed.splitlines()
    ] == rows
    assert run("predict", model, "new.csv", "--proba", "-o", "a.jsonl").exit_code == 0
    assert Path("a.jsonl").read_text() == printed


def test_a_row_without_an_answer_has_null(run: Run) -> None:
    Path("line.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,4\n")
    run("fit", "line.csv", "--label", "y", "--model", "linear")
    Path("new.csv").write_text("x\n1\nNA\n3\n")
    printed = run("predict", "line.suffice", "new.csv", "--json").stdout.splitlines()
    answers = [json.loads(line)["prediction"] for line in printed]
    assert [answer is None for answer in answers] == [False, True, False]


def test_a_row_left_out_has_its_line(run: Run) -> None:
    Path("line.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,4\n")
    run("fit", "line.csv", "--label", "y", "--model", "linear")
    Path("new.csv").write_text("x,z\n1,a\n2,b,more\n3,c\n4,d,more\n")
    words = ("predict", "line.suffice", "new.csv", "--skip-bad-rows", "2", "--json")
    found = list(map(json.loads, run(*words).stdout.splitlines()))
    assert [row["skipped_line"] for row in found] == [None, 3, None, 5]
    assert [row["prediction"] is None for row in found] == [False, True, False, True]


def test_a_warning_stands_between_lines(run: Run) -> None:
    Path("line.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,4\n")
    run("fit", "line.csv", "--label", "y", "--model", "linear")
    Path("new.csv").write_text("x\n1\nNA\n")
    lines = run("predict", "line.suffice", "new.csv", "--json").output.splitlines()
    (said,) = (line for line in lines if "warning: " in line)
    assert said.startswith("warning: 1 of 2 rows has no answer")


def test_drawn_rows(run: Run, model: Path) -> None:
    words = "sample", model, "-n", 4, "--seed", 7
    drawn = list(csv.DictReader(run(*words).stdout.splitlines()))
    lines = map(json.loads, run(*words, "--json").stdout.splitlines())
    assert [{name: str(cell) for name, cell in row.items()} for row in lines] == drawn


def test_an_export(run: Run, model: Path) -> None:
    found = facts_of(run, "export", model, "--to", "json")
    assert found["content"] == run("export", model, "--to", "json").stdout
    assert found["bytes"] == len(found["content"].encode())
    report = facts_of(run, "export", model, "--to", "json", "-o", "model.json")
    assert Path("model.json").read_text() == found["content"]
    assert report == found | {"output": "model.json", "content": None}


def test_sql_that_refuses_nulls_says_where(run: Run) -> None:
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    Path("line.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,4\n")
    run("fit", "line.csv", "--label", "y", "--model", "linear")
    of_sql = ("--to", "sql", "--dialect", "duckdb", "--table", "t")
    assert facts_of(run, "export", "line.suffice", *of_sql)["refuses_null"] == ["x"]
