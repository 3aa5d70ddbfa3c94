"""Commands that a signal ends: what they keep, and what they leave behind."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice.cli import main

from .conftest import Run

# The command says that it is in the middle of a sum, and waits there for a signal.
MIDDLE = """\
import os, signal, sys, time
from suffice.cli import main
from suffice.sums.base import TreeSum

add = TreeSum.add

def add_and_wait(self, term):
    add(self, term)
    if self.done == 12:
        os.write({pipe}, b".")
        while True:
            time.sleep(0.1)  # a signal may come just before pause(), which would not see it

if __name__ == "__main__":
    TreeSum.add = add_and_wait
    sys.argv = ["suffice", *{words!r}]
    main()
"""
KEPT = "What is summed so far is kept in fit.checkpoint: run the same again to go on."
FIT = ("--label", "kind", "--checkpoint", "fit.checkpoint")
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
Popen = subprocess.Popen[str]


@pytest.fixture(autouse=True)
def reporting_bytes() -> Iterator[None]:
    """What the tests ignore, under nohup or cron, commands that they start would ignore too."""
    ignored = [number for number in STATUS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of the commands."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    kind = np.where(x + rng.normal(size=600) > 0, "apple", "plum")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"size": x, "kind": kind}), path, row_group_size=20)
    return path


@contextmanager
def in_the_middle(*words: object, code: str = MIDDLE, **how: Any) -> Iterator[Popen]:
    """A command that has come half the way."""
    said, saying = os.pipe()
    script = Path(f"command{said}.py")
    script.write_text(code.format(pipe=saying, words=[str(word) for word in words]))
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, text=True, pass_fds=[saying], **streams) as process:
        os.close(saying)
        try:
            assert os.read(said, 1) == b"."
            yield process
        finally:
            process.kill()
            os.close(said)
            script.unlink()


def ended(process: Popen, number: int) -> tuple[int, str, str]:
    """Send a signal, and return how the command ends."""
    process.send_signal(number)
    out, errors = process.communicate()
    return process.returncode, out, errors


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive), signal.SIGTERM]
)
def test_a_signal_keeps_the_checkpoint(run: Run, rows: Path, number: signal.Signals) -> None:
    assert run("fit", rows, "--label", "kind", "-o", "whole").exit_code == 0
    how = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    with in_the_middle("fit", rows, *FIT) as process:
        assert ended(process, number) == (STATUS[number], "", f"{how}. {KEPT}\n")
    result = run("fit", rows, *FIT)
    assert result.exit_code == 0, result.stderr
    assert Path("rows.suffice").read_bytes() == Path("whole").read_bytes()
    assert sorted(os.listdir()) == ["rows.parquet", "rows.suffice", "whole"]


# The bar is there from the beginning, and has to be taken away where nothing can be written.
WITH_BAR = (
    """\
import suffice.engines.progress

class Now:
    def __init__(self, seconds, act):
        self.start = act
    def cancel(self): ...
    def join(self): ...

suffice.engines.progress.Timer = Now
"""
    + MIDDLE
)


def test_a_closed_terminal(rows: Path) -> None:
    ours, theirs = pty.openpty()

    def own_it() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    terminal: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    how = {"code": WITH_BAR, "preexec_fn": own_it} | terminal
    with in_the_middle("fit", rows, *FIT, **how) as process:
        os.close(theirs)
        os.close(ours)  # the window is closed
        assert process.wait() == 129
    assert Path("fit.checkpoint").exists()


# What is left ------------------------------------------------------------------------------------

CSV = "size,kind\n" + "1.5,apple\n2.5,plum\n" * 200


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.csv").write_text(CSV)
    return folder


@contextmanager
def in_the_middle_of_a_pipe(files: Path) -> Iterator[Popen]:
    """A command that reads files and standard input, which it has copied."""
    rows, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write(CSV)
    with in_the_middle("fit", "-", files, "--label", "kind", stdin=rows) as process:
        os.close(rows)
        yield process


def test_rows_of_a_pipe_do_not_stay(files: Path, temporary: Path) -> None:
    with in_the_middle_of_a_pipe(files) as process:
        (folder,) = temporary.iterdir()
        assert (folder / "standard input").read_text() == CSV
        assert ended(process, signal.SIGTERM)[0] == STATUS[signal.SIGTERM]
    assert list(temporary.iterdir()) == []


def test_an_interrupt_while_modules_are_imported_is_one_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Importing(ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "suffice.cli.app", Importing("suffice.cli.app"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "interrupted.\n")
