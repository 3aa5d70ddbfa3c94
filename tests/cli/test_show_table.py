"""``suffice show`` of a table: how a fit would read it."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run, facts_of


def test_text(run: Run) -> None:
    rows = ["007;1,5;13/02/2024", "008;;14/02/2024", *["8;2,5;16/02/2024"] * 20]
    rows.append("9;2,5;15/02/2024;more")
    Path("t.csv").write_text("\n".join(["id;price;day", *rows, ""]))
    found = facts_of(run, "show", "t.csv", "--skip-bad-rows", 1)
    columns = {one["name"]: (one["type"], one["missing"]) for one in found["columns"]}
    assert columns == {"id": ("string", 0), "price": ("double", 1), "day": ("date32[day]", 0)}
    assert (found["rows"], found["skipped"]) == (22, [{"file": "t.csv", "line": 24}])
    shown = run("show", "t.csv", "--skip-bad-rows", 1).stdout
    for said in ("line 24 of t.csv", "semicolons", "--separator", "DD/MM/YYYY", "Missing: (empty)"):
        assert said in shown


def test_a_column_that_would_be_numbers_but_for_a_few_cells_is_in_doubt(run: Run) -> None:
    Path("t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 30 + "<5,b\n")
    x, y = facts_of(run, "show", "t.csv")["columns"]
    assert (x["kind"], y["doubt"]) == ("category", None)
    for named in ("'x'", "1 of 61", "'<5'", "line 62 of t.csv", "--missing '<5'"):
        assert named in x["doubt"]
    assert "Look: column 'x' would be numbers" in run("show", "t.csv").stdout


def test_a_cell_that_does_not_fit_is_named(run: Run) -> None:
    Path("t.csv").write_text("x,y\n" + "1,a\n" * 70_000 + "odd,b\n")
    result = run("show", "t.csv", "--written", "x=number")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "line 70002 of t.csv, column 'x'" in result.stderr
