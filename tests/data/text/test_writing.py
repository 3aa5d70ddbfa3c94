"""What a format spells is read again as it was."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.data.spelling import spelling_named
from suffice.data.text_format import TextFormat

NUMBERS = st.lists(st.none() | st.floats(-1e12, 1e12), min_size=1, max_size=5)
DAYS = st.lists(st.dates(date(1970, 1, 1), date(2068, 1, 1)), min_size=1, max_size=5)
ORDERS = ["DD/MM/YYYY", "MM-DD-YYYY", "YYYY.MM.DD", "DD-MMM-YYYY", "MM/DD/YY", "MMM DD, YYYY"]


@settings(max_examples=30)
@given(NUMBERS, st.sampled_from(["$1", "1%", "1€", "1,5", "1,000.5", "1.000,5€"]))
def test_numbers(cells: list[float | None], name: str) -> None:
    table = pa.table({"x": pa.array(cells, pa.float64())})
    text = TextFormat(written={"x": name}).spelled(table)["x"].combine_chunks()
    assert spelling_named(name).read(text.cast(pa.string())).to_pylist() == cells


@settings(max_examples=30)
@given(DAYS, st.sampled_from(ORDERS), st.sampled_from(["", " HH:MM", " HH:MM AM", " HH:MM Z"]))
def test_times(days: list[date], order: str, clock: str) -> None:
    spelling = spelling_named(order + clock)
    zone = UTC if "Z" in clock else None
    points = [datetime(d.year, d.month, d.day, tzinfo=zone) for d in days]
    if clock:
        points = [point + timedelta(hours=13, minutes=5, seconds=9) for point in points]
    table = pa.table({"t": pa.array(points, pa.timestamp("us", "UTC" if zone else None))})
    text = TextFormat(written={"t": order + clock}).spelled(table)["t"].combine_chunks()
    assert spelling.read(text).to_pylist() == (points if clock else days)


def test_what_needs_no_other_way_stays() -> None:
    table = pa.table({"n": [1, 2], "s": ["a,b", "$1"], "x": [1.5, None]})
    assert TextFormat().spelled(table) == table
    assert TextFormat(written={"s": "$1", "n": "1%"}).spelled(table) == table
