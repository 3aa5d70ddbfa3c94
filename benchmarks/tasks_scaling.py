"""The parameters of the cost model, the runs that it is held against, and what it predicts."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from benchmarks import mixed_file
from benchmarks.cost_model import Cluster, Merge, Overhead, Prediction, Speed, Work, predict
from benchmarks.floor import THREADS
from benchmarks.tasks_engines import on_dask, on_ray, on_spark
from benchmarks.timing import Call, medians
from suffice import NaiveBayes, engine
from suffice.data.file_formats import open_files
from suffice.data.files.parquet import open_parquet
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.engines.engine import Engine
from suffice.errors import SufficeError
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

__all__ = [
    "CLUSTER",
    "FITS",
    "FOOTERS",
    "MERGES",
    "NAMES",
    "OVERHEADS",
    "SECTIONS",
    "SPLIT_ROWS",
    "TOTAL_ROWS",
    "Checked",
    "Footer",
    "Measured",
    "Run",
    "checks",
    "findings",
    "predictions",
]

FITS, MERGES, OVERHEADS, FOOTERS = "fits", "statistics", "overheads", "footers"
WORKERS = (1, 2, 4)
SPLITS = 16  # of the file that is predicted
FEW = (2, 8)  # splits of the files that the parameters are read from
NARROW = 4  # the table of 50 columns has so many times fewer rows
COLUMNS = 50
TARGET = "y"
FITTED = "of a fit: "

TOTAL_ROWS, SPLIT_ROWS = 10_000_000_000, 1_000_000
CLUSTER = Cluster()
CLUSTER_WORKERS = (1, 10, 100, 1_000)
ON = ("dask", "spark")


# Fits --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A fit of a file of row groups of one size."""

    model: str
    engine: str
    workers: int
    rows: int
    splits: int
    bytes: float
    passes: float
    seconds: float
    load: float

    @property
    def rate(self) -> float:
        """Rows per second of a worker in a pass."""
        return self.rows * self.passes / self.seconds / self.workers


@dataclass(frozen=True)
class Model:
    """A model, the kind of file that it learns from, and the column to learn."""

    name: str
    make: Callable[..., Any]
    file: str
    column: str

    @property
    def choice(self) -> str:
        """Its name for ``--only``."""
        return self.name.lower().replace(" ", "-")


MODELS = (
    Model("naive Bayes", NaiveBayes, "mixed", mixed_file.LABEL),
    Model("linear regression", LinearRegression, "numbers", TARGET),
    Model("LDA", LinearDiscriminantAnalysis, "numbers", TARGET),
    Model("logistic regression", LogisticRegression, "numbers", TARGET),
)


@dataclass
class Counting:
    """An engine of one thread that counts the splits that it is given, and keeps the last sum."""

    splits: int = 0
    last: Any = None
    inner: Engine = field(default_factory=lambda: engine("local", threads=1))
    workers: int = 1
    in_process: bool = True

    def map(self, kernel: Any, params: Any, splits: Sequence[Any]) -> Iterator[Any]:
        self.splits += len(splits)
        return self.inner.map(kernel, params, splits)

    def run(self, kernel: Any, params: Any, splits: Sequence[Any]) -> Any:
        self.splits += len(splits)
        self.last = self.inner.run(kernel, params, splits)
        return self.last


def fits(n: int, names: Collection[str]) -> Iterator[Run]:
    """Fit every model on threads and processes, from files of few splits and of many."""
    with TemporaryDirectory(prefix="suffice-") as folder:
        for model in (model for model in MODELS if model.choice in names):
            paths = {s: _file(Path(folder), model.file, n, s) for s in (*FEW, SPLITS)}
            passes = {splits: _passes(model, path, splits) for splits, path in paths.items()}
            load = os.getloadavg()[0]
            plan = [(kind, w, splits) for kind in ("local", "processes") for w, splits in _plan()]
            calls = {
                " ".join(map(str, run)): partial(_fit, model, paths[run[2]], _engine(*run[:2]))
                for run in plan
            }
            for kind, workers in dict.fromkeys(run[:2] for run in plan):  # these start
                _fit(model, paths[FEW[0]], _engine(kind, workers))
            seconds = medians(calls)
            for (kind, workers, splits), taken in zip(plan, seconds.values(), strict=True):
                rows, size = _rows(model.file, n) * splits, paths[splits].stat().st_size
                about = model.name, kind, workers, rows, splits, size, passes[splits]
                yield Run(*about, taken, load)


def _plan() -> list[tuple[int, int]]:
    """Workers and splits."""
    return [*((w, few) for w in _calibrated() for few in FEW), *((w, SPLITS) for w in WORKERS)]


def _calibrated() -> list[int]:
    """How many workers the parameters are read from: no more than there are cores."""
    return [w for w in WORKERS if w <= THREADS]


def _engine(kind: str, workers: int) -> Engine:
    return engine(kind, threads=workers) if kind == "local" else engine(kind, processes=workers)


def _fit(model: Model, path: Path, chosen: Any) -> Any:
    return model.make(engine=chosen).fit(path, model.column)


def _passes(model: Model, path: Path, splits: int) -> float:
    counting = Counting()
    _fit(model, path, counting)
    return counting.splits / splits


def _rows(kind: str, n: int) -> int:
    """Of a split."""
    return max(n // SPLITS // (1 if kind == "mixed" else NARROW), 100)


def _file(folder: Path, kind: str, n: int, splits: int) -> Path:
    """A file of so many row groups: a shorter one is the beginning of a longer one."""
    path, rows = folder / f"{kind}-{splits}.parquet", _rows(kind, n)
    if path.exists():
        return path
    if kind == "mixed":
        mixed_file.write(path, rows * splits, rows)
        return path
    with pq.ParquetWriter(path, _numbers(0, 1).schema) as writer:
        for group in range(splits):
            writer.write_table(_numbers(group, rows))
    return path


def _numbers(group: int, rows: int) -> pa.Table:
    """Fifty normal columns, and which of two overlapping classes a row is of."""
    rng = np.random.default_rng([mixed_file.SEED, group])
    y = rng.integers(0, 2, rows)
    x = rng.standard_normal((COLUMNS, rows)) + 0.1 * y
    columns: dict[str, Any] = {f"x{j}": column for j, column in enumerate(x)}
    return pa.table(columns | {TARGET: y.astype(np.int8)})


# Statistics --------------------------------------------------------------------------------------


def merges(n: int, names: Collection[str]) -> Iterator[Merge]:
    """What statistics of several kinds and sizes cost, and those of the fits."""
    if MERGES not in names:
        return
    for kind, size, make in STATISTICS:
        yield _merge(kind, size, make(np.random.default_rng(0)), make(np.random.default_rng(1)))
    with TemporaryDirectory(prefix="suffice-") as folder:
        for model in MODELS:
            path, counting = _file(Path(folder), model.file, n, FEW[0]), Counting()
            _fit(model, path, counting)
            yield _merge(f"{FITTED}{model.name}", model.file, counting.last, counting.last)


def _merge(kind: str, size: str, one: Any, other: Any) -> Merge:
    sum_ = one + other  # a new sum: those of models keep means that are no part of it
    content = pickle.dumps(sum_)
    calls: dict[str, Call] = {
        "pack": partial(pickle.dumps, sum_),
        "open": partial(pickle.loads, content),
        "add": partial(type(one).__add__, one, other),
    }
    return Merge(kind, size, len(content), **medians(calls))


def _gaussian(d: int, k: int, rng: np.random.Generator) -> Any:
    x = rng.standard_normal((20 * k, d))
    return GaussianNB().fit(x, np.arange(len(x)) % k).statistic_


def _categorical(rng: np.random.Generator) -> Any:
    codes = np.stack([rng.permutation(1_000) for _ in range(4)], axis=1)
    return CategoricalNB().fit(codes, np.arange(len(codes)) % 4).statistic_


def _comoments(d: int, rng: np.random.Generator) -> Any:
    x = rng.standard_normal((2 * d, d))
    return LinearRegression().fit(x, x[:, 0]).statistic_


def _text(rng: np.random.Generator) -> Any:
    counts = sp.random(1_000, 50_000, 0.001, format="csr", random_state=rng)
    counts.data = np.ceil(counts.data)
    return MultinomialNB().fit(counts, np.arange(1_000) % 20).statistic_


STATISTICS: tuple[tuple[str, str, Callable[[np.random.Generator], Any]], ...] = (
    *(
        ("Gaussian naive Bayes", f"d={d:,}, k={k}", partial(_gaussian, d, k))
        for d, k in ((10, 2), (100, 2), (1_000, 2), (10, 100), (100, 100))
    ),
    ("categories", "d=4, 1,000 levels, k=4", _categorical),
    *(("co-moments", f"d={d}", partial(_comoments, d)) for d in (COLUMNS, 500)),
    ("multinomial", "50,000 words, k=20", _text),
)


# Engines -----------------------------------------------------------------------------------------

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
    yield _engine(kind, workers)


Started = Callable[[], AbstractContextManager[Engine]]
ENGINES: tuple[tuple[str, int, Started], ...] = (
    ("local", THREADS, partial(_here, "local", THREADS)),
    *(("processes", w, partial(_here, "processes", w)) for w in WORKERS),
    ("dask", THREADS, on_dask),
    ("ray", THREADS, on_ray),
    ("spark", THREADS, on_spark),
)


def overheads(n: int, names: Collection[str]) -> Iterator[Overhead]:
    """Passes of a kernel that does nothing, with a small statistic and with a large one."""
    if not any(kind in names for kind, *_ in ENGINES):
        return
    rng = np.random.default_rng(0)
    small, big = _gaussian(10, 2, rng), _comoments(500, rng)
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


# Footers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Footer:
    """What the end of a Parquet file costs: the driver, once; a worker, with every split."""

    row_groups: int
    bytes: int
    driver: float
    worker: float


def footers(most: int, names: Collection[str]) -> Iterator[Footer]:
    """Open mixed files of one to so many row groups; how long these are makes no difference."""
    with TemporaryDirectory(prefix="suffice-") as folder:
        for groups in (1, most // 10, most) if FOOTERS in names else ():
            path = Path(folder, f"{groups}.parquet")
            mixed_file.write(path, 10 * groups, 10)
            calls: dict[str, Call] = {
                "driver": partial(open_files, path),
                "worker": partial(_opened, path),
            }
            yield Footer(groups, pq.read_metadata(path).serialized_size, **medians(calls))


def _opened(path: Path) -> int:
    with open_parquet(path) as file:
        return int(file.num_row_groups)


Section = Callable[[int, Collection[str]], Iterator[Any]]
SECTIONS: Mapping[str, tuple[Section, int]] = {
    FITS: (fits, 4_000_000),  # rows
    MERGES: (merges, 4_000_000),  # rows
    OVERHEADS: (overheads, 2_000),  # ten times the splits
    FOOTERS: (footers, 1_000),  # row groups
}
NAMES = (
    *(model.choice for model in MODELS),
    MERGES,
    *dict.fromkeys(kind for kind, *_ in ENGINES),
    FOOTERS,
)


# What the model says -----------------------------------------------------------------------------

Measured = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Checked:
    """A run, and what the runs of few splits say it takes."""

    run: Run
    predicted: float

    @property
    def error(self) -> float:
        return self.predicted / self.run.seconds - 1


def _speeds(measured: Measured) -> dict[tuple[str, str], Speed]:
    """Fixed time and time of a split: the straight line through the files of few splits."""
    runs = {(r.model, r.engine, r.workers, r.splits): r for r in measured[FITS]}
    speeds = {}
    for model, kind in dict.fromkeys((r.model, r.engine) for r in measured[FITS]):
        fixed, split = {}, {}
        for w in _calibrated():
            few, more = (runs[model, kind, w, splits] for splits in FEW)
            rounds = [ceil(splits / w) for splits in FEW]
            times = [run.seconds / run.passes for run in (few, more)]
            split[w] = max(times[1] - times[0], 0.0) / (rounds[1] - rounds[0])
            fixed[w] = max(times[0] - rounds[0] * split[w], 0.0)
        speeds[model, kind] = Speed(fixed, split, more.rows / FEW[1], more.bytes / FEW[1])
    return speeds


def checks(measured: Measured) -> list[Checked]:
    """The model against runs that it has not seen."""
    speeds = _speeds(measured)
    return [
        Checked(
            run,
            run.passes * speeds[run.model, run.engine].of_pass(run.splits, run.workers, THREADS),
        )
        for run in measured[FITS]
        if run.splits == SPLITS
    ]


def predictions(measured: Measured) -> list[Prediction]:
    """Ten billion rows, by every model, on clusters of several sizes."""
    speeds = _speeds(measured)
    passes = {run.model: run.passes for run in measured[FITS] if run.splits == SPLITS}
    statistics = {merge.kind: merge for merge in measured[MERGES]}
    found = {item.engine: item for item in measured[OVERHEADS] if item.statistic == SMALL}
    return [
        predict(
            Work(model.name, TOTAL_ROWS // SPLIT_ROWS, SPLIT_ROWS, passes[model.name]),
            workers,
            speeds[model.name, "processes"],
            statistics[FITTED + model.name],
            found[kind],
            CLUSTER,
        )
        for kind in ON
        if kind in found and found[kind].absent is None
        for model in MODELS
        if FITTED + model.name in statistics and model.name in passes
        for workers in CLUSTER_WORKERS
    ]


def findings(measured: Measured) -> list[str]:
    """How good the model is, and from how many workers on the driver is the bound."""
    if not measured[FITS]:
        return []
    checked, most = checks(measured), CLUSTER_WORKERS[-1]
    waits = [
        f"{most * max(one.computing, one.storage) / one.driver:,.0f} for {one.work.model}"
        for one in predictions(measured)
        if one.engine == ON[0] and one.workers == most
    ]
    driver = (
        f"{ON[0]}: with row groups of {SPLIT_ROWS:,} rows, workers wait for the driver where there "
        f"are more than {', '.join(waits)}."
    )
    return [*(_errors(kind, checked) for kind in ("local", "processes")), *[driver] * bool(waits)]


def _errors(kind: str, checked: Sequence[Checked]) -> str:
    errors = [abs(one.error) for one in checked if one.run.engine == kind]
    return (
        f"{kind}: {len(errors)} runs of {SPLITS} splits are predicted with a median error of "
        f"{np.median(errors):.0%}, {max(errors):.0%} at most."
    )
