"""One reading of delimited text: pyarrow parses piece by piece, a slow walk what it refuses.

Plain numbers, dates and truth values are converted by pyarrow, and looked at cell by cell only
where it refuses one; all others are read as text, in which missing cells are nulls.

pyarrow gets nothing that belongs to Python, neither a file nor a callback: its threads would call
it, and make the process hang or abort if the interpreter ends at that moment.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from suffice.data.read_ahead import in_order
from suffice.data.spelling import PLAIN, TRUTH, Moment, Spelling, without_missing
from suffice.data.text.pieces import ByteStream, pieces, swallows
from suffice.data.text.records import OpenRecordError, TextFile
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.block import HELD

_AHEAD = 2
_PLAIN: dict[pa.DataType, Spelling] = {pa.float64(): PLAIN, pa.date32(): Moment("YYYY-MM-DD")}
_REFUSED = re.compile(r"In CSV column #(\d+): CSV conversion error")
_TRUE, _FALSE = (
    [case(word) for word in words for case in (str, str.title, str.upper)]
    for words in zip(("1", "0"), *TRUTH.pairs, strict=True)
)


class Reading:
    """One reading of one file, malformed rows left out and their lines counted.

    Plain columns come in the type that is asked for, others as text.
    """

    def __init__(self, file: TextFile, types: Mapping[str, pa.DataType]) -> None:
        self._file, self._asked = file, list(types)
        self._format, self._names = file.format, file.names
        self._by_hand = bool(file.format.strip) or bool(dict(file.format.kept).keys() & types)
        self._types = dict.fromkeys(self._names, pa.string())
        if not self._by_hand:
            plain = (name for name, kind in types.items() if self._is_plain(name, kind))
            self._types |= {name: types[name] for name in plain}
        self.skipped = 0

    def _is_plain(self, name: str, kind: pa.DataType) -> bool:
        """Return whether pyarrow converts a column."""
        if pa.types.is_boolean(kind) or pa.types.is_dictionary(kind):
            return True
        return kind in _PLAIN and self._format.spelling(name) == _PLAIN[kind]

    def batches(self, stream: ByteStream, ahead: int = _AHEAD) -> Generator[pa.RecordBatch]:
        """Yield the rows; so many pieces are parsed before they are asked for."""
        for table in _without_last(self._tables(stream, ahead), self._format.skip_last or 0):
            for batch in table.to_batches(BATCH_ROWS):
                yield self._by_tokens(batch) if self._by_hand else batch

    def _tables(self, stream: ByteStream, ahead: int) -> Iterator[pa.Table]:
        """Parse piece by piece, in threads of our own that work ahead."""
        pool = ThreadPoolExecutor(max(1, ahead))

        def begin(piece: tuple[bytes, bool]) -> tuple[bytes, Future[pa.Table | None]]:
            return piece[0], pool.submit(self._parsed, *piece)

        def end(_: object) -> None:
            pool.shutdown(wait=False, cancel_futures=True)

        try:
            yield from in_order(begin, pieces(self._file, stream), ahead, self._first, end)
        except OpenRecordError:
            raise self._file.explain() from None

    def _first(self, ahead: deque[tuple[bytes, Future[pa.Table | None]]]) -> pa.Table:
        piece, parsed = ahead.popleft()
        table = parsed.result()
        return self._walked(piece) if table is None else table

    def _parsed(self, piece: bytes, odd: bool) -> pa.Table | None:
        """Return the rows of a piece, or None if one has to be looked at.

        A column of which pyarrow refuses a cell is text from then on.
        """
        if odd:
            return None
        try:
            if not piece.isascii():
                piece.decode()
            table = self._converted(piece)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None
        return None if swallows(self._file, piece, table.num_rows) else table

    def _converted(self, piece: bytes) -> pa.Table:
        types = self._types
        try:
            table = self._read(piece, types)
            refused = _rounded(table)
        except pa.ArrowInvalid as error:
            found = _REFUSED.match(str(error))
            if found is None:
                raise
            refused = [self._names[int(found[1])]]
        if not refused:
            return table
        self._types = types | dict.fromkeys(refused, pa.string())
        return self._converted(piece)

    def _read(self, piece: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
        # The empty line keeps pyarrow from taking a first cell's U+FEFF for a byte order mark.
        text = pa.allocate_buffer(len(piece) + 1)
        view = memoryview(text).cast("B")
        view[:1], view[1:] = b"\n", piece
        missing = [] if self._by_hand else list(self._format.tokens)
        return arrow_csv.read_csv(
            cast(IO[bytes], pa.BufferReader(text)),
            arrow_csv.ReadOptions(
                use_threads=False, column_names=list(self._names), block_size=len(view)
            ),
            arrow_csv.ParseOptions(
                delimiter=self._file.separator,
                quote_char=self._format.quote or False,
                # A whole piece is parsed at once, so that only its last line end must be one.
                newlines_in_values=not piece.endswith((b"\n", b"\r")),
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                true_values=_TRUE,
                false_values=_FALSE,
                null_values=missing,
                strings_can_be_null=bool(missing),
                quoted_strings_can_be_null=True,
                include_columns=self._asked,
            ),
        )

    def _walked(self, piece: bytes) -> pa.Table:
        """Return the rows of a piece that are not malformed; raise ReadError if too many are."""
        lines = io.StringIO(piece.decode("utf8", "surrogateescape"), newline="")
        rows = []
        for record in self._file.grammar.records(lines):
            if self._file.malformed(record) is None:
                rows.append(record.fields)
                continue
            self.skipped += record.lines
            if self.skipped > self._format.skip_bad_rows:
                raise self._file.explain()
        columns = (self._names.index(name) for name in self._asked)
        cells = [pa.array([row[column] for row in rows], pa.string()) for column in columns]
        batch = pa.RecordBatch.from_arrays(cells, self._asked)
        return pa.Table.from_batches([batch if self._by_hand else self._by_tokens(batch)])

    def _by_tokens(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Strip cells if so asked, and replace those that stand for a missing value by nulls."""
        columns = [
            without_missing(
                pc.utf8_trim_whitespace(cells) if self._format.strip else cells,
                self._format.tokens_of(name),
            )
            for name, cells in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _rounded(table: pa.Table) -> list[str]:
    """Return the columns with a number that may be a whole one that was rounded."""
    return [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type) and not _are_held(column)
    ]


def _are_held(numbers: pa.ChunkedArray[Any]) -> bool:
    chunks = (
        np.frombuffer(chunk.buffers()[1], np.float64) for chunk in numbers.chunks if len(chunk)
    )
    if all(-HELD < cells.min() <= cells.max() < HELD for cells in chunks):
        return True  # nulls are zeros
    ends = pc.min_max(numbers)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    return low is None or -HELD < low <= high < HELD


def _without_last(tables: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield tables without so many rows at the end of all."""
    held: deque[pa.Table] = deque()
    for table in tables:
        held.append(table)
        while held and sum(one.num_rows for one in held) - held[0].num_rows >= rows:
            yield held.popleft()
    left = sum(one.num_rows for one in held) - rows
    for table in held:
        yield table.slice(0, max(0, left))
        left -= table.num_rows
