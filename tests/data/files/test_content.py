"""Formats that are told by the content of a file: JSON, Excel, ARFF, and names that mislead."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pickle
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from tests.data import reading

from suffice import NaiveBayes, read_excel, read_table
from suffice.errors import ParameterError, ReadError, SufficeWarning

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[4] / "shared" / "data"))
ROWS: list[dict[str, Any]] = [
    {"n": 1, "x": 0.5, "kind": "a"},
    {"n": 2, "x": None, "kind": "b"},
    {"n": 3, "x": 2.5, "kind": None},
]
TABLE = pa.Table.from_pylist(ROWS)


def rows_of(path: Path) -> list[dict[str, Any]]:
    table = read_table(path)
    assert table.head().to_pylist() == reading.rows(table)
    return reading.rows(table)


def refusal(path: Path) -> str:
    return reading.message(lambda: read_table(path))


class TestNames:
    def test_parquet(self, tmp_path: Path) -> None:
        pq.write_table(TABLE, tmp_path / "rows.csv")
        assert rows_of(tmp_path / "rows.csv") == ROWS

    @pytest.mark.parametrize("new", [ipc.new_file, ipc.new_stream])
    def test_arrow(self, tmp_path: Path, new: Any) -> None:
        with new(str(tmp_path / "rows.dat"), TABLE.schema) as writer:
            writer.write_table(TABLE)
        assert rows_of(tmp_path / "rows.dat") == ROWS

    @pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst", "lz4"])
    def test_compressed_text(self, tmp_path: Path, suffix: str) -> None:
        """By its bytes, not its name; a file that ends too early is named."""
        packed = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
        pack = packed.get(suffix) or pa.Codec({"zst": "zstd"}.get(suffix, suffix)).compress
        path = tmp_path / f"rows.tsv.{suffix}"
        path.write_bytes(bytes(pack(b"n\tkind\n1\ta\n2\tb\n")))
        assert rows_of(path) == [{"n": 1, "kind": "a"}, {"n": 2, "kind": "b"}]
        path.rename(tmp_path / "rows.txt")
        assert len(rows_of(tmp_path / "rows.txt")) == 2
        path.write_bytes(bytes(pack(b"n\tkind\n" + bytes(range(32, 127)) * 99))[:-9])
        assert refusal(path).startswith(f"rows.tsv.{suffix} cannot be read")

    def test_text_under_the_name_of_parquet(self, tmp_path: Path) -> None:
        (tmp_path / "rows.parquet").write_text("n,kind\n1,a\n")
        assert refusal(tmp_path / "rows.parquet").startswith(
            "rows.parquet cannot be read as Parquet"
        )


class TestJson:
    def test_lines(self, tmp_path: Path) -> None:
        text = "".join(json.dumps(row) + "\n" for row in ROWS)
        (tmp_path / "rows.txt").write_text(text)
        assert rows_of(tmp_path / "rows.txt") == ROWS

    def test_an_array(self, tmp_path: Path) -> None:
        (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=2))
        assert rows_of(tmp_path / "rows.json") == ROWS

    def test_a_key_that_is_not_there_is_a_missing_cell(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text('{"a": 1}\n{"a": 2, "b": "x"}\n')
        assert rows_of(tmp_path / "rows.jsonl") == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]

    @pytest.mark.parametrize(
        "text",
        [
            '{"a": 1}\n{"a": [2]}\n',
            '{"a": 1}\n{"a":',
            '[{"a": 1}, 2]',
            '[{"a": 1}',
            '[{"a": 18446744073709551617}]',
        ],
    )
    def test_damaged(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "rows.json").write_text(text)
        assert refusal(tmp_path / "rows.json").startswith("rows.json cannot be read as JSON: ")


def book(path: Path, *sheets: list[list[Any]], merged: Sequence[str] = ()) -> Path:
    """Write a workbook of such sheets; ranges of the last one are merged."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = made.create_sheet(f"S{number}")
        for row in rows:
            sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    made.save(path)
    return path


class TestExcel:
    def test_cells_keep_their_types(self, tmp_path: Path) -> None:
        day = datetime(2024, 2, 1)
        rows = [
            ["n", "x", "kind", "ok", "day", "mixed"],
            [1, 0.5, "a", True, day, 7],
            [2, None, "NA", False, day, "seven"],
        ]
        assert rows_of(book(tmp_path / "b.xlsx", rows, [])) == [
            {"n": 1, "x": 0.5, "kind": "a", "ok": True, "day": day, "mixed": "7"},
            {"n": 2, "x": None, "kind": None, "ok": False, "day": day, "mixed": "seven"},
        ]

    def test_numbers_of_more_than_64_bits(self, tmp_path: Path) -> None:
        rows = rows_of(book(tmp_path / "b.xlsx", [["x"], [1e19], [3]]))
        assert rows == [{"x": 1e19}, {"x": 3.0}]

    def test_of_two_sheets_neither_is_guessed(self, tmp_path: Path) -> None:
        assert refusal(book(tmp_path / "b.xlsx", [["x"], [1]], [["y"], [2]])).startswith(
            "b.xlsx has several sheets with rows: 'S1', 'S2'; "
        )

    @pytest.mark.parametrize("sheet", ["S2", 2, "2"])
    def test_a_sheet_by_name_or_place(self, tmp_path: Path, sheet: str | int) -> None:
        path = book(tmp_path / "b.xlsx", [["x"], [1]], [["y"], [2]], [])
        assert read_excel(path, sheet).head().to_pylist() == [{"y": 2}]
        assert read_excel(path, "S1").head().to_pylist() == [{"x": 1}]

    @pytest.mark.parametrize("sheet", ["S4", "S3", 0, 9])
    def test_a_sheet_that_has_no_rows(self, tmp_path: Path, sheet: str | int) -> None:
        path = book(tmp_path / "b.xlsx", [["x"], [1]], [["y"], [2]], [])
        with pytest.raises(ReadError, match=rf"no sheet '{sheet}' with rows; those .*'S1', 'S2'"):
            read_excel(path, sheet)

    def test_a_sheet_of_text(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("x\n1\n")
        with pytest.raises(ParameterError, match=r"sheet is given for a\.csv; only workbooks have"):
            read_excel(tmp_path / "a.csv", "S1")

    def test_a_model_of_a_workbook(self, tmp_path: Path) -> None:
        frame = pd.DataFrame({"x": [0.5, 1.5, 9.0, 10.0], "kind": ["a", "a", "b", "b"]})
        frame.to_excel(tmp_path / "b.xlsx", index=False)
        model = NaiveBayes.textbook().fit(str(tmp_path / "b.xlsx"), "kind")
        same = NaiveBayes.textbook().fit(frame, "kind")
        np.testing.assert_array_equal(model.predict_proba(frame), same.predict_proba(frame))


class TestArff:
    def test_dense(self, tmp_path: Path) -> None:
        (tmp_path / "a.dat").write_text(
            "% a comment\n@RELATION r\n@ATTRIBUTE n INTEGER [0, 9]\n"
            "@ATTRIBUTE 'a kind' {no, 'yes, very'}\n@ATTRIBUTE t STRING\n"
            "@DATA\n1, no, 'x y'\n?, 'yes, very', z\n2,?,?\n"
        )
        assert rows_of(tmp_path / "a.dat") == [
            {"n": 1.0, "a kind": "no", "t": "x y"},
            {"n": None, "a kind": "yes, very", "t": "z"},
            {"n": 2.0, "a kind": None, "t": None},
        ]

    def test_sparse(self, tmp_path: Path) -> None:
        (tmp_path / "a.arff").write_text(
            "@relation r\n@attribute n real\n@attribute k {a,b}\n@data\n{0 1.5, 1 b}\n{}\n"
        )
        assert rows_of(tmp_path / "a.arff") == [{"n": 1.5, "k": "b"}, {"n": 0.0, "k": "a"}]

    def test_weights_of_rows_are_named(self, tmp_path: Path) -> None:
        text = "@relation r\n@attribute x numeric\n@data\n1\n2,{3}\n"
        (tmp_path / "w.arff").write_text(text)
        assert "line 5 of w.arff ends with the weight of its row" in refusal(tmp_path / "w.arff")

    def test_damaged(self, tmp_path: Path) -> None:
        (tmp_path / "a.arff").write_text("@relation r\n@attribute k {a,b}\n@data\na\nc\n")
        assert refusal(tmp_path / "a.arff").startswith("a.arff cannot be read as ARFF: ")

    def test_tables_of_weka(self) -> None:
        files = sorted((DATA / "uci").glob("*.arff"))
        if not files:
            pytest.skip(f"{DATA / 'uci'} is not there; set SUFFICE_DATA to the folder of data sets")
        smallest = sorted(files, key=lambda path: path.stat().st_size)[:8]
        for path in smallest:
            table = read_table(path)
            assert table.head().num_rows == sum(
                1
                for line in path.read_text().lower().split("@data", 1)[1].splitlines()
                if line.strip() and not line.startswith("%")
            )

    @pytest.mark.parametrize(
        ("form", "cell", "moment"),
        [
            ('"yyyy-MM-dd"', '"2024-02-01"', date(2024, 2, 1)),
            ("", '"2024-02-01T10:30:00"', datetime(2024, 2, 1, 10, 30)),
            ("'dd/MM/yy HH:mm'", "'1/2/24 10:30'", datetime(2024, 2, 1, 10, 30)),
        ],
    )
    def test_dates(self, tmp_path: Path, form: str, cell: str, moment: date) -> None:
        text = f"@relation r\n@attribute 'on a' date {form}\n@data\n{cell}\n?\n"
        (tmp_path / "d.arff").write_text(text)
        assert rows_of(tmp_path / "d.arff") == [{"on a": moment}, {"on a": None}]


class TestSheets:
    """Workbooks as people keep them."""

    @pytest.mark.parametrize(
        "above", [[["Sales"]], [["Sales"], []], [["Report", 2024], []], [["a note"], ["of us"]]]
    )
    def test_rows_above_the_names(self, tmp_path: Path, above: list[list[Any]]) -> None:
        rows = [*above, ["a", "b", "c"], [1, 2, 3], [4, None, 6]]
        table = read_table(book(tmp_path / "b.xlsx", rows))
        assert table.head().to_pylist() == [{"a": 1, "b": 2, "c": 3}, {"a": 4, "b": None, "c": 6}]
        (remark,) = table.about.remarks
        assert f"row {len(above) + 1}" in remark
        assert repr(above[0][0]) in remark

    def test_merged_cells_and_empty_rows(self, tmp_path: Path) -> None:
        rows = [["town", "x"], ["u", 1], [None, 2], [], ["v", 3]]
        table = read_table(book(tmp_path / "b.xlsx", rows, merged=["A2:A3"]))
        assert table.head().to_pydict() == {"town": ["u", "u", "v"], "x": [1, 2, 3]}
        merged, empty = table.about.remarks
        assert "from row 2" in merged
        assert "row 4" in empty

    def test_names_in_two_rows(self, tmp_path: Path) -> None:
        rows = [["id", "2020", None], [None, "low", "high"], [1, 2, 3]]
        table = read_table(book(tmp_path / "b.xlsx", rows, merged=["B1:C1"]))
        assert table.head().to_pylist() == [{"id": 1, "2020 low": 2, "2020 high": 3}]

    def test_names_that_are_not_there_or_come_twice(self, tmp_path: Path) -> None:
        rows = [["x", "x", None, None, "y"], [1, 2, 3, None, 4]]
        table = read_table(book(tmp_path / "b.xlsx", rows))
        assert table.head().to_pylist() == [{"x": 1, "x_2": 2, "column_3": 3, "y": 4}]
        assert len(table.about.remarks) == 2


class TestOtherPrograms:
    def test_stata_is_read(self, tmp_path: Path) -> None:
        frame = pd.DataFrame({"x": [0.5, 1.5], "kind": pd.Categorical(["a", "b"])})
        frame.to_stata(tmp_path / "rows.data", write_index=False)
        table = read_table(tmp_path / "rows.data")
        assert table.head().to_pydict() == {"x": [0.5, 1.5], "kind": ["a", "b"]}
        assert "Stata" in table.about.remarks[0]

    @pytest.mark.parametrize(
        ("content", "what", "step"),
        [
            (b"SQLite format 3\0", "a SQLite database", "read_sql"),
            (b"\x93NUMPY\1\0v\0", "a NumPy array", "numpy.load"),
            (pickle.dumps({"x": [1]}), "a pickle", "read_pickle"),
            (b"ORC\n\x06\x12\x04", "an ORC file", "pyarrow.orc"),
            (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "read_hdf"),
            (gzip.compress(b"X\n\0\0\0\3\0", mtime=0), "an R workspace", "write.csv"),
            (b"<!DOCTYPE html>\n<html>", "a web page", "download"),
            (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS", "git lfs pull"),
        ],
    )
    @pytest.mark.parametrize("name", ["rows.csv", "rows"])
    def test_what_is_not_read_is_named(
        self, tmp_path: Path, content: bytes, what: str, step: str, name: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        said = refusal(tmp_path / name)
        assert what in said
        assert step in said

    @pytest.mark.parametrize(("inside", "what"), [("a.csv", "unzip"), ("a.npy", "numpy.load")])
    def test_archives(self, tmp_path: Path, inside: str, what: str) -> None:
        with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
            archive.writestr(inside, "x\n1\n")
        assert inside in refusal(tmp_path / "rows.zip")
        assert what in refusal(tmp_path / "rows.zip")

    def test_numbers_and_text_of_one_key(self, tmp_path: Path) -> None:
        for text in ('{"a": 1}\n{"a": "2"}\n', '[{"a": 1}, {"a": "2"}]'):
            (tmp_path / "rows.json").write_text(text)
            with pytest.warns(SufficeWarning, match="'a'"):
                assert rows_of(tmp_path / "rows.json") == [{"a": 1}, {"a": 2}]
