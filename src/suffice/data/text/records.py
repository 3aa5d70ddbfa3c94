"""The slow, exact walk over delimited text, and the sentences about what it finds.

The grammar: a field that begins with the quote character extends to the next one that is not
doubled, over line ends if need be; elsewhere a quote is an ordinary character. Lines end with
LF, CRLF or CR. Empty lines are no rows. If blanks separate fields, several are as one, tabs among
them, and those at the ends of a record separate nothing.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import reprlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from suffice.data.text_format import TextFormat
from suffice.data.version import FileVersion, readable
from suffice.errors import ReadError

BLANK, BLANKS = " ", " \t"
LONGEST_RECORD = 1 << 28
"""Characters of a row from which on its quote counts as never closed."""

_LINES_SHOWN = 10
_LEAVE_OUT = "leave up to ten such rows out with skip_bad_rows=10"
_QUOTES = "double the quotes within a field, or use quote=None where they are ordinary characters"
# Surrogates, which the scan decodes undecodable bytes to.
_UNDECODED = re.compile("[\udc80-\udcff]")
_LINE_END = re.compile("\r\n|\n|\r")
# A field is as long as a record may be. The limit is one of the process: it is never lowered.
csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD))


# Bytes and characters ---------------------------------------------------------------------------


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed where its first bytes are those of a compression.

    Gzip is also known by its suffix, so that a broken file is named as such.
    """
    file = path.open("rb")
    unpack = unpacking(file.read(16), path)
    file.seek(0)
    if unpack is None:
        return file
    file.close()
    packed: IO[bytes] = unpack(path)
    return packed


def unpacking(start: bytes, path: Path) -> Callable[[Path], Any] | None:
    """Return the function that opens a file decompressed, by its first bytes; None if it is not."""
    for begin, unpack in _COMPRESSIONS:
        if re.match(begin, start):
            return unpack
    return gzip.GzipFile if path.suffix.lower() == ".gz" else None


def _by_arrow(path: Path, compression: str) -> io.BufferedReader:
    return io.BufferedReader(pa.input_stream(str(path), compression=compression))


_COMPRESSIONS: tuple[tuple[bytes, Callable[[Path], Any]], ...] = (
    (rb"\x1f\x8b", gzip.GzipFile),
    (rb"BZh[1-9]1AY&SY", bz2.BZ2File),
    (rb"\xfd7zXZ\0", lzma.LZMAFile),
    (rb"\x28\xb5\x2f\xfd", partial(_by_arrow, compression="zstd")),
    (rb"\x04\x22\x4d\x18", partial(_by_arrow, compression="lz4")),
)
_SUFFIXES = re.compile(r"\.(gz|bz2|xz|zst|lz4)$", re.IGNORECASE)


def unpacked_name(name: str) -> str:
    """Return the name of a file without the suffix of a compression."""
    return _SUFFIXES.sub("", name)


def _open_text(path: Path, encoding: str) -> IO[str]:
    """Open a file as text, line ends as written; surrogates stand for undecodable bytes."""
    known = "utf-8-sig" if is_utf8(encoding) else encoding
    return io.TextIOWrapper(open_bytes(path), known, errors="surrogateescape", newline="")


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding is UTF-8 under one of its names."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def undecoded(text: str) -> bool:
    """Return whether a text has bytes that its encoding does not know."""
    return not text.isascii() and _UNDECODED.search(text) is not None


# Records ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A row as written: the line where it begins, how many lines it covers, and its fields."""

    line: int
    lines: int
    text: str
    fields: list[str]
    behind: bool = False  # whether text follows a closing quote


class OpenRecordError(Exception):
    """A record does not end: a quote never closes."""


@dataclass(frozen=True)
class Grammar:
    """Cuts text into fields exactly as pyarrow does; stripped, a quote behind blanks opens one."""

    separator: str
    quote: str | None
    strip: bool = False

    def records(self, lines: Iterable[str], first: int = 1) -> Generator[Record]:
        """Gather lines into records; raise OpenRecordError where a quote never closes."""
        pending: list[str] = []
        is_open, blank = False, self.separator == BLANK

        def following() -> Iterator[str]:
            nonlocal is_open
            size = 0
            for line in lines:
                opened = (self.quote or "") if pending else ""  # by a line above
                size = size + len(line) if pending else len(line)
                pending.append(line)
                yield blanks_for_tabs(opened + line, self.quote)[len(opened) :] if blank else line
                if size >= LONGEST_RECORD:
                    break
            is_open = bool(pending)  # more is asked for

        reader = csv.reader(
            following(),
            delimiter=self.separator,
            quotechar=self.quote,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=blank or self.strip,
        )
        for fields in reader:
            if is_open:
                above = "".join(fields[:-1])
                raise OpenRecordError(first + len(_LINE_END.findall(above)))
            text = "".join(pending).rstrip("\r\n")
            if blank:
                fields = fields[:-1] if text.endswith((BLANK, "\t")) else fields
                text = text.strip(BLANKS)
            if text:
                behind = self.quote in text and not self._is_closed(text) if self.quote else False
                yield Record(first, len(pending), text, fields, behind)
            first += len(pending)
            pending.clear()

    def _is_closed(self, text: str) -> bool:
        """Return whether nothing but blanks is behind the quotes that close fields."""
        d, q, lead = re.escape(self.separator), self.quote, " *" if self.strip else ""
        enclosed = rf"{lead}{q}(?>(?:[^{q}]|{q}{q})*){q}(?:(?!{d})\s)*"
        other = f"(?!{lead}{q})[^{d}]*"
        return re.fullmatch(f"(?>(?:(?:{enclosed}|{other})(?:{d}|$))*)", text) is not None


def blanks_for_tabs(text: str, quote: str | None) -> str:
    r"""Return a text of the same length that has blanks for tabs, but in quoted fields.

    Examples
    --------
    >>> blanks_for_tabs('a\t"b\tc"', '"')
    'a "b\tc"'
    """
    if "\t" not in text or quote is None or quote not in text:
        return text.replace("\t", BLANK)
    q = re.escape(quote)
    field = rf"(?<![^{BLANKS}\r\n]){q}(?>(?:[^{q}]|{q}{q})*){q}?"
    return re.sub(rf"({field})|\t", lambda found: found[1] or BLANK, text)


# Files ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextFile:
    r"""The place and the format of delimited text."""

    path: Path  # the file; what is compressed is decompressed
    version: FileVersion | None  # the only version of the file that may be read
    format: TextFormat  # how it is written, with nothing left open
    grammar: Grammar  # cuts its lines into fields
    names: tuple[str, ...]
    skipped: int  # lines above the header
    has_header: bool
    careful: bool  # whether a row that a quote may have swallowed is refused

    def scan(self) -> Generator[Record, None, None]:
        """Walk through the file slowly, malformed rows included, the header not."""
        try:
            with (
                readable(self.path, self.version),
                _open_text(self.path, self.format.encoding) as lines,
            ):
                below = islice(lines, self.skipped, None)
                records = self.grammar.records(below, self.skipped + 1)
                yield from islice(records, int(self.has_header), None)
        except OpenRecordError as error:
            raise ReadError(
                f"line {error} of {self.path.name}: the quote {self.format.quote} that opens here "
                "never closes",
                "everything after it would be lost",
                "close the quote, or use quote=None where quotes are ordinary characters",
            ) from None

    def malformed(self, record: Record) -> ReadError | None:
        """Say what is wrong with a row, if anything is."""
        if self.careful and record.behind:
            return ReadError(
                f"{self.at(record)}: text follows the quote {self.format.quote} that closes a "
                f"field, in {reprlib.repr(record.text)}",
                "a quote may have lost its meaning, and rows with it",
                _QUOTES,
            )
        if len(record.fields) != len(self.names):
            return self._ragged(record)
        if self.careful and record.lines > 1 and self._swallows(record):
            return ReadError(
                f"{self.at(record)}: a quoted field covers {record.lines} lines, each of which "
                f"has {_fields(len(self.names))} of its own",
                "a stray quote would swallow rows",
                f"{_QUOTES}; quote={self.format.quote!r} reads it as one row",
            )
        if undecoded(record.text):
            for name, field in zip(self.names, record.fields, strict=True):
                if undecoded(field):
                    return self.undecodable(record.line, f"column {name!r}", field)
        return None

    def _swallows(self, record: Record) -> bool:
        width = len(self.names)
        lines = record.text.splitlines()
        return width > 1 and all(line.count(self.grammar.separator) == width - 1 for line in lines)

    def whole(self) -> Iterator[Record]:
        return (record for record in self.scan() if self.malformed(record) is None)

    def explain(self) -> ReadError:
        """Walk up to the row that makes the file unreadable, and say what is wrong with it."""
        lines = 0
        try:
            for record in self.scan():
                problem = self.malformed(record)
                lines += 0 if problem is None else record.lines
                if problem is not None and lines > self.format.skip_bad_rows:
                    return problem
        except ReadError as error:
            return error
        return ReadError(
            f"{self.path.name} cannot be read",
            f"a row is longer than {LONGEST_RECORD:,} bytes, or the file was changed meanwhile",
            "check the separator and the quotes, and read it again",
        )

    def left_out(self, lines: int) -> str:
        """Say how many malformed lines were left out, and name the first rows."""
        bad = (record for record in self.scan() if self.malformed(record) is not None)
        shown = ", ".join(str(record.line) for record in islice(bad, _LINES_SHOWN))
        return (
            f"{self.path.name}: {lines} malformed line"
            f"{' was' if lines == 1 else 's were'} left out, as skip_bad_rows="
            f"{self.format.skip_bad_rows!r} allows; rows that begin on line {shown}"
            f"{', ...' if lines > _LINES_SHOWN else ''}."
        )

    def locate(self, row: int) -> str:
        """Name the line where row `row`, counted from 0 without header and malformed rows, is."""
        found = next(islice(self.whole(), row, None), None)
        return f"row {row + 1} of {self.path.name}" if found is None else self.at(found)

    def at(self, record: Record) -> str:
        return f"line {record.line} of {self.path.name}"

    def _ragged(self, record: Record) -> ReadError:
        last = record.line + record.lines - 1
        span = "" if record.lines == 1 else f", some in quotes, up to line {last}"
        behind = f"{self.grammar.separator} {self.format.quote}"
        return ReadError(
            f"{self.at(record)}: {_fields(len(record.fields))}{span}, where the table has "
            f"{len(self.names)} columns",
            "every row must have one field per column",
            "a blank stands before a quote, which opens a field with strip=True"
            if not self.format.strip and behind in self.grammar.separator + record.text
            else f"correct the row, or {_LEAVE_OUT}",
        )

    def undecodable(self, line: int, column: str, field: str) -> ReadError:
        """Return the error of a byte that the encoding does not know."""
        before = _UNDECODED.split(field, maxsplit=1)[0]
        declared = self.format.encoding
        example = ', for example encoding="cp1252"' if is_utf8(declared) else " with encoding=..."
        byte, after = ord(field[len(before)]) - 0xDC00, reprlib.repr(before)
        return ReadError(
            f"line {line} of {self.path.name}, {column}: byte 0x{byte:02x} after {after} is not "
            f"{declared}",
            "text must be written in the declared encoding",
            f"declare its own{example}, or {_LEAVE_OUT}",
        )


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
