"""A disk that is full, a size limit, a stream that is closed: one sentence that names the file."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice import LinearRegression, NaiveBayes, read_table

FULL = Path("/dev/full")
LIMIT = 1_024  # bytes of a file

needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


def suffice(*words: object, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "suffice", *map(str, words)]
    # What is not buffered cannot be lost in a buffer. Compiled modules would be cut off as well.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(command, text=True, check=False, stderr=subprocess.PIPE, env=env, **how)


def small_files_only() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 2,000 rows, with a classifier and a line through it beside it."""
    folder = tmp_path_factory.mktemp("rows")
    x = np.random.default_rng(0).normal(size=(2_000, 2)).round(4)
    lines = [f"{a},{b},{'no' if a < b else 'yes'}" for a, b in x.tolist()]
    (folder / "rows.csv").write_text("\n".join(["x,y,kind", *lines, ""]))
    table = read_table(folder / "rows.csv")
    NaiveBayes(calibration="none").fit(table, "kind").save(folder / "classes.suffice")
    numbers = read_table(folder / "rows.csv", ignore=["kind"])
    LinearRegression().fit(numbers, "y").save(folder / "line.suffice")
    return folder


def at_length(*commands: str) -> list[Any]:
    """Commands whose standard output goes the same way, and is tested when there is time."""
    return [pytest.param(words, marks=pytest.mark.exhaustive) for words in commands]


FILES = {
    "predict classes.suffice rows.csv --proba -o out.csv": "out.csv: File too large.",
    "predict line.suffice rows.csv -o out.parquet": "out.parquet: File too large.",
    "merge classes.suffice classes.suffice -o out.suffice": (
        "out.suffice cannot be written: File too large; check the path, its permissions and the "
        "free space."
    ),
}


@pytest.mark.parametrize("words", [next(iter(FILES)), *at_length(*list(FILES)[1:])])
def test_a_file_that_cannot_grow_is_named(words: str, rows: Path) -> None:
    before = sorted(path.name for path in rows.iterdir())
    done = suffice(*words.split(), cwd=rows, preexec_fn=small_files_only, stdout=subprocess.PIPE)
    assert done.stderr == f"error: {FILES[words]}\n"
    assert done.returncode == 2
    assert sorted(path.name for path in rows.iterdir()) == before


PRINTED = at_length(
    "predict classes.suffice rows.csv",
    "--version",
    "predict line.suffice rows.csv --interval prediction",
    "evaluate classes.suffice rows.csv --json",
    "explain classes.suffice rows.csv --rows 2",
    "merge classes.suffice classes.suffice -o twice.suffice",
)
FEW = at_length(
    "predict classes.suffice rows.csv", "show classes.suffice --json", "summary line.suffice"
)
UNREAD = [
    "predict classes.suffice rows.csv",
    *at_length(
        "predict classes.suffice rows.csv --json",
        "export classes.suffice --to json",
        "fit --help",
        "--version",
        "--help",
        "fit rows.csv --label kind -p calibration=none -o unread.suffice",
        "cv rows.csv --label kind --model lda --folds 2",
        "evaluate classes.suffice rows.csv",
        "explain classes.suffice rows.csv --rows 2 --json",
        "show classes.suffice --json",
        "columns classes.suffice",
        "summary line.suffice",
        "sample classes.suffice -n 2000",
        "sample classes.suffice -n 2000 --json",
        "report classes.suffice -o unread.html",
        "merge classes.suffice classes.suffice -o unread-twice.suffice",
        "compare classes.suffice classes.suffice",
        "audit classes.suffice",
        "demo",
    ),
]


@needs_full
@pytest.mark.parametrize("words", PRINTED)
def test_a_stream_to_a_full_device_is_named(words: str, rows: Path) -> None:
    with FULL.open("w") as full:
        done = suffice(*words.split(), cwd=rows, stdout=full)
    assert done.stderr == "error: standard output: No space left on device.\n"
    assert done.returncode == 2


@needs_full
def test_the_shortest_answer_is_not_lost_in_a_buffer(rows: Path, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x,y\n1,2\n")
    with FULL.open("w") as full:
        done = suffice("predict", rows / "classes.suffice", tmp_path / "one.csv", stdout=full)
    assert done.stderr == "error: standard output: No space left on device.\n"
    assert done.returncode == 2


@pytest.mark.parametrize("words", FEW)
def test_a_closed_stream_is_named(words: str, rows: Path) -> None:
    done = suffice(*words.split(), cwd=rows, preexec_fn=lambda: os.close(1))
    assert done.stderr == "error: standard output: Bad file descriptor.\n"
    assert done.returncode == 2


@pytest.mark.parametrize("words", UNREAD)
def test_a_reader_that_has_gone_needs_no_sentence(words: str, rows: Path) -> None:
    done = suffice(*words.split(), cwd=rows, stdout=unread())
    assert done.stderr == ""
    assert done.returncode == 141


def unread() -> int:
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing
