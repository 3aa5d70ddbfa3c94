"""Processes that die: at any moment the pass goes on, or ends with an error, and never waits."""

import os
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes are killed as POSIX has it"
)
Run = Callable[[str], subprocess.CompletedProcess[str]]

# What dies once remembers it by a file.
SCRIPT = """
import fcntl, os, signal, sys, tempfile, threading
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
from suffice.engines.processes import ProcessesEngine
from suffice.errors import EngineError

FOLDER = Path(__file__).parent

def first_time(what):
    path = FOLDER / f"{what} happened"
    if path.exists():
        return False
    path.touch()
    return True

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def deadly(split, lives):
    if any(first_time(f"death {split} {life}") for life in range(lives.get(split, 0))):
        die()
    return [split]

def torn(split, size):
    if split == 3 and first_time("a torn answer"):
        write = os.write
        def half(number, content):
            if len(content) > size // 2:
                write(number, bytes(content[: size // 2]))
                die()
            return write(number, content)
        Connection._write = staticmethod(half)
        Connection._send.__defaults__ = (half,)
    return "x" * size

def gated(split, gate):
    if split:
        with open(gate) as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # when the caller lets go of it
    return os.getpid()

def endless(split, _):
    if split:
        threading.Event().wait()
    return split

def workers():
    lines = (child for child in psutil.Process().children())
    return [child for child in lines if "spawn_main" in " ".join(child.cmdline())]

"""


def lines(run: Run, body: str) -> list[str]:
    done = run(SCRIPT + 'if __name__ == "__main__":\n' + body)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_six_die_one_after_the_other(run: Run) -> None:
    body = """
    once = {5: 1, 10: 1, 11: 1, 20: 1, 30: 1, 39: 1}
    print(ProcessesEngine(6).run(deadly, once, range(40)) == list(range(40)))
    print(len(list(FOLDER.glob("death*"))))
    thrice = {0: 3, 1: 3}
    print(ProcessesEngine(6).run(deadly, thrice, range(5)) == list(range(5)))
"""
    assert lines(run, body) == ["True", "6", "True"]


def test_the_fourth_death_of_a_split_is_an_error(run: Run) -> None:
    body = """
    results = ProcessesEngine(6).map(deadly, {7: 4}, range(20))
    try:
        while True:
            print(*next(results), end=" ")
    except EngineError as error:
        print(error.fact)
"""
    assert lines(run, body) == [
        "0 1 2 3 4 5 6 4 workers died, one after the other, over the same rows"
    ]


def test_one_dies_in_the_middle_of_its_answer(run: Run) -> None:
    # More than a pipe holds, so that the beginning is read before the end is written.
    body = """
    print(len(ProcessesEngine(3).run(torn, 1_000_000, range(10))))
    print(len(list(FOLDER.glob("a torn*"))))
"""
    assert lines(run, body) == ["10000000", "1"]


def test_one_dies_after_its_pass_was_given_up(run: Run) -> None:
    body = """
    def splits():
        yield from range(5)
        os.kill(first, signal.SIGKILL)  # it is busy with a split that nobody waits for
        fcntl.flock(file, fcntl.LOCK_UN)
        yield from range(5, 50)

    engine, gate = ProcessesEngine(6), FOLDER / "gate"
    with open(gate, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        given_up = engine.map(gated, gate, range(50))
        first = next(given_up)
        given_up.close()
        print(len(list(engine.map(gated, gate, splits()))))
"""
    assert lines(run, body) == ["50"]


def test_all_die_while_they_have_nothing_to_do(run: Run) -> None:
    body = """
    engine = ProcessesEngine(6)
    print(engine.run(deadly, {}, range(40)) == list(range(40)))
    for worker in workers():
        worker.kill()
        worker.wait()
    print(engine.run(deadly, {}, range(40)) == list(range(40)))
"""
    assert lines(run, body) == ["True", "True"]


def test_one_dies_before_it_has_begun(run: Run) -> None:
    # Processes import the script.
    imported = 'if __name__ != "__main__" and first_time("a false start"):\n    die()\n\n'
    done = run(
        SCRIPT
        + imported
        + 'if __name__ == "__main__":\n    print(ProcessesEngine(2).run(deadly, {}, range(5)))\n'
    )
    assert (done.stdout, done.returncode) == ("[0, 1, 2, 3, 4]\n", 0)


def test_none_is_waited_for_at_the_end(run: Run) -> None:
    body = """
    results = ProcessesEngine(2).map(endless, None, range(5))
    print(next(results))
    raise SystemExit
"""
    assert lines(run, body) == ["0"]


def test_a_forked_child_has_processes_of_its_own(run: Run) -> None:
    body = """
    engine = ProcessesEngine(2)
    mine = set(engine.map(gated, __file__, range(10)))
    child = os.fork()
    if child == 0:
        its_own = set(engine.map(gated, __file__, range(10)))
        print(mine.isdisjoint(its_own), flush=True)
        for worker in workers():
            worker.kill()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    print(set(engine.map(gated, __file__, range(10))) == mine)
"""
    assert lines(run, body)[:2] == ["True", "0"]
