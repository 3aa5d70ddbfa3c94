"""What is written in the way of a format is read again as it was."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.csv.format import CsvFormat
from suffice.data.csv.writing import as_written
from suffice.data.notation import notation_named
from suffice.data.numerals import Numerals

NUMBERS = st.lists(st.none() | st.floats(-1e12, 1e12), min_size=1, max_size=5)
DAYS = st.lists(st.dates(date(1000, 1, 1)), min_size=1, max_size=5)


@given(NUMBERS, st.sampled_from(["$1", "1%", "1€", "1,000"]), st.sampled_from([".", ","]))
def test_numbers(cells: list[float | None], spelling: str, decimal: str) -> None:
    table = pa.table({"x": pa.array(cells, pa.float64())})
    format = CsvFormat(decimal=decimal, written={"x": spelling})
    text = as_written(table, format)["x"].combine_chunks()
    parsed = notation_named(spelling).parse(text.cast(pa.string()), Numerals(decimal))
    assert parsed.to_pylist() == cells


@given(
    DAYS,
    st.sampled_from(["DD/MM/YYYY", "MM-DD-YYYY", "YYYY.MM.DD"]),
    st.sampled_from(["", " HH:MM", " HH:MM Z"]),
)
def test_times(days: list[date], order: str, clock: str) -> None:
    notation = notation_named(order + clock)
    zone = UTC if "Z" in clock else None
    points = [datetime(d.year, d.month, d.day, tzinfo=zone) for d in days]
    if clock:
        points = [point + timedelta(hours=13, minutes=5, seconds=9) for point in points]
    table = pa.table({"t": pa.array(points, pa.timestamp("us", "UTC" if zone else None))})
    text = as_written(table, CsvFormat(written={"t": order + clock}))["t"].combine_chunks()
    assert notation.parse(text).to_pylist() == (points if clock else days)


def test_what_needs_no_other_way_stays() -> None:
    table = pa.table({"n": [1, 2], "s": ["a,b", "$1"], "x": [1.5, None]})
    assert as_written(table, CsvFormat()) == table
    marked = CsvFormat(written={"s": "$1", "n": "1%"})
    assert as_written(table, marked) == table
