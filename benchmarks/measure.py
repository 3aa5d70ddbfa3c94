"""Two calls in turns, so that a slow moment of the machine hits both: time, memory, calls.

Processor time is that of all threads and of the processes that a call starts. Calls that are not
quick begin after a pause: threads of BLAS spin for a while when their work is done.
"""

from __future__ import annotations

import ctypes
import gc
import pickle
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "CLEAR",
    "MB",
    "Call",
    "Seconds",
    "calls",
    "fresh_process",
    "high_water",
    "in_turns",
    "peak",
    "rise",
]

Call = Callable[[], object]

MB = 1e6
CLEAR = Path("/proc/self/clear_refs")
OURS = "/suffice/"  # part of the path of every file whose calls are counted
RUNS, MOST_RUNS = 5, 300
SLOW = 10.0  # seconds from which the first run is the only one
WORTH = 0.2  # seconds that quick calls are repeated for
QUICK, PAUSE = 0.02, 0.1  # seconds


class Seconds(NamedTuple):
    """Seconds of a call: of all processors together, and by the clock."""

    cpu: float
    wall: float


# Time --------------------------------------------------------------------------------------------


def in_turns(works: Mapping[str, Call], once: bool = False) -> dict[str, Seconds]:
    """Return the median seconds of every call; one more run of each goes first, to warm up."""
    gc.collect()
    first = {name: _seconds(work) for name, work in works.items()}
    longest = max(one.wall for one in first.values())
    if once or longest > SLOW:
        return first
    runs = max(RUNS, int(WORTH / sum(one.wall for one in first.values())))
    taken: dict[str, list[Seconds]] = {name: [] for name in works}
    for _ in range(min(runs, MOST_RUNS)):
        for name, work in works.items():
            sleep(PAUSE if longest > QUICK else 0.0)
            taken[name].append(_seconds(work))
    return {
        name: Seconds(*(median(figures) for figures in zip(*each, strict=True)))
        for name, each in taken.items()
    }


def _seconds(work: Call) -> Seconds:
    gc.disable()
    try:
        cpu, wall = _processor_time(), perf_counter()
        answer = work()
        taken = Seconds(_processor_time() - cpu, perf_counter() - wall)
    finally:
        gc.enable()
    del answer
    return taken


def _processor_time() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + ended.ru_utime + ended.ru_stime


# Memory ------------------------------------------------------------------------------------------


@contextmanager
def fresh_process(preload: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """Give a pool that runs every job in a process of its own, with some modules imported."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__, *preload])
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        yield pool


def peak(warm: Call, work: Call) -> float | None:
    """Return the MB at the peak of a call, less those before it and those of its result.

    The first call loads the kernels and starts the threads. None where the system does not tell.
    """
    if not CLEAR.exists():
        return None
    warm()
    answers: list[object] = []
    return max(rise(lambda: answers.append(work())) - _size(answers[0]) / MB, 0.0)


def rise(work: Call) -> float:
    """Return the MB at the peak of a call, less those before it."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # free memory goes back to the system, where a later allocation is seen
    CLEAR.write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / MB


def high_water() -> float | None:
    """Return the MB at the peak of this process so far; None where the system does not tell."""
    return _status("VmHWM") / MB if CLEAR.exists() else None


def _size(answer: object) -> int:
    return answer.nbytes if isinstance(answer, np.ndarray) else len(pickle.dumps(answer))


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(field)


# Calls -------------------------------------------------------------------------------------------


def calls(work: Call) -> tuple[int, int]:
    """Count Python calls of one run in our files, and switches from one of these to another."""
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
