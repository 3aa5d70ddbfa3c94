"""Fits of files: of few splits, to read the parameters from; of many, to check them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import mixed_file
from benchmarks.measure.floor import THREADS
from benchmarks.measure.timing import medians
from suffice import NaiveBayes, engine
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.engines.engine import Engine
from suffice.linear_model import LinearRegression, LogisticRegression

__all__ = [
    "COLUMNS",
    "FEW",
    "FITS",
    "MODELS",
    "SPLITS",
    "WORKERS",
    "Counting",
    "Run",
    "calibrated",
    "engine_of",
    "file_of",
    "fit",
    "fits",
]

FITS = "fits"
WORKERS = (1, 2, 4)
SPLITS = 16  # of the file that is predicted
FEW = (2, 8)  # splits of the files that the parameters are read from
NARROW = 4  # the table of 50 columns has so many times fewer rows
COLUMNS = 50
TARGET = "y"


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
            paths = {s: file_of(Path(folder), model.file, n, s) for s in (*FEW, SPLITS)}
            passes = {splits: _passes(model, path, splits) for splits, path in paths.items()}
            load = os.getloadavg()[0]
            plan = [(kind, w, splits) for kind in ("local", "processes") for w, splits in _plan()]
            calls = {
                " ".join(map(str, run)): partial(fit, model, paths[run[2]], engine_of(*run[:2]))
                for run in plan
            }
            for kind, workers in dict.fromkeys(run[:2] for run in plan):  # these start
                fit(model, paths[FEW[0]], engine_of(kind, workers))
            seconds = medians(calls)
            for (kind, workers, splits), taken in zip(plan, seconds.values(), strict=True):
                rows, size = _rows(model.file, n) * splits, paths[splits].stat().st_size
                about = model.name, kind, workers, rows, splits, size, passes[splits]
                yield Run(*about, taken, load)


def _plan() -> list[tuple[int, int]]:
    """Workers and splits."""
    return [*((w, few) for w in calibrated() for few in FEW), *((w, SPLITS) for w in WORKERS)]


def calibrated() -> list[int]:
    """How many workers the parameters are read from: no more than there are cores."""
    return [w for w in WORKERS if w <= THREADS]


def engine_of(kind: str, workers: int) -> Engine:
    return engine(kind, threads=workers) if kind == "local" else engine(kind, processes=workers)


def fit(model: Model, path: Path, chosen: Any) -> Any:
    return model.make(engine=chosen).fit(path, model.column)


def _passes(model: Model, path: Path, splits: int) -> float:
    counting = Counting()
    fit(model, path, counting)
    return counting.splits / splits


def _rows(kind: str, n: int) -> int:
    """Of a split."""
    return max(n // SPLITS // (1 if kind == "mixed" else NARROW), 100)


def file_of(folder: Path, kind: str, n: int, splits: int) -> Path:
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
