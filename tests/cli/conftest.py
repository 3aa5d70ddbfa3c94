"""A small table, a model of it, and a way to run commands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from suffice.cli.app import app
from suffice.cli.documents import schema

Run = Callable[..., Result]

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


@cache
def validator_of(command: str) -> Any:
    """The validator of what a command prints with ``--json``."""
    Draft202012Validator.check_schema(schema(command))
    return Draft202012Validator(schema(command))


@pytest.fixture
def run() -> Run:
    def command(*words: object) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="suffice")
        if "--json" in words and result.exit_code == 0 and result.stdout.startswith("{"):
            validator_of(str(words[0])).validate(json.loads(result.stdout))
        return result

    return command


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    path = tmp_path / "fruit.csv"
    path.write_text(FRUIT)
    return path


@pytest.fixture
def model(run: Run, fruit: Path) -> Path:
    result = run("fit", fruit, "--label", "kind", "--ignore", "id")
    assert result.exit_code == 0, result.stderr
    return fruit.with_name("fruit.suffice")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("SUFFICE_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"the shared data sets are not at {folder}; set SUFFICE_DATA")
    return folder
