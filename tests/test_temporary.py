"""Temporary names: what a killed process has left is removed, and nothing that somebody has."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import suffice.temporary as home
from suffice.atomic import atomic_writer
from suffice.temporary import OURS, Held, sweep

pytestmark = pytest.mark.skipif(not home.START.exists(), reason="names say nothing on this system")

# A process that holds a folder and a file, says so, and waits to be killed.
HOLDER = """
import os, sys, tempfile
from suffice.atomic import atomic_writer
from suffice.data.files.temporary import TemporaryFolder

folder = TemporaryFolder()
(folder.path / "rows").write_text("of the user")
with atomic_writer("model.suffice") as file:
    file.write(b"half")
    file.flush()
    if "fork" in sys.argv and os.fork():
        sys.stdin.read()
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, for files and for what is temporary."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield tmp_path
    sweep.cache_clear()


@contextmanager
def holder(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, *words]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **streams) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    assert process.wait() == -signal.SIGKILL


def swept(folder: Path) -> list[str]:
    """What is left after a look at a folder."""
    sweep.cache_clear()
    sweep(folder)
    return sorted(path.name for path in folder.iterdir())


def test_what_is_held_stays_and_what_was_held_goes(place: Path) -> None:
    with holder() as living:
        before = swept(place)
        assert len(before) == 2
        with holder() as process:
            assert len(swept(place)) == 4
            killed(process)
        assert swept(place) == before
        killed(living)
    assert swept(place) == []


def test_a_forked_child_holds_what_its_parent_held(place: Path) -> None:
    with holder("fork") as parent:
        killed(parent)
        assert len(swept(place)) == 2
        assert parent.stdin is not None
        parent.stdin.close()  # the child comes to its end
        folder = os.open(next(place.glob(f"{OURS}*")), os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        os.close(folder)
    assert swept(place) == ["model.suffice"]


def test_the_next_file_and_the_next_folder_look_first(place: Path) -> None:
    with holder() as process:
        killed(process)
    with atomic_writer(place / "next") as file:
        file.write(b"whole")
    assert [path.name for path in place.iterdir()] == ["next"]
    sweep.cache_clear()
    with holder() as process:
        killed(process)
    code = "from suffice.data.files.temporary import TemporaryFolder; TemporaryFolder()"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [path.name for path in place.iterdir()] == ["next"]


def left_behind(place: Path) -> Path:
    """A folder as a killed process leaves it."""
    folder = place / "suffice-of_a_killed_one"
    folder.mkdir()
    held = Held(folder)
    (held.path / "rows").write_text("of the user")
    held.let_go()
    return held.path


def test_another_machine_or_another_start_is_left_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = place / "start"
    start.write_text("of another machine\n")
    with monkeypatch.context() as patch:
        patch.setattr(home, "START", start)
        theirs = left_behind(place)
        assert (theirs / "rows").exists()
    start.unlink()
    assert swept(place) == [theirs.name]
    assert theirs.name.startswith(OURS)


def test_where_the_system_tells_nothing_names_say_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "START", place / "absent")
    path = left_behind(place)
    assert path.name == "suffice-of_a_killed_one"
    assert swept(place) == [path.name]


def test_where_there_are_no_locks_names_say_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise OSError(37, "No locks available")

    with monkeypatch.context() as patch:
        patch.setattr(home.fcntl, "flock", unknown)
        path = left_behind(place)
    assert path.name == "suffice-of_a_killed_one"
    assert swept(place) == [path.name]


def test_only_our_names_are_looked_at(place: Path) -> None:
    ours = left_behind(place)
    others = [
        "suffice-models",
        "suffice-0123456789abcdef-x",
        ".suffice-0123456789abcdef.tmp",
        f"my-{ours.name}",
        f"{ours.name} copy",
    ]
    for name in others:
        (place / name).mkdir()
    assert swept(place) == sorted(others)


def test_no_link_is_followed(place: Path) -> None:
    precious = place / "precious"
    precious.mkdir()
    (precious / "rows").write_text("of the user")
    ours = left_behind(place)
    link = ours.with_name(f"{ours.name}_2")
    link.symlink_to(precious)
    assert swept(place) == sorted(["precious", link.name])
    assert (precious / "rows").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_what_another_user_left_is_left_alone(place: Path) -> None:
    theirs = left_behind(place)
    os.chown(theirs, 65534, 65534)
    assert swept(place) == [theirs.name]
