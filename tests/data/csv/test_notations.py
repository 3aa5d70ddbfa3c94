"""Numbers with marks, and dates, in delimited text: found, held to, and refused where unclear."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import NaiveBayes, load, read_csv
from suffice.errors import ParameterError, ReadError

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(text: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_text(text, "utf8")
        return path

    return file


def column(path: Path, name: str = "x", **options: Any) -> list[Any]:
    (part,) = read_csv(path, **options).parts({name: None})
    return [cell for batch in part.record_batches() for cell in batch.column(name).to_pylist()]


class TestFound:
    @pytest.mark.parametrize(
        ("cells", "spelling", "values"),
        [
            (["$10", "-$2.5", "$ 3"], "$1", [10.0, -2.5, 3.0]),
            (["10%", "2.5 %", "-1%"], "1%", [10.0, 2.5, -1.0]),
            (["5 €", "7.25€"], "1€", [5.0, 7.25]),
            (['"$1,000"', '"$2,500.5"'], "$1", [1000.0, 2500.5]),
            (
                ["2024-02-29", "2024-1-3"],
                "YYYY-MM-DD",
                [datetime.date(2024, 2, 29), datetime.date(2024, 1, 3)],
            ),
            (
                ["01/02/2024", "13/02/2024"],
                "DD/MM/YYYY",
                [datetime.date(2024, 2, 1), datetime.date(2024, 2, 13)],
            ),
            (
                ["01/02/2024", "01/13/2024"],
                "MM/DD/YYYY",
                [datetime.date(2024, 1, 2), datetime.date(2024, 1, 13)],
            ),
            (
                ["31.12.2023 23:59", "1.1.2024 00:00:01.5"],
                "DD.MM.YYYY HH:MM",
                [
                    datetime.datetime(2023, 12, 31, 23, 59),
                    datetime.datetime(2024, 1, 1, 0, 0, 1, 500_000),
                ],
            ),
            (
                ["2024-01-01T10:00:00+01:00", "2024-01-01 10:00Z"],
                "YYYY-MM-DD HH:MM Z",
                [
                    datetime.datetime(2024, 1, 1, 9, tzinfo=datetime.UTC),
                    datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.UTC),
                ],
            ),
        ],
    )
    def test_what_a_column_is(
        self, write: Write, cells: list[str], spelling: str, values: list[Any]
    ) -> None:
        path = write("x,y\n" + "".join(f"{cell},a\n" for cell in [*cells, ""]))
        table = read_csv(path)
        assert dict(table.format.written) == {"x": spelling}
        quoted = any(cell.startswith('"') for cell in cells)
        assert len(table.remarks) == 1 + quoted
        assert "written={'x': 'text'}" in table.remarks[-1]
        assert column(path) == [*values, None]

    def test_text_stays_where_asked(self, write: Write) -> None:
        path = write("x,y\n$1,a\n$2,b\n")
        assert column(path, written={"x": "text"}) == ["$1", "$2"]
        assert column(path, guess=False) == ["$1", "$2"]

    @pytest.mark.parametrize(
        "cells", [["$1", "€2"], ["1.2.3", "4.5.6"], ["a-b-c", "d"], ["1-2", "3-4"]]
    )
    def test_other_text_is_text(self, write: Write, cells: list[str]) -> None:
        path = write("x,y\n" + "".join(f"{cell},a\n" for cell in cells))
        assert column(path) == cells

    def test_a_column_that_nearly_obeys_is_told(self, write: Write) -> None:
        path = write("x,y\n" + "$1,a\n" * 20 + "free,a\n")
        table = read_csv(path)
        assert table.remarks == (
            "t.csv: 'x' would hold numbers in $, as in $1, but for 'free': it is kept as text "
            "(missing='free' or written={'x': '$1'} say otherwise)",
        )
        assert column(path, missing=["free"])[-2:] == [1.0, None]

    @pytest.mark.parametrize(
        ("cells", "kind", "bare"),
        [
            (["10%", "12", "7 %", "3"], "per cent, as in 10%", "12"),
            (
                ["1.5", "2e3", "-3", "4", "5", "6", "7", "8", "9", "10%"],
                "per cent, as in 10%",
                "1.5",
            ),
            (["$1"] * 20 + ["2"], "$, as in $1", "2"),
        ],
    )
    def test_numbers_of_which_some_have_a_mark_are_told(
        self, write: Write, cells: list[str], kind: str, bare: str
    ) -> None:
        path = write("x,y\n" + "".join(f"{cell},a\n" for cell in [*cells, ""]))
        assert read_csv(path).remarks == (
            f"t.csv: some cells of 'x' are numbers in {kind}, and some lack the mark, as {bare}: "
            "all are kept as text; write them alike (written={'x': 'text'} leaves this "
            "note out)",
        )
        assert column(path) == [*cells, None]
        assert read_csv(path, written={"x": "text"}).remarks == ()

    @pytest.mark.parametrize(
        "cells", [["1%", "$2", "3"], ["1%", "2", "x"], ["a%", "2"], ["1", "2"]]
    )
    def test_other_columns_are_not_told(self, write: Write, cells: list[str]) -> None:
        assert read_csv(write("x,y\n" + "".join(f"{c},a\n" for c in cells))).remarks == ()

    def test_the_middle_and_the_end_count(self, write: Write) -> None:
        line = "01/02/2024,some text that makes the line longer\n"
        middle = "x,y\n" + line * 5_000 + "13/02/2024,here it shows\n" + line * 5_000
        assert dict(read_csv(write(middle)).format.written) == {"x": "DD/MM/YYYY"}
        end = "x,y\n" + line * 10_000 + "02/13/2024,here it shows\n" + line
        assert dict(read_csv(write(end)).format.written) == {"x": "MM/DD/YYYY"}


class TestRefused:
    def test_day_or_month_first(self, write: Write) -> None:
        path = write("x,y\n01/02/2024,a\n03/04/2024,b\n")
        with pytest.raises(ReadError) as caught:
            column(path)
        assert str(caught.value).startswith(
            "t.csv, column 'x': '01/02/2024' is a date, and no cell that was looked at "
        )
        assert column(path, written={"x": "MM/DD/YYYY"})[0] == datetime.date(2024, 1, 2)
        assert column(path, "y") == ["a", "b"]

    @pytest.mark.parametrize(
        ("first", "late"), [("$1", "1"), ("$1", "€1"), ("1%", "x"), ("13/1/2024", "1/13/2024")]
    )
    def test_a_later_cell_that_does_not_obey(self, write: Write, first: str, late: str) -> None:
        rows = f"{first},a\n" * 20_000
        path = write(f"x,y\n{rows}{late},b\n{rows * 3}{first},c\n")
        with pytest.raises(ReadError, match=f"line 20002 of t.csv, column 'x': '{late}' is not"):
            NaiveBayes.textbook().fit(path, "y")

    @pytest.mark.parametrize("mark", [",", ";"])
    def test_two_meanings_of_a_comma(self, write: Write, mark: str) -> None:
        path = write(f'x{mark}y\n"1,000"{mark}a\n"1,5"{mark}b\n"1,25"{mark}b\n')
        with pytest.raises(ReadError, match=r"'1,000' is either 1.000 or 1000"):
            read_csv(path)

    def test_an_impossible_date(self, write: Write) -> None:
        path = write("x,y\n2024-02-28,a\n2024-02-30,b\n")
        with pytest.raises(ReadError, match=r"line 3 of t.csv, column 'x': '2024-02-30' is not"):
            column(path)

    def test_no_notation(self) -> None:
        with pytest.raises(ParameterError, match="written='DD/YYYY'; a notation is text"):
            read_csv("t.csv", written={"x": "DD/YYYY"})


class TestModels:
    TRAIN = "x,y\n" + "".join(f"{d:02}/01/2024,{'ab'[d % 2]}\n" for d in range(1, 32))

    def test_later_files_are_read_as_the_first(self, write: Write, tmp_path: Path) -> None:
        model = NaiveBayes.textbook().fit(write(self.TRAIN), "y")
        assert model.schema_[0].reason == "dates, in seconds since 1970-01-01"
        model.save(tmp_path / "m.suffice")
        days = [datetime.date(2024, 2, 1), datetime.date(2024, 4, 3)]
        expected = model.predict_proba(pa.table({"x": days})).tolist()
        unclear = write("x\n01/02/2024\n03/04/2024\n")
        for one in (model, load(tmp_path / "m.suffice")):
            assert one.predict_proba(unclear).tolist() == expected

    def test_every_kind_of_date_is_one_number(self, write: Write) -> None:
        import pandas as pd

        iso = write(self.TRAIN.replace("/01/2024", "").replace("x,y\n", "x,y\n"))
        days = [datetime.date(2024, 1, d) for d in range(1, 32)]
        labels = ["ab"[d % 2] for d in range(1, 32)]
        iso.write_text("x,y\n" + "".join(f"{d},{c}\n" for d, c in zip(days, labels, strict=True)))
        frames: list[Any] = [
            read_csv(iso),
            pa.table({"x": days, "y": labels}),
            pa.table({"x": pa.array(days).cast(pa.timestamp("ns")), "y": labels}),
            pd.DataFrame({"x": pd.to_datetime(days), "y": labels}),
        ]
        models = [NaiveBayes.textbook().fit(frame, "y") for frame in frames]
        assert all(one.statistic_ == models[0].statistic_ for one in models)
        assert all(one.schema_[0] == models[0].schema_[0] for one in models)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1), st.sampled_from("-/."))
def test_dates_come_back(write: Write, days: list[datetime.date], mark: str) -> None:
    for order in (("YYYY", "MM", "DD"), ("DD", "MM", "YYYY"), ("MM", "DD", "YYYY")):
        for width in (1, 2):
            cells = [
                {"YYYY": f"{d.year:04}", "MM": f"{d.month:0{width}}", "DD": f"{d.day:0{width}}"}
                for d in days
            ]
            lines = [mark.join(cell[part] for part in order) for cell in cells]
            path = write("x,y\n" + "".join(f"{line},a\n" for line in lines))
            assert column(path, written={"x": mark.join(order)}) == days
