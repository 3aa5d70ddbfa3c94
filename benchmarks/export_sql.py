"""A million rows of the adult data, drawn with replacement: exported SQL in DuckDB, and Python.

Run as ``python -m benchmarks.export_sql FOLDER``, the folder of adult.data. Processor time of this
process, in turns, after a run of each to warm up.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from suffice import NaiveBayes
from suffice.export import to_c, to_js, to_sql

ROWS, RUNS = 1_000_000, 5
MODELS = {"by default:": NaiveBayes(), "textbook:": NaiveBayes.textbook()}
NAMES = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relation",
    "race", "sex", "gain", "loss", "hours", "country", "income",
]  # fmt: skip


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def main(folder: Path) -> None:
    path = folder / "adult.data"
    rows = pd.read_csv(path, header=None, names=NAMES, skipinitialspace=True, na_values="?")
    drawn = rows.drop(columns="income").sample(ROWS, replace=True, random_state=0)
    table = pa.Table.from_pandas(drawn, preserve_index=False)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS SELECT row_number() OVER () AS id, * FROM rows")
        for name, model in MODELS.items():
            print(name, compare(connection, model.fit(rows, "income"), table))


def compare(connection: Any, model: NaiveBayes, table: pa.Table) -> str:
    """What one model takes, in DuckDB and in Python, and how long its programs are."""
    query = to_sql(model, "duckdb", "t", keep=["id"])
    create = f"CREATE OR REPLACE TEMP TABLE answers AS {query}"
    turns = [
        (seconds(lambda: connection.execute(create)), seconds(lambda: model.predict_proba(table)))
        for _ in range(RUNS + 1)
    ]
    found = connection.execute("SELECT * FROM answers ORDER BY id").fetch_df().to_numpy()[:, 2:]
    sql, python = (median(times) for times in zip(*turns[1:], strict=True))
    error = np.abs(found.astype(float) - model.predict_proba(table)).max()
    return (
        f"DuckDB {sql:.3f} s, predict_proba {python:.3f} s, largest difference {error:.1e}; "
        f"C {len(to_c(model)):,} bytes, JavaScript {len(to_js(model)):,} bytes"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
