"""Files of sums on the command line: where they stand in for rows, and where for no model."""

from __future__ import annotations

from pathlib import Path

import pytest

import suffice

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


def test_sums_are_not_lost_to_a_model(run: Run, fruit: Path) -> None:
    name = f"{fruit.stem}.suffice"  # where a fit of the table, or of the sums, is saved
    assert run("sums", fruit, *SUMS, "-o", name).exit_code == 0
    before = Path(name).read_bytes()
    for words in ((fruit, *SUMS), (name,)):
        found = run("fit", *words)
        assert found.exit_code == 2
        assert f"{name} holds sums; they would be lost; give another name" in found.stderr
        assert Path(name).read_bytes() == before


def test_groups_are_fitted_by_their_keys(run: Run, fruit: Path) -> None:
    assert run("sums", fruit, *SUMS, "--by", "color", "-o", "by.sums").exit_code == 0
    found = run("fit", "by.sums", "--where", "color=red")
    assert (found.exit_code, "Saved to by.suffice" in found.stdout) == (0, True)
    assert suffice.load("by.suffice").class_count_.sum() < suffice.load("by.sums").rows.sum()
    wrong = {"color": "--where color; it is a key and a value", "hue=red": "'hue' is no key"}
    for where, said in wrong.items():
        refused = run("fit", "by.sums", "--where", where)
        assert (refused.exit_code, said in refused.stderr) == (2, True)
