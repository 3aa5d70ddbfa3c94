"""Peak memory of one call over its input and its result, in a fresh process."""

from __future__ import annotations

import ctypes
import gc
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.measure.timing import Call

__all__ = ["fresh_process", "high_water", "peak", "rise"]

CLEAR = Path("/proc/self/clear_refs")


@contextmanager
def fresh_process() -> Iterator[ProcessPoolExecutor]:
    """A pool that runs every job in a process of its own, where only the imports are done."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.measure.result"])
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        yield pool


def peak(warm: Call, call: Call) -> int | None:
    """Bytes at the peak of a call, less those before it and those of its result.

    The warm-up loads the kernels and starts the threads. None where the system does not tell.
    """
    if not CLEAR.exists():
        return None
    warm()
    answers: list[object] = []
    return max(rise(lambda: answers.append(call())) - _size(answers[0]), 0)


def rise(call: Callable[[], object]) -> int:
    """Bytes at the peak of a call, less those before it."""
    gc.collect()
    _give_back()
    CLEAR.write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    call()
    return _status("VmHWM") - before


def high_water() -> int | None:
    """Bytes at the peak of this process so far; None where the system does not tell."""
    return _status("VmHWM") if CLEAR.exists() else None


def _size(answer: object) -> int:
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    return len(pickle.dumps(answer))


def _give_back() -> None:
    """Return free memory to the system, where a later allocation is seen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(field)
