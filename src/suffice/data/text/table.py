"""Tables in delimited text: nothing is coerced, dropped or swallowed without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.source import RecordPart
from suffice.data.spelling import PLAIN, TEXT, read_cells, without_missing
from suffice.data.table import About, Table, converted
from suffice.data.text.column_spelling import misfit
from suffice.data.text.pieces import opened
from suffice.data.text.reading import Reading
from suffice.data.text.records import TextFile
from suffice.data.text.sniff import Sniffed, sniff
from suffice.data.text_format import USUALLY_MISSING, TextFormat
from suffice.errors import ReadError, warn
from suffice.numerics.in_print import listed


@dataclass(frozen=True)
class TextPart(RecordPart):
    """One file of delimited text."""

    text: TextFile  # where the rows are and how they are written
    types: tuple[tuple[str, pa.DataType], ...]  # the columns to read, and their types
    empty: tuple[str, ...] = ()  # fields that must hold nothing
    head: pa.RecordBatch | None = None  # the first rows, which were read before
    behind: int = 0  # byte of the file behind them

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"head": None, "behind": 0}  # another process reads all rows

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        types = dict(self.types) | dict.fromkeys(self.empty, pa.null())
        reading, done = Reading(self.text, types), 0
        with opened(self.text.path, self.text.version) as stream:
            if self.head is not None:
                yield self.head
                done = self.head.num_rows
            for batch in reading.batches(stream, begin=self.behind):
                yield self._typed(batch, types, done)
                done += batch.num_rows
        if reading.skipped:
            warn(self.text.left_out(reading.skipped))

    def locate(self, row: int) -> str:
        """Name the line where row `row` begins, by walking through the file again."""
        return self.text.locate(row)

    def _typed(
        self, batch: pa.RecordBatch, types: Mapping[str, pa.DataType], done: int
    ) -> pa.RecordBatch:
        format = self.text.format

        def refusal(name: str, row: int, cell: str) -> ReadError:
            return self._misfit(name, types[name], cell, done + row)

        def read(name: str, cells: pa.Array[Any]) -> pa.Array[Any]:
            if cells.type == types[name]:
                return cells
            if name in self.empty:
                cells = without_missing(pc.utf8_trim_whitespace(cells), USUALLY_MISSING)
            spelling = format.spelling(name) or TEXT
            found = read_cells(cells, spelling, types[name], format.tokens_of(name))
            if pa.types.is_floating(found.type) and pc.any(pc.is_inf(found)).as_py():
                raise pa.ArrowInvalid("a number is infinite")
            return found

        return converted(batch, read, refusal).select([name for name, _ in self.types])

    def _misfit(self, name: str, target: pa.DataType, cell: str, row: int) -> ReadError:
        spelling = self.text.format.spelling(name) or TEXT
        where = f"{self.locate(row)}, column {name!r}"
        fact, rule, step = misfit(where, name, cell, spelling, target)
        if not row and not self.text.has_header and not PLAIN.matches(cell.strip()):
            step = "if this line holds names of columns, say header=True"
        return ReadError(fact, rule, step)

    @property
    def nbytes(self) -> int | None:
        """Bytes of the file; None if it cannot be read, which a reader explains."""
        with suppress(OSError):
            return self.text.path.stat().st_size
        return None

    @property
    def file(self) -> Path:
        return self.text.path


class TextTable(Table):
    r"""Delimited text files with the same columns, one part each.

    Types are those that the first ``BATCH_ROWS`` rows and a sample of the others show: null if
    every cell is missing, else whole numbers, numbers, truth values, dates or times, or text:
    identifiers of twenty digits are text, because a double would round them.

    Parameters
    ----------
    paths : sequence of Path
    asked : TextFormat
        What is given of how they are written.
    known : TextFormat, optional
        What a model knows of its files.
    label : str, optional
        A column whose cells keep their spelling.
    """

    about: About = About()

    def __init__(
        self, paths: Sequence[Path], asked: TextFormat, known: TextFormat | None, label: str | None
    ) -> None:
        self.paths, self.asked, self.known, self.label = paths, asked, known, label
        self.sniffed = sniff(paths, asked, known, label)
        self.about = self.sniffed.about

    def __repr__(self) -> str:
        return f"TextTable({listed(self.names)})"

    def read_as(self, known: TextFormat | None, label: str | None) -> TextTable:
        known = known or self.known
        if known == self.known and (label == self.label or label not in self.sniffed.respelled):
            return self
        table = TextTable(self.paths, self.asked, known, label)
        for loss in table.about.losses if known == self.known else ():
            if loss not in self.about.losses:
                warn(f"{loss}.")
        return table

    @property
    def _head(self) -> pa.RecordBatch:
        return self.sniffed.head

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sniffed.head.schema.names)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[TextPart]:
        found = self.sniffed
        for name in types:
            if name in found.refused:
                raise found.refused[name]
        schema = found.head.schema
        asked = tuple((name, kind or schema.field(name).type) for name, kind in types.items())
        head, behind = _first_rows(found, dict(asked))
        parts = [TextPart(file, asked, found.empty) for file in found.files]
        return replace(parts[0], head=head, behind=behind), *parts[1:]


def _first_rows(
    found: Sniffed, types: Mapping[str, pa.DataType]
) -> tuple[pa.RecordBatch | None, int]:
    """Return the first rows that need not be read again, and the byte behind them."""
    rows, begin = found.goes_on
    if not rows:
        return None, 0
    columns = []
    for name, kind in types.items():
        cells = found.head.column(name).slice(0, rows)
        whole = pa.types.is_integer(cells.type) and pa.types.is_floating(kind)
        try:
            columns.append(cells.cast(kind) if whole or pa.types.is_null(cells.type) else cells)
        except pa.ArrowInvalid:  # a whole number that no double is
            return None, 0
        infinite = pa.types.is_floating(cells.type) and pc.any(pc.is_inf(cells)).as_py()
        if columns[-1].type != kind or infinite:
            return None, 0
    return pa.RecordBatch.from_arrays(columns, names=list(types)), begin
