"""The format of a file is found, is told, can be given, and travels with the model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice import NaiveBayes, load, read_csv
from suffice.errors import ParameterError, ReadError, SufficeWarning

BODY = "".join(f"{i},{i}.5,{3 * i}\n" for i in range(1, 10))
TABLE = f"id,a,y\n{BODY}"
ROWS = [{"id": i, "a": i + 0.5, "y": 3 * i} for i in range(1, 10)]
IRIS = "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n6.3,3.3,Iris-virginica\n4.7,3.2,Iris-setosa\n"
VOTES = "republican,n,y,?\ndemocrat,y,y,n\nrepublican,n,n,y\ndemocrat,?,y,n\nrepublican,n,y,n\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


def opened(path: Path, text: str | bytes, **options: Any) -> Any:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv(path, **options)


class TestLayout:
    @pytest.mark.parametrize(
        ("text", "option"),
        [
            (f"Report of sales\nGenerated 2024-01-01\n\n{TABLE}", "skip_lines"),
            (f"# made by x\n# v 1\n{TABLE}", "skip_lines"),
            (f"Report,,\nGenerated,2024,\n{TABLE}", "skip_lines"),
            ("sep=;\n" + TABLE.replace(",", ";"), "skip_lines"),
            (TABLE.replace(",", "|"), "separator"),
            (TABLE.replace(",", "  "), "separator"),
            (TABLE.replace(",", " \t ").replace(" \t ", "\t", 1), "separator"),
            (TABLE.replace(",", ", "), "strip"),
            ("'id','a','y'\n" + BODY, "quote"),
            (TABLE.encode("utf-16"), "encoding"),
            (TABLE.encode("utf-16-le"), "encoding"),
            (TABLE.encode("utf-16-be"), "encoding"),
            (TABLE.replace("\n", ",\n").replace("y,", "y", 1), "left out"),
        ],
    )
    def test_is_found_and_told(self, path: Path, text: str | bytes, option: str) -> None:
        table = opened(path, text)
        assert table.head().to_pylist() == ROWS
        assert option in " ".join(table.about.remarks)

    @pytest.mark.parametrize(
        ("text", "separator"),
        [
            ("n,genre\n1,rock;pop\n2,jazz;soul\n", ","),
            ("n;genre\n1;rock,pop\n2;jazz,soul\n", ";"),
            ("a b\n1 2\n3 x\n", " "),
            ("a b\nwell done\nso long\n", ","),  # two words a line, and no number
            ("first name,n\nAnn,1\nBob,2\n", ","),
            ("x\n1,5\n2,25\n", ";"),  # one column with decimal commas
        ],
    )
    def test_separator(self, path: Path, text: str, separator: str) -> None:
        assert opened(path, text).about.format.separator == separator

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
            ("0,1,y\n0.5,0.25,a\n0.1,0.7,b\n", True),
            ("1,2,Ann\n2,3,Bob\n3,1,Eve\n", False),
            ("ham\tSo long\nspam\tWIN!\nham\tWhat?\nham\tOk.\n", False),
            ("7,1.5\n8,2.5\n", False),
            ("#id,x\n1,2\n3,4\n", True),
            ("a,b,c\n1,b,c\n2,b,c\n", True),  # a word above numbers
        ],
    )
    def test_header(self, path: Path, text: str, header: bool) -> None:
        assert opened(path, text).about.format.header is header

    def test_names(self, path: Path) -> None:
        assert opened(path, ",a,\n" + BODY).names == ("column_1", "a", "column_3")
        assert opened(path, "a,b,a\n" + BODY).names == ("a", "b", "a_3")
        assert opened(path, TABLE, names=["k", "l", "m"]).names == ("k", "l", "m")
        trailing = TABLE.replace("\n", ",\n").replace("y,", "y", 1)
        assert opened(path, trailing, names=["k", "l", "m", "e"], header=True).names[-1] == "e"
        with pytest.raises(ReadError, match=r"3 fields, where names=\.\.\. holds 2"):
            opened(path, TABLE, names=["k", "l"])

    def test_names_of_rows_are_no_column(self, path: Path) -> None:
        table = opened(path, "a,y\n" + BODY)
        assert table.names == ("a", "y")
        assert table.about.ignored == ("column_1",)
        assert "names of rows" in table.about.remarks[0]

    def test_a_total_is_told_and_can_be_left_out(self, path: Path) -> None:
        assert "skip_last=1" in opened(path, TABLE + "Total,,99\n").about.remarks[-1]
        table = read_csv(path, skip_last=1)
        assert table.head().to_pylist() == ROWS
        (part,) = table.parts({"y": None})
        assert sum(batch.num_rows for batch in part.record_batches()) == 9

    def test_a_late_value_in_a_column_that_was_left_out(self, path: Path) -> None:
        late = TABLE.replace("\n", ",\n").replace("y,", "y", 1) + "1,2,3,\n" * 70_000
        late += "1,2,3,4\n" + "1,2,3,\n" * 30_000
        (part,) = opened(path, late).parts({"y": None})
        with pytest.raises(ReadError, match=r"line 70011 of t.csv, column 'column_4'"):
            list(part.record_batches())


class TestQuotes:
    @pytest.mark.parametrize("row", ['1,"x,2\n2,y,3\n3,z",4', '1,"x"y,2', '1,"say \\"hi\\"",2'])
    def test_that_may_swallow_rows_are_refused(self, path: Path, row: str) -> None:
        text = f"a,b,c\n0,x,1\n{row}\n5,w,6\n"
        with pytest.raises(ReadError, match=r"line 3 of t\.csv.*quote=None"):
            opened(path, text)
        (part,) = read_csv(path, skip_bad_rows=3).parts({"a": None})
        with pytest.warns(SufficeWarning, match="left out"):
            batches = list(part.record_batches())
        assert [row["a"] for batch in batches for row in batch.to_pylist()] == [0, 5]

    def test_that_are_given_are_trusted(self, path: Path) -> None:
        text = 'a,b\n1,"x"y\n2,"u,1\n3,v"\n'
        rows = opened(path, text, quote='"').head().to_pylist()
        assert rows == [{"a": 1, "b": "xy"}, {"a": 2, "b": "u,1\n3,v"}]

    def test_behind_blanks(self, path: Path) -> None:
        text = 't,y\n "a, b",1\nc,2\n'
        with pytest.raises(ReadError, match="strip=True"):
            opened(path, text)
        assert read_csv(path, strip=True).head().column(0).to_pylist() == ["a, b", "c"]


class TestModels:
    """Which column is which, with a header and without, in fit and in predict."""

    ROWS = tuple((i % 10, i % 7 + 0.5, "hi" if i % 3 else "lo") for i in range(30))
    BODY = "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)
    FEATURES = "".join(f"{a},{b}\n" for a, b, _ in ROWS)

    @pytest.mark.parametrize("header", ["", "age,size,kind\n"])
    def test_rows_are_the_same_with_a_header_and_without(self, path: Path, header: str) -> None:
        path.write_text(header + self.BODY)
        model = NaiveBayes().fit(path, "kind" if header else "column_3")
        answers = model.predict_proba(path)
        model.save(path.with_suffix(".suffice"))
        others = ["", "age,size,kind\n", "age,size\n"]
        for one in (model, load(path.with_suffix(".suffice"))):
            for other in others:
                path.write_text(other + (self.FEATURES if "kind" not in other else self.BODY))
                if bool(header) == bool(other):
                    found = one.predict_proba(path)
                else:
                    with pytest.warns(SufficeWarning, match="by position"):
                        found = one.predict_proba(path)
                np.testing.assert_array_equal(found, answers)

    def test_columns_are_found_by_name(self, path: Path) -> None:
        path.write_text("age,size,kind\n" + self.BODY)
        model = NaiveBayes().fit(path, "kind")
        answers = model.predict_proba(path)
        path.write_text("size,age\n" + "".join(f"{b},{a}\n" for a, b, _ in self.ROWS))
        np.testing.assert_array_equal(model.predict_proba(path), answers)
        path.write_text("7,8,9,10,11\n")
        with pytest.raises(ReadError, match="header=True"):
            model.predict(path)
        path.write_text("size,age\n1,2\n")
        table = read_csv(path, header=False)
        with pytest.raises(ReadError, match="header=True"):
            model.predict(table)

    def test_no_row_of_a_later_file_is_left_out(self, path: Path) -> None:
        path.write_text("age,size,kind\n" + self.BODY + "1,2,3,4\nTotal,,\n")
        with pytest.warns(SufficeWarning, match="left out"):
            model = NaiveBayes().fit(read_csv(path, skip_last=1, skip_bad_rows=1), "kind")
        path.write_text("age,size\n1,2\n3,4\n")
        assert len(model.predict(path)) == 2
        path.write_text("age,size\n1,2\n3,4,5\n")
        with pytest.raises(ReadError, match=r"line 3.*skip_bad_rows"):
            model.predict(path)
        path.write_text("red,u\nblue,v\n" * 3)
        model = NaiveBayes().fit(read_csv(path, header=False), "column_2")
        path.write_text("red,u\n")
        assert model.predict(path).tolist() == ["u"]

    def test_lines_above_the_header_are_remembered(self, path: Path) -> None:
        path.write_text("sizes,of,fruit\nage,size,kind\n" + self.BODY)
        model = NaiveBayes().fit(read_csv(path, skip_lines=1), "kind")
        with pytest.warns(SufficeWarning, match="1 line above the header"):
            assert len(model.predict(path)) == len(self.ROWS)

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
    def test_bytes_tell_the_encoding_of_a_later_file(self, path: Path, encoding: str) -> None:
        text = "Größe,kind\n" + "1,ü\n9,v\n" * 5
        path.write_text(text, encoding)
        model = NaiveBayes().fit(read_csv(path, encoding=encoding), "kind")
        assert model.predict(path)[:2].tolist() == ["ü", "v"]
        path.write_text(text, "utf8")
        with pytest.warns(SufficeWarning, match="encoding="):
            assert model.predict(path)[:2].tolist() == ["ü", "v"]

    def test_a_number_that_is_too_large_is_shown_as_written(self, path: Path) -> None:
        path.write_text("age,size,kind\n" + self.BODY + "1,1e400,hi\n")
        with pytest.raises(ReadError, match=r"line 32 of t\.csv, .*'size': '1e400'"):
            NaiveBayes().fit(path, "kind")
        path.write_text("1e400,hi\n" + "2.5,lo\n" * 9)
        with pytest.raises(ReadError, match=r"line 1 of t\.csv, .*; correct the cell"):
            NaiveBayes().fit(read_csv(path, header=False), "column_2")

    def test_a_csv_file_is_opened_three_times(self, path: Path) -> None:
        path.write_text("age,size,kind\n" + self.BODY)
        opened = []

        def note(event: str, args: tuple[Any, ...]) -> None:
            if event == "open" and str(args[0]) == str(path):
                opened.append(args)

        sys.addaudithook(note)
        NaiveBayes().fit(path, "kind")
        assert len(opened) <= 3


@pytest.mark.parametrize(
    "options",
    [
        {"decimal": ";"},
        {"decimal": ",", "thousands": ","},
        {"missing": 3},
        {"names": []},
        {"skip_lines": -1},
        {"skip_last": True},
        {"skip_bad_rows": 1.5},
        {"header": 0},
        {"strip": "no"},
        {"guess": 1},
        {"written": 5},
    ],
)
def test_options_outside_their_rule(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        read_csv("t.csv", **options)
