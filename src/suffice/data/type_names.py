"""What people call the types of Arrow."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["called", "held"]

# What a cell is, and what a column holds.
_NAMES = (
    (pa.types.is_null, "empty", "nothing"),
    (pa.types.is_boolean, "true or false", "true and false"),
    (pa.types.is_integer, "a whole number", "whole numbers"),
    (pa.types.is_floating, "a number", "numbers"),
    (pa.types.is_decimal, "a decimal number", "decimal numbers"),
    (pa.types.is_string, "text", "text"),
    (pa.types.is_large_string, "text", "text"),
    (pa.types.is_string_view, "text", "text"),
    (pa.types.is_date, "a date", "dates"),
    (pa.types.is_timestamp, "a point in time", "points in time"),
    (pa.types.is_time, "a time of day", "times of day"),
    (pa.types.is_duration, "a duration", "durations"),
    (pa.types.is_interval, "a number of months and days", "numbers of months and days"),
    (pa.types.is_binary, "bytes", "bytes"),
    (pa.types.is_large_binary, "bytes", "bytes"),
    (pa.types.is_fixed_size_binary, "bytes", "bytes"),
    (pa.types.is_map, "a mapping", "mappings"),
    (pa.types.is_struct, "a record", "records"),
    (pa.types.is_nested, "a list", "lists"),
)


def called(kind: pa.DataType) -> str:
    """What a cell of a type is.

    Examples
    --------
    >>> called(pa.large_string()), called(pa.float64()), called(pa.list_(pa.int8()))
    ('text', 'a number', 'a list')
    """
    return _names(kind)[0]


def held(kind: pa.DataType) -> str:
    """What a column of a type holds.

    Examples
    --------
    >>> held(pa.large_string()), held(pa.float64()), held(pa.list_(pa.int8()))
    ('text', 'numbers', 'lists')
    """
    return _names(kind)[1]


def _names(kind: pa.DataType) -> tuple[str, str]:
    if pa.types.is_dictionary(kind):
        return _names(kind.value_type)
    found = ((one, many) for is_of, one, many in _NAMES if is_of(kind))
    return next(found, (str(kind), str(kind)))
