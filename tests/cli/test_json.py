"""``--json``: what commands that write a file report to programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suffice.cli.register import COMMANDS

from .conftest import Run

FOR_ROWS_OR_PEOPLE = {"demo", "export", "predict", "sample"}


def facts(run: Run, *words: object) -> dict[str, Any]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - FOR_ROWS_OR_PEOPLE))
def test_every_command_that_reports_has_the_option(run: Run, command: str) -> None:
    assert "--json" in run(command, "--help", "all").stdout
    schemas = Path(__file__).parents[2] / "src" / "suffice" / "cli" / "schemas"
    assert (schemas / f"{command}.json").is_file()


def test_a_merge(run: Run, model: Path) -> None:
    found = facts(run, "merge", model, model, "-o", "both.suffice")
    assert found == {"model": "both.suffice", "merged": 2, "rows": 12.0}


def test_rows_that_leave(run: Run, model: Path, fruit: Path) -> None:
    one = "".join(fruit.read_text().splitlines(keepends=True)[:2])
    Path("one.csv").write_text(one)
    found = facts(run, "forget", model, "one.csv", "-o", "less.suffice")
    assert found == {"model": "less.suffice", "forgotten": 1.0, "rows": 5.0}


def test_weights_of_columns(run: Run, model: Path, fruit: Path) -> None:
    found = facts(run, "calibrate", model, fruit, "-o", "again.suffice")
    assert (found["model"], found["rows"]) == ("again.suffice", 6.0)
    assert found["log_loss"] > 0 < found["log_loss_before"]


def test_errors_of_a_regression(run: Run) -> None:
    rows = "".join(f"{x},{2 * x + (-1) ** x}\n" for x in range(20))
    Path("line.csv").write_text("x,y\n" + rows)
    assert run("fit", "line.csv", "--label", "y", "--model", "linear").exit_code == 0
    found = facts(run, "calibrate", "line.suffice", "line.csv", "-o", "line.suffice")
    assert (found["model"], found["rows"]) == ("line.suffice", 20.0)
    assert found["median_errors"] == pytest.approx([1.05], abs=0.05)  # about 1, each row left out


def test_a_page(run: Run, model: Path) -> None:
    pytest.importorskip("jinja2", reason="Jinja2 is not installed")
    assert facts(run, "report", model) == {"page": str(model.with_suffix(".html"))}
