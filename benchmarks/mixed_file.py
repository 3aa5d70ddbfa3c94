"""A file of mixed columns with holes, as long as wanted: ``python -m benchmarks.mixed_file FILE``.

Six numbers, four columns of strings, a label. The rows are drawn, written and let go of a row group
at a time, each with a seed of its own: a shorter file is the beginning of a longer one.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["LABEL", "LEVELS", "NUMBERS", "ROWS", "ROW_GROUP", "write"]

ROWS = 10_000_000
ROW_GROUP = 500_000
SEED = 20
HOLES = 0.05  # share of the cells of every column but the label
LABEL, LABELS = "label", ("a", "b", "c", "d")
NUMBERS = tuple(f"x{j}" for j in range(6))
LEVELS = {"one_of_3": 3, "one_of_20": 20, "one_of_200": 200, "one_of_1000": 1_000}


def write(path: Path, n: int = ROWS, row_group: int = ROW_GROUP, seed: int = SEED) -> None:
    """Write n rows, as text if the name ends in ``.csv``, else as Parquet with plain strings."""
    groups = [min(row_group, n - start) for start in range(0, n, row_group)]
    with _writer(path) as writer:
        for number, size in enumerate(groups):
            writer.write_table(_rows(np.random.default_rng([seed, number]), size))


def _writer(path: Path) -> Any:
    if path.suffix == ".csv":
        plain = pa.csv.WriteOptions(quoting_style="none")
        return pa.csv.CSVWriter(path, SCHEMA, write_options=plain)
    return pq.ParquetWriter(path, SCHEMA)


SCHEMA = pa.schema(
    [
        *((name, pa.float64()) for name in NUMBERS),
        *((name, pa.string()) for name in LEVELS),
        (LABEL, pa.string()),
    ]
)


def _rows(rng: np.random.Generator, n: int) -> pa.Table:
    """Normal numbers whose means differ by class; levels, of which the first are frequent."""
    y = rng.integers(0, len(LABELS), n)
    columns = [
        *(_with_holes(rng, 10.0**j + j * y + rng.standard_normal(n)) for j in range(len(NUMBERS))),
        *(_levels(rng, y, m) for m in LEVELS.values()),
        pa.array(LABELS).take(pa.array(y)),
    ]
    return pa.table(columns, schema=SCHEMA)


def _levels(rng: np.random.Generator, y: NDArray[np.int64], m: int) -> pa.Array[Any]:
    codes = (m * rng.random(len(y)) ** (1 + y / len(LABELS))).astype(np.int64)
    return pa.array([f"level {i}" for i in range(m)]).take(_with_holes(rng, codes))


def _with_holes(rng: np.random.Generator, cells: NDArray[Any]) -> pa.Array[Any]:
    return pa.array(cells, mask=rng.random(len(cells)) < HOLES)


def main() -> None:
    """Write the file that the command line asks for."""
    parser = ArgumentParser("python -m benchmarks.mixed_file", description=write.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N")
    parser.add_argument("--row-group", type=int, default=ROW_GROUP, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    write(options.file, options.rows, options.row_group, options.seed)


if __name__ == "__main__":
    main()
