"""What only a process of its own shows: imports, exit codes, streams."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from suffice import load

from .conftest import Run


def suffice(*words: object, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "suffice", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_a_bad_cell_lets_the_process_end(fruit: Path) -> None:
    # Threads of pyarrow that still held the file used to stop the interpreter from ending.
    done = suffice("fit", fruit, "--label", "kind", "-p", "families=color:poisson")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: line 2 of fruit.csv, column 'color': 'red'")
    assert done.stderr.count("\n") == 1


def test_rows_come_through_a_pipe(fruit: Path, model: Path) -> None:
    done = suffice("fit", "-", "--label", "kind", "--ignore", "id", given=fruit.read_text())
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.endswith("  Saved to model.suffice\n")
    assert load("model.suffice").statistic_ == load(model).statistic_
    done = suffice("predict", model, "-", "--keep", "id", given=fruit.read_text())
    assert done.returncode == 0
    answers = zip("123456", ["apple"] * 3 + ["plum"] * 3, strict=True)
    assert done.stdout.split() == ["id,prediction", *map(",".join, answers)]


def test_demo_needs_no_file(run: Run) -> None:
    done = run("demo")
    assert done.exit_code == 0
    assert done.stderr == ""
    for line in ("177 Italian wines", "log-odds of", "suffice fit table.csv"):
        assert line in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
