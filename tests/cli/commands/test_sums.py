"""Files of sums on the command line: where they stand in for rows, and where for no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import Run

SUMS = ("--label", "kind", "--ignore", "id")


@pytest.mark.parametrize(
    "command",
    ["predict", "evaluate", "explain", "report", "columns", "sample", "update", "export --to json"],
)
def test_sums_are_no_model(run: Run, fruit: Path, command: str) -> None:
    assert run("sums", fruit, *SUMS, "--by", "color", "-o", "fruit.sums").exit_code == 0
    data = () if command.split()[0] in ("report", "columns", "sample", "export") else (fruit,)
    found = run(*command.split(), "fruit.sums", *data)
    assert found.exit_code == 2
    assert "fruit.sums holds sums" in found.stderr
    assert "suffice fit fruit.sums" in found.stderr


def test_the_file_that_is_wrong_is_named(run: Run, fruit: Path, model: Path) -> None:
    assert run("sums", fruit, *SUMS, "-o", "fruit.sums").exit_code == 0
    commands = [("fit", "nowhere.sums"), ("fit", str(model))]
    commands += [("merge", "fruit.sums", other) for other in ("nowhere.sums", str(fruit))]
    for *words, wrong in commands:
        found = run(*words, wrong, "-o", "x.suffice")
        assert found.exit_code == 2
        assert wrong in found.stderr


@pytest.mark.parametrize("name", ["logistic", "auto"])
def test_models_without_sums_are_named(run: Run, fruit: Path, name: str) -> None:
    assert run("sums", fruit, *SUMS, "-o", "fruit.sums").exit_code == 0
    of_rows = run("sums", fruit, *SUMS, "--model", name, "-o", "x.sums")
    of_sums = run("fit", "fruit.sums", "--model", name, "-o", "x.suffice")
    for found in (of_rows, of_sums):
        assert found.exit_code == 2
        assert f"--model {name}" in found.stderr
