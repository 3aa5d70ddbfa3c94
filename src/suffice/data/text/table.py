"""Tables in delimited text: nothing is coerced, dropped or swallowed without a word."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.part_size import UNKNOWN, PartSize
from suffice.data.table import Table, first_refused, require_columns
from suffice.data.text.format import TextFormat
from suffice.data.text.layout import Known
from suffice.data.text.pieces import opened
from suffice.data.text.reading import Reading
from suffice.data.text.records import TextFile
from suffice.data.text.sniff import Sniffed, read_cells, sniff
from suffice.data.text.spelling import TEXT, Number, are_rounded, number_spellings
from suffice.data.type_names import called
from suffice.errors import ReadError, warn
from suffice.numerics.in_print import listed
from suffice.sums.block import HELD_RULE, HELD_STEP

__all__ = ["TextSplit", "TextTable"]


@dataclass(frozen=True)
class TextSplit:
    """One file of delimited text."""

    text: TextFile  # where the rows are and how they are written
    types: tuple[tuple[str, pa.DataType], ...]  # the columns to read, and their types
    empty: tuple[str, ...] = ()  # fields that must hold nothing

    @property
    def asked(self) -> tuple[str, ...]:
        """The columns to read."""
        return tuple(name for name, _ in self.types)

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their columns and types.

        Raises
        ------
        ReadError
            If a row is malformed, a cell is not of its type, or the file cannot be read.
        """
        types = dict(self.types) | dict.fromkeys(self.empty, pa.null())
        reading, done = Reading(self.file, types), 0
        with opened(self.file) as source:
            for batch in reading.batches(source):
                yield self._typed(batch, types, done)
                done += batch.num_rows
        if reading.skipped:
            warn(self.file.left_out(reading.skipped))

    def locate(self, row: int) -> str:
        """Name the line where row `row` begins, by walking through the file again."""
        return self.file.locate(row)

    def _typed(
        self, batch: pa.RecordBatch, types: Mapping[str, pa.DataType], done: int
    ) -> pa.RecordBatch:
        columns = []
        for name, cells in zip(batch.schema.names, batch.columns, strict=True):
            target = types[name]
            read = partial(self._parsed, name=name, target=target)
            try:
                columns.append(cells if cells.type == target else read(cells))
            except pa.ArrowInvalid:
                row = first_refused(cells, read)
                raise self._misfit(name, target, cells[row].as_py(), done + row) from None
        width = len(self.types)
        return pa.RecordBatch.from_arrays(columns[:width], names=list(self.asked))

    def _parsed(self, cells: pa.Array[Any], name: str, target: pa.DataType) -> pa.Array[Any]:
        format = self.file.format
        return read_cells(cells, format.spelling(name) or TEXT, target, format.tokens_of(name))

    def _misfit(self, name: str, target: pa.DataType, cell: str, row: int) -> ReadError:
        shown = reprlib.repr(cell)
        where = f"{self.locate(row)}, column {name!r}: {shown}"
        if pa.types.is_floating(target) and are_rounded(pa.array([cell])):
            return ReadError(where, HELD_RULE, HELD_STEP)
        spelling = self.file.format.spelling(name) or TEXT
        number = pa.types.is_floating(target) or pa.types.is_integer(target)
        if number and (other := self._other_notation(spelling, cell)) is not None:
            option = f"decimal={other.decimal!r}"
            if other.thousands:
                option = f"thousands={other.thousands!r}, or {option}"
            return ReadError(
                f"{where} is a number in another notation, such as {other.name}",
                f"this column holds {spelling}",
                f"say which with {option}",
            )
        fact = f"{where} is not {called(target)}"
        if spelling.type == target and not isinstance(spelling, type(TEXT)):
            fact = f"{where} is not written as {spelling.name}"
        step = f"correct the cell, or missing={shown}, or written={{{name!r}: 'text'}}"
        if not row and not self.file.has_header:
            step = "if this line holds names of columns, say header=True"
        return ReadError(fact, f"every cell of this column is read as {spelling}", step)

    def _other_notation(self, spelling: Any, cell: str) -> Number | None:
        """The notation of numbers in which a cell is one, that is not of its column."""
        cell = cell.strip()
        found = (s for s in number_spellings(cell) if s.matches(cell))
        decimal = spelling.decimal if isinstance(spelling, Number) else "."
        marks = [one for one in found if one.decimal != decimal or one.thousands]
        return next(iter(marks), None)

    def part_size(self) -> PartSize:
        """The bytes of the file; nothing if it cannot be read, which a reader explains."""
        with suppress(OSError):
            return PartSize(None, self.file.path.stat().st_size)
        return UNKNOWN

    @property
    def source_file(self) -> Path:
        """The file."""
        return self.file.path


@dataclass(frozen=True, eq=False, repr=False)
class TextTable(Table):
    r"""Delimited text files with the same columns, one split each.

    Types are those that the first ``BATCH_ROWS`` rows and a sample of the others show: null if
    every cell is missing, else whole numbers, numbers, truth values, dates or times, or text:
    identifiers of twenty digits are text, because a double would round them.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files, in order.
    asked : TextFormat
        What is given of how they are written.
    known : Known, optional
        What a model knows of its files.

    Raises
    ------
    ReadError
        If a file cannot be read.
    SchemaError
        If the column names of two files differ.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sex\n39,male\n,female\n")
    ...     TextTable([path]).head().to_pylist()
    [{'age': 39, 'sex': 'male'}, {'age': None, 'sex': 'female'}]
    """

    paths: Sequence[Path]
    asked: TextFormat = field(default_factory=TextFormat)
    known: Known | None = None
    labels: tuple[str, ...] = ()  # columns that keep the spelling of the file

    guesses = True

    def __post_init__(self) -> None:
        self.sniffed  # noqa: B018 - what is wrong with a file is said when it is opened

    def __repr__(self) -> str:
        return f"TextTable({listed(self.names)})"

    @cached_property
    def sniffed(self) -> Sniffed:
        """What was found out by looking at the files."""
        return sniff(self.paths, self.asked, self.known)

    def known_as(self, known: Known) -> TextTable:
        """Return the same files, read as those of a model are."""
        if known == self.known:
            return self
        return TextTable(self.paths, self.asked, known)

    def labelled(self, name: str) -> TextTable:
        """Return the same rows, with one column as the file spells it: a label is no truth value."""
        if name not in self.sniffed.raw:
            return self
        found = self.sniffed
        column = found.raw[name]
        head = found.head.set_column(found.head.schema.get_field_index(name), name, column)
        written = tuple((dict(found.format.written) | {name: TEXT.name}).items())
        format = replace(found.format, written=written)
        table = object.__new__(TextTable)
        vars(table).update(paths=self.paths, asked=self.asked, known=self.known, labels=(name,))
        files = tuple(replace(file, format=format) for file in found.files)
        vars(table)["sniffed"] = replace(found, head=head, format=format, files=files)
        return table

    @property
    def _head(self) -> pa.RecordBatch:
        return self.sniffed.head

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        left_out = self.sniffed.left_out
        return tuple(name for name in self.sniffed.files[0].names if name not in left_out)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Fields that are no columns."""
        return self.sniffed.left_out

    @property
    def format(self) -> TextFormat:
        """How the files are written."""
        return self.sniffed.format

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was found out about how the files are written."""
        return self.sniffed.remarks

    def doubt(self, name: str) -> str | None:
        """Say that a column would hold numbers or dates but for a few cells, and name the first."""
        found = self.sniffed.doubts.get(name)
        if found is None:
            return None
        place = found.first
        split = TextSplit(self.sniffed.files[0], ((name, pa.string()),))
        done = 0
        for batch in split.record_batches():
            row = batch.column(0).index(pa.scalar(place)).as_py()
            if row >= 0:
                return found.of(name, split.locate(done + row))
            done += batch.num_rows
        return found.of(name)

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[TextSplit]:
        """Return one split per file, reading these columns only."""
        found = self.sniffed
        where = " and ".join(file.path.name for file in found.files[:2])
        require_columns(types, self.names, where)
        for name in types:
            if name in found.refused:
                raise found.refused[name]
        schema = found.head.schema
        asked = tuple((name, kind or schema.field(name).type) for name, kind in types.items())
        return tuple(TextSplit(file, asked, found.empty) for file in found.files)
