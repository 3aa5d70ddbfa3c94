"""Arrow columns as doubles: the nearest, and of no other cell."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.doubles import doubles, seconds
from suffice.sums.block import BadCell

B = 2**53
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def refused(column: pa.Array, read: Any = doubles) -> BadCell:
    with pytest.raises(BadCell) as caught:
        read(column)
    return caught.value


# Numbers


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
@pytest.mark.parametrize("start", [0, 1])
def test_whole_numbers_that_doubles_hold(kind: pa.DataType, start: int) -> None:
    cells = [7, None, B, B + 2, 2**62 + 2**20, 0]
    np.testing.assert_array_equal(
        doubles(pa.array(cells, kind)[start:]),
        [np.nan if cell is None else float(cell) for cell in cells[start:]],
    )


@pytest.mark.parametrize(
    ("cells", "kind", "row"),
    [
        ([0, None, B + 1, B + 3], pa.int64(), 2),
        ([-B - 1], pa.int64(), 0),
        ([2**62, 2**63 - 1], pa.int64(), 1),
        ([2**63, 2**64 - 1], pa.uint64(), 1),
        ([None, B + 1], pa.uint64(), 1),
        ([None, Decimal(B + 1)], pa.decimal128(20, 0), 1),
        ([Decimal("0.25"), Decimal(-B - 1)], pa.decimal128(38, 2), 1),
        ([Decimal(2**70 + 1)], pa.decimal256(40, 0), 0),
    ],
)
def test_a_whole_number_is_not_rounded(cells: list[Any], kind: pa.DataType, row: int) -> None:
    found = refused(pa.array(cells, kind))
    assert (found.row, found.value) == (row, cells[row])
    assert (
        found.rule == "a whole number beyond 2^53 is taken if a double holds it, and never rounded"
    )


def test_what_lies_under_a_null_is_no_number() -> None:
    data = pa.py_buffer(np.array([5, B + 1]).tobytes())
    column = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x01"), data])
    np.testing.assert_array_equal(doubles(column), [5.0, np.nan])


@st.composite
def decimals(draw: st.DrawFn) -> tuple[list[Decimal | None], pa.DataType]:
    kind, most = draw(
        st.sampled_from(
            [(pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76)]
        )
    )
    precision = draw(st.integers(1, most))
    scale = draw(st.integers(0, precision))
    whole = st.integers(-(10**precision) + 1, 10**precision - 1)
    cells = draw(st.lists(st.none() | whole, max_size=9))
    # Not a whole number beyond 2^53, which may be refused.
    odd = [
        cell if cell is None or cell % 10**scale or abs(cell) <= B * 10**scale else 1
        for cell in cells
    ]
    # A constructor keeps all digits; arithmetic would round them to 28.
    return [c if c is None else Decimal(f"{c}e-{scale}") for c in odd], kind(precision, scale)


@given(decimals(), st.integers(0, 3))
def test_decimals_become_the_nearest_doubles(
    drawn: tuple[list[Decimal | None], pa.DataType], start: int
) -> None:
    cells, kind = drawn
    expected = [np.nan if cell is None else float(cell) for cell in cells[start:]]
    np.testing.assert_array_equal(doubles(pa.array(cells, kind)[start:]), expected)


# Times


@given(
    st.sampled_from(sorted(UNITS)),
    st.lists(st.none() | st.integers(-(2**62), 2**62), max_size=9),
    st.integers(0, 40),
)
def test_a_time_is_the_nearest_double_or_refused(
    unit: str, cells: list[int | None], near: int
) -> None:
    ticks = [None if cell is None else cell >> near for cell in cells]
    column = pa.array(ticks, pa.duration(unit))
    try:
        found = seconds(column).tolist()
    except BadCell as bad:
        tick = ticks[bad.row]
        assert tick is not None
        one = Fraction(tick, UNITS[unit])
        other = one + Fraction(1, UNITS[unit]) * (1 if tick > 0 else -1)
        assert np.spacing(abs(float(other))) * UNITS[unit] > 1
        return
    for tick, number in zip(ticks, found, strict=True):
        if tick is None:
            assert number != number
        else:
            assert number == float(Fraction(tick, UNITS[unit]))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([datetime.date(2026, 1, 1), None]), [1767225600.0, np.nan]),
        (pa.array([2**31 - 1], pa.date32()), [185542587100800.0]),
        (pa.array([datetime.date(2026, 1, 1)], pa.date64()), [1767225600.0]),
        (pa.array([datetime.time(1, 2, 3, 4)], pa.time64("us")), [3723.000004]),
        (pa.array([1], pa.time64("ns")), [1e-9]),
        (pa.array([1, None], pa.time32("ms")), [0.001, np.nan]),
        (pa.array([1_700_000_000_000_001_000], pa.timestamp("ns")), [1700000000.000001]),
        (pa.array([253402300799000000], pa.timestamp("us", "UTC")), [253402300799.0]),
        (pa.array([9_300_000_000_001], pa.timestamp("s")), [9300000000001.0]),
        (pa.array([1], pa.duration("ns")), [1e-9]),
        (pa.array([], pa.timestamp("ns")), []),
    ],
)
def test_times_in_seconds(column: pa.Array, expected: list[float]) -> None:
    np.testing.assert_array_equal(seconds(column), expected)


def test_months_have_no_length() -> None:
    column = pa.array([None, (1, 2, 3)], pa.month_day_nano_interval())
    found = refused(column, seconds)
    assert (found.row, found.rule) == (1, "months and days have no length in seconds")
    assert np.isnan(seconds(column[:1])).tolist() == [True]


@pytest.mark.parametrize(
    ("ticks", "kind", "value", "apart", "unit"),
    [
        (
            1_700_000_000_000_000_001,
            pa.timestamp("ns", "UTC"),
            "2023-11-14T22:13:20.000000001",
            "2.4e-07",
            "us",
        ),
        (253402300799999999, pa.timestamp("us"), "9999-12-31T23:59:59.999999", "3.1e-05", "ms"),
        (
            9_000_000_000_000_001_000,
            pa.timestamp("ns"),
            "2255-03-14T16:00:00.000001000",
            "1.9e-06",
            "ms",
        ),
        (2**53 + 1, pa.duration("ns"), "9007199254740993 nanoseconds", "1.9e-09", "us"),
    ],
)
def test_a_time_that_shares_its_double(
    ticks: int, kind: pa.DataType, value: str, apart: str, unit: str
) -> None:
    found = refused(pa.array([None, ticks], kind), seconds)
    assert (found.row, found.value) == (1, value)
    assert found.rule == (
        f"a time is read as a double in seconds, and these lie {apart} apart here"
    )
    assert found.next_step == f"round the column to {unit}, or subtract a time that is near"
