"""A small table, a model of it, and a way to run commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from suffice.cli.app import app

Run = Callable[..., Result]
GROUP: Any = get_command(app)
COMMANDS = list(GROUP.commands)

FRUIT = """\
id,size,color,kind
1,1.0,red,apple
2,1.2,,apple
3,,red,apple
4,5.0,blue,plum
5,5.5,blue,plum
6,4.8,red,plum
"""


@pytest.fixture(autouse=True)
def _in_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")


def command(*words: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="suffice")


@pytest.fixture
def run() -> Run:
    return command


def facts_of(run: Run, *words: object) -> Any:
    """What a command prints as JSON."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def contents() -> dict[str, bytes]:
    """What is in the files of the current folder."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


# Names of types and objects that only programmers know.
FOREIGN = re.compile(
    r"Traceback|large_string|\bint64\b|\bdouble\b|\bdtype\b|\bNoneType\b|<class|object at 0x|"
    "pyarrow"
)


def check_refused(words: str, said: str = "") -> None:
    """Check that a command ends with exit code 2, one sentence, and every file as it was."""
    before = contents()
    result = command(*words.split())
    *notes, error = result.stderr.splitlines()
    assert all(note.startswith(("note: ", "warning: ")) for note in notes)
    assert error.startswith("error: ")
    assert said in error
    assert not FOREIGN.search(result.stderr)
    assert error.endswith(".")
    assert (result.exit_code, result.stdout) == (2, "")
    assert contents() == before


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    path = tmp_path / "fruit.csv"
    path.write_text(FRUIT)
    return path


@cache
def model_of_fruit() -> bytes:
    """What ``fit`` saves of the table of fruit in the current folder."""
    result = command("fit", "fruit.csv", "--label", "kind", "--ignore", "id")
    assert result.exit_code == 0, result.stderr
    return Path("fruit.suffice").read_bytes()


@pytest.fixture
def model(fruit: Path) -> Path:
    path = fruit.with_name("fruit.suffice")
    path.write_bytes(model_of_fruit())
    return path
