"""Delimited text cut into pieces of whole records, each of which can be parsed on its own.

Only quotes that open or close a field decide where a record ends; call them toggles. A line end
ends a record if an even number of toggles stands before it. A doubled quote toggles twice.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from suffice.data.text.records import (
    BLANK,
    BLANKS,
    LONGEST_RECORD,
    OpenRecordError,
    TextFile,
    is_packed,
    is_utf8,
    open_bytes,
)
from suffice.data.version import readable

BEGINNING = 1 << 18  # bytes that can be looked at before
_PIECE_BYTES = 1 << 22
_WINDOW_BYTES = 1 << 14
_LF, _CR = b"\n\r"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class ByteStream:
    """The bytes of a file, decompressed, the first of which can be looked at before."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.compressed = file, is_packed(file)
        parts, size = [], 0
        while size < BEGINNING and (part := file.read(BEGINNING - size)):
            parts.append(part)
            size += len(part)
        self.start = self._rest = b"".join(parts)

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end."""
        part, self._rest = self._rest[:size], self._rest[size:]
        return part if len(part) == size else part + self.file.read(size - len(part))

    def pass_over(self, mark: bytes) -> None:
        self._rest = self._rest.removeprefix(mark)


@contextmanager
def opened(file: TextFile) -> Iterator[ByteStream]:
    """Open a file for reading, once."""
    with readable(file.path, file.version), open_bytes(file.path) as stream:
        yield ByteStream(stream)


def pieces(file: TextFile, stream: ByteStream) -> Iterator[tuple[bytes, bool]]:
    """Yield the rows of a file in UTF-8, without the header, in pieces of whole records.

    Bytes that do not decode are left in, and invalid in the pieces too. Where blanks separate
    fields, there is one between two of them. Beside each piece stands whether text follows a
    closing quote in it, so that it has to be read with care.

    Raises
    ------
    ReadError
        If the file cannot be read.
    OpenRecordError
        If a quote never closes, or a record is longer than ``LONGEST_RECORD``.
    """
    lines: Any = bytes
    if file.separator == BLANK or (file.format.strip and file.format.quote):
        lines = partial(usual_blanks, separator=file.separator, quote=file.format.quote)
    read, rest, header = _utf8(file, stream), b"", file.has_header
    above = file.skipped
    while chunk := read(max(_PIECE_BYTES, len(rest))):
        text = rest + chunk
        if above:
            text, above = _without_lines(text, above)
        toggles = _toggles(text, file)
        end = _last_end(text, toggles)
        begin = _header_end(text, toggles) if header else 0
        if end and not (header and not begin):
            if end > begin:
                yield lines(text[begin:end]), _goes_on(text, toggles, file)
            header = False
        elif header:
            end = 0
        rest = text[end:]
        if len(rest) > LONGEST_RECORD:
            raise OpenRecordError
    toggles = _toggles(rest, file)
    if len(toggles) % 2:
        raise OpenRecordError
    if rest and not header and not above:
        yield lines(rest), _goes_on(rest, toggles, file)


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
    needless = r"(?<![^\r\n]) +| +(?![^\r\n])|(?<= ) +"  # at the ends of a line, after another
    if quote is None or quote.encode() not in text:
        return (
            re.sub(needless.encode(), b"", text.replace(b"\t", b" "))
            if separator == BLANK
            else text
        )
    q, d = re.escape(quote), BLANKS if separator == BLANK else re.escape(separator)
    enclosed = rf"(?<![^{d}\r\n])(?: *)({q}(?>(?:[^{q}]|{q}{q})*){q})"
    if separator == BLANK and b"\t" in text:
        text = re.sub(f"{enclosed}|\t".encode(), lambda match: match[1] or b" ", text)
    pattern = f"{enclosed}|{needless}" if separator == BLANK else enclosed
    return re.sub(pattern.encode(), lambda match: match[1] or b"", text)


def _utf8(file: TextFile, stream: ByteStream) -> Callable[[int], bytes]:
    """Return a function that reads about so many bytes as UTF-8, without a byte order mark."""
    if is_utf8(file.format.encoding):
        stream.pass_over(codecs.BOM_UTF8)
        return stream.read
    decoder = codecs.getincrementaldecoder(file.format.encoding)("surrogateescape")

    def read(size: int) -> bytes:
        while part := stream.read(size):
            if text := decoder.decode(part):
                return text.encode("utf8", "surrogatepass")
        return decoder.decode(b"", final=True).encode("utf8", "surrogatepass")

    return read


def _without_lines(text: bytes, count: int) -> tuple[bytes, int]:
    """Return a text below so many lines, and how many of them are still to come."""
    end = 0
    for match in islice(_LINE_END.finditer(text), count):
        end, count = match.end(), count - 1
    return (text[end:], 0) if not count else (b"", count)


def _toggles(text: bytes, file: TextFile) -> npt.NDArray[np.int64]:
    """Return the positions of the quotes that open or close a field; text begins outside one."""
    quote, separator = file.format.quote, file.separator
    if quote is None or quote.encode() not in text:
        return np.empty(0, np.int64)
    codes, mark = np.frombuffer(text, np.uint8), ord(quote)
    quotes = np.flatnonzero(codes == mark)
    before = codes[quotes - 1]
    if quotes[0] == 0:
        before[0] = _LF
    if file.format.strip and separator != BLANK:
        for place in np.flatnonzero(before == ord(BLANK)).tolist():
            last = text[: quotes[place]].rstrip(b" ")[-1:]
            before[place] = last[0] if last else _LF
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


def _last_end(text: bytes, toggles: npt.NDArray[np.int64]) -> int:
    """Return where the last whole record ends, line end included; 0 if there is none."""
    if not len(toggles):
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    for start in (max(0, len(text) - _WINDOW_BYTES), 0):
        outside = _ends(text, toggles, start)
        if len(outside):
            return int(outside[-1]) + 1
    return 0


def _ends(text: bytes, toggles: npt.NDArray[np.int64], start: int = 0) -> npt.NDArray[np.int64]:
    """Return the positions of line ends outside quotes."""
    tail = np.frombuffer(text, np.uint8)[start:]
    ends = np.flatnonzero((tail == _LF) | (tail == _CR)) + start
    outside: npt.NDArray[np.int64] = ends[np.searchsorted(toggles, ends) % 2 == 0]
    return outside


def _header_end(text: bytes, toggles: npt.NDArray[np.int64]) -> int:
    """Return where the first row ends, line end included; 0 if it does not."""
    begin = 0
    for match in _LINE_END.finditer(text):
        if np.searchsorted(toggles, match.start()) % 2:
            continue
        if text[begin : match.start()].strip(b" "):
            return match.end()
        begin = match.end()
    return 0


def _goes_on(text: bytes, toggles: npt.NDArray[np.int64], file: TextFile) -> bool:
    """Return whether text follows a closing quote, if that matters."""
    if not (file.careful and len(toggles)):
        return False
    codes = np.frombuffer(text, np.uint8)
    known = np.zeros(256, np.bool_)
    known[[ord(str(file.format.quote)), ord(file.separator), _LF, _CR, *_between(BLANK)]] = True
    behind = toggles[1::2] + 1
    return not known[codes[behind[behind < len(text)]]].all()


def swallows(file: TextFile, text: bytes, rows: int) -> bool:
    """Return whether each line of a row in quotes may be a row of its own, if that matters.

    The text is so many whole rows; there are as many lines if no row has several.
    """
    quote = file.format.quote
    if not file.careful or quote is None or quote.encode() not in text or len(file.names) < 2:
        return False
    is_break = np.frombuffer(text, np.uint8) == _LF
    lines = np.count_nonzero(is_break) + (not text.endswith(b"\n"))
    if rows == lines and (b"\r" not in text or text.count(b"\r") == text.count(b"\r\n")):
        return False
    toggles, breaks = _toggles(text, file), np.flatnonzero(is_break)
    inside = breaks[np.searchsorted(toggles, breaks) % 2 == 1]
    if not len(inside):
        return False
    ends = np.concatenate([[-1], _ends(text, toggles), [len(text)]])
    places = np.unique(np.searchsorted(ends, inside))
    mark, width = file.separator.encode(), len(file.names)
    records = (text[ends[row - 1] + 1 : ends[row]].split(b"\n") for row in places.tolist())
    return any(all(line.count(mark) == width - 1 for line in lines) for lines in records)
