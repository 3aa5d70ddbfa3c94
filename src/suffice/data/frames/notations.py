"""Numbers, dates and truth values in columns of strings of a frame: read as in delimited text.

A frame in memory is looked at whole: a column is of a spelling if every cell obeys it. Columns
whose type says more than text, such as categories, are left alone.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.table import first_refused
from suffice.data.text.format import TextFormat
from suffice.data.text.guess import Guess, guess, settled
from suffice.data.text.spelling import TEXT, Number, Spelling
from suffice.errors import SchemaError, warn

__all__ = ["as_written", "notations_found"]

PART = 1 << 20  # cells read at a time


def notations_found(table: pa.Table, label: str | None) -> TextFormat | None:
    """How the columns of strings are written that are numbers or dates; none if there are none.

    A line says what was found. The label names classes, and is left alone.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     notations_found(pa.table({"price": ["$10", "$2.5"]}), None).written
    (('price', '$1'),)
    """
    cells = {n: pc.unique(c.drop_null()) for n, c in _strings(table) if n != label}
    guesses = settled({n: guess(c.cast(pa.string())) for n, c in cells.items() if len(c)}, False)
    found = {n: g for n, g in guesses.items() if g.spelling != TEXT and not g.others}
    for line in _remarks(guesses, found):
        warn(line)
    written = {n: g.spelling.name for n, g in found.items()}
    written |= {n: TEXT.name for n, g in guesses.items() if g.others}
    return TextFormat(written=tuple(written.items()), guess=False) if written else None


def as_written(table: pa.Table, format: TextFormat) -> pa.Table:
    """The same table, its columns of strings that have a spelling as numbers, dates or truth.

    Raises
    ------
    SchemaError
        If a cell is written in another way.

    Examples
    --------
    >>> as_written(pa.table({"x": ["10%", None]}), TextFormat(written={"x": "1%"})).to_pydict()
    {'x': [10.0, None]}
    """
    for name, column in _strings(table):
        spelling = format.spelling(name)
        if spelling is None or spelling == TEXT:
            continue
        parts, first = [], 0
        for start in range(0, len(column), PART):
            for chunk in column.slice(start, PART).chunks:
                parts.append(_read(name, spelling, chunk.cast(pa.string()), first))
                first += len(chunk)
        values = pa.chunked_array(parts, spelling.type)
        if isinstance(spelling, Number) and not spelling.mark:
            values = _as_in_files(values)
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _as_in_files(numbers: Any) -> Any:
    """Numbers as integers, if all are: so they are where a file has them."""
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return numbers


def _read(name: str, spelling: Spelling, cells: pa.Array[Any], first: int) -> Any:
    """The numbers or dates of some cells, of which the number of the first is given."""
    try:
        return spelling.read(cells)
    except pa.ArrowInvalid:
        row = first_refused(cells, spelling.read)
        raise SchemaError(
            f"column {name!r}, row {first + row}: {reprlib.repr(cells[row].as_py())} is not "
            f"written as {spelling.name}",
            f"this column holds {spelling}, and every cell has to obey",
            "correct the cell, or let it be missing",
        ) from None


def _strings(table: pa.Table) -> Iterator[tuple[str, Any]]:
    """Columns of plain strings."""
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name, table.column(name)
        elif pa.types.is_string_view(kind):
            yield name, table.column(name).cast(pa.large_string())


def _remarks(guesses: dict[str, Guess], found: dict[str, Guess]) -> Iterator[str]:
    if found:
        listed = ", ".join(f"{name!r} ({g.spelling.name})" for name, g in found.items())
        yield (
            f"strings are read as numbers or dates, as they are written: {listed}; give a column a "
            "categorical type to keep it as text."
        )
    for name, one in guesses.items():
        if one.doubt is not None:
            yield one.doubt.of(name) + "."
    twofold = [name for name, one in guesses.items() if one.others]
    if twofold:
        yield (
            f"kept as text, as their cells have two meanings: {', '.join(map(repr, twofold))}; "
            "convert them to dates or numbers."
        )
