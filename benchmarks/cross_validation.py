"""Cross-validation from one pass beside scikit-learn's: processor time and wall time, as ratios.

Usage: ``python -m benchmarks.cross_validation [--quick]``. Each task runs once on either side.
scikit-learn fits every fold alike, so of its folds and grid points a few are timed, and the time is
multiplied; the last column says how many of how many.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn import linear_model, naive_bayes
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate

import suffice.model_selection as ours
from suffice import LogisticRegression, NaiveBayes, Ridge
from suffice.naive_bayes import CategoricalNB, GaussianNB

QUICK = 100  # numbers of rows are divided by it


@dataclass(frozen=True)
class Times:
    """Seconds of a call: of all processors together, and by the clock."""

    cpu: float
    wall: float

    @classmethod
    def of(cls, call: Callable[[], Any]) -> Times:
        """Time one call."""
        cpu, wall = process_time(), perf_counter()
        call()
        return cls(process_time() - cpu, perf_counter() - wall)


@dataclass(frozen=True)
class Task:
    """One row of the table: our call, theirs, and how many fits theirs leaves out."""

    name: str
    mine: Callable[[], Any]
    theirs: Callable[[], Any]
    timed: int
    fits: int
    asked: int

    def row(self) -> str:
        """Measure, and write a row of a table in Markdown."""
        self.mine()  # once more than is timed: memory is there, modules are loaded
        mine, theirs = Times.of(self.mine), Times.of(self.theirs)
        more = self.fits / self.timed
        cpu, wall = theirs.cpu * more / mine.cpu, theirs.wall * more / mine.wall
        figures = f"{mine.cpu:.3f} | {mine.wall:.3f} | {cpu:.1f} | {wall:.1f} | {self.asked}"
        return f"| {self.name} | {figures} | {self.timed} of {self.fits} |"


def tasks(share: int) -> Iterator[Task]:
    """The tasks, of one row in ``share``."""
    rng = np.random.default_rng(0)
    n = 1_000_000 // share
    y = rng.integers(0, 5, n)
    x = rng.normal(size=(n, 50)) + 0.1 * y[:, None]
    fold = list(StratifiedKFold(10).split(x, y))[:1]
    yield Task(
        f"10-fold `cross_validate`, GaussianNB, {n:,} x 50, 5 classes",
        lambda: ours.cross_validate(GaussianNB(), x, y, cv=10),
        lambda: cross_validate(naive_bayes.GaussianNB(), x, y, cv=fold),
        1,
        10,
        100,
    )
    n = 200_000 // share
    codes, labels = rng.integers(0, 6, (n, 30)), rng.integers(0, 3, n)
    alphas = np.logspace(-3, 2, 20).tolist()
    first = list(StratifiedKFold(10).split(codes, labels))[:1]
    yield Task(
        f"20 values of alpha x 10 folds, CategoricalNB, {n:,} x 30",
        lambda: ours.GridSearchCV(CategoricalNB(), {"alpha": alphas}, cv=10, refit=False).fit(
            codes, labels
        ),
        lambda: GridSearchCV(
            naive_bayes.CategoricalNB(), {"alpha": alphas[:2]}, cv=first, refit=False
        ).fit(codes, labels),
        2,
        200,
        500,
    )
    x = rng.normal(size=(n, 50))
    target = x @ rng.normal(size=50) + rng.normal(size=n)
    penalties = np.logspace(-3, 3, 50).tolist()
    held_out = list(KFold(10).split(x))[:1]
    yield Task(
        f"50 values of alpha x 10 folds, Ridge, {n:,} x 50",
        lambda: ours.GridSearchCV(Ridge(), {"alpha": penalties}, cv=10, refit=False).fit(x, target),
        lambda: GridSearchCV(
            linear_model.Ridge(), {"alpha": penalties[:5]}, cv=held_out, refit=False
        ).fit(x, target),
        5,
        500,
        50,
    )
    n = 100_000 // share
    x = rng.normal(size=(n, 20))
    answer = (x @ rng.normal(size=20) + rng.logistic(size=n) > 0).astype(int)
    variances = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    first = list(StratifiedKFold(10).split(x, answer))[:2]
    yield Task(
        f"5 values of C x 10 folds, LogisticRegression, {n:,} x 20",
        lambda: ours.GridSearchCV(LogisticRegression(), variances, cv=10, refit=False).fit(
            x, answer
        ),
        lambda: GridSearchCV(
            linear_model.LogisticRegression(), variances, cv=first, refit=False
        ).fit(x, answer),
        10,
        50,
        5,
    )


def mixed(path: Path, n: int) -> None:
    """Write a table of 10 numbers, 6 words and 4 whole numbers, with labels, by 500,000 rows."""
    rng, writer = np.random.default_rng(1), None
    words = np.array(["red", "green", "blue", "black", "white"])
    for start in range(0, n, 500_000):
        m = min(500_000, n - start)
        y = rng.integers(0, 3, m)
        columns: dict[str, Any] = {f"x{j}": rng.normal(size=m) + 0.2 * y for j in range(10)}
        columns |= {f"word{j}": words[rng.integers(0, 5, m)] for j in range(6)}
        columns |= {f"whole{j}": rng.integers(0, 1000, m) for j in range(4)}
        table = pa.table(columns | {"label": np.array(["a", "b", "c"])[y]})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def of_file(share: int) -> str:
    """Folds of a file beside one fit and one evaluation of it, as a row of a table."""
    n = 10_000_000 // share
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        mixed(path, n)
        model = NaiveBayes.textbook()
        once = Times.of(lambda: model.fit(path, "label").evaluate(path, "label"))
        folds = Times.of(lambda: ours.evaluate_folds(NaiveBayes.textbook(), path, "label", cv=10))
    cpu, wall = folds.cpu / once.cpu, folds.wall / once.wall
    figures = f"{folds.cpu:.2f} | {folds.wall:.2f} | {cpu:.2f} | {wall:.2f}"
    return f"| 10 folds of {n:,} rows, 20 columns, Parquet | {figures} | 2.5 at most |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    share = QUICK if parser.parse_args().quick else 1
    print("| task | CPU s | wall s | CPU ratio | wall ratio | asked | of theirs timed |")
    print("|---|---|---|---|---|---|---|")
    for task in tasks(share):
        print(task.row(), flush=True)
    print()
    print("| task | CPU s | wall s | CPU, times fit + evaluate | wall, times these | asked |")
    print("|---|---|---|---|---|---|")
    print(of_file(share))


if __name__ == "__main__":
    main()
