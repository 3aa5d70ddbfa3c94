"""A limit of memory: batches get smaller, results stay the same bits, and the peak keeps it."""

from __future__ import annotations

import os
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
from suffice import LinearDiscriminantAnalysis, NaiveBayes
from suffice.data.open import open_table
from suffice.data.read_memory import ReadMemory
from suffice.data.table_source import TableSource
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.local import LocalEngine
from suffice.engines.memory_limit import (
    FEWEST_ROWS,
    batch_rows,
    bytes_of,
    expecting,
    reading,
    sums_of,
    within_limit,
)
from suffice.engines.progress_engine import WatchedEngine
from suffice.errors import ParameterError
from suffice.statistics.batch import BATCH_ROWS
from suffice.statistics.pass_memory import PassMemory, PassRows

ROOT = Path(__file__).parents[2]
PEAK = """
import os
from pathlib import Path
from tempfile import TemporaryDirectory
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.measure import fresh_process, rise
from suffice import NaiveBayes, engine

N, D = 50_000, 400


def write(folder):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(N) for j in range(D)}
    pq.write_table(pa.table(columns | {"y": np.arange(N) % 2}), Path(folder, "0.parquet"))
    for copy in range(1, 4):
        os.link(Path(folder, "0.parquet"), Path(folder, f"{copy}.parquet"))


def peak(folder, limit):
    warm, y = np.random.default_rng(0).normal(size=(2_000, 3)), np.arange(2_000) % 2
    NaiveBayes.textbook(threads=2).fit(warm, y)
    narrow = engine("local", threads=2, memory_limit=limit)
    return rise(lambda: NaiveBayes.textbook(engine=narrow).fit(folder, "y"))


if __name__ == "__main__":
    with TemporaryDirectory() as folder, fresh_process() as pool:
        pool.submit(write, folder).result()
        print(pool.submit(peak, folder, "400 MB").result())
"""


SIZES = st.integers(0, 10**9)


@given(SIZES, st.integers(0, 10**6), st.builds(PassMemory, SIZES, SIZES, SIZES), st.integers(1, 8))
def test_batches_are_the_largest_that_fit(
    held: int, row: int, beside: PassMemory, workers: int
) -> None:
    need, sums = ReadMemory(held, row), sums_of(lambda rows: beside, [5_000] * 20)

    def taken(number: int, rows: int) -> int:
        return reading(need, number, rows) + sums(number, rows)

    for limit in (10**6, 10**8, 10**9, 10**10, 10**11):
        number, rows = batch_rows(need, workers, limit, sums)
        assert 0 <= number <= workers
        if not number:
            assert taken(1, FEWEST_ROWS) > limit
            continue
        assert taken(number, rows) <= limit
        assert rows == BATCH_ROWS or taken(number, 2 * rows) > limit
        assert number == workers or taken(number + 1, FEWEST_ROWS) > limit


def test_what_a_pass_takes_is_asked_of_its_batches_and_splits() -> None:
    seen = set()

    def need(rows: PassRows) -> PassMemory:
        seen.add(rows)
        return PassMemory()

    sums_of(need, [3_000, 70_000])(1, 65_536)
    sums_of(need, [3_000, 7_000])(1, 65_536)
    sums_of(need, [3_000, None])(1, 65_536)
    assert seen == {
        PassRows(65_536, 70_000, 73_000),
        PassRows(7_000, 7_000, 10_000),
        PassRows(65_536, None, None),
    }


def test_an_engine_inside_another_knows_what_a_pass_takes(rows: Path) -> None:
    inside = LocalEngine(memory_limit="50 MB")
    source = open_table(rows, "y")
    source.table.head()
    for around in (WatchedEngine(inside, False), CheckpointedEngine(inside, "a.checkpoint")):
        told = expecting(around, source, lambda rows: PassMemory(once=10**9))
        with pytest.raises(ParameterError, match=r"made of the rows 1,001 MB; allow '1011 MB'"):
            list(told.map(print, None, source.splits(NaiveBayes().fit(rows, "y").layout_, 1)))
    assert expecting(LocalEngine(), source, lambda rows: PassMemory()) == LocalEngine()


def test_first_rows_that_are_kept_count(rows: Path) -> None:
    source = open_table(rows, "y")
    assert isinstance(source, TableSource)
    assert source.kept_bytes == 0
    kept = source.table.head().nbytes
    assert source.kept_bytes == source.without(["w"]).table.kept_bytes == kept > 9_000 * 16
    assert source.shown_classes() == 2
    assert open_table(rows).shown_classes() == 0


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
    held, row, _ = splits[0].read_memory()
    limit = reading(ReadMemory(held, row), 1, FEWEST_ROWS)
    number, smaller = within_limit(splits, 2, limit)
    assert number == 1
    sizes = [batch.rows for split in smaller for batch in split.batches()]
    assert max(sizes) == FEWEST_ROWS
    assert sum(sizes) == 9_000
    assert smaller[0].locate(5_999) == "row 6000 of rows.parquet"


def test_a_limit_that_is_too_small_says_what_it_takes(rows: Path) -> None:
    with pytest.raises(ParameterError, match=r"takes 11 MB to read, .* rows 2 MB; allow '12 MB'"):
        NaiveBayes(engine=suffice.engine("local", memory_limit="1 MB")).fit(rows, "y")


def test_parts_of_folders_are_read_in_smaller_batches_too(rows: Path) -> None:
    (rows.parent / "g=1").mkdir()
    rows.rename(rows.parent / "g=1" / "rows.parquet")
    model = NaiveBayes().fit(rows.parent, "y")
    splits = open_table(rows.parent, "y").splits(model.layout_, 1)
    assert splits[0].read_memory().held == 6_000 * 8 * 4
    _, smaller = within_limit(splits, 1, "10.5 MB")
    assert {batch.rows for batch in smaller[0].batches()} == {1_024, 880}
    narrow = suffice.engine("local", memory_limit="20 MB")
    assert NaiveBayes(engine=narrow).fit(rows.parent, "y").statistic_ == model.statistic_


def test_sums_that_are_too_large_are_refused() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(900, 400)), np.arange(900) % 2
    narrow = suffice.engine("local", threads=2, memory_limit="25 MB")
    with pytest.raises(
        ParameterError, match=r"17 MB to read, .* made of the rows 11 MB; .* '27 MB'"
    ):
        suffice.QuadraticDiscriminantAnalysis(engine=narrow).fit(x, y)
    alone = LinearDiscriminantAnalysis(engine=narrow).fit(x, y)
    assert alone.statistic_ == LinearDiscriminantAnalysis().fit(x, y).statistic_
    with pytest.raises(ParameterError, match=r"made of the rows 21 MB"):
        NaiveBayes(engine=suffice.engine("local", memory_limit="11 MB")).fit(x, y)


def test_texts_are_read_in_batches_that_their_bytes_allow(tmp_path: Path) -> None:
    texts = [f"{i} " + " ".join(f"word{i * j % 97}" for j in range(200)) for i in range(4_096)]
    table = pa.table({"t": texts, "y": [i % 2 for i in range(4_096)]})
    pq.write_table(table, tmp_path / "texts.parquet")
    model = NaiveBayes.textbook().fit(tmp_path / "texts.parquet", "y")
    (split,) = open_table(tmp_path / "texts.parquet", "y").splits(model.layout_, 1)
    length = sum(map(len, texts)) / 4_096
    assert length <= split.read_memory().text <= 1.1 * length
    narrow = suffice.engine("local", memory_limit="64 MB")
    _, (smaller,) = within_limit([split], 1, "64 MB")
    assert max(batch.rows for batch in smaller.batches()) == 1_024
    limited = NaiveBayes.textbook(engine=narrow).fit(tmp_path / "texts.parquet", "y")
    assert limited.statistic_ == model.statistic_


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_a_limit_lowers_the_peak(tmp_path: Path) -> None:
    program = tmp_path / "peak.py"
    program.write_text(PEAK)
    done = subprocess.run(
        [sys.executable, program],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1.2 * 400  # 700 MB without it
