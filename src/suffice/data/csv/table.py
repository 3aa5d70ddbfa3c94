"""Tables in delimited text: nothing is coerced, dropped or swallowed without a word.

A file is cut into pieces of whole records, and pyarrow parses each piece, every cell as text; only
then are cells stripped, matched with the missing tokens and cast. A piece that pyarrow refuses is
walked record by record, by a slow reader that follows the same grammar; it also finds the line
when something is wrong.

pyarrow gets nothing that belongs to Python, neither a file nor a callback: its threads would call
it, and make the process hang or abort if the interpreter ends at that moment.
"""

from __future__ import annotations

import io
import reprlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from suffice.data.csv.dialect import find_dialect
from suffice.data.csv.format import CsvFormat
from suffice.data.csv.header import refuse_header_again
from suffice.data.csv.notations import notations_of
from suffice.data.csv.pieces import pieces
from suffice.data.csv.records import CsvFile, OpenRecordError
from suffice.data.files.version import readable, version_of
from suffice.data.notation import TEXT
from suffice.data.read_ahead import in_order
from suffice.data.source import RecordPart
from suffice.data.table import BATCH_ROWS, Table, first_refused, first_rows, require_columns
from suffice.data.text_cells import are_rounded, infer, parse
from suffice.data.type_names import called
from suffice.errors import ReadError, SchemaError, warn
from suffice.numerics.in_print import listed
from suffice.sums.block import HELD_RULE, HELD_STEP

__all__ = ["CsvFormat", "CsvPart", "CsvTable"]

_AHEAD = 2


# Reading ----------------------------------------------------------------------------------------


class _Pass:
    """One reading of one file as text, malformed rows left out and their lines counted."""

    def __init__(self, part: CsvPart) -> None:
        self._file, self._names, self._asked = part.text, part.names, part.asked
        self._format = part.text.format
        self.skipped = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the columns asked for, without the header."""
        header = int(self._file.has_header)
        for table in self._tables():
            for batch in table.slice(header).to_batches(BATCH_ROWS):
                yield self._stripped(batch) if self._format.strip else batch
            header = max(0, header - table.num_rows)

    def _tables(self) -> Iterator[pa.Table]:
        """Parse piece by piece, in threads of our own that work ahead."""
        pool = ThreadPoolExecutor(_AHEAD)

        def begin(piece: bytes) -> tuple[bytes, Future[pa.Table | None]]:
            return piece, pool.submit(self._parsed, piece)

        def end(_: object) -> None:
            pool.shutdown(wait=False, cancel_futures=True)

        try:
            yield from in_order(begin, pieces(self._file), _AHEAD, self._first, end)
        except OpenRecordError:
            raise self._file.explain(self._names) from None

    def _first(self, ahead: deque[tuple[bytes, Future[pa.Table | None]]]) -> pa.Table:
        piece, parsed = ahead.popleft()
        table = parsed.result()
        return self._walked(piece) if table is None else table

    def _parsed(self, piece: bytes) -> pa.Table | None:
        """Return the rows of a piece, or None if pyarrow refuses one."""
        try:
            if not piece.isascii():
                piece.decode()
            return self._read(piece)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None

    def _read(self, piece: bytes) -> pa.Table:
        # The empty line keeps pyarrow from taking a first cell's U+FEFF for a byte order mark.
        text = pa.allocate_buffer(len(piece) + 1)
        view = memoryview(text).cast("B")
        view[:1], view[1:] = b"\n", piece
        missing = list(self._format.missing)
        return arrow_csv.read_csv(
            cast(IO[bytes], pa.BufferReader(text)),
            arrow_csv.ReadOptions(
                use_threads=False, column_names=list(self._names), block_size=len(view)
            ),
            arrow_csv.ParseOptions(
                delimiter=self._file.separator,
                quote_char=self._format.quote or False,
                newlines_in_values=self._format.quote is not None,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(self._names, pa.string()),
                null_values=missing,
                strings_can_be_null=bool(missing),
                quoted_strings_can_be_null=True,
                include_columns=list(self._asked),
            ),
        )

    def _walked(self, piece: bytes) -> pa.Table:
        """Return the rows of a piece that are not malformed; raise ReadError if too many are."""
        lines = io.StringIO(piece.decode("utf8", "surrogateescape"), newline="")
        rows = []
        for record in self._file.grammar.records(lines):
            if self._file.malformed(record, self._names) is None:
                rows.append(record.fields)
                continue
            self.skipped += record.lines
            if self.skipped > self._format.skip_bad_rows:
                raise self._file.explain(self._names)
        columns = (self._names.index(name) for name in self._asked)
        cells = [pa.array([row[column] for row in rows], pa.string()) for column in columns]
        return pa.table([self._without_missing(column) for column in cells], list(self._asked))

    def _stripped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [self._without_missing(pc.utf8_trim_whitespace(cells)) for cells in batch.columns]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def _without_missing(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        tokens = pa.array(self._format.missing, pa.string())
        found: pa.Array[Any] = pc.if_else(pc.is_in(cells, value_set=tokens), None, cells)
        return found


@dataclass(frozen=True)
class CsvPart(RecordPart):
    """One file of delimited text.

    Examples
    --------
    >>> file = CsvFile(Path("a.csv"), CsvFormat())
    >>> CsvPart(file, ("x", "y"), (("y", pa.int64()),)).asked
    ('y',)
    """

    text: CsvFile  # where the rows are and how they are written
    names: tuple[str, ...]  # all its columns
    types: tuple[tuple[str, pa.DataType], ...]  # the columns to read, and their types

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
        reading, done = _Pass(self), 0
        for batch in reading.batches():
            yield self._typed(batch, done)
            done += batch.num_rows
        if reading.skipped:
            warn(self.text.left_out(reading.skipped, self.names))

    def text_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as text, missing cells as nulls.

        Raises
        ------
        ReadError
            If a row is malformed or the file cannot be read.
        """
        return _Pass(self).batches()

    def locate(self, row: int) -> str:
        """Name the line where row `row` begins, by walking through the file again."""
        return self.text.locate(row, self.names)

    def _typed(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        columns = []
        for (name, target), cells in zip(self.types, batch.columns, strict=True):
            try:
                columns.append(self._parsed(cells, name, target))
            except pa.ArrowInvalid:
                row = first_refused(cells, partial(self._parsed, name=name, target=target))
                raise self._misfit(name, target, cells[row].as_py(), done + row) from None
        return pa.RecordBatch.from_arrays(columns, names=list(self.asked))

    def _parsed(self, cells: pa.Array[Any], name: str, target: pa.DataType) -> pa.Array[Any]:
        notation, numerals = self.text.format.notation(name), self.text.format.numerals
        if notation is not None and notation.type == target:
            return notation.parse(cells, numerals)
        return parse(cells, target, numerals)

    def _misfit(self, name: str, target: pa.DataType, cell: str, row: int) -> ReadError:
        shown = reprlib.repr(cell)
        where = f"{self.locate(row)}, column {name!r}: {shown}"
        if pa.types.is_floating(target) and are_rounded(pa.array([cell])):
            return ReadError(where, HELD_RULE, HELD_STEP)
        notation = self.text.format.notation(name)
        if notation is None or notation.type != target:
            return self._no_such(where, shown, called(target), name)
        return ReadError(
            f"{where} is not written as {notation.spelling}",
            f"this column holds {notation}, and every cell has to obey",
            (
                f"correct the cell, declare {shown} in missing=..., or use written={{"
                f"{name!r}: {TEXT!r}}}"
            ),
        )

    def _no_such(self, where: str, shown: str, kind: str, name: str) -> ReadError:
        rule = f"every cell of this column is read as {kind}"
        numerals = self.text.format.numerals
        if numerals.decimal != "." or numerals.thousands:
            rule += f", {numerals}"
        return ReadError(
            f"{where} is not {kind}",
            rule,
            (
                f"correct the cell, declare {shown} in missing=..., or read it as text "
                f"with written={{{name!r}: {TEXT!r}}}"
            ),
        )

    @property
    def nbytes(self) -> int | None:
        """Bytes of the file; None if it cannot be read, which a reader explains."""
        with suppress(OSError):
            return self.text.path.stat().st_size
        return None

    @property
    def file(self) -> Path:
        """The file."""
        return self.text.path


def _listed(path: Path, format: CsvFormat) -> CsvFile:
    with readable(path):
        return CsvFile(path, format, version_of(path))


class CsvTable(Table):
    r"""Delimited text files with the same columns, one part each.

    Types are inferred from the first ``BATCH_ROWS`` rows: null if every cell is missing, else
    int64, float64, bool (true and false in any case) or string, whichever first holds them all:
    identifiers of twenty digits are strings, because a double would round them.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files, in order.
    format : CsvFormat, optional
        How they are written.

    Raises
    ------
    ReadError
        If a file cannot be read or its header is unusable.
    SchemaError
        If the column names of two files differ.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("age,sex\n39,male\n,female\n")
    ...     CsvTable([path]).head().to_pylist()
    [{'age': 39, 'sex': 'male'}, {'age': None, 'sex': 'female'}]
    """

    guesses = True

    def __repr__(self) -> str:
        return f"CsvTable({listed(self._names)})"

    def __init__(self, paths: Sequence[Path], format: CsvFormat | None = None) -> None:
        asked = format or CsvFormat()
        dialect = find_dialect(paths[0], asked)
        first = _listed(paths[0], dialect.format)
        self._names = first.names()
        found = notations_of(paths, dialect.format, self._names)
        self._refused = found.refused
        written = dict(found.written) | dict(asked.written)
        # Later tables are written like this one, but for what shows by itself.
        settled = replace(dialect.format, written=tuple(written.items()), guess=False)
        self._format = replace(settled, separator=asked.separator, quote=asked.quote)
        self._remarks = (*dialect.remarks, *found.remarks)
        self._files = tuple(_listed(path, settled) for path in paths)
        for file in self._files[1:]:
            names = file.names()
            if names != self.names:
                raise SchemaError(
                    f"the columns of {self._files[0].path} are {', '.join(map(repr, self.names))}, "
                    f"those of {file.path} are {', '.join(map(repr, names))}",
                    "files of one table must have the same columns in the same order",
                    "read them apart, or give names to both with names=...",
                )

    @property
    def _head(self) -> pa.RecordBatch:
        texts = tuple((name, pa.string()) for name in self.names)
        parts = (CsvPart(file, self.names, texts) for file in self._files)
        batches = chain.from_iterable(part.text_batches() for part in parts)
        head = first_rows(batches, pa.schema(texts))
        refuse_header_again(self._files, head)
        columns = [
            self._cells(name, column)
            for name, column in zip(head.schema.names, head.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(self.names))

    def _cells(self, name: str, column: pa.Array[Any]) -> pa.Array[Any]:
        """The first cells of a column in the type that they show."""
        notation = self._format.notation(name)
        if notation is not None:
            try:
                return notation.parse(column, self._format.numerals)
            except pa.ArrowInvalid:
                for part in self.parts({name: None}):  # names the line
                    deque(part.record_batches(), 0)
        if name in dict(self._format.written) or name in self._refused:
            return column
        return infer(column, self._format.numerals)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self._names

    @property
    def format(self) -> CsvFormat:
        """How the files are written."""
        return self._format

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was found out about how the files are written."""
        return self._remarks

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[CsvPart]:
        """Return one part per file, reading these columns only."""
        where = " and ".join(file.path.name for file in self._files[:2])
        require_columns(types, self.names, where)
        for name in types:
            if name in self._refused:
                raise self._refused[name]
        asked = tuple((name, kind or self._inferred(name)) for name, kind in types.items())
        return tuple(CsvPart(file, self.names, asked) for file in self._files)

    def _inferred(self, name: str) -> pa.DataType:
        notation = self._format.notation(name)
        if notation is not None:
            return notation.type
        inferred: pa.DataType = self.shown.schema.field(name).type
        return inferred
