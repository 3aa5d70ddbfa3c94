"""Where the work is done, and work that is interrupted and taken up again."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from suffice.sums.base import TreeSum

from .conftest import Run

GROUPS = 16


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 20 * GROUPS
    x = rng.normal(size=n)
    table = pa.table(
        {
            "size": x,
            "colour": rng.choice(["red", "green"], n),
            "kind": np.where(x + rng.normal(size=n) > 0, "apple", "plum"),
        }
    )
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=20)
    return path


@pytest.fixture
def interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command during which the user presses Ctrl-C, after twelve row groups."""
    add = TreeSum.add

    def add_and_interrupt(self: Any, term: Any) -> None:
        add(self, term)
        if self.done == 12:
            signal.raise_signal(signal.SIGINT)

    def command(*words: object) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(TreeSum, "add", add_and_interrupt)
            return run(*words)

    return command


FIT = ("--label", "kind", "--checkpoint", "fit.checkpoint")


def test_an_interrupted_fit_goes_on(run: Run, interrupted: Run, rows: Path) -> None:
    assert run("fit", rows, "--label", "kind", "-o", "whole").exit_code == 0
    done = interrupted("fit", rows, *FIT)
    assert done.exit_code == 130
    assert done.stdout == ""
    assert done.stderr == (
        "interrupted. What is summed so far is kept in fit.checkpoint: run the same again to go "
        "on.\n"
    )
    assert not Path("rows.suffice").exists()
    result = run("fit", rows, *FIT)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert Path("rows.suffice").read_bytes() == Path("whole").read_bytes()
    assert sorted(os.listdir()) == ["rows.parquet", "rows.suffice", "whole"]


def test_other_work_and_damage_are_refused(run: Run, interrupted: Run, rows: Path) -> None:
    interrupted("fit", rows, *FIT)
    result = run("fit", rows, *FIT, "-p", "alpha=2")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: fit.checkpoint is the checkpoint of other work; ")
    path = Path("fit.checkpoint")
    path.write_bytes(path.read_bytes()[:-100])
    result = run("fit", rows, *FIT)
    assert result.exit_code == 2
    assert "it was to be a checkpoint to go on from" in result.stderr


def test_the_checkpoint_stays_until_the_model_is_safe(run: Run, rows: Path) -> None:
    result = run("fit", rows, *FIT, "-o", "absent/model.suffice")
    assert result.exit_code == 2
    assert Path("fit.checkpoint").exists()
    result = run("fit", rows, *FIT, "-o", "model.suffice")
    assert result.exit_code == 0
    assert sorted(os.listdir()) == ["model.suffice", "rows.parquet"]


def test_a_checkpoint_has_a_name_of_its_own(run: Run, rows: Path) -> None:
    result = run("fit", rows, "--label", "kind", "--checkpoint", rows)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: --checkpoint {rows} is one of the files to be read;")
    result = run("fit", rows, "--label", "kind", "--checkpoint", "rows.suffice")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --checkpoint rows.suffice is the model file; ")


def test_the_engine_changes_no_bit(run: Run, rows: Path) -> None:
    assert run("fit", rows, "--label", "kind", "-o", "whole").exit_code == 0
    commands = [["evaluate", "whole", rows, "--json"], ["predict", "whole", rows, "--proba"]]
    expected = [run(*words).stdout for words in commands]
    options = ["--engine", "local=2"]
    assert run("fit", rows, "--label", "kind", "-o", "model", *options).exit_code == 0
    assert Path("model").read_bytes() == Path("whole").read_bytes()
    results = [run(*words, *options) for words in commands]
    assert [one.stderr for one in results] == ["", ""]
    assert [one.stdout for one in results] == expected
