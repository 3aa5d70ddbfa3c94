"""Numbers with a mark, and dates, in columns of strings of a frame: read as in delimited text.

A frame in memory is looked at whole: a column is of a notation if every cell obeys it. Columns
whose type says more than text, such as categories, are left alone, and so are plain numbers: a code
may be written so.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.csv.format import CsvFormat
from suffice.data.csv.notations import Notations, find_notations
from suffice.data.notation import (
    GROUPED_NUMBERS,
    MARKS,
    TEXT,
    Notation,
    unmarked,
)
from suffice.data.numerals import GROUPED, PLAIN, Numerals
from suffice.data.table import first_refused
from suffice.errors import SchemaError, warn

__all__ = ["as_written", "known_notations", "notations_found"]

FIRST = 8  # cells that show whether a column is worth a closer look
LIKELY = re.compile(rf"[+-]?[{MARKS}]?\s?[+-]?\d[\d.,/:TZ+\- {MARKS}]{{0,40}}")
NUMBER = re.compile(r"[+-]?\d[\d.,]*")
WRITTEN = (Numerals(".", ","), Numerals(","), Numerals(",", "."))
PART = 1 << 20  # cells read at a time


def notations_found(table: pa.Table, label: str | None) -> CsvFormat | None:
    """How the columns of strings are written that are numbers or dates; none if there are none.

    A line says what was found. The label names classes, and is left alone.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     notations_found(pa.table({"price": ["$10", "$2.5"]}), None).written
    (('price', '$1'),)
    """
    cells = {name: column for name, column in _strings(table) if name != label}
    likely = {name: pc.unique(column) for name, column in cells.items() if _is_likely(column)}
    if not likely:
        return None
    numerals, grouped = _numerals(likely)
    found = find_notations("the table", _others(likely, grouped), numerals)
    written = dict(found.written) | dict.fromkeys(grouped, GROUPED_NUMBERS)
    for line in _remarks(written, found):
        warn(line)
    written |= dict.fromkeys(found.refused, TEXT)
    if not written:
        return None
    return CsvFormat(
        decimal=None if numerals == PLAIN else numerals.decimal,
        thousands=numerals.thousands,
        written=tuple(written.items()),
        guess=False,
    )


def known_notations(table: pa.Table, format: CsvFormat) -> Mapping[str, Notation]:
    """The notations of a format in which columns of strings of another table are written."""
    named = {name: format.notation(name) for name, _ in _strings(table)}
    return {name: notation for name, notation in named.items() if notation is not None}


def as_written(table: pa.Table, format: CsvFormat) -> pa.Table:
    """The same table, its columns of strings that have a notation as numbers or dates.

    Raises
    ------
    SchemaError
        If a cell is written in another way.

    Examples
    --------
    >>> as_written(pa.table({"x": ["10%", None]}), CsvFormat(written={"x": "1%"})).to_pydict()
    {'x': [10.0, None]}
    """
    for name, notation in known_notations(table, format).items():
        place, column = table.column_names.index(name), table.column(name)
        parts, first = [], 0
        for start in range(0, len(column), PART):
            for chunk in column.slice(start, PART).chunks:
                parts.append(_parsed(name, notation, format.numerals, chunk, first))
                first += len(chunk)
        values = pa.chunked_array(parts, notation.type)
        if notation.spelling == GROUPED_NUMBERS:
            values = _as_in_files(values)
        table = table.set_column(place, name, values)
    return table


def _as_in_files(numbers: Any) -> Any:
    """Numbers as integers, if all are: so they are where a file has them."""
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return numbers


def _parsed(name: str, notation: Notation, numerals: Numerals, chunk: Any, first: int) -> Any:
    """The numbers or dates of some cells, of which the number of the first is given."""
    cells = chunk.cast(pa.string())
    try:
        return notation.parse(cells, numerals)
    except pa.ArrowInvalid:
        row = first_refused(cells, lambda part: notation.parse(part, numerals))
        raise SchemaError(
            f"column {name!r}, row {first + row}: {reprlib.repr(cells[row].as_py())} is not "
            f"written as {notation.spelling}",
            f"this column holds {notation}, and every cell has to obey",
            "correct the cell, or let it be missing",
        ) from None


def _strings(table: pa.Table) -> Iterator[tuple[str, Any]]:
    """Columns of plain strings."""
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name, table.column(name)
        elif pa.types.is_string_view(kind):
            yield name, table.column(name).cast(pa.large_string())


def _is_likely(column: Any) -> bool:
    """Whether the first cells have digits with marks, or are numbers that programs do not write."""
    first = column.slice(0, FIRST * FIRST).drop_null().slice(0, FIRST).to_pylist()
    if any(map(PLAIN.matches, first)):
        return bool(pc.any(pc.match_substring_regex(column, f"[,{MARKS}]")).as_py())
    return any(map(_may_be, first))


def _may_be(cell: str) -> bool:
    return LIKELY.fullmatch(cell) is not None and not PLAIN.matches(cell)


def _numerals(likely: Mapping[str, Any]) -> tuple[Numerals, list[str]]:
    """The one way of writing numbers that goes with all columns, and those that have no mark."""
    columns = {
        name: unmarked([cell for cell in cells.to_pylist() if cell and LIKELY.fullmatch(cell)])
        for name, cells in likely.items()
    }
    numbers = {name: c for name, c in columns.items() if c and all(map(NUMBER.fullmatch, c))}
    open_columns = {n: c for n, c in numbers.items() if not all(map(PLAIN.matches, c))}
    for numerals in WRITTEN:
        fit = [name for name, c in open_columns.items() if _are_written(c, numerals)]
        if fit and len(fit) == len(open_columns):
            bare = [name for name in fit if columns[name] == likely[name].drop_null().to_pylist()]
            return numerals, bare
    return PLAIN, []


def _are_written(cells: Sequence[str], numerals: Numerals) -> bool:
    """Whether cells are numbers written in one way; 1,000 beside 1,5 may be one or a thousand."""
    proven = numerals.decimal == "." or any("." in cell for cell in cells)
    unclear = not proven and any(map(GROUPED.fullmatch, cells))
    return not unclear and all(map(numerals.matches, cells))


def _others(likely: Mapping[str, Any], grouped: Sequence[str]) -> dict[str, Any]:
    """The other columns, without missing cells."""
    cells = {name: column.drop_null() for name, column in likely.items()}
    return {name: column for name, column in cells.items() if name not in grouped and len(column)}


def _remarks(written: Mapping[str, str], found: Notations) -> Iterator[str]:
    if written:
        listed = ", ".join(f"{name!r} ({spelling})" for name, spelling in written.items())
        yield (
            f"strings are read as numbers or dates, as they are written: {listed}; give a column a "
            "categorical type to keep it as text."
        )
    for name, (notation, misfit) in found.nearly.items():
        yield (
            f"column {name!r} would hold {notation}, but for {misfit!r}: it is kept as text; "
            "correct the cell, or let it be missing."
        )
    for name, (notation, bare) in found.mixed.items():
        yield (
            f"some cells of column {name!r} are {notation}, and some lack the mark, as {bare}: all "
            "are kept as text; write them alike."
        )
    if found.refused:
        listed = ", ".join(map(repr, found.refused))
        yield (
            f"dates are kept as text, as no cell shows whether the day or the month comes first: "
            f"{listed}; convert them to dates."
        )
