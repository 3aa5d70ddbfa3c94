"""What can be read once is kept: whole, in bounded memory, and not longer than needed."""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.data.reading import message, rows

from suffice import NaiveBayes, read_table
from suffice.errors import ReadError, SchemaError


@pytest.fixture(scope="module", autouse=True)
def _few_objects() -> Iterator[None]:
    """Collections of garbage need not look at what other modules have made."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of the test's own, which must be empty in the end."""
    home = tmp_path / "temporary"
    home.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    yield home
    gc.collect()
    assert list(home.iterdir()) == []


def stream(*tables: pa.Table) -> pa.RecordBatchReader:
    batches = [batch for table in tables for batch in table.to_batches()]
    return pa.RecordBatchReader.from_batches(tables[0].schema, batches)


PEOPLE = pa.table({"age": [39, None, 17], "sex": ["m", "f", None], "kind": ["a", "b", "a"]})


class TestKeeping:
    def test_a_stream_may_be_read_again(self) -> None:
        table = read_table(stream(PEOPLE))
        assert rows(table) == rows(table) == table.head().to_pylist() == PEOPLE.to_pylist()
        assert rows(table, "kind", "age") == PEOPLE.select(["kind", "age"]).to_pylist()
        assert table.parts({"age": None})[0].locate(2) == "row 3 of the stream"

    def test_parts_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suffice.data.files.spool._PART_ROWS", 10)
        table = pa.table({"x": range(95), "s": [f"s{i % 7}" for i in range(95)]})
        for batch_rows in (1, 4, 10, 1000):
            batches = table.to_batches(max_chunksize=batch_rows)
            kept = read_table(pa.RecordBatchReader.from_batches(table.schema, batches))
            parts = kept.parts({"x": None})
            sizes = [sum(map(len, part.record_batches())) for part in parts]
            assert max(sizes) <= 10
            assert sum(sizes) == 95
            assert rows(kept) == table.to_pylist()
            starts = [part.locate(0) for part in parts]
            assert starts[:2] == ["row 1 of the stream", f"row {sizes[0] + 1} of the stream"]

    def test_columns_have_names_of_their_own(self) -> None:
        twice = pa.table([[1], [2]], names=["x", "x"])
        assert "column 'x' is there twice" in message(
            lambda: read_table(stream(twice)), SchemaError
        )

    def test_a_stream_that_breaks_off(self) -> None:
        def breaking() -> Iterator[pa.RecordBatch]:
            yield from PEOPLE.to_batches()
            raise OSError("the line is dead.")

        reader = pa.RecordBatchReader.from_batches(PEOPLE.schema, breaking())
        assert message(lambda: read_table(reader)).startswith(
            "the stream broke off after 3 rows: IOError: the line is dead; "
        )

    def test_no_room(self, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("suffice.data.files.spool.ipc.new_file", full)
        assert message(lambda: read_table(stream(PEOPLE))).startswith(
            f"the rows cannot be kept in {temporary}: [Errno 28] No space left on device; "
        )


class TestLife:
    def test_a_folder_lasts_as_long_as_a_part(self, temporary: Path) -> None:
        parts = read_table(stream(PEOPLE)).parts({"age": None})
        gc.collect()
        assert len(list(temporary.iterdir())) == 1
        assert next(parts[0].record_batches()).to_pylist()[0] == {"age": 39}
        del parts
        assert list(temporary.iterdir()) == []

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
    def test_a_forked_child_removes_nothing(self) -> None:
        table = read_table(stream(PEOPLE))
        child = os.fork()
        if child == 0:
            del table
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert rows(table) == PEOPLE.to_pylist()

    def test_a_folder_is_gone_after_an_error(self, temporary: Path) -> None:
        with pytest.raises(ReadError) as caught:
            read_table(
                pa.RecordBatchReader.from_batches(PEOPLE.schema, iter([PEOPLE.to_batches()[0], 1]))
            )
        assert list(temporary.iterdir()) == []
        del caught

    def test_nothing_is_left_after_an_error(self, tmp_path: Path) -> None:
        program = """
import pyarrow as pa
from suffice import read_table
rows = pa.table({"x": [1, 2, 3]})
kept = read_table(pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()))
path = kept.kept[0].path.parent
print(path, path.exists())
1 / 0
"""
        home = tmp_path / "child"
        home.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"TMPDIR": str(home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        path, there = done.stdout.split()
        assert Path(path).is_relative_to(home)
        assert there == "True"
        assert list(home.iterdir()) == []


class TestPolars:
    @pytest.fixture
    def pl(self) -> Any:
        return pytest.importorskip("polars", reason="polars is not installed")

    @pytest.fixture
    def lazy(self, pl: Any) -> Any:
        return pl.LazyFrame(
            {"x": [1.5, None, 2.5, 4.0], "s": ["a", "b", None, "a"], "y": ["p", "q", "p", "q"]}
        )

    def test_a_lazy_frame_is_never_collected(
        self, pl: Any, lazy: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("collect", "collect_batches"):
            monkeypatch.setattr(pl.LazyFrame, name, None)
        model = NaiveBayes.textbook().fit(lazy, "y")
        monkeypatch.undo()
        assert model.statistic_ == NaiveBayes.textbook().fit(lazy.collect(), "y").statistic_

    def test_the_query_runs_once(self, lazy: Any) -> None:
        runs = []

        def seen(frame: Any) -> Any:
            runs.append(frame.height)
            return frame

        table = read_table(lazy.map_batches(seen, streamable=False))
        assert rows(table) == rows(table) == lazy.collect().to_dicts()
        assert sum(runs) == 4

    def test_a_query_that_fails(self, lazy: Any) -> None:
        said = message(lambda: read_table(lazy.select("nothing")))
        assert said.startswith("the query of the LazyFrame fails: ")
        assert '"nothing"' in said
        assert said.endswith("; collect() it to see more.")


class TestDuckdb:
    @pytest.fixture
    def connection(self) -> Iterator[Any]:
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        with duckdb.connect() as connection:
            yield connection

    def test_other_rows_at_each_run_hurt_nothing(self, connection: Any) -> None:
        table = read_table(connection.sql("SELECT random() AS x FROM range(1000)"))
        assert rows(table) == rows(table) == table.head().to_pylist()
