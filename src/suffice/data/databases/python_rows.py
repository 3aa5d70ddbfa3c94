"""Rows of Python objects into Arrow columns, by what the cells hold.

Databases that hand over Python objects say nothing reliable about types: SQLite lets every cell
of a column have its own. So a column is what its cells are, from the first to the last: whole
numbers, numbers (where some have fractions), text, and so on. NULL fits everywhere; a cell of
another kind than those before it is an error.
"""

from __future__ import annotations

import datetime
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.data.python_numbers import is_rounded
from suffice.errors import ReadError
from suffice.statistics.block import HELD, HELD_RULE, HELD_STEP

__all__ = ["typed_batches"]

_KINDS: dict[type, tuple[pa.DataType, str]] = {
    type(None): (pa.null(), "nothing"),
    bool: (pa.bool_(), "true or false"),
    int: (pa.int64(), "whole numbers"),
    float: (pa.float64(), "numbers"),
    Decimal: (pa.float64(), "numbers"),
    str: (pa.string(), "text"),
    bytes: (pa.binary(), "bytes"),
    datetime.datetime: (pa.timestamp("us"), "times"),
    datetime.date: (pa.date32(), "dates"),
    datetime.time: (pa.time64("us"), "times of day"),
    datetime.timedelta: (pa.duration("us"), "durations"),
}
_NAMES = dict(_KINDS.values())


def typed_batches(
    names: Sequence[str], rows: Iterable[Sequence[Sequence[Any]]], origin: str
) -> Iterator[pa.RecordBatch]:
    """Turn lists of rows into record batches, whose types widen as the rows show more.

    A column that held nothing takes the type of its first cell; whole numbers become numbers at
    the first fraction. A decimal becomes the double nearest to it, unless it is a whole number
    that no double is.

    Raises
    ------
    ReadError
        If a cell does not fit those above it, by column and row, counted from 1.

    Examples
    --------
    >>> lists = [[(None, 1), ("a", 2)], [("b", 0.5)]]
    >>> [batch.schema.types for batch in typed_batches(["x", "y"], lists, "an example")]
    [[DataType(string), DataType(int64)], [DataType(string), DataType(double)]]
    """
    held = [pa.null()] * len(names)
    done = 0
    for some in rows:
        columns = list(zip(*some, strict=True)) or [()] * len(names)
        arrays = []
        for j, (name, cells) in enumerate(zip(names, columns, strict=True)):
            kind = _widened(held[j], cells)
            array = None if kind is None else _array(cells, kind)
            if array is None:
                raise _misfit(held[j], cells, name, done, origin)
            arrays.append(array)
            held[j] = array.type
        yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        done += len(some)


def _widened(held: pa.DataType, cells: Sequence[Any]) -> pa.DataType | None:
    """What a column holds after these cells, if they fit."""
    found: pa.DataType | None = held
    for type_ in set(map(type, cells)):
        kind = _kind(type_)
        found = None if kind is None or found is None else _joined(found, kind)
    return found


def _kind(type_: type) -> pa.DataType | None:
    base = next((base for base in type_.__mro__ if base in _KINDS), None)
    return None if base is None else _KINDS[base][0]


def _joined(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds the cells of both, if there is one."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else None


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array[Any] | None:
    """The cells as a column, unless a whole number has more than 64 bits, or is no double."""
    try:
        if kind != pa.float64():
            return pa.array(cells, kind)
        numbers = pa.array([None if cell is None else float(cell) for cell in cells], kind)
        far = (np.abs(numbers.to_numpy(zero_copy_only=False)) >= HELD).any()
        return None if far and any(map(is_rounded, cells)) else numbers
    except (OverflowError, pa.ArrowInvalid):
        return None


def _misfit(
    held: pa.DataType, cells: Sequence[Any], name: str, done: int, origin: str
) -> ReadError:
    """Name the first cell that does not fit those before it."""
    numbers = _widened(held, cells) == pa.float64()
    for row, cell in enumerate(cells, start=done + 1):
        where = f"row {row} of {origin}, column {name!r}: {reprlib.repr(cell)}"
        if numbers and is_rounded(cell):
            return ReadError(where, HELD_RULE, HELD_STEP)
        kind = _kind(type(cell))
        joined = None if kind is None else _joined(held, kind)
        if kind is not None and joined is None:
            return ReadError(
                f"{where} stands among {_NAMES[held]}",
                "a column holds cells of one kind",
                f"cast it in the query: CAST({name} AS ...)",
            )
        if joined is None or _array([cell], joined) is None:
            break
        held = joined
    return ReadError(
        f"{where} is of the type {type(cell).__name__}",
        "a cell is a number, a whole number of at most 64 bits, text, a truth value or a time",
        f"cast it in the query: CAST({name} AS ...)",
    )
