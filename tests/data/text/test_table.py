"""Delimited text: exact values, exact lines, nothing lost."""

import csv
import gzip
import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.data.reading import message

from suffice import read_csv
from suffice.errors import ParameterError, ReadError, SchemaError, SufficeWarning

BATCH_ROWS = 65_536  # those of a batch, and of the first rows
LATE = 66_000  # a row that is none of the first
Open = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Open:
    def write(data: bytes, name: str = "t.csv", **options: Any) -> Any:
        path = tmp_path / name
        path.write_bytes(data)
        return read_csv(path, **options)

    return write


def batches(table: Any, types: dict[str, Any] | None) -> Iterator[pa.RecordBatch]:
    for part in table.parts(types or dict.fromkeys(table.names)):
        yield from part.record_batches()


def rows(table: Any, types: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [row for batch in batches(table, types) for row in batch.to_pylist()]


def count(table: Any, types: dict[str, Any] | None = None) -> int:
    """Read all rows, and make no objects of them."""
    return sum(batch.num_rows for batch in batches(table, types))


class TestTypes:
    @pytest.mark.parametrize(
        ("cells", "expected", "values"),
        [
            (["1", "-2", "+3"], pa.int64(), [1, -2, 3]),
            (["9223372036854775807"], pa.int64(), [2**63 - 1]),
            (["9223372036854775808"], pa.float64(), [2.0**63]),
            (["1e5", "-.5", "+3", "2."], pa.float64(), [1e5, -0.5, 3.0, 2.0]),
            (["1", "2.5", "NA"], pa.float64(), [1.0, 2.5, None]),
            (["true", "FALSE", "True", "null"], pa.bool_(), [True, False, True, None]),
            (["true", "1"], pa.bool_(), [True, True]),
            (["NA", "nan", "None"], pa.null(), [None, None, None]),
            (["0x10", "0x11"], pa.string(), ["0x10", "0x11"]),
            ([" 1", "2"], pa.int64(), [1, 2]),
            (["1", "x"], pa.string(), ["1", "x"]),
            # Identifiers: a double would make one of the first two.
            (
                ["12345678901234567890", "12345678901234567891", "7"],
                pa.string(),
                ["12345678901234567890", "12345678901234567891", "7"],
            ),
            # Numbers as programs write them: the nearest double.
            (
                ["1.2345678901234567e+19", "1e23", "123456789012345678.5", "18014398509481984"],
                pa.float64(),
                [1.2345678901234567e19, 1e23, 123456789012345678.5, 2.0**54],
            ),
        ],
    )
    def test_inferred_from_every_cell_of_the_head(
        self, table: Open, cells: list[str], expected: pa.DataType, values: list[object]
    ) -> None:
        opened = table("\n".join(["x", *cells]).encode())
        assert opened.head().schema.field("x").type == expected
        assert [row["x"] for row in rows(opened)] == values

    @pytest.mark.parametrize("cell", ["9007199254740993", "-9007199254740993.00", "+" + "9" * 20])
    def test_a_whole_number_is_not_rounded(self, table: Open, cell: str) -> None:
        opened = table(f"a,b\n1,0.5\n2,{cell}\n".encode())
        assert message(lambda: count(opened)).startswith(f"line 3 of t.csv, column 'b': {cell!r}; ")
        assert count(opened, {"a": None}) == 2
        assert rows(opened, {"b": pa.string()})[1] == {"b": cell}

    def test_requested_types_win(self, table: Open) -> None:
        opened = table(b"a,b,c\n1,2,x\n")
        asked = {"b": pa.string(), "a": pa.float32(), "c": pa.dictionary(pa.int32(), pa.string())}
        (batch,) = opened.parts(asked)[0].record_batches()
        assert dict(zip(batch.schema.names, batch.schema.types, strict=True)) == asked
        assert batch.to_pylist() == [{"b": "2", "a": 1.0, "c": "x"}]

    def test_columns_not_asked_for_are_not_cast(self, table: Open) -> None:
        opened = table(b"a,b\n" + b"1,2\n" * BATCH_ROWS + b"1,x\n")
        assert count(opened, {"a": None}) == BATCH_ROWS + 1

    def test_late_text_in_a_whole_number_column(self, table: Open) -> None:
        opened = table(b"a,b\n" + b"1,2\n" * 80_000 + b"1,1.5\n" + b"1,2\n" * 20_000)
        assert message(lambda: count(opened)).startswith(
            "line 80002 of t.csv, column 'b': '1.5' is not a whole number; "
        )
        read = pa.Table.from_batches(batches(opened, {"b": pa.float64()}))
        assert read["b"][80_000].as_py() == 1.5


LATER = b"1,2\n" * LATE
MALFORMED = [
    # the number of fields
    (b"a,b\n" + LATER + b"1\n" + LATER, LATE + 2, ": 1 field, where the table has 2 columns; "),
    (b'a,b\n"1\n2",x\n\n\r\n1,y,z\n', 6, ": 3 fields, where the table has 2 columns; "),
    (
        b'a,b\n1,2,"3\n4\n5"\n',
        2,
        ": 3 fields, some in quotes, up to line 4, where the table has 2 ",
    ),
    (b'a,b,c\n"1\n2","3\n4","5\n6\n', 4, ": "),  # a quote that never closes
    # bytes
    (b"a,\xfc\n1,2\n", 1, ", column 2: byte 0xfc after '' is not utf8; "),
    (
        b"a,b\n" + LATER + b"1,Z\xfc\n1,2\n",
        LATE + 2,
        ", column 'b': byte 0xfc after 'Z' is not utf8; ",
    ),
    (b"a,b\n1,x\n2,y\xc3", 3, ", column 'b': byte 0xc3 after 'y' is not utf8; "),
    (b"a,b\n" + b"1.5,\xe9\n" * 9, 2, ", column 'b': byte 0xe9 after '' is not utf8; "),
    (b"a,b\n" + b"1.5,\xe9\n" * LATE, 2, ", column 'b': byte 0xe9 after '' is not utf8; "),
    # cells
    (b"a,b\n" + b",1\n" * BATCH_ROWS + b"7,1\n,1\n", 65538, ", column 'a': '7' is not empty; "),
]


@pytest.mark.parametrize(("data", "line", "fact"), MALFORMED, ids=[case[2] for case in MALFORMED])
def test_malformed_text_is_named_by_line(table: Open, data: bytes, line: int, fact: str) -> None:
    assert message(lambda: count(table(data))).startswith(f"line {line} of t.csv{fact}")


class TestRaggedRows:
    def test_skipped_with_a_warning(self, table: Open) -> None:
        opened = table(b"a,b\n1,2\n3\n4,5\n6,7,8\n", skip_bad_rows=2)
        with pytest.warns(SufficeWarning) as caught:
            assert rows(opened) == [{"a": 1, "b": 2}, {"a": 4, "b": 5}]
        assert [str(warning.message) for warning in caught] == [
            "t.csv: 2 malformed lines were left out, as skip_bad_rows=2 allows; "
            "rows that begin on line 3, 5."
        ]

    def test_one_warning_per_pass_with_ten_lines(self, table: Open) -> None:
        opened = table(b"a,b\n1,2\n" + b"x\n" * 12, skip_bad_rows=20)
        for _ in range(2):
            with pytest.warns(SufficeWarning) as caught:
                count(opened)
            assert [str(warning.message) for warning in caught] == [
                "t.csv: 12 malformed lines were left out, as skip_bad_rows=20 allows; "
                "rows that begin on line 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..."
                "."
            ]

    def test_more_than_allowed(self, table: Open) -> None:
        assert message(
            lambda: count(table(b"a,b\n1,2\n3\n4,5\n6,7,8\n", skip_bad_rows=1))
        ).startswith("line 5 of t.csv: 3 fields")

    def test_swallowed_lines_are_counted_one_by_one(self, table: Open) -> None:
        data = b'a,b,c\n1,"2,3\n' + b"4,5,6\n" * 10 + b'7,8",9,10\n'
        assert message(lambda: count(table(data, skip_bad_rows=11))).startswith(
            "line 2 of t.csv: 4 fields, some in quotes, up to line 13, where the table"
        )
        with pytest.warns(SufficeWarning, match="12 malformed lines were left out"):
            assert rows(table(data, skip_bad_rows=12)) == []


class TestQuotes:
    def test_quoted_newlines_separators_and_quotes(self, table: Open) -> None:
        opened = table(b'a,b\n"1\r\n2","x,""y"""\n5" pipe,"p"q\n', quote='"')
        assert rows(opened) == [{"a": "1\r\n2", "b": 'x,"y"'}, {"a": '5" pipe', "b": "pq"}]

    def test_without_quoting(self, table: Open) -> None:
        assert rows(table(b'a,b\n1,"x\n2,y"\n', quote=None)) == [
            {"a": 1, "b": '"x'},
            {"a": 2, "b": 'y"'},
        ]

    @pytest.mark.parametrize(
        ("opening", "skip", "after"),
        [
            ('1,"2', 0, 0),
            ('"1,2', 10_000_000, 3),
            pytest.param('"1,2', 0, 20_001, marks=pytest.mark.exhaustive),
            pytest.param('1,"2', 0, 600_000, marks=pytest.mark.exhaustive),
        ],
    )
    def test_unclosed_is_an_error(self, table: Open, opening: str, skip: int, after: int) -> None:
        data = b"a,b\n" + LATER + opening.encode() + b"\n" + b"1,2\n" * after
        assert message(lambda: count(table(data, skip_bad_rows=skip))).startswith(
            f'line {LATE + 2} of t.csv: the quote " that opens here never closes; '
        )

    def test_skipping_around_a_long_record(self, table: Open) -> None:
        data = b"a,b\n1\n" + b"1,y\n" * LATE + b'2,"' + b"x" * 3_000_000 + b'"\n3\n'
        with pytest.warns(SufficeWarning, match=rf"2 malformed lines .* line 2, {LATE + 4}\."):
            assert count(table(data, skip_bad_rows=2)) == LATE + 1


class TestBytes:
    @pytest.mark.parametrize("asked", ["a", "b"])
    def test_skipped_rows_do_not_depend_on_columns_asked_for(self, table: Open, asked: str) -> None:
        opened = table(b"a,b\n1,x\n2,Z\xfcrich\n3,y\n4\n5,z", skip_bad_rows=2)
        with pytest.warns(SufficeWarning, match=r"2 malformed lines .* on line 3, 5\."):
            assert count(opened, {asked: None}) == 3

    def test_declared_encoding(self, table: Open) -> None:
        opened = table("ort,n\nZürich,1\n".encode("latin-1"), encoding="latin-1")
        assert rows(opened) == [{"ort": "Zürich", "n": 1}]

    @pytest.mark.parametrize("encoding", ["utf8\0", "nope", "hex", "", 3])
    def test_what_is_no_encoding(self, encoding: Any) -> None:
        with pytest.raises(ParameterError) as caught:
            read_csv("t.csv", encoding=encoding)
        assert str(caught.value).startswith(f"encoding={encoding!r}; ")

    def test_invalid_in_declared_encoding(self, table: Open) -> None:
        assert message(lambda: count(table(b"a,b\n1,\x81\n", encoding="cp1252"))).startswith(
            "line 2 of t.csv, column 'b': byte 0x81 after '' is not cp1252; "
        )

    @pytest.mark.parametrize(("encoding", "n"), [("utf-16", LATE), ("utf-16-le", 9)])
    def test_utf16(self, table: Open, encoding: str, n: int) -> None:
        data = ("a,b\n" + "1,é\n" * n).encode(encoding)
        read = rows(table(data, encoding=encoding))
        assert (len(read), read[-1]) == (n, {"a": 1, "b": "é"})

    def test_byte_order_mark_line_ends_blank_lines_and_nul(self, table: Open) -> None:
        opened = table(b'\xef\xbb\xbf"a",b\r\n\r\n1,x\n\n2,y\r3,z\x00z')
        assert rows(opened) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z\0z"}]


class TestGzip:
    def test_suffix_decides_separator_and_compression(self, table: Open) -> None:
        assert rows(table(gzip.compress(b"a\tb\n1\t2\n"), "t.tsv.gz")) == [{"a": 1, "b": 2}]

    def test_byte_order_mark(self, table: Open) -> None:
        packed = gzip.compress(b'\xef\xbb\xbf"a",b\n1,2\n')
        assert rows(table(packed, "t.csv.gz")) == [{"a": 1, "b": 2}]

    def test_truncated(self, table: Open) -> None:
        whole = gzip.compress(b"\n".join(os.urandom(8).hex().encode() for _ in range(50_000)))
        assert message(
            lambda: count(table(whole[: len(whole) // 2], "t.csv.gz", header=False, names=["a"]))
        ).startswith("t.csv.gz cannot be read: Compressed file ended before the end")

    def test_damaged(self, table: Open) -> None:
        whole = bytearray(gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 300_000))
        whole[len(whole) // 2] ^= 0xFF
        assert message(lambda: count(table(bytes(whole), "t.csv.gz")))


class TestNames:
    def test_duplicates(self, table: Open) -> None:
        assert table(b"a,b,a\n1,2,3\n", names=["x", "y", "z"]).names == ("x", "y", "z")

    def test_as_many_as_columns(self, table: Open) -> None:
        assert message(lambda: count(table(b"1,2\n", header=False, names=["x"]))).startswith(
            "line 1 of t.csv: 2 fields, where names=... holds 1; "
        )

    @pytest.mark.parametrize("data", [b"", b"\n\r\n", b"\xef\xbb\xbf"])
    def test_empty(self, table: Open, data: bytes) -> None:
        assert message(lambda: count(table(data))).startswith("t.csv is empty; ")

    def test_header_only(self, table: Open) -> None:
        opened = table(b"a,b\n")
        assert opened.head().num_rows == 0
        assert opened.head().schema.names == ["a", "b"]
        assert rows(opened) == []


class TestMissingAndStrip:
    def test_tokens(self, table: Open) -> None:
        assert rows(table(b'a,b\n?,""\n1,"NA"\n', missing=["?"])) == [
            {"a": None, "b": ""},
            {"a": 1, "b": "NA"},
        ]

    def test_tokens_match_after_stripping(self, table: Open) -> None:
        opened = table(b"age , job\n39,  ? \n 40 , clerk\n", missing=["?"], strip=True)
        assert rows(opened) == [{"age": 39, "job": None}, {"age": 40, "job": "clerk"}]

    def test_a_row_without_end(self, table: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suffice.data.text.pieces.LONGEST_RECORD", 1 << 21)
        assert message(lambda: table(b"a\n" + b"1" * 5_000_000 + b"\n")).startswith(
            "t.csv cannot be read; a row is longer than"
        )


class TestParts:
    def test_locate(self, table: Open) -> None:
        opened = table(b'a,b\n"1\n",2\n\n3\n4,5\n', skip_bad_rows=1)
        (part,) = opened.parts({"a": None})
        assert [part.locate(row) for row in range(3)] == [
            "line 2 of t.csv",
            "line 6 of t.csv",
            "row 3 of t.csv",
        ]

    def test_several_files(self, tmp_path: Path) -> None:
        for name, text in {"a.csv": "x\n1\n", "b.csv": "x\n2.5\n", "c.csv": "y\n1\n"}.items():
            (tmp_path / name).write_text(text)
        one, two, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
        assert rows(read_csv([one, two])) == [{"x": 1.0}, {"x": 2.5}]
        with pytest.raises(SchemaError) as caught:
            read_csv([one, other])
        assert str(caught.value).startswith(
            f"the columns of {one} are 'x', those of {other} are 'y'; "
        )


class TestFormat:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {"separator": "||"},
                "separator='||'; it must be one ASCII character that ends no line; for a tab write "
                '"\\t".',
            ),
            (
                {"separator": "\0"},
                "separator='\\x00'; it must not be NUL; for a tab write \"\\t\".",
            ),
            (
                {"quote": ""},
                "quote=''; it must be one ASCII character that ends no line; or None for no "
                "quoting.",
            ),
            (
                {"separator": '"', "quote": '"'},
                "separator and quote are both '\"'; they must differ; use quote=None where fields "
                "are never quoted.",
            ),
            ({"names": [1]}, "names=[1]; it must be a sequence of strings; write a list or tuple."),
            (
                {"names": ["a", "a"]},
                "names holds 'a' twice; column names must be unique; rename one of them.",
            ),
            (
                {"skip_bad_rows": -1},
                "skip_bad_rows=-1; it must be a whole number, 0 or more; 0 makes every malformed "
                "row an error.",
            ),
            (
                {"encoding": "klingon"},
                "encoding='klingon'; it must be a text encoding that Python knows; for example "
                '"utf8", "cp1252" or "utf-16".',
            ),
        ],
    )
    def test_options_outside_their_rule(self, options: dict[str, Any], expected: str) -> None:
        with pytest.raises(ParameterError) as caught:
            read_csv("t.csv", **options)
        assert str(caught.value) == expected


CELL = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(
    ',;"\r\n\0\x1a x', max_size=8
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=20))


def written(lines: list[list[str]], separator: str, end: str) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(
        lines
    )
    return buffer.getvalue().encode()


class TestWriterRoundTrip:
    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @example([["0", "", ""], [":", ";", "<"]], ",", "\n")  # no title above a header
    @example([["\t", 'a"\t"', "\t\n\t"], ["", "0\t", " \t"]], " ", "\n")  # tabs within quotes
    @given(tables(), st.sampled_from(",;\t "), st.sampled_from(["\n", "\r\n"]))
    def test_any_table_of_strings_reads_back_equal(
        self, table: Open, lines: list[list[str]], separator: str, end: str
    ) -> None:
        opened = table(
            written(lines, separator, end),
            separator=separator,
            quote='"',  # else a row whose lines may be rows of their own is refused
            header=False,
            missing=[],
            strip=False,
        )
        read = rows(opened, dict.fromkeys(opened.names, pa.string()))
        assert [list(row.values()) for row in read] == lines

    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.text('aé, "\n\r', max_size=30), st.sampled_from(", "), st.sampled_from([1, 5, 1 << 20])
    )
    def test_the_slow_scan_agrees_on_raw_text(
        self, table: Open, text: str, separator: str, size: int
    ) -> None:
        options = {"separator": separator, "missing": [], "strip": False, "skip_bad_rows": 1000}
        options |= {"quote": '"', "header": True, "names": ["x", "y"], "skip_lines": 0}
        try:
            opened = table(f"x{separator}y\n{text}".encode(), **options)
        except ReadError as error:
            assert "never closes" in str(error)  # noqa: PT017
            return
        (part,) = opened.parts({"x": pa.string(), "y": pa.string()})
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore", SufficeWarning)
            patch.setattr("suffice.data.text.reading.PIECE_BYTES", size)
            try:
                fast = [list(r.values()) for b in part.record_batches() for r in b.to_pylist()]
            except ReadError as error:
                assert "never closes" in str(error)  # noqa: PT017
                with pytest.raises(ReadError, match="never closes"):
                    list(part.text.scan())
                return
        slow = [record.fields for record in part.text.scan()]
        assert fast == [fields for fields in slow if len(fields) == 2]


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1|red\n2|blue\n")
    with pytest.raises(ParameterError, match="read_csv has no option 'sep'; its options are sepa"):
        read_csv(file, sep="|")
