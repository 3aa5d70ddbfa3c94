"""Processor time of short calls and of fresh processes, and Python calls on the way."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from types import FrameType
from typing import Any

__all__ = ["calls", "fresh_seconds", "seconds"]

OURS = "/suffice/"  # part of the path of every file that is counted


def calls(work: Callable[[], object]) -> tuple[int, int]:
    """Python calls of one run in our files, and switches from one of these to another."""
    called = switched = 0
    last = ""

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal called, switched, last
        path = frame.f_code.co_filename
        if event == "call" and OURS in path:
            called += 1
            switched += path != last
            last = path

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called, switched


def seconds(works: Sequence[Callable[[], object]], times: int, runs: int = 7) -> list[float]:
    """Processor time of one run of each, the least of some means; they take turns."""
    least = [float("inf")] * len(works)
    for _ in range(runs):
        for i, work in enumerate(works):
            start = process_time()
            for _ in range(times):
                work()
            least[i] = min(least[i], (process_time() - start) / times)
    return least


def fresh_seconds(programs: Sequence[Sequence[str]], runs: int = 5) -> list[float]:
    """Processor time of processes from their start to their end, medians; they take turns.

    The modules are compiled to bytecode by a first run, as pip does it when it installs them.
    """
    measured: list[list[float]] = [[] for _ in programs]
    with tempfile.TemporaryDirectory() as compiled:
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        where = kept | {"PYTHONPYCACHEPREFIX": compiled}
        for run in range(runs + 1):
            for found, program in zip(measured, programs, strict=True):
                before = _of_children()
                command = [sys.executable, *program]
                subprocess.run(command, check=True, capture_output=True, env=where)
                if run > 0:
                    found.append(_of_children() - before)
    return [median(found) for found in measured]


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
