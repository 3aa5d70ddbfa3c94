"""What a new process waits for: the import, and the first fit."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

from benchmarks.measure.result import Result
from benchmarks.measure.task import Target

__all__ = ["RUNS", "first_fit", "first_import"]

RUNS = 7
TIMED = """
from time import perf_counter
{before}
start = perf_counter()
{timed}
print(perf_counter() - start)
"""
IMPORT = "from {library}.naive_bayes import GaussianNB"
ROWS = "x, y = [[-2.0], [-1.0], [1.0], [2.0]], [1, 1, 2, 2]"


def first_import(runs: int) -> Result:
    """Time the import of the class, without the start of the interpreter."""
    statement = {key: IMPORT.format(library=key) for key in ("suffice", "sklearn")}
    ours, theirs = _medians("", "", statement["suffice"], statement["sklearn"], runs)
    return Result(
        "import",
        statement["suffice"],
        "",
        ours,
        theirs,
        targets=(Target("theirs", 1.3),),
        load=os.getloadavg()[0],
    )


def first_fit(runs: int) -> Result:
    """Time the first fit of a process that has imported the class."""
    before = {key: "\n".join([IMPORT.format(library=key), ROWS]) for key in ("suffice", "sklearn")}
    timed = "GaussianNB().fit(x, y)"
    ours, theirs = _medians(before["suffice"], before["sklearn"], timed, timed, runs)
    return Result(
        "first-fit",
        "first fit",
        "4 x 1",
        ours,
        theirs,
        targets=(Target("seconds", 0.3),),
        load=os.getloadavg()[0],
    )


def _medians(
    our_before: str, their_before: str, ours: str, theirs: str, runs: int
) -> tuple[float, float]:
    turns = [(_seconds(our_before, ours), _seconds(their_before, theirs)) for _ in range(runs)]
    return median(a for a, _ in turns), median(b for _, b in turns)


def _seconds(before: str, timed: str) -> float:
    program = TIMED.format(before=before, timed=timed)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
