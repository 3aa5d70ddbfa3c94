"""Files of a small table, and the command line in this process."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FRUIT = [
    ("1.0", "red", "apple"),
    ("1.2", "", "apple"),
    ("", "red", "apple"),
    ("1.5", "red", "apple"),
    ("2.0", "blue", "apple"),
    ("5.0", "blue", "plum"),
    ("5.5", "blue", "plum"),
    ("4.8", "red", "plum"),
    ("6.1", "blue", "plum"),
    ("5.2", "", "plum"),
]


@pytest.fixture
def fruit() -> dict[str, list[Any]]:
    """Ten fruits: a size, a colour, a kind; four cells are missing."""
    size, color, kind = zip(*FRUIT, strict=True)
    return {
        "size": [float(cell) if cell else None for cell in size],
        "color": [cell or None for cell in color],
        "kind": list(kind),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with ``fruit.csv`` in it and ``line.csv``, y = 1 + 2x ± 0.5."""
    monkeypatch.chdir(tmp_path)
    Path("fruit.csv").write_text("size,color,kind\n" + "".join(f"{','.join(r)}\n" for r in FRUIT))
    rows = (f"{x}.5,{2 * x + 2 + (0.5 if x % 2 else -0.5)}\n" for x in range(12))
    Path("line.csv").write_text("x,y\n" + "".join(rows))
    return tmp_path


@pytest.fixture
def suffice_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command line in this process; return what it prints."""
    from typer.testing import CliRunner

    from suffice.cli.app import app

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")

    def run(line: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(app, shlex.split(line), prog_name="suffice")
        assert result.exit_code == exit_code, result.output
        return result.output

    return run
