"""How delimited text is written, found by looking at it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import read_csv
from suffice.data.csv.dialect import find_dialect
from suffice.data.csv.format import CsvFormat
from suffice.errors import ParameterError, ReadError

Write = Callable[..., Path]

WORDS = ("red", "green", "dark blue", "light, blue", "semi;colon", 'a "quoted" one', "tab\tbed")
IRIS = "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n6.3,3.3,Iris-virginica\n4.7,3.2,Iris-setosa\n"
VOTES = "republican,n,y,?\ndemocrat,y,y,n\nrepublican,n,n,y\ndemocrat,?,y,n\nrepublican,n,y,n\n"
HOUSES = " 0.006  18.00  2.31  0\n 0.027   0.00  7.07  1\n 0.032   0.00 12.18  0 \n"
GENRES = "n,genre\n1,rock;pop\n2,jazz;soul\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(text: str, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return file


def found(path: Path, **asked: Any) -> Any:
    return find_dialect(path, CsvFormat(**asked)).format


class TestDelimiter:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(
            st.tuples(st.sampled_from(WORDS), st.integers(0, 999), st.sampled_from(WORDS)),
            min_size=3,
            max_size=30,
        ),
        st.sampled_from(",;\t|"),
    )
    def test_the_one_that_a_writer_used(
        self, write: Write, rows: list[tuple[Any, ...]], separator: str
    ) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=separator).writerows([("colour", "number", "kind"), *rows])
        format = found(write(text.getvalue()))
        assert format.separator == separator
        assert format.header

    @pytest.mark.parametrize(
        ("text", "separator"),
        [
            ("a;b\n1,5;x\n2,5;y\n", ";"),
            ("1,5;2,5;A\n1,7;2,9;B\n", ";"),  # cut by commas it has three fields a row as well
            (GENRES, ","),
            ("3;hello, world\n4;good, bye\n", ";"),
            ("alone\n1\n2\n", ","),
            ("a;b\n1;2\n1;2;3\n" + "1;2\n" * 20, ";"),  # one row is malformed
            (HOUSES, " "),
            ("a b\n1 2\n3 x\n", " "),
            ("a b\n1 2\nNA x\n", " "),
            ("a b\nNA x\nNA y\n", ","),
            ("a b\nwell done\nso long\n", ","),  # two words a line, and no number
            ("first name,n\nAnn,1\nBob,2\n", ","),
        ],
    )
    def test_of_two_that_cut_evenly(self, write: Write, text: str, separator: str) -> None:
        assert found(write(text)).separator == separator

    def test_the_suffix_speaks_where_both_are_right(self, write: Write) -> None:
        text = "x\ty,b\nu\tw,z\n"
        assert found(write(text, "t.tsv")).separator == "\t"
        assert found(write(text, "t.csv")).separator == ","

    def test_what_is_said_is_kept(self, write: Write) -> None:
        path = write("a;b\n1;2\n")
        asked = {"separator": ",", "header": False, "strip": True, "decimal": ",", "thousands": "."}
        table = read_csv(path, **asked)
        assert {name: getattr(table.format, name) for name in asked} == asked
        assert table.remarks == ()

    def test_blanks_are_as_many_as_there_are(self, write: Write) -> None:
        table = read_csv(write(HOUSES + '\n "0.1  2"  1 2 3\r\n'))
        assert table.head().num_rows == 4
        assert table.head().to_pylist()[-1] == dict(
            zip(table.names, ("0.1  2", 1.0, 2.0, 3), strict=True)
        )
        assert str(table.remarks[0]) == (
            "t.csv: fields are separated by blanks (separator=... says otherwise)"
        )
        with pytest.raises(ReadError, match=r"line 3 of t\.csv: 1 field, where"):
            read_csv(write("a b\n1 2\n3\n" + "5 6\n" * 99)).head()

    @pytest.mark.parametrize("separator", [" ", ","])
    def test_a_header_may_lack_a_name(self, write: Write, separator: str) -> None:
        rows = ['"x" "y"', '"1" 2 3', '"2" 4 5']  # as R's write.table has it
        path = write("\n".join(rows).replace(" ", separator))
        assert found(path).separator == separator
        with pytest.raises(ReadError, match=r"line 2 of t\.csv: 3 fields.*write\.csv"):
            read_csv(path).head()


class TestQuote:
    @pytest.mark.parametrize(
        ("text", "quote"),
        [
            ("'a','b'\n1,'x, y'\n2,'it''s'\n", "'"),
            ("'a'\t'b'\n1\t2\n", "'"),
            ("'a'  'b'\n 1 2\n", "'"),
            ("a,b\n1,O'Brien\n2,'x'\n", '"'),
            ("a,b\n1,'x\n2,y\n", '"'),
            ("a,b\n1,\"it's\"\n2,'x'\n", '"'),
            ("a,b\n1,'x' or y\n", '"'),
            ("a,b\n1,2\n", '"'),
        ],
    )
    def test_is_single_where_it_does_nothing_but_enclose(
        self, write: Write, text: str, quote: str
    ) -> None:
        remarks = " ".join(map(str, read_csv(write(text)).remarks))
        assert ("fields are enclosed in '" in remarks) == (quote == "'")
        assert found(write(text), quote=None).quote is None

    def test_what_is_enclosed_is_read(self, write: Write) -> None:
        table = read_csv(write("'a','b'\n1,'x, y'\n2,'it''s'\n"))
        assert table.head().to_pylist() == [{"a": 1, "b": "x, y"}, {"a": 2, "b": "it's"}]
        assert [str(remark) for remark in table.remarks] == [
            "t.csv: fields are enclosed in ' (quote=... says otherwise)"
        ]
        assert table.format.quote == '"'  # of tables that come later it shows by itself


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "header"),
        [
            ("x,y\n1,2\n", True),
            ("x,y\n", True),
            (IRIS, False),
            ("length,width,kind\n" + IRIS, True),
            (VOTES, False),
            ("party,a,b,c\n" + VOTES, True),
            ("country,1990,2000,2005\nSpain,1,2,3\nPeru,4,5,6\n", True),
            ("0,1,2\n0.5,0.25,7\n0.1,0.7,9\n", True),  # a matrix as pandas writes it
            (",0,1\n0,0.5,0.25\n1,0.1,0.7\n", True),  # and with its index
            ("ham\tSo long\nspam\tWIN!\nham\tWhat?\nham\tOk.\n", False),
            ("7,1.5\n8,2.5\n", False),
            ("y\ny\nn\n", True),
        ],
    )
    def test_is_what_does_not_look_like_the_rows_below(
        self, write: Write, text: str, header: bool
    ) -> None:
        assert found(write(text)).header is header

    def test_rows_without_names_are_all_read(self, write: Write) -> None:
        table = read_csv(write(IRIS))
        assert table.names == ("column_1", "column_2", "column_3")
        assert table.head().num_rows == 4
        assert [str(remark) for remark in table.remarks] == [
            "t.csv: there is no header, as the first row is '5.1, 3.5, Iris-setosa' "
            "(header=... says otherwise)"
        ]


class TestNumbers:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=30),
        st.sampled_from([(".", None), (",", None), (".", ","), (",", ".")]),
    )
    def test_are_read_as_they_were_meant(
        self, write: Write, hundredths: list[int], marks: tuple[str, str | None]
    ) -> None:
        decimal, thousands = marks
        swapped = str.maketrans({",": thousands or "", ".": decimal})
        cells = [f"{number / 100:,.2f}".translate(swapped) for number in hundredths]
        path = write("x;y\n" + "".join(f"{cell};1\n" for cell in cells))
        values = read_csv(path, decimal=decimal, thousands=thousands).head()
        np.testing.assert_array_equal(values.column(0), np.array(hundredths) / 100)
        np.testing.assert_array_equal(read_csv(path).head().column(0), values.column(0))

    @pytest.mark.parametrize("cells", [["1,000", "2,500"], ["1,000", "1,5"]])
    def test_with_two_meanings_are_refused(self, write: Write, cells: list[str]) -> None:
        path = write("x;y\n" + "".join(f"{cell};1\n" for cell in cells))
        with pytest.raises(ReadError) as caught:
            read_csv(path)
        assert str(caught.value).startswith("t.csv, column 1: '1,000' is either 1.000 or 1000; ")
        assert read_csv(path, decimal=",").head().column(0)[0].as_py() == 1

    def test_quoted_thousands_between_commas(self, write: Write) -> None:
        table = read_csv(write('city,people\nA,"1,200,000"\nB,"950"\n'))
        assert table.head().column(1).to_pylist() == [1_200_000, 950]

    def test_every_later_cell_obeys(self, write: Write) -> None:
        table = read_csv(write("x;y\n" + "1,5;a\n" * 70_000 + "1.5;b\n"))
        with pytest.raises(ReadError) as caught:
            list(table.parts({"x": None})[0].record_batches())
        assert str(caught.value).startswith(
            "line 70002 of t.csv, column 'x': '1.5' is not a number; every cell of this column is "
            "read as a number, 1000,5 for a thousand and a half;"
        )

    def test_text_with_commas_stays_text(self, write: Write) -> None:
        cells = read_csv(write("x;y\n1,5;a,5\n2,5;7\n")).head().column(1)
        assert cells.to_pylist() == ["a,5", "7"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"decimal": ";"}, r"decimal=';'; it must be one of '.', ','\."),
            ({"decimal": ",", "thousands": ","}, "decimal and thousands are both ','"),
        ],
    )
    def test_marks_that_are_none(self, options: dict[str, str], message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            read_csv("t.csv", **options)


def test_blanks_around_every_value_of_a_column_are_no_part_of_it(write: Write) -> None:
    table = read_csv(write("a, b\n1, x\n2, y\n"))
    assert table.head().to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    kept = read_csv(write("a,b\n1, x\n2,y\n"))
    assert kept.head().column(1).to_pylist() == [" x", "y"]
