"""Faults of workers, 50 runs an engine: ``python -m benchmarks.faults processes dask spark``.

In each run a verb, a fault and a split are drawn; the seed is the number of the run. A run that
fails is named with its seed, which ``--seeds`` runs again.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.laws.fault_laws import FAULTS, VERBS, check_faults

from suffice import NaiveBayes

RUNS = 50
STOPPED = 30.0  # seconds that a stopped worker stands still
LONGEST = 60  # seconds that a run may take


@contextmanager
def _processes() -> Iterator[Any]:
    from suffice.engines.processes import ProcessesEngine

    yield ProcessesEngine(2)


@contextmanager
def _dask() -> Iterator[Any]:
    import distributed

    from suffice.engines.dask import DaskEngine

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield DaskEngine()


@contextmanager
def _spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    from suffice.engines.spark import SparkEngine

    yield SparkEngine(master="local[2,4]")
    session = SparkSession.getActiveSession()
    assert session is not None
    session.stop()


ENGINES = {"processes": _processes, "dask": _dask, "spark": _spark}
ONE_EACH = ("dask",)  # it does not replace workers that are cut off: each run has a cluster


def runs(name: str, path: Path, seeds: range) -> Iterator[tuple[Counter[tuple[str, str]], float]]:
    """What met which verb in each run, nothing where the law is broken, and its seconds."""
    groups = [range(seed, seed + 1) for seed in seeds] if name in ONE_EACH else [seeds]
    for group in groups:
        with ENGINES[name]() as engine:
            NaiveBayes.textbook(engine=engine).fit(path, "y")  # its workers have started
            for seed in group:
                yield _run(name, engine, path, seed)


def _run(name: str, engine: Any, path: Path, seed: int) -> tuple[Counter[tuple[str, str]], float]:
    begun, done, found = time.monotonic(), Counter[tuple[str, str]](), "as promised"
    signal.alarm(LONGEST)
    try:
        done = check_faults(engine, NaiveBayes.textbook, path, "y", 1, seed, stopped=STOPPED)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    seconds = time.monotonic() - begun
    met = " ".join(f"{verb} {fault}" for verb, fault in done)
    print(f"{name} seed {seed}: {met}, {seconds:.1f} s, {found}", file=sys.stderr, flush=True)
    return done, seconds


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"it took more than {LONGEST} seconds")


def write(path: Path) -> None:
    """A file of twenty splits."""
    rng = np.random.default_rng(0)
    numbers, words = rng.normal(size=2_000), rng.choice(list("abc"), 2_000)
    table = pa.table({"x": numbers, "z": words, "y": rng.integers(0, 2, 2_000)})
    pq.write_table(table, path, row_group_size=100)


def main() -> None:
    """Print a row for each engine; of each run a line of errors' stream."""
    parser = ArgumentParser("python -m benchmarks.faults", description=__doc__)
    parser.add_argument("engines", nargs="*", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, RUNS), metavar=("FIRST", "END"))
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _too_long)
    print(f"| engine | {' | '.join(VERBS)} | kept | longest, s |\n|{'---|' * (len(VERBS) + 3)}")
    broken = 0
    with TemporaryDirectory(prefix="suffice-") as folder:
        path = Path(folder, "rows.parquet")
        write(path)
        for name in options.engines:
            found = list(runs(name, path, range(*options.seeds)))
            done = sum((one for one, _ in found), Counter[tuple[str, str]]())
            met = [", ".join(str(done[verb, fault]) for fault in FAULTS) for verb in VERBS]
            kept, longest = f"{done.total()} of {len(found)}", max(s for _, s in found)
            print(f"| {name} | {' | '.join(met)} | {kept} | {longest:.1f} |", flush=True)
            broken += len(found) - done.total()
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
