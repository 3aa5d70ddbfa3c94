"""The engine of processes: warm, and gone with the process that started them."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from suffice.engines.processes import ProcessesEngine
from suffice.errors import ParameterError

Run = Callable[[str], subprocess.CompletedProcess[str]]
SCRIPT = """
import operator, os, signal, sys, tempfile
from suffice.engines.processes import ProcessesEngine

def process(split, _):
    return os.getpid()

def length(split, params):
    return len(params)

"""


def test_there_is_a_process() -> None:
    assert ProcessesEngine().workers >= 1
    assert ProcessesEngine(3).workers == 3
    assert not ProcessesEngine(3).in_process
    for wrong in (0, True):
        with pytest.raises(ParameterError, match=f"processes={wrong}; it is a whole number, 1 or "):
            ProcessesEngine(wrong)


def test_processes_are_kept_and_end_with_the_script(run: Run) -> None:
    body = """
if __name__ == "__main__":
    engine = ProcessesEngine(2)
    pids = {pid for _ in range(3) for pid in engine.map(process, None, range(50))}
    print(len(pids) <= 2, os.getpid() in pids)
    print(engine.run(operator.add, 1, range(100)))
"""
    done = run(SCRIPT + body)
    assert (done.stdout, done.stderr, done.returncode) == ("True False\n5050\n", "", 0)


def test_large_parameters_go_by_a_file_that_is_removed(run: Run, tmp_path: Path) -> None:
    body = f"""
if __name__ == "__main__":
    tempfile.tempdir = {str(tmp_path)!r}
    results = ProcessesEngine(2).map(length, "a" * 5_000_000, range(9))
    print(next(results), len(os.listdir(tempfile.tempdir)))
    print(sum(results), len(os.listdir(tempfile.tempdir)))
"""
    done = run(SCRIPT + body)
    # The script is in the folder too.
    assert (done.stdout, done.stderr, done.returncode) == ("5000000 2\n40000000 1\n", "", 0)


def test_a_script_without_a_guard_is_told_so(run: Run) -> None:
    done = run(SCRIPT + "ProcessesEngine(2).run(operator.add, 1, range(5))\n")
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "EngineError: the processes ended as soon as they began; each of them imports the script "
        'that was started; put what the script does under `if __name__ == "__main__":`.'
    )


def test_processes_end_with_a_parent_that_is_killed(run: Run) -> None:
    body = """
if __name__ == "__main__":
    next(ProcessesEngine(2).map(process, None, range(5)))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(SCRIPT + body).returncode == -signal.SIGKILL
