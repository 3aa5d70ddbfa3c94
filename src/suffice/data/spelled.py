"""Numbers, dates and truth values that a workbook, a database or a frame stores as text.

They are read as in delimited text, by the same spellings. A type that says more than text, such as
a category, is left alone; so is the label, which keeps its spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from suffice.data.frames.memory import FrameTable
from suffice.data.schema import Layout
from suffice.data.source import PartView, RecordPart
from suffice.data.spelling import TRUTH, Moment, Number, Spelling, Truth, read_cells
from suffice.data.table import About, Table, TableView, converted, first_rows
from suffice.data.text.column_spelling import Guess, counted, guess, misfit, settled
from suffice.data.text_format import USUALLY_MISSING, TextFormat
from suffice.errors import ReadError, SchemaError, warn

ROWS = 1 << 20  # of a frame, read at a time
FOUND = (
    "strings are read as what they spell: {}; give a column a categorical type to keep it as text."
)
ABSENT = "{} of column {!r} stand{} for a missing value, as {!r} does."
MEANINGS = "column {!r} is kept as text, as {!r} can be read in two ways: {}; convert it."


def spelled(
    table: Table,
    label: str | None,
    known: TextFormat | None = None,
    layout: Layout | None = None,
    missing: Collection[str] = (),
) -> Table:
    """Return a table whose columns of strings are numbers, dates or truth values where they can be.

    Parameters
    ----------
    table : Table
    label : str, optional
        A column that is left alone.
    known : TextFormat, optional
        What a model knows of how cells are spelled.
    layout : Layout, optional
        How a model reads its columns; without it, all cells of a column in memory, or the first
        ones of a file, show what it is.
    missing : collection of str
        Cells that stand for a missing value, besides the usual ones.
    """
    if isinstance(table, TableView):
        missing = {*missing, *table.about.cleaning.get("missing", ())}
        return replace(table, table=spelled(table.table, label, known, layout, missing))
    names = [name for name in table.strings if name != label]
    if not names:
        return table
    tokens = (*USUALLY_MISSING, *sorted(missing), *(known.tokens if known is not None else ()))
    doubts: Mapping[str, str] = {}
    if layout is None:
        found, doubts = _found(_first_cells(table, names), tokens)
    else:
        found = _as_known(table, names, known or TextFormat(), layout, tokens)
    if not (found or doubts):
        return table
    written = tuple((name, spelling.name) for name, (spelling, _) in found.items())
    format = TextFormat(written=written) if found else None
    if isinstance(table, FrameTable):
        rows = _in_place(table.table, found, tokens)
        return replace(table, table=rows, about=About(format=format, doubts=doubts))
    return SpelledTable(table, format, found, tokens, doubts)


Found = dict[str, tuple[Spelling, pa.DataType]]  # what columns of strings spell


def _first_cells(table: Table, names: Sequence[str]) -> Mapping[str, pa.Array[Any]]:
    """All cells of columns in memory, the first ones of others."""
    if isinstance(table, FrameTable):
        return {name: table.table.column(name).combine_chunks() for name in names}
    return {name: table.head().column(name) for name in names}


def _look(cells: pa.Array[Any], tokens: Sequence[str]) -> tuple[Guess, Mapping[str, int]]:
    """Guess what strings spell; count besides those that stand for a missing value."""
    values, counts, absent = counted(cells.cast(pa.string()).drop_null(), tokens)
    return guess(values, counts), absent


def _found(
    columns: Mapping[str, pa.Array[Any]], tokens: Sequence[str]
) -> tuple[Found, Mapping[str, str]]:
    looked = {name: _look(cells, tokens) for name, cells in columns.items()}
    found: Found = {}
    doubts: dict[str, str] = {}
    guesses = {name: one for name, (one, _) in looked.items()}
    for name, one in settled(guesses, quoted=True).items():
        if one.doubt is not None:
            row = columns[name].cast(pa.string()).index(pa.scalar(one.doubt.first)).as_py()
            doubts[name] = one.doubt.of(name, f"row {row}" if row >= 0 else "")
        elif one.others:
            readings = " or ".join(spelling.name for spelling in (one.spelling, *one.others))
            warn(MEANINGS.format(name, one.cell, readings))
        elif isinstance(one.spelling, Number | Moment) or one.spelling == TRUTH:
            found[name] = one.spelling, one.type
    said = [f"{name!r} ({one.name})" for name, (one, _) in found.items() if one != TRUTH]
    if said:  # truth values lose nothing
        warn(FOUND.format(", ".join(said)))
    for name in found:
        if absent := looked[name][1]:
            cells = sum(absent.values())
            number = f"{cells:,} cell{'s' if cells > 1 else ''}"
            warn(ABSENT.format(number, name, "" if cells > 1 else "s", next(iter(absent))))
    return found, doubts


def _as_known(
    table: Table, names: Sequence[str], known: TextFormat, layout: Layout, tokens: Sequence[str]
) -> Found:
    found: Found = {}
    for column in layout.columns:
        name, stored = column.name, column.stored
        if name not in names or stored in ("string", "nothing"):
            continue
        spelling = known.spelling(name)
        if stored in ("integer", "number"):
            found[name] = spelling if isinstance(spelling, Number) else known.numbers, pa.float64()
            continue
        if stored == "boolean":
            spelling = TRUTH
        elif not isinstance(spelling, Moment):
            one, _ = _look(_first_cells(table, [name])[name], tokens)
            spelling = None if one.others else one.spelling
        if isinstance(spelling, Moment | Truth):
            found[name] = spelling, spelling.type
    return found


def _spelled_batch(
    batch: pa.RecordBatch,
    found: Found,
    tokens: Sequence[str],
    where: Callable[[str, int], str],
    error: type[Exception] = ReadError,
) -> pa.RecordBatch:
    def read(name: str, cells: pa.Array[Any]) -> pa.Array[Any]:
        if name not in found:
            return cells
        spelling, kind = found[name]
        try:
            return read_cells(cells.cast(pa.string()), spelling, kind, tokens)
        except pa.ArrowInvalid:
            if not pa.types.is_integer(kind):
                raise
            return read_cells(cells.cast(pa.string()), spelling, pa.float64(), tokens)

    def refusal(name: str, row: int, cell: Any) -> Exception:
        fact, rule, _ = misfit(where(name, row), name, cell, *found[name])
        return error(fact, rule, f"correct the cell, or missing={cell!r}")

    return converted(batch, read, refusal)


def _in_place(table: pa.Table, found: Found, tokens: Sequence[str]) -> pa.Table:
    strings, tables, first = table.select(list(found)), [], 0

    def where(name: str, row: int) -> str:
        return f"column {name!r}, row {first + row}"

    for batch in strings.to_batches(ROWS) or [first_rows([], strings.schema)]:
        read = _spelled_batch(batch, found, tokens, where, SchemaError)
        tables.append(pa.Table.from_batches([read]))
        first += batch.num_rows
    read_all = pa.concat_tables(tables, promote_options="permissive")
    for name in found:
        table = table.set_column(table.column_names.index(name), name, read_all.column(name))
    return table


@dataclass(frozen=True)
class SpelledTable(TableView):
    """A table of a file or a query with numbers, dates and truth values in the place of strings."""

    written: TextFormat | None
    found: Found
    tokens: Sequence[str]  # cells that stand for a missing value
    doubts: Mapping[str, str]  # of columns that are kept as text

    @property
    def about(self) -> About:
        return self.table.about._replace(format=self.written, doubts=self.doubts)

    @property
    def _head(self) -> pa.RecordBatch:
        return _spelled_batch(self.table.head(), self.found, self.tokens, self._locate)

    def _locate(self, name: str, row: int) -> str:
        for part in self.table.parts({self.names[0]: None}):
            rows = part.count()
            if row < rows:
                return f"{part.locate(row)}, column {name!r}"
            row -= rows
        return f"row {row + 1}, column {name!r}"

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        return [_SpelledPart(part, self.found, self.tokens) for part in self.table.parts(types)]


@dataclass(frozen=True)
class _SpelledPart(PartView):
    found: Found
    tokens: Sequence[str]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        done = 0

        def where(name: str, row: int) -> str:
            return f"{self.locate(done + row)}, column {name!r}"

        for batch in self.inside.record_batches():
            yield _spelled_batch(batch, self.found, self.tokens, where)
            done += batch.num_rows
