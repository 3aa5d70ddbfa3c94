"""A limit of memory: batches get smaller, results stay the same bits, and the peak keeps it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice import NaiveBayes
from suffice.data.open import open_table
from suffice.data.read_memory import ReadMemory
from suffice.engines.local import LocalEngine
from suffice.engines.memory_limit import FEWEST_ROWS, batch_rows, bytes_of, reading, within_limit
from suffice.errors import ParameterError
from suffice.statistics.batch import BATCH_ROWS

ROOT = Path(__file__).parents[2]
QUICK = """
import json
from tempfile import TemporaryDirectory
from benchmarks.measure.memory import CLEAR, fresh_process
from benchmarks.memory import QUICK, measured, predicted, write

if __name__ == "__main__" and CLEAR.exists():
    case = QUICK[2]
    with TemporaryDirectory() as folder, fresh_process() as pool:
        pool.submit(write, case, folder).result()
        print(json.dumps([pool.submit(measured, case, folder).result(), predicted(case)]))
"""


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 10**10))
def test_batches_are_the_largest_that_fit(held: int, row: int, workers: int, limit: int) -> None:
    need = ReadMemory(held, row)
    number, rows = batch_rows(need, workers, limit)
    assert 0 <= number <= workers
    if not number:
        assert reading(need, 1, FEWEST_ROWS) > limit
        return
    assert reading(need, number, rows) <= limit
    assert rows == BATCH_ROWS or reading(need, number, 2 * rows) > limit
    assert number == workers or reading(need, number + 1, FEWEST_ROWS) > limit


@pytest.mark.parametrize("size", ["", "2 TB", "-1 GB", "0", 0, -5, 1.5, "many", True])
def test_what_is_no_size_is_refused(size: Any) -> None:
    with pytest.raises(
        ParameterError, match="a limit is a number of bytes, or one of KB, MB or GB"
    ):
        LocalEngine(memory_limit=size)


def test_sizes_have_units() -> None:
    found = [bytes_of(size) for size in ("7", "7 B", "7kb", "0.5 MB", "2GB")]
    assert found == [7, 7, 7_000, 500_000, 2 * 10**9]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two row groups of numbers, words and a label."""
    rng = np.random.default_rng(0)
    x, n = rng.normal(size=(3, 9_000)), 9_000
    columns = {"a": x[0], "b": x[1], "w": rng.choice(["u", "v", "x"], n)}
    table = pa.table(columns | {"y": np.where(x[0] + x[2] > 0, "yes", "no")})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=6_000)
    return tmp_path / "rows.parquet"


def test_results_are_the_same_bits(rows: Path) -> None:
    narrow = suffice.engine("local", threads=2, memory_limit="40330000")
    model, limited = NaiveBayes().fit(rows, "y"), NaiveBayes(engine=narrow).fit(rows, "y")
    assert limited.statistic_ == model.statistic_
    assert limited.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
    assert repr(limited.evaluate(rows, "y")) == repr(model.evaluate(rows, "y"))
    array, labels = np.random.default_rng(1).normal(size=(9_000, 2)), np.arange(9_000) % 2
    alone = NaiveBayes(engine=narrow).fit(array, labels)
    assert alone.statistic_ == NaiveBayes().fit(array, labels).statistic_


def test_fewer_threads_read_smaller_batches(rows: Path) -> None:
    model = NaiveBayes().fit(rows, "y")
    splits = open_table(rows, "y").splits(model.layout_, 2)
    held, row = splits[0].read_memory()
    limit = reading(ReadMemory(held, row), 1, FEWEST_ROWS)
    number, smaller = within_limit(splits, 2, limit)
    assert number == 1
    sizes = [batch.rows for split in smaller for batch in split.batches()]
    assert max(sizes) == FEWEST_ROWS
    assert sum(sizes) == 9_000
    assert smaller[0].locate(5_999) == "row 6000 of rows.parquet"


def test_a_limit_that_is_too_small_says_what_it_takes(rows: Path) -> None:
    with pytest.raises(ParameterError, match=r"takes 11 MB to read, .*; allow '11 MB'"):
        NaiveBayes(engine=suffice.engine("local", memory_limit="1 MB")).fit(rows, "y")


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_the_peak_is_as_predicted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", QUICK], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    peak, predicted = json.loads(done.stdout)
    assert peak < 1.2 * predicted
