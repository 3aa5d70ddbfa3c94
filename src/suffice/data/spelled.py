"""Numbers, dates and truth values that a workbook, a database or a frame stores as text.

They are read as in delimited text, by the same spellings. A type that says more than text, such as
a category, is left alone; so is the label, which keeps its spelling.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.frames.memory import FrameTable
from suffice.data.schema import Layout
from suffice.data.source import PartView, RecordPart
from suffice.data.spelling import PLAIN, TRUTH, Moment, Number, Spelling, read_cells
from suffice.data.table import About, Table, TableView, converted, first_rows
from suffice.data.text.column_spelling import Guess, guess, settled
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
        found, doubts = _found(table, names, tokens)
    else:
        found = _as_known(table, names, known or TextFormat(), layout, tokens)
    if not (found or doubts):
        return table
    written = tuple((name, spelling.name) for name, (spelling, _) in found.items())
    format = TextFormat(written=written) if found else None
    reads = {
        name: partial(_read, name=name, spelling=spelling, kind=kind, tokens=tokens)
        for name, (spelling, kind) in found.items()
    }
    if isinstance(table, FrameTable):
        rows = _in_place(table.table, reads)
        return replace(table, table=rows, written=format, doubts=doubts)
    return SpelledTable(table, format, reads, doubts)


Found = dict[str, tuple[Spelling, pa.DataType]]


@dataclass(frozen=True)
class Looked:
    """A guess of what a column of strings spells."""

    guess: Guess
    absent: int  # cells that stand for a missing value
    token: str  # the first of them
    doubted: int  # the first row of a doubtful cell; -1 without one


def _look(cells: pa.Array[Any], tokens: Sequence[str]) -> Looked:
    cells = cells.cast(pa.string())
    known = cells.drop_null()
    is_absent = pc.is_in(pc.utf8_trim_whitespace(known), value_set=pa.array(tokens))
    absent, shown = known.filter(is_absent), known.filter(pc.invert(is_absent))
    values, counts = pc.value_counts(shown).flatten()
    found = guess(values, np.asarray(counts)) if len(shown) else Guess()
    doubted = -1 if found.doubt is None else cells.index(pa.scalar(found.doubt.first)).as_py()
    return Looked(found, len(absent), absent[0].as_py() if len(absent) else "", doubted)


def _looked(table: Table, names: Sequence[str], tokens: Sequence[str]) -> Mapping[str, Looked]:
    """Look at all cells of columns in memory, at the first ones of others."""
    if isinstance(table, FrameTable):
        cells = {name: table.table.column(name).combine_chunks() for name in names}
    else:
        cells = {name: table.head().column(name) for name in names}
    return {name: _look(column, tokens) for name, column in cells.items()}


def _found(
    table: Table, names: Sequence[str], tokens: Sequence[str]
) -> tuple[Found, Mapping[str, str]]:
    columns = _looked(table, names, tokens)
    found: Found = {}
    doubts: dict[str, str] = {}
    guesses = {name: column.guess for name, column in columns.items()}
    for name, one in settled(guesses, quoted=True).items():
        if one.doubt is not None:
            row = columns[name].doubted
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
        if absent := columns[name].absent:
            number = f"{absent:,} cell{'s' if absent > 1 else ''}"
            token = columns[name].token
            warn(ABSENT.format(number, name, "" if absent > 1 else "s", token))
    return found, doubts


def _as_known(
    table: Table, names: Sequence[str], known: TextFormat, layout: Layout, tokens: Sequence[str]
) -> Found:
    found: Found = {}
    unknown = []
    for column in layout.columns:
        name, stored = column.name, column.stored
        if name not in names or stored in ("string", "nothing"):
            continue
        spelling = known.spelling(name)
        if stored in ("integer", "number"):
            spelling = spelling if isinstance(spelling, Number) else known.numbers
            found[name] = spelling, pa.float64()
        elif stored == "boolean":
            found[name] = TRUTH, pa.bool_()
        elif isinstance(spelling, Moment):
            found[name] = spelling, spelling.type
        else:
            unknown.append(name)
    looked = _looked(table, unknown, tokens) if unknown else {}
    for name, shown in looked.items():
        one = shown.guess
        if isinstance(one.spelling, Moment) and not one.others:
            found[name] = one.spelling, one.spelling.type
    return found


def _read(
    cells: pa.Array[Any], name: str, spelling: Spelling, kind: pa.DataType, tokens: Sequence[str]
) -> pa.Array[Any]:
    """Return cells as what they spell; whole numbers may be followed by others."""
    strings = cells.cast(pa.string())
    try:
        return read_cells(strings, spelling, kind, tokens)
    except pa.ArrowInvalid:
        if not pa.types.is_integer(kind):
            raise
        return read_cells(strings, spelling, pa.float64(), tokens)


def _spelled_batch(
    batch: pa.RecordBatch,
    reads: Mapping[str, Any],
    where: Callable[[str, int], str],
    kind: type[Exception] = ReadError,
) -> pa.RecordBatch:
    def read(name: str, cells: pa.Array[Any]) -> pa.Array[Any]:
        return reads[name](cells) if name in reads else cells

    def refusal(name: str, row: int, cell: Any) -> Exception:
        spelling = reads[name].keywords["spelling"]
        way = "a number" if spelling == PLAIN else f"written as {spelling.name}"
        return kind(
            f"{where(name, row)}: {reprlib.repr(cell)} is not {way}",
            f"column {name!r} is read as {spelling}, and every cell has to obey",
            f"correct the cell, or missing={cell!r}",
        )

    return converted(batch, read, refusal)


def _in_place(table: pa.Table, reads: Mapping[str, Any]) -> pa.Table:
    strings, tables, first = table.select(list(reads)), [], 0

    def where(name: str, row: int) -> str:
        return f"column {name!r}, row {first + row}"

    for batch in strings.to_batches(ROWS) or [first_rows([], strings.schema)]:
        read = _spelled_batch(batch, reads, where, SchemaError)
        tables.append(pa.Table.from_batches([read]))
        first += batch.num_rows
    found = pa.concat_tables(tables, promote_options="permissive")
    for name in reads:
        table = table.set_column(table.column_names.index(name), name, found.column(name))
    return table


@dataclass(frozen=True)
class SpelledTable(TableView):
    """A table of a file or a query with numbers, dates and truth values in the place of strings."""

    written: TextFormat | None
    reads: Mapping[str, Any]  # how the cells of a column are read
    doubts: Mapping[str, str]  # of columns that are kept as text

    @property
    def about(self) -> About:
        return self.table.about._replace(format=self.written, doubts=self.doubts)

    @property
    def _head(self) -> pa.RecordBatch:
        return _spelled_batch(self.table.head(), self.reads, self._locate)

    def _locate(self, name: str, row: int) -> str:
        for part in self.table.parts({self.names[0]: None}):
            rows = part.count()
            if row < rows:
                return f"{part.locate(row)}, column {name!r}"
            row -= rows
        return f"row {row + 1}, column {name!r}"

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        reads = {name: read for name, read in self.reads.items() if name in types}
        return [_SpelledPart(part, reads) for part in self.table.parts(types)]


@dataclass(frozen=True)
class _SpelledPart(PartView):
    reads: Mapping[str, Any]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        done = 0

        def where(name: str, row: int) -> str:
            return f"{self.locate(done + row)}, column {name!r}"

        for batch in self.inside.record_batches():
            yield _spelled_batch(batch, self.reads, where)
            done += batch.num_rows
