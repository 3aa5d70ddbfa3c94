"""Peak memory of what is done with files that grow: ``python -m benchmarks.memory [--quick]``.

Each call reads a Parquet file of mixed columns (`benchmarks.mixed_file`) in a process of its own.
**peak** counts the whole process, Python and all imports included; **more** is what it takes beyond
the peak at the first size. Asked of a textbook fit are at most 500 MB, and 50 MB more.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks import mixed_file
from benchmarks.measure import MB, fresh_process, high_water
from benchmarks.mixed_file import LABEL, ROW_GROUP

__all__ = ["CALLS", "Peak", "peaks"]

SIZES = (3_000_000, 10_000_000)
QUICK = 100
FIRST_ROWS = 10_000  # that a model learns from which is then asked


def _textbook() -> Any:
    from suffice import NaiveBayes

    return NaiveBayes.textbook()


def _fit(path: Path) -> None:
    _textbook().fit(path, LABEL)


def _fit_weighted(path: Path) -> None:
    from suffice import NaiveBayes

    NaiveBayes().fit(path, LABEL)


def _predict(path: Path) -> None:
    model = _textbook().fit(path.with_name("first.parquet"), LABEL)
    for part in model.predict_batches(path):
        del part


def _evaluate(path: Path) -> None:
    _textbook().fit(path.with_name("first.parquet"), LABEL).evaluate(path, LABEL)


CALLS: dict[str, Callable[[Path], None]] = {
    "NaiveBayes.textbook().fit": _fit,
    "NaiveBayes().fit": _fit_weighted,
    "predict_batches": _predict,
    "evaluate": _evaluate,
}


class Peak(NamedTuple):
    """MB of a file, and of the process that reads it; None where the system does not tell."""

    call: str
    rows: int
    file: float
    peak: float | None
    more: float | None


def peaks(sizes: Sequence[int], row_group: int) -> Iterator[Peak]:
    """Measure every call on files of these sizes."""
    first: dict[str, float | None] = {}
    with TemporaryDirectory(prefix="suffice-") as folder, fresh_process() as pool:
        path = Path(folder, "rows.parquet")
        mixed_file.write(path.with_name("first.parquet"), FIRST_ROWS)
        for n in sizes:
            mixed_file.write(path, n, row_group)
            for name in CALLS:
                peak = pool.submit(peak_of, name, path).result()
                before = first.setdefault(name, peak)
                more = None if peak is None or before is None else peak - before
                yield Peak(name, n, path.stat().st_size / MB, peak, more)


def peak_of(name: str, path: Path) -> float | None:
    """Return the MB of this process at its peak, after a call."""
    CALLS[name](path)
    return high_water()


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser("python -m benchmarks.memory", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    share = QUICK if parser.parse_args().quick else 1
    print("| call | rows | file, MB | peak, MB | more, MB |", "|---|---|---|---|---|", sep="\n")
    for found in peaks([n // share for n in SIZES], ROW_GROUP // share):
        figures = ("" if mb is None else f"{mb:,.0f}" for mb in found[2:])
        print(f"| {found.call} | {found.rows:,} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
