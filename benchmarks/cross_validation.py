"""Cross-validation from one pass beside scikit-learn's: processor time and wall time, as ratios.

Usage: ``python -m benchmarks.cross_validation [--quick]``. scikit-learn fits every fold alike, so
of its folds and grid points a few are timed, once, and the time is multiplied; a column says how
many of how many. Ours is the least of three times.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn import discriminant_analysis, linear_model, naive_bayes
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_validate,
    permutation_test_score,
)

import suffice.model_selection as ours
from suffice import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
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
    """One row of the table: our call, theirs, how many fits theirs leaves out, and what is least.

    ``limit`` says which bytes have to be read, and which operations done, however it is written.
    """

    name: str
    mine: Callable[[], Any]
    theirs: Callable[[], Any]
    timed: int
    fits: int
    asked: int
    limit: str

    def row(self) -> str:
        """Measure, and write a row of a table in Markdown."""
        self.mine()  # once more than is timed: memory is there, modules are loaded
        mine = min((Times.of(self.mine) for _ in range(3)), key=lambda times: times.cpu)
        theirs = Times.of(self.theirs)
        more = self.fits / self.timed
        cpu, wall = theirs.cpu * more / mine.cpu, theirs.wall * more / mine.wall
        figures = f"{mine.cpu:.3g} | {mine.wall:.3g} | {cpu:.1f} | {wall:.1f} | {self.asked}"
        return f"| {self.name} | {figures} | {self.timed} of {self.fits} | {self.limit} |"


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
        "400 MB read twice, 2 n d (k + 1) products",
    )
    best = GaussianNB()
    yield Task(
        "the same, and our own `fit` and `predict_proba` (at most 2.5 times these)",
        lambda: ours.cross_validate(GaussianNB(), x, y, cv=10),
        lambda: best.fit(x, y).predict_proba(x),
        1,
        1,
        0,
        "the same",
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
        "48 MB read twice, 20 n d k additions: 360 million",
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
        "80 MB read once, n d²/2 products: 250 million",
    )
    yield Task(
        f"the same, and `RidgeCV` of 50 alphas, {n:,} x 50",
        lambda: ours.GridSearchCV(Ridge(), {"alpha": penalties}, cv=10, refit=False).fit(x, target),
        lambda: linear_model.RidgeCV(penalties).fit(x, target),
        1,
        1,
        1,
        "the same",
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
        "16 MB and n d²/2 products for each of 2 or 3 steps of 50 fits",
    )
    yield from permutations(share)
    yield from left_out(share)


def permutations(share: int) -> Iterator[Task]:
    """Tests of 1,000 orders of the labels."""
    rng = np.random.default_rng(2)
    n = 20_000 // share
    answer = rng.integers(0, 2, n)
    table = rng.normal(size=(n, 20)) + 0.1 * answer[:, None]
    numbers, codes = "4 n d additions, n d k squares", "n d additions, n d look-ups"
    tests = (
        ("iris", GaussianNB(), naive_bayes.GaussianNB(), *load_iris(return_X_y=True), 100, numbers),
        (f"{n:,} x 20", GaussianNB(), naive_bayes.GaussianNB(), table, answer, 50, numbers),
        (
            f"{n:,} x 20, 6 values",
            CategoricalNB(),
            naive_bayes.CategoricalNB(),
            rng.integers(0, 6, (n, 20)),
            answer,
            50,
            codes,
        ),
    )
    for name, mine, theirs, x, y, asked, limit in tests:
        timed = 200 if len(x) < 1000 else 10
        yield Task(
            f"permutation test of 1,000 orders x 5 folds, {type(mine).__name__}, {name}",
            partial(ours.permutation_test_score, mine, x, y, n_permutations=1000),
            partial(permutation_test_score, theirs, x, y, n_permutations=timed - 1),
            timed,
            1001,
            asked,
            f"1,000 times n random numbers, {limit}",
        )


def left_out(share: int) -> Iterator[Task]:
    """Leave-one-out."""
    rng = np.random.default_rng(3)
    n = 2_000 if share == 1 else 500
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 50)) + 0.2 * y[:, None]
    folds = list(LeaveOneOut().split(x))[:20]
    for mine, theirs, d, asked in (
        (GaussianNB(), naive_bayes.GaussianNB(), 50, 1000),
        (LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis(), 20, 500),
        (
            QuadraticDiscriminantAnalysis(),
            discriminant_analysis.QuadraticDiscriminantAnalysis(),
            20,
            500,
        ),
    ):
        yield Task(
            f"leave-one-out, {type(mine).__name__}, {n:,} x {d}",
            partial(ours.cross_validate, mine, x[:, :d], y, cv="loo"),
            partial(cross_validate, theirs, x[:, :d], y, cv=folds),
            len(folds),
            n,
            asked,
            "a fit, a prediction, n k changes by rank one",
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
    print("| task | CPU s | wall s | CPU ratio | wall ratio | asked | of theirs timed | least |")
    print("|---|---|---|---|---|---|---|---|")
    for task in tasks(share):
        print(task.row(), flush=True)
    print()
    print("| task | CPU s | wall s | CPU, times fit + evaluate | wall, times these | asked |")
    print("|---|---|---|---|---|---|")
    print(of_file(share))


if __name__ == "__main__":
    main()
