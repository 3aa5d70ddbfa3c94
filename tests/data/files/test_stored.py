"""Paths, globs and lists; Parquet and Arrow IPC row by row."""

import gzip
import os
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.data.reading import message, rows

from suffice import read_csv, read_table
from suffice.errors import ParameterError, ReadError, SchemaError, SufficeWarning
from suffice.linear_model import LinearRegression

BATCH_ROWS = 65_536  # those of a batch, and of the first rows
SUFFIXES = [".parquet", ".feather", ".arrows"]


def write(path: Path, table: pa.Table, part: int = BATCH_ROWS) -> Path:
    """Write a table in the format of the suffix, in parts of so many rows."""
    if path.suffix in (".parquet", ".pq"):
        pq.write_table(table, path, row_group_size=part)
        return path
    new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=part)
    return path


@pytest.fixture
def people() -> pa.Table:
    return pa.table({"age": [39, None, 17], "sex": ["m", "f", None], "pay": [1.5, 2.0, None]})


class TestPaths:
    def test_glob_is_sorted_and_lists_keep_their_order(self, tmp_path: Path) -> None:
        for name in ("b.csv", "a.csv", "c.csv"):
            (tmp_path / name).write_text(f"x\n{name}\n")
        assert [row["x"] for row in rows(read_table(f"{tmp_path}/*.csv"))] == [
            "a.csv",
            "b.csv",
            "c.csv",
        ]
        listed = [tmp_path / "c.csv", f"{tmp_path}/[ab].csv"]
        assert [row["x"] for row in rows(read_table(listed))] == ["c.csv", "a.csv", "b.csv"]

    def test_a_file_whose_name_looks_like_a_glob(self, tmp_path: Path) -> None:
        (tmp_path / "a[1].csv").write_text("x\n1\n")
        assert rows(read_table(tmp_path / "a[1].csv")) == [{"x": 1}]

    def test_no_such_file(self, tmp_path: Path) -> None:
        end = f"; check the path; the working directory is {os.getcwd()}."
        missing = str(tmp_path / "a.csv")
        assert message(lambda: read_table(missing)) == f"{missing!r} does not exist{end}"
        pattern = str(tmp_path / "*.csv")
        assert message(lambda: read_table(pattern)) == f"no file matches {pattern!r}{end}"

    def test_empty_list(self) -> None:
        assert message(lambda: read_csv([])).startswith("the list of files is empty; ")

    @pytest.mark.parametrize("suffix", [*SUFFIXES, ".pq", ".arrow", ".ipc", ".csv", ".data"])
    def test_empty_file(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"t{suffix}"
        path.touch()
        assert message(lambda: read_table(path)).startswith(f"t{suffix} is empty; ")

    def test_mixed_formats(self, tmp_path: Path, people: pa.Table) -> None:
        one = write(tmp_path / "a.parquet", people)
        other = tmp_path / "b.csv"
        other.write_text("x\n1\n")
        assert message(lambda: read_table([one, other])).startswith(
            "a.parquet is Parquet and b.csv is CSV; "
        )

    def test_format_of_a_file_that_describes_itself(self, tmp_path: Path, people: pa.Table) -> None:
        path = write(tmp_path / "a.parquet", people)
        assert message(lambda: read_csv(path), ParameterError).startswith(
            "format is given for a.parquet; "
        )

    @pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.data", "t.test", "t", "T.CSV"])
    def test_anything_else_is_text(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("x,y\n1,2\n")
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(b"x,y\n1,2\n"))
        assert rows(read_table(tmp_path / name)) == [{"x": 1, "y": 2}]
        assert rows(read_table(tmp_path / f"{name}.gz")) == [{"x": 1, "y": 2}]


@pytest.mark.parametrize("suffix", SUFFIXES)
class TestStored:
    def test_reads_back_equal(self, tmp_path: Path, people: pa.Table, suffix: str) -> None:
        opened = read_table(write(tmp_path / f"t{suffix}", people, 2))
        assert opened.names == ("age", "sex", "pay")
        assert rows(opened) == people.to_pylist() == opened.head().to_pylist()

    def test_only_columns_asked_for(self, tmp_path: Path, people: pa.Table, suffix: str) -> None:
        opened = read_table(write(tmp_path / f"t{suffix}", people))
        (batch,) = opened.parts(dict.fromkeys(["sex", "age"]))[0].record_batches()
        assert batch.schema.names == ["sex", "age"]
        assert batch.to_pylist()[0] == {"sex": "m", "age": 39}

    def test_rows_are_located_in_the_file(self, tmp_path: Path, suffix: str) -> None:
        table = pa.table({"x": list(range(10))})
        parts = read_table(write(tmp_path / f"t{suffix}", table, 4)).parts({"x": None})
        assert parts[-1].locate(1) == f"row {2 if suffix == '.arrows' else 10} of t{suffix}"

    def test_no_rows(self, tmp_path: Path, people: pa.Table, suffix: str) -> None:
        opened = read_table(write(tmp_path / f"t{suffix}", people.slice(0, 0)))
        assert rows(opened) == []
        assert opened.head().num_rows == 0
        assert opened.head().schema.names == ["age", "sex", "pay"]

    def test_files_with_other_columns(self, tmp_path: Path, people: pa.Table, suffix: str) -> None:
        one = write(tmp_path / f"a{suffix}", people)
        named = write(tmp_path / f"b{suffix}", people.rename_columns(["age", "sex", "x"]))
        typed = write(tmp_path / f"c{suffix}", people.set_column(0, "age", pa.array([1.0, 2, 3])))
        assert message(lambda: read_table([one, named]), SchemaError).startswith(
            f"the columns of {one} are 'age', 'sex', 'pay', those of {named} are "
        )
        assert message(lambda: read_table([one, typed]), SchemaError).startswith(
            f"column 'age' is a whole number in {one} and a number in {typed}; "
        )

    def test_duplicate_columns(self, tmp_path: Path, suffix: str) -> None:
        path = write(tmp_path / f"t{suffix}", pa.table([[1], [2]], names=["x", "x"]))
        assert message(lambda: read_table(path)).startswith(
            f"t{suffix} has two columns named 'x'; "
        )

    @pytest.mark.parametrize("kept", [0.02, 0.3, 0.6, 0.95])
    def test_truncated(self, tmp_path: Path, suffix: str, kept: float) -> None:
        path = write(tmp_path / f"t{suffix}", pa.table({"x": range(50_000)}))
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * kept)])
        said = message(lambda: rows(read_table(path)))
        assert re.fullmatch(rf"t{re.escape(suffix)} cannot be read as [^\n]*: [^\n]+", said)
        assert said.endswith("; check the file or write it again.")


class TestParquet:
    def test_damaged_page(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pq.write_table(
            pa.table({"x": range(50_000)}), path, compression="zstd", use_dictionary=False
        )
        data = bytearray(path.read_bytes())
        data[len(data) // 3 : len(data) // 3 + 200] = b"\xff" * 200
        path.write_bytes(bytes(data))
        assert message(lambda: rows(read_table(path))).startswith(
            "t.parquet cannot be read as Parquet"
        )


class TestChecksums:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "t.parquet"
        table = pa.table({"age": range(50_000), "pay": np.arange(50_000) / 4})
        options = {"compression": "none", "use_dictionary": False, "row_group_size": 25_000}
        pq.write_table(table, path, write_page_checksum=True, **options)
        return path

    def damage(self, path: Path) -> None:
        """Flip one bit among the numbers of column pay, in the second row group."""
        stored = pq.read_metadata(path).row_group(1).column(1)
        data = bytearray(path.read_bytes())
        data[stored.data_page_offset + stored.total_compressed_size // 2] ^= 1
        path.write_bytes(bytes(data))

    def test_a_page_with_another_is_named(self, path: Path) -> None:
        assert len(rows(read_table(path))) == 50_000
        self.damage(path)
        assert pq.read_table(path).num_rows == 50_000  # unless one asks, nothing shows
        said = message(lambda: rows(read_table(path)))
        assert said.startswith(
            "t.parquet cannot be read as Parquet: row group 2, column 'pay': could not verify page "
            "integrity, CRC checksum verification failed"
        )
        assert said.endswith("; check the file or write it again.")

    def test_only_what_is_read_is_checked(self, path: Path) -> None:
        self.damage(path)
        assert len(rows(read_table(path), "age")) == 50_000

    def test_no_model_comes_of_it(self, path: Path) -> None:
        self.damage(path)
        with pytest.raises(ReadError, match="row group 2, column 'pay'"):
            LinearRegression().fit(path, "age")


def coded(path: Path, codes: list[int], shown: int = 0b111) -> Path:
    """An Arrow file of codes into the dictionary (a, b); ``shown`` has a bit for each."""
    buffers = [pa.py_buffer(bytes([shown])), pa.py_buffer(np.array(codes, np.int32))]
    indices = pa.Array.from_buffers(pa.int32(), len(codes), buffers)
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    feather.write_feather(pa.table({"x": column}), path, compression="uncompressed")
    return path


class TestCodes:
    @pytest.mark.parametrize("code", [-1, 2, 2**31 - 1])
    def test_outside_their_dictionary(self, tmp_path: Path, code: int) -> None:
        path = coded(tmp_path / "t.feather", [0, 1, code])
        refusal = message(lambda: rows(read_table(path)))
        assert refusal.startswith("t.feather cannot be read as Arrow")

    @pytest.mark.parametrize("code", [-1, 2])
    def test_of_nulls_may_be_anything(self, tmp_path: Path, code: int) -> None:
        path = coded(tmp_path / "t.feather", [0, 1, code], shown=0b011)
        assert rows(read_table(path)) == [{"x": "a"}, {"x": "b"}, {"x": None}]


def test_columns_that_are_read_whole_are_those_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups of few and of many rows, of cells of every width."""
    rng = np.random.default_rng(0)
    n = BATCH_ROWS + 1_000
    table = pa.table(
        {
            "number": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
            "small": rng.integers(-5, 5, n).astype(np.int8),
            "truth": rng.random(n) < 0.5,
            "day": pa.array(rng.integers(0, 9_999, n).astype(np.int32)).cast(pa.date32()),
            "word": pa.array(rng.choice(["u", "vw", "x"], n), mask=rng.random(n) < 0.1),
            "a.b": rng.normal(size=n),
        }
    )
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=BATCH_ROWS + 500)

    def read(names: list[str]) -> list[list[pa.RecordBatch]]:
        parts = read_table(path).parts(dict.fromkeys(names))
        return [list(part.record_batches()) for part in parts]

    whole = read(table.column_names), read(["a.b", "word"])
    monkeypatch.setattr("suffice.data.files.parquet.WHOLE_ROWS", 0)
    assert (read(table.column_names), read(["a.b", "word"])) == whole
    assert [[batch.num_rows for batch in piece] for piece in whole[0]] == [[BATCH_ROWS, 500], [500]]


COLUMNS = [
    pa.array([1.5, None, -0.0, 7.0]),
    pa.array([1, 2, 3, 4], pa.int8()),
    pa.array([None, None, None, None], pa.float32()),
    pa.array([True, False, None, True]),
    pa.array(["a", "b", None, "a"]),
    pa.array(["a", "b", None, "a"]).dictionary_encode(),
    pa.array([datetime(2020, 1, 1), None, datetime(1960, 1, 1), datetime(2020, 1, 1)]),
    pa.array([1, 2, 3, 4], pa.decimal128(5, 0)),
]


def test_cells_of_every_type_are_read_as_they_were_written(tmp_path: Path) -> None:
    table = pa.table({f"c{j}": column for j, column in enumerate(COLUMNS) if j != 5})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    assert rows(read_table(tmp_path / "a.parquet")) == table.to_pylist()


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_the_unnamed_index_of_a_frame_is_no_column(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 7.0], "y": [2.0, 1.0, 3.0, 5.0]}).iloc[[2, 0, 3, 1]]
    path = tmp_path / f"rows.{suffix}"
    table = pa.Table.from_pandas(frame, preserve_index=True)
    assert table.column_names[-1] == "__index_level_0__"
    (pq.write_table if suffix == "parquet" else feather.write_feather)(table, path)
    with pytest.warns(SufficeWarning, match="'__index_level_0__'"):
        model = LinearRegression().fit(path, "y")
    assert model.feature_names_in_.tolist() == ["x"]
    expected = LinearRegression().fit(frame, "y").predict(frame)
    with pytest.warns(SufficeWarning, match="'__index_level_0__'"):
        assert model.predict(path) == pytest.approx(expected)
