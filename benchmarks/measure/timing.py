"""Seconds of several calls, taken in turns so that a slow moment of the machine hits them all.

Calls that are not quick begin after a pause: threads of BLAS spin for a while when their work is
done, and would take a core from whoever comes next.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter, sleep

__all__ = ["Call", "medians"]

Call = Callable[[], object]

RUNS = 5
FEW_RUNS = 3
MOST_RUNS = 300
SLOW = 3.0  # seconds from which a call runs fewer times
WORTH = 0.2  # seconds that quick calls are repeated for
QUICK, PAUSE = 0.02, 0.1  # seconds


def medians(calls: Mapping[str, Call]) -> dict[str, float]:
    """Median seconds of every call; one more run of each goes first, to warm up."""
    gc.collect()
    first = {name: _seconds(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_runs(first)):
        for name, call in calls.items():
            sleep(PAUSE if max(first.values()) > QUICK else 0.0)
            times[name].append(_seconds(call))
    return {name: median(values) for name, values in times.items()}


def _runs(first: Mapping[str, float]) -> int:
    if max(first.values()) > SLOW:
        return FEW_RUNS
    return min(max(RUNS, int(WORTH / sum(first.values()))), MOST_RUNS)


def _seconds(call: Call) -> float:
    gc.disable()
    try:
        start = perf_counter()
        answer = call()
        stop = perf_counter()
    finally:
        gc.enable()
    del answer
    return stop - start
