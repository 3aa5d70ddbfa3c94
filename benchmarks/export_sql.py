"""Rows of a table, drawn with replacement: exported SQL in DuckDB, and Python.

Run as ``python -m benchmarks.export_sql FILE ...``: adult.data, or ARFF files whose last column is
the class. Processor time of this process, in turns, after a run of each to warm up. *Nested CASE*
is the statement that finds the bin of a number anew for every class.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from suffice import NaiveBayes
from suffice.data.open import open_table
from suffice.export import to_sql

ADULT = "adult.data"
ROWS, OTHERWISE, RUNS = 1_000_000, 100_000, 5
MODELS = {"by default:": NaiveBayes(), "textbook:": NaiveBayes.textbook()}
NAMES = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relation",
    "race", "sex", "gain", "loss", "hours", "country", "income",
]  # fmt: skip


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def read(path: Path) -> pd.DataFrame:
    if path.name == ADULT:
        return pd.read_csv(path, header=None, names=NAMES, skipinitialspace=True, na_values="?")
    return pa.Table.from_batches([open_table(path).table.head()]).to_pandas()


def main(path: Path) -> None:
    rows, number = read(path), ROWS if path.name == ADULT else OTHERWISE
    label = rows.columns[-1]
    drawn = rows.drop(columns=label).sample(number, replace=True, random_state=0)
    table = pa.Table.from_pandas(drawn, preserve_index=False)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS SELECT row_number() OVER () AS id, * FROM rows")
        for name, model in MODELS.items():
            print(path.name, name, compare(connection, model.fit(rows, label), table), flush=True)


def compare(connection: Any, model: NaiveBayes, table: pa.Table) -> str:
    """What one model takes, in DuckDB and in Python, and how long its programs are."""
    query = to_sql(model, "duckdb", "t", keep=["id"])
    with patch("suffice.export.sql.ARRAYS", ()):
        nested = to_sql(model, "duckdb", "t", keep=["id"])
    actions = (
        lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE nested AS {nested}"),
        lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE answers AS {query}"),
        lambda: model.predict_proba(table),
    )
    turns = [[seconds(action) for action in actions] for _ in range(RUNS + 1)]
    differ = "SELECT count(*) FROM (SELECT * FROM answers EXCEPT SELECT * FROM nested)"
    assert connection.execute(differ).fetchone() == (0,)
    found = connection.execute("SELECT * FROM answers ORDER BY id").fetch_df().to_numpy()[:, 2:]
    case, sql, python = (median(times) for times in zip(*turns[1:], strict=True))
    error = np.abs(found.astype(float) - model.predict_proba(table)).max()
    return (
        f"nested CASE {case:.3f} s, DuckDB {sql:.3f} s, predict_proba {python:.3f} s, "
        f"largest difference {error:.1e}"
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(Path(argument))
