"""Folders, globs, and the columns that folders name."""

import gzip
import os
import pickle
import socket
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.data.reading import message, rows

from suffice import NaiveBayes, read_csv, read_table
from suffice.errors import SchemaError, SufficeWarning


def write(path: Path, table: pa.Table | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"x": [1.0, None]}) if table is None else table, path)
    return path


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


class TestFolders:
    def test_all_files_in_and_below_a_folder_by_name(self, tmp_path: Path) -> None:
        for name in ("b.csv", "a/z.csv", "a/a.csv", "_started/c.csv", "a/_SUCCESS", ".x/d.csv"):
            text(tmp_path / name, f"x\n{name}\n")
        text(tmp_path / "a" / ".z.csv.crc", "")
        assert rows(read_table(tmp_path)) == [{"x": "a/a.csv"}, {"x": "a/z.csv"}, {"x": "b.csv"}]
        assert rows(read_table([str(tmp_path / "a"), tmp_path / "b.csv"])) == rows(
            read_table(tmp_path)
        )

    def test_a_glob_takes_the_files_it_matches_or_else_the_folders(self, tmp_path: Path) -> None:
        text(tmp_path / "one" / "a.csv", "x\n1\n")
        text(tmp_path / "two" / "a.csv", "x\n2\n")
        assert rows(read_table(f"{tmp_path}/*")) == [{"x": 1}, {"x": 2}]
        text(tmp_path / "b.csv", "x\n3\n")
        assert rows(read_table(f"{tmp_path}/*")) == [{"x": 3}]
        assert [r["x"] for r in rows(read_table(f"{tmp_path}/**"))] == [3, 1, 2]

    def test_links_are_followed_but_not_in_circles(self, tmp_path: Path) -> None:
        text(tmp_path / "away" / "a.csv", "x\n1\n")
        (tmp_path / "t" / "below").mkdir(parents=True)
        (tmp_path / "t" / "away").symlink_to(tmp_path / "away")
        (tmp_path / "t" / "below" / "up").symlink_to(tmp_path / "t")
        (tmp_path / "t" / "here").symlink_to(tmp_path / "t")
        assert rows(read_table(tmp_path / "t")) == [{"x": 1}]

    def test_a_folder_without_files(self, tmp_path: Path) -> None:
        (tmp_path / "below").mkdir()
        text(tmp_path / "_SUCCESS", "x")
        assert message(lambda: read_table(tmp_path)).startswith(
            f"{str(tmp_path)!r} is a folder without files; "
        )

    def test_what_is_no_table_is_left_out_of_a_folder(self, tmp_path: Path) -> None:
        model = NaiveBayes().fit(text(tmp_path / "a.csv", "x,y\n1,u\n2,v\n"), "y")
        model.save(tmp_path / "m.suffice")
        text(tmp_path / "p.json", '{"format": "suffice plan"}')
        for path in (tmp_path, f"{tmp_path}/*"):
            with pytest.warns(SufficeWarning, match="m.suffice, p.json left out"):
                assert rows(read_table(path)) == [{"x": 1, "y": "u"}, {"x": 2, "y": "v"}]
        for name in ("m.suffice", "p.json"):
            assert name in message(lambda name=name: read_table([tmp_path / name]))
        (tmp_path / "b.bin").write_bytes(b"ab" + bytes(9))
        with pytest.warns(SufficeWarning):
            assert message(lambda: read_table(tmp_path)).startswith("b.bin is no text")

    def test_files_of_two_formats(self, tmp_path: Path) -> None:
        write(tmp_path / "a.parquet")
        text(tmp_path / "readme.md", "# Rows")
        assert message(lambda: read_table(tmp_path)).startswith(
            "a.parquet is Parquet and readme.md is CSV; "
        )

    def test_options_of_text_reach_every_file(self, tmp_path: Path) -> None:
        text(tmp_path / "k=1" / "a.data", "1;x\n")
        table = read_csv(tmp_path, separator=";", header=False, names=["n", "s"])
        assert rows(table) == [{"n": 1, "s": "x", "k": 1}]
        assert table.about.format.separator == ";"  # type: ignore[attr-defined]


FOLDERS = [
    "year=2026/month=1",
    "year=2026/month=12",
    "town=S%C3%A8te%20%3D/k%20b=x",
    "town=__HIVE_DEFAULT_PARTITION__/k%20b=__HIVE_DEFAULT_PARTITION__",
    "lr=0.1,seed=3",
    "empty=",
    "plain/year=1",
    "=1",
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
class TestPipes:
    @pytest.fixture
    def piped(self, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
        path = tmp_path / request.param[0]
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
        Thread(target=path.write_bytes, args=[request.param[1]], daemon=True).start()
        return path

    @pytest.mark.parametrize(
        "piped",
        [("p", b"x\n1\n2\n"), ("p.csv.gz", gzip.compress(b"x\n1\n2\n"))],
        ids=["text", "gzip"],
        indirect=True,
    )
    def test_it_is_read_as_often_as_wanted(self, piped: Path) -> None:
        table = read_table(piped)
        assert rows(table) == rows(table) == table.head().to_pylist() == [{"x": 1}, {"x": 2}]
        (part,) = table.parts({"x": None})
        assert part.locate(1) == f"line 3 of pipe {piped.name}"
        (copy,) = table.folders  # type: ignore[attr-defined]
        path = copy.path
        del table, copy
        assert pickle.loads(pickle.dumps(part)).locate(0) == f"line 2 of pipe {piped.name}"
        del part
        assert not path.exists()

    def test_what_cannot_be_opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("s")
            assert message(lambda: read_table("s")).startswith("s cannot be read: ")


class TestKeys:
    @pytest.mark.parametrize("folder", FOLDERS)
    def test_as_pyarrow_reads_them(self, tmp_path: Path, folder: str) -> None:
        path = write(tmp_path / folder / "a.parquet")
        found = rows(read_table(tmp_path))[0]
        del found["x"]
        hive = ds.HivePartitioning(pa.schema([(name, pa.string()) for name in found]))
        parsed = ds.get_partition_keys(hive.parse(path.relative_to(tmp_path).as_posix()))
        assert {name: cell and str(cell) for name, cell in found.items()} == parsed

    def test_only_folders_of_the_path_as_it_is_given(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text(tmp_path / "a=1" / "b=2" / "t.csv", "x\n1\n")
        monkeypatch.chdir(tmp_path / "a=1")
        assert read_table("b=2/t.csv").names == ("x", "b")
        assert read_table("b=2").names == ("x", "b")
        assert read_table(".").names == ("x", "b")
        assert read_table("b=*/*.csv").names == ("x", "b")
        monkeypatch.chdir(tmp_path / "a=1" / "b=2")
        assert read_table("t.csv").names == ("x",)

    def test_the_innermost_folder_has_the_last_word(self, tmp_path: Path) -> None:
        write(tmp_path / "a=1" / "a=2" / "t.parquet")
        assert rows(read_table(tmp_path))[0] == {"x": 1.0, "a": 2}


class TestColumns:
    def test_values_are_there_for_every_row(self, tmp_path: Path) -> None:
        write(tmp_path / "year=2025" / "town=b" / "a.parquet")
        write(tmp_path / "year=2026" / "town=__HIVE_DEFAULT_PARTITION__" / "a.parquet")
        table = read_table(tmp_path)
        assert table.names == ("x", "year", "town")
        expected = [
            {"x": 1.0, "year": 2025, "town": "b"},
            {"x": None, "year": 2025, "town": "b"},
            {"x": 1.0, "year": 2026, "town": None},
            {"x": None, "year": 2026, "town": None},
        ]
        assert rows(table) == expected == table.head().to_pylist()
        assert rows(table, "town", "x") == [{"town": r["town"], "x": r["x"]} for r in expected]
        assert rows(table, "year") == [{"year": r["year"]} for r in expected]

    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            (["1", "02", "-3"], pa.int64()),
            (["1", "1.5"], pa.string()),
            (["1", "0x1"], pa.string()),
            (["1", "1000000000000000000000"], pa.string()),
            (["1", "__HIVE_DEFAULT_PARTITION__"], pa.int64()),
        ],
    )
    def test_whole_numbers_if_all_are(
        self, tmp_path: Path, values: list[str], kind: pa.DataType
    ) -> None:
        for value in values:
            write(tmp_path / f"k={value}" / "a.parquet")
        assert read_table(tmp_path).head().schema.field("k").type == pa.dictionary(pa.int32(), kind)

    def test_a_column_of_the_file_wins(self, tmp_path: Path) -> None:
        write(tmp_path / "x=7" / "a.parquet")
        assert rows(read_table(tmp_path)) == [{"x": 1.0}, {"x": None}]

    def test_types_asked_for(self, tmp_path: Path) -> None:
        text(tmp_path / "k=1" / "a.csv", "x\n1\n")
        (part,) = read_table(tmp_path).parts({"k": pa.float64(), "x": pa.string()})
        (batch,) = part.record_batches()
        assert batch.schema.types == [pa.float64(), pa.string()]
        text(tmp_path / "k=a" / "a.csv", "x\n1\n")
        assert message(lambda: read_table(tmp_path).parts({"k": pa.float64()}), SchemaError) == (
            "a folder is named k=1; column 'k' is read as numbers; rename the folder."
        ).replace("k=1", "k=a")

    def test_folders_that_name_other_columns(self, tmp_path: Path) -> None:
        one = write(tmp_path / "a=1" / "t.parquet")
        two = write(tmp_path / "b=1" / "t.parquet")
        assert message(lambda: read_table(tmp_path), SchemaError).startswith(
            f"the folders of {one} name a=, those of {two} b=; "
        )
        three = write(tmp_path / "t.parquet")
        assert f"those of {three} no column; " in message(
            lambda: read_table([one, three]), SchemaError
        )

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_no_rows(self, tmp_path: Path, suffix: str) -> None:
        if suffix == ".csv":
            text(tmp_path / "k=a" / "t.csv", "x\n")
        else:
            write(tmp_path / "k=a" / "t.parquet", pa.table({"x": pa.array([], pa.int64())}))
        table = read_table(tmp_path)
        assert table.head().num_rows == 0
        assert table.head().schema.field("k").type == pa.dictionary(pa.int32(), pa.string())
        assert rows(table) == []
