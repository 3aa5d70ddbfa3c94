"""Arrow columns of numbers, dates and times as doubles: the nearest, where it tells its cell.

A fraction becomes the double nearest to it. A whole number that no double is, and a time that
shares its double with others of its unit, are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.python_cells import is_rounded
from suffice.sums.block import HELD, HELD_RULE, HELD_STEP, BadCell, require_held

EXACT_POWERS = 22  # of ten that doubles hold


def doubles(column: pa.Array[Any]) -> NDArray[np.float64]:
    """Return integers, decimals, floating numbers or booleans (n,) as doubles, NaN where null."""
    if pa.types.is_decimal(column.type):
        return _of_decimals(column)
    if pa.types.is_integer(column.type):
        cells = _without_nulls(column)
        require_held(cells[:, None])
        return _with_nulls(cells.astype(np.float64), column)
    return _array(column.cast(pa.float64(), safe=False))


def _of_decimals(column: pa.Array[Any]) -> NDArray[np.float64]:
    """By one division where that rounds once, else by way of their digits: Arrow rounds twice."""
    places, scale = _unscaled(column), column.type.scale
    if places is not None and 0 <= scale <= EXACT_POWERS:
        return _with_nulls(places / 10.0**scale, column)
    numbers = _array(column.cast(pa.string()).cast(pa.float64()))
    for row in np.flatnonzero(np.abs(numbers) >= HELD).tolist():
        if is_rounded(column[row].as_py()):
            raise BadCell(row, None, int(column[row].as_py()), HELD_RULE, HELD_STEP)
    return numbers


def _unscaled(column: pa.Array[Any]) -> NDArray[np.int64] | None:
    """Decimals without their point, if all of them are whole numbers up to 2^53."""
    width = column.type.byte_width
    if width < 8 or not len(column):
        return None
    data = column.buffers()[1]
    words = np.frombuffer(data, np.int64, (column.offset + len(column)) * width // 8)
    words = words.reshape(-1, width // 8)[column.offset :]
    low = np.where(column.is_valid().to_numpy(zero_copy_only=False), words[:, 0], 0)
    alone = (words[:, 1:] == (low < 0)[:, None] * np.int64(-1)).all()
    return low if alone and low.max() <= HELD and low.min() >= -HELD else None


def _array(numbers: pa.Array[Any]) -> NDArray[np.float64]:
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)


def _without_nulls(column: pa.Array[Any]) -> NDArray[Any]:
    """Integers, 0 where null: with nulls among them, Arrow would make doubles of them."""
    return np.asarray(column.fill_null(0).to_numpy())


def _with_nulls(numbers: NDArray[np.float64], column: pa.Array[Any]) -> NDArray[np.float64]:
    if not column.null_count:
        return numbers
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers, np.nan)


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
COARSER = {"ns": "us", "us": "ms", "ms": "s"}
CLOSE = {"s": 2**53, "ms": 2**43, "us": 2**33, "ns": 2**23}
"""Seconds up to which doubles lie closer together than a unit, so that each tells its cell."""


def seconds(column: pa.Array[Any]) -> NDArray[np.float64]:
    """Return dates, times and durations in seconds, NaN where null.

    Dates and points in time count from 1970-01-01, times of day from midnight. Each is the double
    nearest to value/units per second, and that of no other cell of its unit.
    """
    kind = column.type
    if pa.types.is_interval(kind):
        if column.null_count == len(column):
            return np.full(len(column), np.nan)
        row = int(pc.index(pc.is_valid(column), True).as_py())
        raise BadCell(row, None, column[row].as_py(), "months and days have no length in seconds")
    stored = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = _without_nulls(column.cast(stored)).astype(np.int64)
    if pa.types.is_date32(kind):
        ticks *= 86_400
    unit = "s" if pa.types.is_date32(kind) else getattr(kind, "unit", "ms")
    try:
        found = _in_seconds(ticks, unit)
    except BadCell as bad:
        letter = "m" if pa.types.is_duration(kind) else "M"
        bad.value = str(ticks[bad.row].astype(f"{letter}8[{unit}]"))
        raise
    return _with_nulls(found, column)


def _in_seconds(ticks: NDArray[np.int64], unit: str) -> NDArray[np.float64]:
    """Whole numbers of a unit in seconds; far from 0, such as are whole in a coarser unit."""
    found, reach = ticks / PER_SECOND[unit], CLOSE[unit] * PER_SECOND[unit]
    far = (ticks >= reach) | (ticks <= -reach)
    if not far.any():
        return found
    if unit == "s":
        require_held(ticks[:, None])
        return found
    coarse = ticks // 1_000
    for row in np.flatnonzero(far & (coarse * 1_000 != ticks))[:1].tolist():
        rule = "a time is read as a double in seconds, and these lie {:.2g} apart here"
        step = f"round the column to {COARSER[unit]}, or subtract a time that is near"
        raise BadCell(row, None, None, rule.format(np.spacing(abs(found[row]))), step)
    return np.where(far, _in_seconds(coarse, COARSER[unit]), found)
