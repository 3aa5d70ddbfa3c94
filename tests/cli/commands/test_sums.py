"""Files of sums on the command line: where they stand in for rows, and where for no model."""

from __future__ import annotations

from pathlib import Path

import suffice

from ..conftest import Run

SUMS = ("--label", "kind", "--ignore", "id")


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
