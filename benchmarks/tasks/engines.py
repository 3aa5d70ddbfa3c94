"""Fits of a file beside those who only count or read it, and on engines beside threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import mixed_file
from benchmarks.measure.floor import THREADS
from benchmarks.measure.result import MB
from benchmarks.measure.task import Target
from benchmarks.measure.timing import Call, medians
from benchmarks.mixed_file import LABEL, LEVELS
from suffice import NaiveBayes, engine
from suffice.engines.engine import Engine
from suffice.errors import SufficeError

__all__ = [
    "MEMORY",
    "PAIRS",
    "SIZES",
    "Footprint",
    "Pair",
    "Timed",
    "footprints",
    "on_dask",
    "on_spark",
    "timed",
]

SIZES = (10_000_000, 30_000_000)
MEMORY = "memory"
PARQUET, CSV = "rows.parquet", "rows.csv"
FIT = """
from benchmarks.measure.memory import high_water
from suffice import NaiveBayes
NaiveBayes.textbook().fit({path!r}, {label!r})
print(high_water())
"""


# Memory ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Footprint:
    """MB of a file, and of the process that learns from it; ``first`` is that of the first file."""

    rows: int
    file: float
    peak: float | None
    first: float | None

    @property
    def more(self) -> float | None:
        return None if self.peak is None or self.first is None else self.peak - self.first

    def verdicts(self) -> list[str]:
        if self.peak is None or self.more is None:
            return []
        return [
            Target("memory", 500).verdict(self.peak),
            Target("more", 50).verdict(abs(self.more)),
        ]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"more": self.more, "targets": self.verdicts()}


def footprints(sizes: Sequence[int], row_group: int) -> Iterator[Footprint]:
    """Learn from files of these sizes, each in a process of its own."""
    first = None
    with TemporaryDirectory(prefix="suffice-") as folder:
        path = Path(folder, PARQUET)
        mixed_file.write(path, row_group, row_group)
        _peak(path)  # caches the kernels
        for n in sizes:
            mixed_file.write(path, n, row_group)
            peak = _peak(path)
            first = first or peak
            yield Footprint(n, path.stat().st_size / MB, peak, first)


def _peak(path: Path) -> float | None:
    """MB of the process at its peak, all imports included; None where the system does not tell."""
    program = FIT.format(path=str(path), label=LABEL)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    size = done.stdout.strip()
    return None if size == "None" else int(size) / MB


# Time --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A fit of a file, and what it is compared with.

    Parameters
    ----------
    bound : float
        Of our time over theirs.
    start : callable
        Starts what both need, gives our call and theirs, and ends what it started.
    """

    name: str
    ours: str
    theirs: str
    bound: float
    start: Callable[[Path], AbstractContextManager[tuple[Call, Call]]]
    file: str = PARQUET


@dataclass(frozen=True)
class Timed:
    """Seconds of both on the same file, or why there are none."""

    name: str
    ours: str
    theirs: str
    rows: int
    file: float
    load: float
    our_seconds: float | None = None
    their_seconds: float | None = None
    times: float | None = None
    verdict: str = ""
    absent: str | None = None


def timed(pairs: Sequence[Pair], n: int, row_group: int) -> Iterator[Timed]:
    """Time pairs on n rows, in files that are written when the first pair needs them."""
    with TemporaryDirectory(prefix="suffice-") as folder:
        for pair in pairs:
            path = Path(folder, pair.file)
            if not path.exists():
                mixed_file.write(path, n, row_group)
            yield _timed(pair, path, n)


def _timed(pair: Pair, path: Path, n: int) -> Timed:
    about = pair.name, pair.ours, pair.theirs, n, path.stat().st_size / MB, os.getloadavg()[0]
    with ExitStack() as started:
        try:
            ours, theirs = started.enter_context(pair.start(path))
        except (ImportError, SufficeError) as error:
            return Timed(*about, absent=str(error))
        seconds = medians({"ours": ours, "theirs": theirs})
    times = seconds["ours"] / seconds["theirs"]
    verdict = Target("theirs", pair.bound).verdict(times)
    return Timed(*about, seconds["ours"], seconds["theirs"], times, verdict)


def _fit(path: Path, chosen: Engine) -> NaiveBayes:
    return NaiveBayes.textbook(engine=chosen).fit(path, LABEL)


def _threads() -> Engine:
    return engine("local", threads=THREADS)


# Beside others -----------------------------------------------------------------------------------


@contextmanager
def _beside_polars(path: Path) -> Iterator[tuple[Call, Call]]:
    import_module("polars")  # whether it is there
    yield partial(_fit, path, _threads()), partial(polars_sums, path)


def polars_sums(path: Path) -> list[Any]:
    """Compute what a fit needs: counts, sums and sums of squares, and counts of levels, by class.

    Polars reads the file once for all five tables.
    """
    import polars
    import polars.selectors as columns

    rows, x = polars.scan_parquet(path), columns.float()
    moments = rows.group_by(LABEL).agg(
        x.count().name.suffix("_count"), x.sum(), (x * x).sum().name.suffix("_squares")
    )
    counts = [rows.group_by(LABEL, name).len() for name in LEVELS]
    return polars.collect_all([moments, *counts], engine="streaming")


@contextmanager
def _beside_reading(path: Path) -> Iterator[tuple[Call, Call]]:
    yield partial(_fit, path, _threads()), partial(_read, path)


def _read(path: Path) -> int:
    from pyarrow import csv

    with csv.open_csv(path) as batches:
        return sum(batch.num_rows for batch in batches)


# Engines -----------------------------------------------------------------------------------------


@contextmanager
def _beside_threads(
    started: Callable[[], AbstractContextManager[Engine]], path: Path
) -> Iterator[tuple[Call, Call]]:
    with started() as other:
        assert other.workers == THREADS  # who counts them has started
        yield partial(_fit, path, other), partial(_fit, path, _threads())


@contextmanager
def _processes() -> Iterator[Engine]:
    yield engine("processes", processes=THREADS)


@contextmanager
def on_dask() -> Iterator[Engine]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(THREADS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield engine("dask")


@contextmanager
def on_spark() -> Iterator[Engine]:
    from pyspark.sql import SparkSession

    try:
        yield engine("spark", master=f"local[{THREADS},4]")
    finally:
        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()


def _on(name: str, started: Callable[[], AbstractContextManager[Engine]], bound: float) -> Pair:
    return Pair(name, f"fit, {name}", "fit, local", bound, partial(_beside_threads, started))


PAIRS = (
    Pair("polars", "fit", "polars, streaming group_by", 1.0, _beside_polars),
    Pair("csv", "fit", "pyarrow, open_csv", 1.3, _beside_reading, CSV),
    _on("processes", _processes, 2.5),
    _on("dask", on_dask, 2.5),
    _on("spark", on_spark, 2.5),
)
