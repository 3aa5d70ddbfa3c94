"""What a column of Arrow is: what its type stores, and the kind that its values suggest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.schema import (
    BOOLEAN,
    DATES,
    DURATIONS,
    TIMES,
    UNKNOWN,
    Column,
    Kind,
    Stored,
    number_kind,
    string_kind,
)
from suffice.data.type_names import held
from suffice.errors import SchemaError

__all__ = ["column_of", "plain", "stored_as"]

OFFSETS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}  # of views

STORED_KINDS: tuple[tuple[Stored, Callable[[pa.DataType], bool]], ...] = (
    ("number", pa.types.is_floating),
    ("integer", pa.types.is_integer),
    ("string", pa.types.is_string),
    ("boolean", pa.types.is_boolean),
    ("nothing", pa.types.is_null),
    ("number", pa.types.is_decimal),
    ("time", pa.types.is_temporal),
    ("string", pa.types.is_large_string),
    ("string", pa.types.is_string_view),
)


@lru_cache
def stored_as(kind: pa.DataType) -> Stored | None:
    """What an Arrow type stores; None for what a table of features cannot hold."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for stored, is_of in STORED_KINDS:
        if is_of(kind):
            return stored
    return None


def column_of(name: str, values: pa.Array[Any]) -> Column:
    """Decide what a column is from its first rows, or values (the rule in ``schema.py``).

    Raises
    ------
    SchemaError
        If its type holds more than one value per cell, or bytes.
    """
    stored = stored_as(values.type)
    if stored is None:
        raise SchemaError(
            f"column {name!r} holds {held(values.type)}",
            "a column holds numbers, strings, booleans, dates or times",
            "leave it out or split it into such columns",
        )
    return Column(name, stored, *_kind(stored, values))


def _kind(stored: Stored, values: pa.Array[Any]) -> tuple[Kind, str]:
    if pa.types.is_dictionary(values.type) and stored != "string":
        return "category", "a dictionary"
    if stored == "boolean":
        return "binary", BOOLEAN
    if stored == "time":
        return "real", _time(values.type)
    if stored in ("integer", "number"):
        return number_kind(stored, _low(plain(values).drop_null()))
    observed = len(values) - values.null_count
    if observed == 0:
        return UNKNOWN
    if not isinstance(values, pa.DictionaryArray):
        values = plain(values)
    cells, rows = pc.value_counts(values.drop_null()).flatten()
    strings = plain(cells).cast(pa.large_string())
    words = pc.list_value_length(pc.utf8_split_whitespace(strings)).fill_null(0)
    distinct = pc.count_distinct(strings).as_py()
    return string_kind(distinct, observed, float(words.to_numpy() @ rows.to_numpy() / observed))


def _low(values: pa.Array[Any]) -> float | None:
    """Return 0 or −1 if this and 1 are the only values, without NaN."""
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    ends = pc.min_max(values)
    low, high = ends["min"], ends["max"]
    if high.as_py() != 1 or low.as_py() not in (0, -1):
        return None
    only = pc.all(pc.or_(pc.equal(values, low), pc.equal(values, high))).as_py()
    return float(low.as_py()) if only else None


def _time(kind: pa.DataType) -> str:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return DATES
    return TIMES if pa.types.is_time(kind) else DURATIONS


def plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """Undo what few kernels of Arrow take: views, short decimals, repeated dictionary values."""
    if isinstance(column, pa.DictionaryArray):
        values = plain(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).cast(values.type)
    kind = column.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column.cast(OFFSETS[kind]) if kind in OFFSETS else column
