"""Small bars on a terminal, and none where output is piped."""

import os
import pty
import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from suffice import NaiveBayes

TABLE = pa.table({"hue": ["red"] * 6 + ["blue"] * 4, "kind": ["a"] * 5 + ["b"] * 5})


@pytest.fixture
def files(tmp_path: Path) -> Path:
    NaiveBayes.textbook(estimation="mle", alpha=0.0).fit(TABLE, "kind").save("model.suffice")
    csv.write_csv(TABLE, "rows.csv")
    return tmp_path


def on_terminal(*arguments: str, **variables: str) -> str:
    """What a command prints on a terminal, without its colours."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "COLUMNS": "100"} | variables)
        os.execv(sys.executable, [sys.executable, "-m", "suffice", *arguments])
    printed = b""
    try:
        while piece := os.read(terminal, 65_536):
            printed += piece
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", printed.decode())


def test_shares_have_bars_on_a_terminal(files: Path) -> None:
    judged = on_terminal("evaluate", "model.suffice", "rows.csv")
    assert re.search(r" a +5 +0 +████████ +100\.0 %", judged)
    assert re.search(r" b +1 +4 +██████▍ +80\.0 %", judged)


def test_no_bars_on_a_terminal_that_cannot_show_them(files: Path) -> None:
    printed = on_terminal("show", "model.suffice", PYTHONIOENCODING="ascii:replace")
    assert re.search(r" a[ |]+5[ |]+50\.0 %", printed)
