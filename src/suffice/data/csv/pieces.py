"""Delimited text cut into pieces of whole records, each of which can be parsed on its own.

Only quotes that open or close a field decide where a record ends; call them toggles. A line end
ends a record if an even number of toggles stands before it. A doubled quote toggles twice.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt

from suffice.data.csv.blanks import BLANK, single_blanks
from suffice.data.csv.records import (
    LONGEST_RECORD,
    CsvFile,
    OpenRecordError,
    is_utf8,
    open_bytes,
    open_text,
)
from suffice.data.files.version import readable

__all__ = ["pieces"]

_PIECE_BYTES = 1 << 22
_WINDOW_BYTES = 1 << 14
_LF, _CR = b"\n\r"


def pieces(file: CsvFile) -> Iterator[bytes]:
    """Yield a file in UTF-8, in pieces that begin and end where records do.

    Bytes that do not decode are left in, and invalid in the pieces too. Where blanks separate
    fields, there is one between two of them.

    Raises
    ------
    ReadError
        If the file cannot be read.
    OpenRecordError
        If a quote never closes, or a record is longer than ``LONGEST_RECORD``.
    """
    quote = file.format.quote
    lines = partial(single_blanks, quote=quote) if file.separator == BLANK else bytes
    with readable(file.path, file.version), _utf8(file) as read:
        rest = read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        while chunk := read(max(_PIECE_BYTES, len(rest))):
            text = rest + chunk
            toggles = _toggles(text, file.separator, quote)
            end = _last_end(text, toggles)
            if end:
                yield lines(text[:end])
            rest = text[end:]
            if len(rest) > LONGEST_RECORD:
                raise OpenRecordError
    if len(_toggles(rest, file.separator, quote)) % 2:
        raise OpenRecordError
    if rest:
        yield lines(rest)


@contextmanager
def _utf8(file: CsvFile) -> Iterator[Callable[[int], bytes]]:
    """Open a file for reading so many bytes, or characters, as UTF-8."""
    encoding = file.format.encoding
    if is_utf8(encoding):
        with open_bytes(file.path) as stream:
            yield stream.read
    else:
        with open_text(file.path, encoding) as text:
            yield lambda size: text.read(size).encode("utf8", "surrogatepass")


def _toggles(text: bytes, separator: str, quote: str | None) -> npt.NDArray[np.int64]:
    """Return the positions of the quotes that open or close a field; text begins outside one."""
    if quote is None or quote.encode() not in text:
        return np.empty(0, np.int64)
    codes, mark = np.frombuffer(text, np.uint8), ord(quote)
    quotes = np.flatnonzero(codes == mark)
    before = codes[quotes - 1]
    if quotes[0] == 0:
        before[0] = _LF
    # Every other quote opens a field, or doubles the one before it: then all of them toggle.
    expected = np.zeros(256, np.bool_)
    expected[[mark, ord(separator), _LF, _CR]] = True
    if expected[before[::2]].all():
        return quotes
    return np.array(_walk(quotes.tolist(), before.tolist(), mark, ord(separator)), np.int64)


def _walk(quotes: list[int], before: list[int], mark: int, separator: int) -> list[int]:
    """Pick the toggles one by one, where ordinary quotes are among them."""
    toggles: list[int] = []
    inside, last = False, -1
    for at, code in zip(quotes, before, strict=True):
        if inside or code in (separator, _LF, _CR) or (code == mark and last == at - 1):
            toggles.append(at)
            inside, last = not inside, at
    return toggles


def _last_end(text: bytes, toggles: npt.NDArray[np.int64]) -> int:
    """Return where the last whole record ends, line end included; 0 if there is none."""
    if not len(toggles):
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    codes = np.frombuffer(text, np.uint8)
    for start in (max(0, len(text) - _WINDOW_BYTES), 0):
        tail = codes[start:]
        ends = np.flatnonzero((tail == _LF) | (tail == _CR)) + start
        outside = ends[np.searchsorted(toggles, ends) % 2 == 0]
        if len(outside):
            return int(outside[-1]) + 1
    return 0
