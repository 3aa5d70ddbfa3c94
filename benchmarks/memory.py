"""Peak memory beside the formula that predicts it: ``python -m benchmarks.memory``.

Rows come from a source that yields one row group of a Parquet file again and again, so that no file
is larger than a row group. One factor is varied at a time; each case runs in a process of its own.

::

    peak = 10 MB + read + min(read, workers · 20 MB) + sums (`suffice.engines.memory_limit`), the
    first rows that a table keeps included, 64 MB at most
"""

from __future__ import annotations

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
from suffice.data.read_memory import ENCODED, STORED, TEXT
from suffice.data.split_size import SplitSize
from suffice.data.table import KEPT, RecordSplit, TableView
from suffice.engines.memory_limit import batch_rows, bytes_of, reading, sums_of
from suffice.models.base.evaluated_rows import evaluation_memory
from suffice.models.base.predictions import answer_memory
from suffice.models.generative.column_weights import SAMPLE_ROWS
from suffice.statistics.batch import BATCH_ROWS
from suffice.statistics.by_class import ByClassAccumulator
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.moments import MomentsAccumulator
from suffice.statistics.moments_and_bins import MomentsAndBinsAccumulator
from suffice.statistics.pass_memory import PassMemory, PassRows, sum_memory
from suffice.statistics.row_sample import SampledAccumulator

__all__ = ["CASES", "Case", "measured", "predicted"]

MODELS = {
    "naive Bayes, plain": NaiveBayes.textbook,
    "naive Bayes": NaiveBayes,
    "LDA": LinearDiscriminantAnalysis,
}


WORD = 95  # bytes of a word that a split shows, in its sums


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
    words: int = 0  # of a text
    vocabulary: int = 0  # different ones


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
    text = case.d * case.words * (1 + len(f"word{case.vocabulary // 2}"))
    need = need._replace(row=need.row + ENCODED * case.d + TEXT * text)
    limit = sys.maxsize if case.limit is None else bytes_of(case.limit)
    times = -(-case.n // case.row_group)
    first_rows = STORED * (case.d + 1) * min(BATCH_ROWS, case.row_group)
    kept = PassMemory(once=first_rows if first_rows <= KEPT else 0)
    sums = sums_of(lambda rows: _beside(case, rows) + kept, [case.row_group] * times)
    workers, rows = batch_rows(need, min(case.threads, times), limit, sums)
    rows = min(rows, case.row_group)
    return reading(need, workers, rows) + sums(workers, rows)


def _beside(case: Case, rows: PassRows) -> PassMemory:
    """What the pass takes beside reading."""
    if case.words:  # unknown before a row is read
        tokens = case.d * case.words * case.row_group
        shown = case.vocabulary * -np.expm1(-tokens / case.vocabulary)
        return PassMemory(int(shown) * WORD, int(shown) * WORD * (case.verb == "fit"))
    if case.verb == "fit":
        return sum_memory(_accumulator(case), case.k, rows)
    if case.verb == "predict":
        return answer_memory(case.k, 0, rows)
    return evaluation_memory(case.k, True, rows)


def _accumulator(case: Case) -> Any:
    if case.model == "LDA":
        return ByClassAccumulator([ComomentsAccumulator(case.d, pooled=True)])
    if case.model == "naive Bayes, plain" and case.kind == "integers":  # they may be categories
        return ByClassAccumulator([MomentsAndBinsAccumulator(case.d)])
    if case.model == "naive Bayes, plain":
        return ByClassAccumulator([MomentsAccumulator(case.d)])
    sums = ByClassAccumulator([MomentsAndBinsAccumulator(case.d)])
    return SampledAccumulator(sums, [range(case.d)], SAMPLE_ROWS)


def learnt(case: Case, folder: str) -> Any:
    """A model of the row group, in a process that is not measured."""
    once = Repeated(open_table(Path(folder, "rows.parquet")).table)
    return MODELS[case.model]().fit(once, "y")


def measured(case: Case, folder: str, model: Any = None) -> int:
    """Bytes at the peak above what the process held before, of a fit or of a known model."""
    small = _rows(2_000, 3, 2)
    warm = MODELS[case.model](threads=case.threads).fit(small, "y")
    warm.evaluate(small, "y")
    reader = engine("local", threads=case.threads, memory_limit=case.limit)
    table = open_table(Path(folder, "rows.parquet")).table
    many = Repeated(table, times=-(-case.n // case.row_group))
    if model is None:
        return rise(lambda: MODELS[case.model](engine=reader).fit(many, "y"))
    known = model.set_params(engine=reader)
    if case.verb == "evaluate":
        return rise(lambda: known.evaluate(many, "y"))
    return rise(lambda: sum(part.num_rows for part in known.predict_batches(many)))


def write(case: Case, folder: str) -> None:
    """Write a row group, column by column of random numbers."""
    pq.write_table(
        _texts(case) if case.words else _rows(case.row_group, case.d, case.k, case.kind),
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


def _texts(case: Case) -> pa.Table:
    """Columns of texts of so many words of a vocabulary, with a label."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{v}" for v in range(case.vocabulary)])

    def text() -> str:
        return " ".join(words[rng.integers(0, case.vocabulary, case.words)].tolist())

    columns = {f"x{j}": [text() for _ in range(case.row_group)] for j in range(case.d)}
    return pa.table(columns | {"y": np.arange(case.row_group) % case.k})


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
    text = Case("texts", n=100_000, row_group=20_000, d=1, kind="texts", vocabulary=10_000)
    yield from (replace(text, words=words) for words in (10, 100, 1_000))
    sizes = (1_000, 100_000, 1_000_000)
    yield from (replace(text, words=100, vocabulary=size) for size in sizes)
    for verb in ("predict", "evaluate"):
        yield replace(text, words=100, verb=verb)
    yield replace(text, words=100, limit="150 MB")
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
            model = pool.submit(learnt, case, folder).result() if case.verb != "fit" else None
            peak, expected = pool.submit(measured, case, folder, model).result(), predicted(case)
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
