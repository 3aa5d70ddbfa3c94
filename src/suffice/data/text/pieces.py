"""Delimited text cut into pieces of whole records, each of which can be parsed on its own.

Only quotes that open or close a field decide where a record ends; call them toggles. A line end
ends a record if an even number of toggles stands before it. A doubled quote toggles twice.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from suffice.data.text.records import (
    BLANK,
    BLANKS,
    LONGEST_RECORD,
    OpenRecordError,
    TextFile,
    blanks_for_tabs,
    is_utf8,
    open_bytes,
)
from suffice.data.version import FileVersion, readable

BEGINNING = 1 << 18  # bytes that can be looked at before
_WINDOW_BYTES = 1 << 14
_LF, _CR = b"\n\r"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class ByteStream:
    """The bytes of a file, decompressed, the first of which can be looked at before."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.compressed = not isinstance(getattr(file, "raw", None), io.FileIO)
        self.start = self._rest = b""
        self.start = self._rest = self.read(BEGINNING)
        self.passed = 0  # bytes of the file up to the end of the last piece

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end."""
        part = bytearray(size)
        return bytes(memoryview(part)[: self.fill(memoryview(part))])

    def fill(self, memory: memoryview) -> int:
        """Read so many bytes as there is room for, fewer only at the end; return their number."""
        known = self._rest[: len(memory)]
        self._rest, filled = self._rest[len(known) :], len(known)
        memory[:filled] = known
        while filled < len(memory) and (more := self.file.readinto(memory[filled:])):  # type: ignore[attr-defined]
            filled += more
        return filled

    def go_to(self, place: int) -> None:
        """Read on from a byte of the file; if that is compressed, from one of the first."""
        if not self.compressed:
            self.file.seek(max(place, len(self.start)))
        self._rest = self.start[place:]


@contextmanager
def opened(path: Path, version: FileVersion | None) -> Iterator[ByteStream]:
    """Open a version of a file for reading, once."""
    with readable(path, version), open_bytes(path) as stream:
        yield ByteStream(stream)


Places = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """Whole records in UTF-8, below a line end."""

    text: pa.Buffer
    toggles: Places  # where quotes open and close fields in the records
    odd: bool  # whether text follows a closing quote, so that it has to be read with care

    @property
    def records(self) -> memoryview:
        return memoryview(self.text).cast("B")[1:]


def pieces(file: TextFile, stream: ByteStream, begin: int, size: int) -> Iterator[Piece]:
    """Yield the rows of a file from a byte on, without the header, in pieces of about a size.

    Bytes that do not decode are left in, and invalid in the pieces too. Where blanks separate
    fields, there is one between two of them.

    Raises
    ------
    ReadError
        If the file cannot be read.
    OpenRecordError
        If a quote never closes, or a record is longer than ``LONGEST_RECORD``.
    """
    blanks = file.grammar.separator == BLANK or (file.format.strip and file.format.quote)

    def piece(text: pa.Buffer, first: int, end: int, toggles: Places) -> Piece:
        records = memoryview(text).cast("B")[1:][first:end]
        own = toggles[np.searchsorted(toggles, first) :] - first
        odd, stream.passed = _goes_on(records, own, file), begin + end
        text = text.slice(first, end - first + 1)
        if blanks:
            usual = usual_blanks(bytes(records), file.grammar.separator, file.format.quote)
            text = pa.allocate_buffer(len(usual) + 1)
            records = memoryview(text).cast("B")
            records[:1], records[1:] = b"\n", usual
            own = _toggles(records[1:], file)
        return Piece(text, own, odd)

    header, above = file.has_header and not begin, 0 if begin else file.skipped
    stream.go_to(begin)
    decoder = None
    if not is_utf8(file.format.encoding):
        decoder = codecs.getincrementaldecoder(file.format.encoding)("surrogateescape")
    elif not begin and stream.start.startswith(codecs.BOM_UTF8):
        begin = len(codecs.BOM_UTF8)
        stream.go_to(begin)
    text = pa.py_buffer(b"\n")
    while (longer := _longer(text, stream, decoder, size)) is not None:
        text = longer
        records = memoryview(text).cast("B")[1:]
        if above:
            cut, above = _below(records, above)
            begin, text, records = begin + cut, text.slice(cut), records[cut:]
        toggles = _toggles(records, file)
        end = _last_end(records, toggles)
        first = _header_end(records, toggles) if header else 0
        if end and not (header and not first):
            if end > first:
                yield piece(text, first, end, toggles)
            header = False
        elif header:
            end = 0
        text, begin = text.slice(end), begin + end
        if text.size > LONGEST_RECORD:
            raise OpenRecordError
    toggles = _toggles(memoryview(text).cast("B")[1:], file)
    if len(toggles) % 2:
        raise OpenRecordError
    if text.size > 1 and not header and not above:
        yield piece(text, 0, text.size - 1, toggles)


def _longer(
    text: pa.Buffer, stream: ByteStream, decoder: codecs.IncrementalDecoder | None, size: int
) -> pa.Buffer | None:
    """Return a text with about so many bytes behind it; None at the end."""
    size, more = max(size, text.size), ""
    if decoder is not None:
        while not more and (part := stream.read(size)):
            more = decoder.decode(part)
        more = more or decoder.decode(b"", final=True)
    decoded = more.encode("utf8", "surrogatepass")
    longer = pa.allocate_buffer(text.size + (size if decoder is None else len(decoded)))
    memory = memoryview(longer).cast("B")
    memory[: text.size] = memoryview(text).cast("B")
    behind = memory[text.size :]
    if decoder is None:
        size = stream.fill(behind)
    else:
        behind[:], size = decoded, len(decoded)
    return longer.slice(0, text.size + size) if size else None


def usual_blanks(text: bytes, separator: str, quote: str | None) -> bytes:
    r"""Return lines with one blank at most between fields, and none before a quote.

    Parameters
    ----------
    text : bytes
        Whole records in UTF-8.
    separator : str
        A blank, or what has blanks behind it.
    quote : str or None
        Encloses fields, which are left as they are.

    Examples
    --------
    >>> usual_blanks(b'  1   a\n 20  "b  c" \n', " ", '"')
    b'1 a\n20 "b  c"\n'
    >>> usual_blanks(b'1,  "a,  b"\n', ",", '"')
    b'1,"a,  b"\n'
    """
    patterns = []
    if separator == BLANK:
        text = blanks_for_tabs(text.decode("utf-8", "surrogateescape"), quote).encode(
            "utf-8", "surrogateescape"
        )
        # At the ends of a line, after another.
        patterns = [r"(?<![^\r\n]) +| +(?![^\r\n])|(?<= ) +"]
    if quote is not None and quote.encode() in text:
        q, d = re.escape(quote), re.escape(separator)
        patterns.insert(0, rf"(?<![^{d}\r\n])(?: *)(?P<field>{q}(?>(?:[^{q}]|{q}{q})*){q})")
    if not patterns:
        return text
    needless = re.compile("|".join(patterns).encode())
    return needless.sub(lambda match: match.groupdict(b"").get("field", b""), text)


def _below(text: memoryview, count: int) -> tuple[int, int]:
    """Return where the text below so many lines begins, and how many of them are still to come."""
    end = 0
    for match in islice(_LINE_END.finditer(text), count):
        end, count = match.end(), count - 1
    return (end if not count else len(text)), count


def _toggles(text: memoryview, file: TextFile) -> Places:
    """Return the positions of the quotes that open or close a field; text begins outside one."""
    quote, separator = file.format.quote, file.grammar.separator
    codes, mark = np.frombuffer(text, np.uint8), ord(quote or "\0")
    quotes = np.flatnonzero(codes == mark)
    if quote is None or not len(quotes):
        return np.empty(0, np.int64)
    before = codes[quotes - 1]
    if quotes[0] == 0:
        before[0] = _LF
    if file.format.strip and separator != BLANK:
        for place in np.flatnonzero(before == ord(BLANK)).tolist():
            last = quotes[place] - 1
            while last >= 0 and text[last] == ord(BLANK):
                last -= 1
            before[place] = text[last] if last >= 0 else _LF
    # Every other quote opens a field, or doubles the one before it: then all of them toggle.
    expected = np.zeros(256, np.bool_)
    expected[[mark, *_between(separator), _LF, _CR]] = True
    if expected[before[::2]].all():
        return quotes
    return np.array(_walk(quotes.tolist(), before.tolist(), mark, _between(separator)), np.int64)


def _between(separator: str) -> bytes:
    return (BLANKS if separator == BLANK else separator).encode()


def _walk(quotes: list[int], before: list[int], mark: int, separators: bytes) -> list[int]:
    """Pick the toggles one by one, where ordinary quotes are among them."""
    toggles: list[int] = []
    inside, last = False, -1
    for at, code in zip(quotes, before, strict=True):
        if inside or code in separators or code in (_LF, _CR) or (code == mark and last == at - 1):
            toggles.append(at)
            inside, last = not inside, at
    return toggles


def _last_end(text: memoryview, toggles: Places) -> int:
    """Return where the last whole record ends, line end included; 0 if there is none."""
    for start in (max(0, len(text) - _WINDOW_BYTES), 0):
        outside = _ends(text, toggles, start)
        if len(outside):
            return int(outside[-1]) + 1
    return 0


def _ends(text: memoryview, toggles: Places, start: int = 0) -> Places:
    tail = np.frombuffer(text, np.uint8)[start:]
    ends = np.flatnonzero((tail == _LF) | (tail == _CR)) + start
    return ends[np.searchsorted(toggles, ends) % 2 == 0] if len(toggles) else ends


def end_of_row(piece: Piece, row: int, rows: int) -> int | None:
    """Return where a row of a piece of so many ends, if all rows are lines that end alike."""
    ends = _ends(piece.records, piece.toggles)
    return int(ends[row]) + 1 if len(ends) == rows else None


def _header_end(text: memoryview, toggles: Places) -> int:
    """Return where the first row ends, line end included; 0 if it does not."""
    begin = 0
    for match in _LINE_END.finditer(text):
        if np.searchsorted(toggles, match.start()) % 2:
            continue
        if bytes(text[begin : match.start()]).strip(b" "):
            return match.end()
        begin = match.end()
    return 0


def _goes_on(text: memoryview, toggles: Places, file: TextFile) -> bool:
    """Return whether text follows a closing quote, if that matters."""
    if not (file.careful and len(toggles)):
        return False
    codes = np.frombuffer(text, np.uint8)
    known = np.zeros(256, np.bool_)
    known[
        [ord(str(file.format.quote)), ord(file.grammar.separator), _LF, _CR, *_between(BLANK)]
    ] = True
    behind = toggles[1::2] + 1
    return not known[codes[behind[behind < len(text)]]].all()


def swallows(file: TextFile, piece: Piece, rows: int) -> bool:
    """Return whether each line of a row in quotes may be a row of its own, if that matters.

    The piece is so many whole rows; there are as many lines if no row has several.
    """
    if not (file.careful and len(file.names) > 1 and len(piece.toggles)):
        return False
    text = bytes(piece.records)
    is_break = np.frombuffer(text, np.uint8) == _LF
    lines = np.count_nonzero(is_break) + (not text.endswith(b"\n"))
    if rows == lines and (b"\r" not in text or text.count(b"\r") == text.count(b"\r\n")):
        return False
    breaks = np.flatnonzero(is_break)
    inside = breaks[np.searchsorted(piece.toggles, breaks) % 2 == 1]
    if not len(inside):
        return False
    ends = np.concatenate([[-1], _ends(piece.records, piece.toggles), [len(text)]])
    places = np.unique(np.searchsorted(ends, inside))
    mark, width = file.grammar.separator.encode(), len(file.names)
    broken = (text[ends[row - 1] + 1 : ends[row]].split(b"\n") for row in places.tolist())
    return any(all(line.count(mark) == width - 1 for line in lines) for lines in broken)
