"""What engines cost: passes of a kernel that does nothing, and the start of worker processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure.floor import THREADS
from benchmarks.measure.timing import medians
from benchmarks.scaling.cost_model import Overhead
from benchmarks.scaling.fits import WORKERS, engine_of
from benchmarks.scaling.statistics import comoments, gaussian
from benchmarks.tasks.engines import on_dask, on_spark
from suffice.engines.engine import Engine
from suffice.errors import SufficeError

__all__ = ["ENGINES", "OVERHEADS", "SMALL", "overheads"]

OVERHEADS = "overheads"
SMALL, BIG = "small", "large"
START = """
from time import perf_counter
from suffice import engine
from suffice.naive_bayes import GaussianNB
x, y = [[-2.0], [-1.0], [1.0], [2.0]], [1, 1, 2, 2]
GaussianNB().fit(x, y)
times = [perf_counter()]
for _ in range(2):
    GaussianNB(engine=engine("processes", processes={workers})).fit(x, y)
    times.append(perf_counter())
print(times[1] - times[0] - (times[2] - times[1]))
"""


@contextmanager
def _here(kind: str, workers: int) -> Iterator[Engine]:
    yield engine_of(kind, workers)


Started = Callable[[], AbstractContextManager[Engine]]
ENGINES: tuple[tuple[str, int, Started], ...] = (
    ("local", THREADS, partial(_here, "local", THREADS)),
    *(("processes", w, partial(_here, "processes", w)) for w in WORKERS),
    ("dask", THREADS, on_dask),
    ("spark", THREADS, on_spark),
)


def overheads(n: int, names: Collection[str]) -> Iterator[Overhead]:
    """Passes of a kernel that does nothing, with a small statistic and with a large one."""
    if not any(kind in names for kind, *_ in ENGINES):
        return
    rng = np.random.default_rng(0)
    small, big = gaussian(10, 2, rng), comoments(500, rng)
    statistics = {SMALL: (small + small, n // 10), BIG: (big + big, max(n // 100, 2))}
    for kind, workers, started in ENGINES:
        if kind not in names:
            continue
        load = os.getloadavg()[0]
        start = _start(workers) if kind == "processes" else None
        try:
            with started() as chosen:
                for name, (statistic, splits) in statistics.items():
                    size = len(pickle.dumps(statistic))
                    calls = {
                        n: partial(chosen.run, again, statistic, range(n)) for n in (1, splits)
                    }
                    seconds = medians({str(n): call for n, call in calls.items()})
                    one, many = seconds.values()
                    yield Overhead(kind, workers, name, size, splits, one, many, start, load)
        except (ImportError, SufficeError) as error:
            yield Overhead(kind, workers, SMALL, load=load, absent=str(error))


def again(split: int, statistic: Any) -> Any:
    """Kernel that does nothing."""
    return statistic


def _start(workers: int) -> float:
    """Seconds from the first call to workers that have imported what a fit needs."""
    program = START.format(workers=workers)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
