"""One reading of delimited text: pyarrow parses piece by piece, a slow walk what it refuses.

Plain numbers, dates and truth values are converted by pyarrow, and looked at cell by cell only
where it refuses one; all others are read as text, in which missing cells are nulls.

pyarrow gets nothing that belongs to Python, neither a file nor a callback: its threads would call
it, and make the process hang or abort if the interpreter ends at that moment.
"""

from __future__ import annotations

import codecs
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
from suffice.data.text.pieces import (
    ByteStream,
    Piece,
    end_of_row,
    pieces,
    swallows,
)
from suffice.data.text.records import BLANK, OpenRecordError, TextFile, is_utf8
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.block import HELD

LAST_ASCII = 127
PIECE_BYTES = 1 << 22
_AHEAD = 2
_PLAIN: dict[pa.DataType, Spelling] = {pa.float64(): PLAIN, pa.date32(): Moment("YYYY-MM-DD")}
_REFUSED = re.compile(r"In CSV column #(\d+): CSV conversion error")
_TRUE, _FALSE = (
    [case(word) for word in words for case in (str, str.title, str.upper)]
    for words in zip(("1", "0"), *TRUTH.pairs, strict=True)
)


class Reading:
    """One reading of one file, malformed rows left out and their lines counted.

    Parameters
    ----------
    file : TextFile
    types : mapping of str to pyarrow.DataType
        The columns to read. Plain ones come in their type, from the first piece with another cell
        on as text; so do all others.
    raw : bool
        Whether text is read as it stands, and numbers as they are in `fractions`.
    """

    def __init__(
        self, file: TextFile, types: Mapping[str, pa.DataType], *, raw: bool = False
    ) -> None:
        self._file, self._asked, self._raw = file, list(types), raw
        self._format, self._names = file.format, file.names
        self._by_hand = raw or bool(file.format.strip or dict(file.format.kept).keys() & types)
        self._types = dict.fromkeys(self._names, pa.string())
        if raw or not self._by_hand:
            plain = (name for name, kind in types.items() if raw or self._is_plain(name, kind))
            self._types |= {name: types[name] for name in plain}
        self.skipped = 0
        self._last: Piece | None = None
        self._rows = 0, 0  # before the last piece, and in it

    def _is_plain(self, name: str, kind: pa.DataType) -> bool:
        if pa.types.is_boolean(kind) or pa.types.is_dictionary(kind):
            return True
        return kind in _PLAIN and self._format.spelling(name) == _PLAIN[kind]

    def batches(
        self, stream: ByteStream, ahead: int = _AHEAD, begin: int = 0
    ) -> Generator[pa.RecordBatch]:
        """Yield the rows from a byte on; so many pieces are parsed before they are asked for."""
        tables = self._tables(stream, ahead, begin)
        for table in _without_last(tables, last) if (last := self._format.skip_last) else tables:
            for batch in table.to_batches(BATCH_ROWS):
                yield self._by_tokens(batch) if self._by_hand else batch

    def goes_on(self, stream: ByteStream, rows: int) -> tuple[int, int]:
        """Return how many of the first rows need not be read again, and the byte behind them."""
        before, last = self._rows
        if self._last is None:
            return 0, 0
        odd = stream.compressed or self._format.strip or self._format.skip_last or self.skipped
        if odd or self._file.grammar.separator == BLANK or not is_utf8(self._format.encoding):
            return 0, 0
        begin = stream.passed - len(self._last.records)
        if rows == before + last:
            return rows, stream.passed
        end = end_of_row(self._last, rows - before - 1, last) if rows > before else 0
        return (before, begin) if end is None else (rows, begin + end)

    def _tables(self, stream: ByteStream, ahead: int, begin: int) -> Iterator[pa.Table]:
        """Parse piece by piece; what is not asked for yet, in threads of our own."""
        size = PIECE_BYTES
        if self._raw:  # no more rows than the first ones
            lines = max(1, stream.start.count(b"\n"))
            size = min(size, len(stream.start) // lines * BATCH_ROWS)
        found = pieces(self._file, stream, begin, size)
        parsed = (
            self._parsed_ahead(found, ahead) if ahead else ((p, self._parsed(p)) for p in found)
        )
        try:
            for piece, rows in parsed:
                table = self._walked(piece) if rows is None else rows
                self._last, self._rows = piece, (sum(self._rows), table.num_rows)
                yield table
        except OpenRecordError:
            raise self._file.explain() from None

    def _parsed_ahead(
        self, found: Iterator[Piece], ahead: int
    ) -> Iterator[tuple[Piece, pa.Table | None]]:
        pool = ThreadPoolExecutor(ahead)

        def start(piece: Piece) -> tuple[Piece, Future[pa.Table | None]]:
            return piece, pool.submit(self._parsed, piece)

        def first(
            pending: deque[tuple[Piece, Future[pa.Table | None]]],
        ) -> tuple[Piece, pa.Table | None]:
            piece, parsed = pending.popleft()
            return piece, parsed.result()

        try:
            yield from in_order(start, found, ahead, first, deque.clear)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _parsed(self, piece: Piece) -> pa.Table | None:
        """Return the rows of a piece, or None if one has to be looked at.

        A column of which pyarrow refuses a cell is text from then on.
        """
        if piece.odd:
            return None
        try:
            if np.frombuffer(piece.text, np.uint8).max() > LAST_ASCII:
                codecs.utf_8_decode(piece.records, "strict", True)  # to the end
            table = self._converted(piece)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None
        return None if swallows(self._file, piece, table.num_rows) else table

    def _converted(self, piece: Piece) -> pa.Table:
        types = self._types
        try:
            table = self._read(piece, types)
            # The columns with a number that may be a whole one that was rounded.
            refused = [
                name
                for name, column in zip(table.column_names, table.columns, strict=True)
                if pa.types.is_floating(column.type) and not self._are_held(column)
            ]
        except pa.ArrowInvalid as error:
            found = _REFUSED.match(str(error))
            if found is None:
                raise
            refused = [self._names[int(found[1])]]
        if not refused:
            return table
        self._types = types | dict.fromkeys(refused, pa.string())
        return self._converted(piece)

    def _are_held(self, numbers: pa.ChunkedArray[Any]) -> bool:
        chunks = (np.frombuffer(c.buffers()[1], np.float64) for c in numbers.chunks if len(c))
        if all(-HELD < cells.min() <= cells.max() < HELD for cells in chunks):
            return True  # nulls are zeros, and none is NaN
        ends = pc.min_max(numbers)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        return not self._raw and (low is None or -HELD < low <= high < HELD)

    def _read(self, piece: Piece, types: Mapping[str, pa.DataType]) -> pa.Table:
        missing = [""] if self._raw else [] if self._by_hand else list(self._format.tokens)
        return arrow_csv.read_csv(
            # The line end before it keeps a first cell's U+FEFF from being a byte order mark.
            cast(IO[bytes], pa.BufferReader(piece.text)),
            arrow_csv.ReadOptions(
                use_threads=False, column_names=list(self._names), block_size=piece.text.size
            ),
            arrow_csv.ParseOptions(
                delimiter=self._file.grammar.separator,
                quote_char=self._format.quote or False,
                # A whole piece is parsed at once, so that only its last line end must be one.
                newlines_in_values=bytes(piece.records[-1:]) not in (b"\n", b"\r"),
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                true_values=_TRUE,
                false_values=_FALSE,
                null_values=missing,
                strings_can_be_null=bool(missing) and not self._raw,
                quoted_strings_can_be_null=True,
                include_columns=self._asked,
            ),
        )

    def _walked(self, piece: Piece) -> pa.Table:
        text = bytes(piece.records).decode("utf8", "surrogateescape")
        lines = io.StringIO(text, newline="")
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
        names, columns = batch.schema.names, batch.columns
        if self._format.strip:
            columns = [pc.utf8_trim_whitespace(cells) for cells in columns]
        if not self._raw:
            pairs = zip(names, columns, strict=True)
            columns = [without_missing(c, self._format.tokens_of(name)) for name, c in pairs]
        return pa.RecordBatch.from_arrays(columns, names=names)


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
