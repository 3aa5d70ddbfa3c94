"""Peak memory beside the formula that predicts it: ``python -m benchmarks.memory``.

Rows come from a source that yields one row group of a Parquet file again and again, so that no file
is larger than a row group. One factor is varied at a time; each case runs in a process of its own.

::

    peak = first rows + (10 MB + read + min(read, 40 MB)) + sums, of first rows at most 64 MB;
    read = workers · (held + b · row)
"""

from __future__ import annotations

import gc
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure.memory import fresh_process, rise
from benchmarks.measure.result import MB
from suffice import LinearDiscriminantAnalysis, NaiveBayes, engine
from suffice.data.files.parquet import ParquetSplit
from suffice.data.open import open_table
from suffice.data.read_memory import ENCODED, STORED
from suffice.data.split_size import SplitSize
from suffice.data.table import KEPT, RecordSplit, TableView
from suffice.engines.memory_limit import batch_rows, bytes_of, reading
from suffice.models.generative.column_weights import SAMPLE_ROWS
from suffice.statistics.batch import BATCH_ROWS, SCORES
from suffice.statistics.binned_count_accumulator import FEW, FEW_CLASSES, FEW_ROWS, MOST_WAITING
from suffice.statistics.value_grid import CELLS

__all__ = ["CASES", "Case", "measured", "predicted"]

MODELS = {
    "naive Bayes, plain": NaiveBayes.textbook,
    "naive Bayes": NaiveBayes,
    "LDA": LinearDiscriminantAnalysis,
}
NUMBER = 8  # bytes
SUMS = 240  # bytes that naive Bayes keeps of a column and class, in every result
RANKED, SCORED = 20, 1 << 20  # classes that an evaluation ranks at most, and scores of each
RANKING, SORTING = 40, 72  # bytes of a score, and of sorting it
COUNTED, SORTED = 4, 24  # bytes of a cell in a table of counts, and of a number that is sorted
SHOWN, NORMAL = 10, 5_000  # bytes of a cell that holds a number, and how many a normal column has


@dataclass(frozen=True)
class Case:
    """Rows, and what is done with them; ``varied`` names what differs from the usual case."""

    varied: str = "usual"
    model: str = "naive Bayes, plain"
    verb: str = "fit"
    n: int = 10_000_000
    row_group: int = 250_000
    d: int = 10
    k: int = 2
    limit: str | None = None
    threads: int = 2
    kind: str = "numbers"  # of the columns


@dataclass(frozen=True)
class Repeated(TableView):
    """A table whose rows come again and again."""

    times: int = 1

    def splits(self, types: Any) -> Sequence[RecordSplit]:
        """The parts, so many times."""
        return [part for _ in range(self.times) for part in self.table.splits(types)]

    def _first_columns(self) -> Iterator[pa.RecordBatch]:
        return self.table._first_columns()


def predicted(case: Case) -> int:
    """Bytes above what the process holds before."""
    types = tuple((str(j), None) for j in range(case.d + 1))
    part = ParquetSplit(Path(), 0, types, size=SplitSize(case.row_group))
    need = part.read_memory()
    need = need._replace(row=need.row + ENCODED * case.d)
    limit = sys.maxsize if case.limit is None else bytes_of(case.limit)
    workers, rows = batch_rows(need, min(case.threads, -(-case.n // case.row_group)), limit)
    rows = min(rows, case.row_group)
    first_rows = STORED * (case.d + 1) * min(BATCH_ROWS, case.row_group)
    kept = first_rows if first_rows <= KEPT else 0
    return kept + reading(need, workers, rows) + _sums(case, workers, rows)


def _sums(case: Case, workers: int, rows: int) -> int:
    """Bytes of results, of which two wait for every worker, and of what scoring takes."""
    d, k = case.d, case.k
    results = min(2 * workers + 1, -(-case.n // case.row_group))
    if case.verb == "fit":
        pairs = NUMBER * 4 * d**2 if case.model == "LDA" else 0
        counts = _counts(case, workers, rows, results) if case.model == "naive Bayes" else 0
        return results * (SUMS * d * k + pairs) + counts
    scores = NUMBER * min(rows * k, SCORES)
    if case.verb == "predict":
        return workers * 2 * scores
    ranked = 1 if k == 2 else k if k <= RANKED else 0
    kept = min(case.n, results * min(case.row_group, SCORED) + 2 * SCORED)
    rankings = SORTING * min(case.n, 2 * SCORED) + ranked * RANKING * kept if ranked else 0
    confusions = (2 * results + 1) * NUMBER * k**2  # one of them is being made
    return workers * 6 * scores + rankings + confusions


def _counts(case: Case, workers: int, rows: int, results: int) -> int:
    """Bytes of naive Bayes that counts cells of columns, and keeps a sample of rows."""
    d, k, own = case.d, case.k, case.row_group // case.k
    few = rows * d < FEW or rows * FEW_CLASSES < FEW_ROWS * max(FEW_CLASSES, k)
    table = SORTED * min(MOST_WAITING, case.row_group * d) if few else COUNTED * CELLS * k * d
    cells = SHOWN * k * d * min(own, NORMAL)
    sample = NUMBER * d * min(case.row_group, SAMPLE_ROWS)
    return workers * table + results * (cells + sample)


def measured(case: Case, folder: str) -> int:
    """Bytes at the peak above what the process held before."""
    path = Path(folder, "rows.parquet")
    make: Any = MODELS[case.model]
    small = _rows(2_000, 3, 2)
    warm = make(threads=case.threads).fit(small, "y")
    warm.evaluate(small, "y")
    reader = engine("local", threads=case.threads, memory_limit=case.limit)
    once = Repeated(open_table(path).table)
    many = replace(once, table=open_table(path).table, times=-(-case.n // case.row_group))
    model = make(engine=reader)
    if case.verb == "fit":
        return rise(lambda: model.fit(many, "y"))
    model.fit(once, "y")
    gc.collect()
    if case.verb == "evaluate":
        return rise(lambda: model.evaluate(many, "y"))
    return rise(lambda: sum(part.num_rows for part in model.predict_batches(many)))


def write(case: Case, folder: str) -> None:
    """Write a row group, column by column of random numbers."""
    pq.write_table(
        _rows(case.row_group, case.d, case.k, case.kind),
        Path(folder, "rows.parquet"),
        row_group_size=case.row_group,
    )


def _rows(n: int, d: int, k: int, kind: str = "numbers") -> pa.Table:
    rng = np.random.default_rng(0)
    words = np.array([f"value {v}" for v in range(50)])
    draw: dict[str, Any] = {
        "numbers": rng.standard_normal,
        "integers": lambda n: rng.integers(0, 1_000, n),
        "categories": lambda n: words[rng.integers(0, len(words), n)],
    }
    columns = {f"x{j}": draw[kind](n) for j in range(d)}
    return pa.table(columns | {"y": rng.permutation(np.arange(n) % k)})


def _cases() -> Iterator[Case]:
    """One factor varied at a time, of each verb; at most 2·10⁹ cells."""
    usual, wide = Case(), Case("columns", n=100_000, row_group=20_000)
    few = Case("classes", n=1_000_000, row_group=100_000)
    for verb in ("fit", "predict", "evaluate"):
        yield from (replace(usual, varied="rows", verb=verb, n=n * 10**6) for n in (10, 30, 100))
        sizes = (50_000, 1_000_000, 5_000_000)
        yield from (replace(usual, varied="row group", verb=verb, row_group=r) for r in sizes)
        yield from (replace(wide, verb=verb, d=d) for d in (10, 100, 1_000, 2_000))
        yield from (replace(few, verb=verb, k=k) for k in (2, 100, 1_000))
        # Every split has a table of k² numbers: one split.
        yield replace(few, verb=verb, n=100_000, k=10_000)
        limits = ((1_000, "700 MB"), (2_000, "1 GB"))
        yield from (replace(wide, varied="limit", verb=verb, d=d, limit=each) for d, each in limits)
    for kind in ("integers", "categories"):
        yield replace(usual, varied="kind", kind=kind)
        yield replace(wide, varied="kind", d=200, kind=kind)
    for verb in ("fit", "predict", "evaluate"):
        yield replace(usual, varied="threads", verb=verb, threads=1)
        yield replace(wide, varied="threads", verb=verb, d=200, threads=1)
    for model in ("naive Bayes", "LDA"):
        yield replace(usual, varied="model", model=model)
        yield replace(wide, varied="model", model=model, d=100)
        yield replace(wide, varied="model", model=model, d=1_000)


CASES = tuple(_cases())
QUICK = (
    Case("rows", n=200_000, row_group=50_000, d=100),
    Case("rows", n=1_000_000, row_group=50_000, d=100),
    Case("limit", n=200_000, row_group=50_000, d=400, limit="400 MB"),
    Case("limit", verb="predict", n=200_000, row_group=50_000, d=400, limit="400 MB"),
    Case("limit", verb="evaluate", n=200_000, row_group=50_000, d=400, limit="400 MB"),
)


def main() -> None:
    """Print a row for each case, or write them as JSON."""
    parser = ArgumentParser("python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", metavar="FACTOR")
    parser.add_argument("--skip", type=int, default=0, metavar="CASES")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = [name for name in asdict(Case()) if name != "varied"]
    if not options.json:
        header = ["varied", *names, "peak, MB", "predicted, MB", "ratio"]
        print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for case in (QUICK if options.quick else CASES)[options.skip :]:
        if options.only not in (None, case.varied):
            continue
        with TemporaryDirectory(prefix="suffice-") as folder, fresh_process() as pool:
            pool.submit(write, case, folder).result()
            peak, expected = pool.submit(measured, case, folder).result(), predicted(case)
        if options.json:
            print(json.dumps(asdict(case) | {"peak": peak, "predicted": expected}), flush=True)
            continue
        values = [
            f"{value:,}" if isinstance(value, int) else value or ""
            for value in (case.varied, *(getattr(case, name) for name in names))
        ]
        figures = [f"{peak / MB:,.0f}", f"{expected / MB:,.0f}", f"{peak / expected:.2f}"]
        print(f"| {' | '.join([*values, *figures])} |", flush=True)


if __name__ == "__main__":
    main()
