"""The tables of the cost model, and what their columns mean."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import Table, milliseconds, significant
from benchmarks.scaling.cost_model import Merge, Overhead, Prediction
from benchmarks.scaling.fits import FITS, Run
from benchmarks.scaling.footers import FOOTERS, Footer
from benchmarks.scaling.overheads import OVERHEADS
from benchmarks.scaling.predictions import (
    CLUSTER,
    SPLIT_ROWS,
    TOTAL_ROWS,
    Checked,
    Measured,
    checks,
    predictions,
)
from benchmarks.scaling.statistics import MERGES

__all__ = ["ABOUT", "TABLES", "overview"]

ABOUT = f"""\
The model is that of [scaling.md](../docs/scaling.md). Its parameters are read from fits of 2 and 8
row groups, on no more workers than there are cores; it is held against fits of 16 row groups.
Naive Bayes reads the mixed file of the engines' chapter, the others 50 numbers and a label of one
byte. Medians as there, the calls of one model in turns.

- **a worker, rows/s**: rows of a pass over its time, per worker; **MB/s**: of the file.
- **error**: predicted over measured, less one.
- **one**, **many**: a pass whose kernel does nothing, of one split and of many; **a split**: their
  difference per split. **start**: of the workers, what they import included.
- **pack**, **open**, **add**: `pickle.dumps`, `pickle.loads`, and `a + b`.
- **driver**, **worker**: opening a file to list its row groups, once, and with every split.
- **Predicted**: {TOTAL_ROWS:,} rows in row groups of {SPLIT_ROWS:,}, of the columns measured.
  Measured are computing (`processes`, all cores busy), driver and statistics. **Assumed** are
  machines of {CLUSTER.cores} cores, a worker each, that read {CLUSTER.reading / 1e9:g} GB/s,
  and a network of {CLUSTER.bandwidth / 1e9:g} GB/s and {CLUSTER.latency * 1e3:g} ms there and back.
"""


def _run_cells(run: Run) -> list[str]:
    return [
        run.model,
        run.engine,
        str(run.workers),
        f"{run.rows:,}",
        str(run.splits),
        f"{run.bytes / 1e6:,.1f}",
        significant(run.passes),
        milliseconds(run.seconds),
        _short(run.rate),
        significant(run.rate * run.bytes / run.rows / 1e6),
        f"{run.load:.1f}",
    ]


def _checked_cells(checked: Checked) -> list[str]:
    run = checked.run
    return [
        run.model,
        run.engine,
        str(run.workers),
        milliseconds(checked.predicted),
        milliseconds(run.seconds),
        f"{checked.error:+.0%}",
    ]


def _merge_cells(merge: Merge) -> list[str]:
    seconds = map(milliseconds, (merge.pack, merge.open, merge.add))
    return [merge.kind, merge.size, f"{merge.bytes:,}", *seconds]


def _overhead_cells(overhead: Overhead) -> list[str]:
    skipped = "" if overhead.absent is None else f"skipped: {overhead.absent}"
    return [
        overhead.engine,
        str(overhead.workers),
        overhead.statistic if overhead.bytes is None else f"{overhead.bytes:,}",
        milliseconds(overhead.one),
        "" if overhead.splits is None else f"{overhead.splits:,}",
        milliseconds(overhead.many),
        milliseconds(overhead.each) or skipped,
        milliseconds(overhead.start),
        f"{overhead.load:.1f}",
    ]


def _footer_cells(footer: Footer) -> list[str]:
    seconds = map(milliseconds, (footer.driver, footer.worker))
    return [f"{footer.row_groups:,}", f"{footer.bytes:,}", *seconds]


def _prediction_cells(prediction: Prediction) -> list[str]:
    work = prediction.work
    seconds = (
        prediction.computing,
        prediction.storage,
        prediction.driver,
        prediction.fixed,
        prediction.merging,
        prediction.seconds,
    )
    return [
        prediction.engine,
        work.model,
        significant(work.passes),
        f"{prediction.workers:,}",
        *map(_short, seconds),
        prediction.bound,
    ]


def _short(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):,.10g}"


TABLES = {
    FITS: Table(
        "Fits",
        (
            ("model", 19),
            ("engine", 9),
            ("workers", 7),
            ("rows", 10),
            ("splits", 6),
            ("file, MB", 8),
            ("passes", 6),
            ("ms", 7),
            ("a worker, rows/s", 16),
            ("MB/s", 5),
            ("load", 4),
        ),
        _run_cells,
    ),
    MERGES: Table(
        "Statistics",
        (
            ("kind", 29),
            ("size", 22),
            ("bytes", 10),
            ("pack, ms", 8),
            ("open, ms", 8),
            ("add, ms", 8),
        ),
        _merge_cells,
    ),
    OVERHEADS: Table(
        "Engines, with a kernel that does nothing",
        (
            ("engine", 9),
            ("workers", 7),
            ("bytes", 9),
            ("one, ms", 8),
            ("splits", 6),
            ("many, ms", 8),
            ("a split, ms", 11),
            ("start, ms", 9),
            ("load", 4),
        ),
        _overhead_cells,
    ),
    FOOTERS: Table(
        "Footers of Parquet files of 11 columns",
        (("row groups", 10), ("bytes", 10), ("driver, ms", 10), ("worker, ms", 10)),
        _footer_cells,
    ),
}
CHECKS = Table(
    "Predicted against measured, 16 row groups",
    (
        ("model", 19),
        ("engine", 9),
        ("workers", 7),
        ("predicted, ms", 13),
        ("measured, ms", 12),
        ("error", 6),
    ),
    _checked_cells,
)
PREDICTIONS = Table(
    f"Predicted, {TOTAL_ROWS:,} rows",
    (
        ("engine", 6),
        ("model", 19),
        ("passes", 6),
        ("workers", 7),
        ("computing, s", 12),
        ("storage, s", 10),
        ("driver, s", 9),
        ("fixed, s", 8),
        ("merging, s", 10),
        ("total, s", 8),
        ("bound", 9),
    ),
    _prediction_cells,
)


def overview(measured: Measured) -> Sequence[tuple[Table, Sequence[object]]]:
    """What follows from the measured parameters, where there are fits."""
    if not measured[FITS]:
        return ()
    found = predictions(measured)
    return [(CHECKS, checks(measured)), *[(PREDICTIONS, found)] * bool(found)]
