"""The slow, exact walk over delimited text, and the sentences about what it finds.

The grammar: a field that begins with the quote character extends to the next one that is not
doubled, over line ends if need be; elsewhere a quote is an ordinary character. Lines end with
LF, CRLF or CR. Empty lines are no rows. If blanks separate fields, several are as one, and those at
the ends of a record separate nothing.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import reprlib
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, cast

from suffice.data.csv.blanks import BLANK
from suffice.data.csv.format import CsvFormat
from suffice.data.files.version import FileVersion, readable
from suffice.errors import ReadError

__all__ = [
    "LONGEST_RECORD",
    "CsvFile",
    "Grammar",
    "OpenRecordError",
    "Record",
    "is_gzip",
    "is_utf8",
    "open_bytes",
    "open_text",
    "undecoded",
    "usual_separator",
]

LONGEST_RECORD = 1 << 28
"""How long a row may get before its quote counts as never closed."""

_GZIP = b"\x1f\x8b"
_LINES_SHOWN = 10
_LEAVE_OUT = "leave up to ten such rows out with skip_bad_rows=10"
# Surrogates, which the scan decodes undecodable bytes to.
_UNDECODED = re.compile("[\udc80-\udcff]")


# Bytes and characters ---------------------------------------------------------------------------


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed where its name ends in ``.gz`` or its bytes are those of gzip."""
    if is_gzip(path):
        return cast(IO[bytes], gzip.open(path))
    return path.open("rb")


def is_gzip(path: Path) -> bool:
    """Tell whether a file is compressed, by its name or its bytes."""
    with path.open("rb") as file:
        return path.suffix.lower() == ".gz" or file.read(2) == _GZIP


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a file as text, line ends as written; surrogates stand for undecodable bytes."""
    known = "utf-8-sig" if is_utf8(encoding) else encoding
    return io.TextIOWrapper(open_bytes(path), known, errors="surrogateescape", newline="")


def is_utf8(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8 under one of its names."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def undecoded(text: str) -> bool:
    """Tell whether a text has bytes that its encoding does not know."""
    return not text.isascii() and _UNDECODED.search(text) is not None


# Records ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A row as written: the line where it begins, how many lines it covers, and its fields."""

    line: int
    lines: int
    text: str
    fields: list[str]


class OpenRecordError(Exception):
    """A record does not end: a quote never closes."""


class Grammar:
    """Cuts text into fields exactly as pyarrow does."""

    def __init__(self, separator: str, quote: str | None) -> None:
        self.separator, self.quote = separator, quote
        d, q = re.escape(separator), re.escape(quote or "\0")
        # Repeated groups are atomic, not possessive: of those, Python 3.11.0 to 3.11.4 match less.
        inner = f"(?>[^{q}]*+(?:{q}{q}[^{q}]*+)*)"
        end = f"{d}++" if separator == BLANK else d
        self._field = re.compile(f"(?:{q}({inner}){q})?([^{d}]*){end}")
        self._whole = re.compile(f"(?>(?:(?:{q}{inner}{q}|(?!{q}))[^{d}]*+{end})*)")
        self._quoted = re.compile(f"{q}{inner}{q}")
        self._closing = re.compile(f"{inner}{q}(?>(?:[^{d}]*+{end})?)")

    def records(self, lines: Iterable[str]) -> Generator[Record, None, None]:
        """Gather lines into records; raise OpenRecordError where a quote never closes."""
        pending: list[str] = []
        inside, opened, begun, size = False, 0, 1, 0
        for number, line in enumerate(lines, start=1):
            pending.append(line)
            size += len(line)
            if self.quote is not None and self.quote in line:
                start = self._close(line) if inside else 0
                if start is not None:
                    inside, opened = self._opens(line, start), number
            if inside and size < LONGEST_RECORD:
                continue
            if inside:
                break
            text = "".join(pending).rstrip("\r\n")
            if self.separator == BLANK:
                text = text.strip(BLANK)
            if text:
                yield Record(begun, len(pending), text, self._fields(text))
            pending.clear()
            begun, size = number + 1, 0
        if inside:
            raise OpenRecordError(opened)

    def _fields(self, text: str) -> list[str]:
        """Cut a whole record."""
        quote = self.quote
        if quote is None or quote not in text:
            fields = text.split(self.separator)
            return list(filter(None, fields)) if self.separator == BLANK else fields
        return [
            (match[1] or "").replace(quote * 2, quote) + match[2]
            for match in self._field.finditer(text + self.separator)
        ]

    def _opens(self, line: str, start: int) -> bool:
        """Tell whether a quote that opens in a line is still open where the line ends."""
        whole = self._whole.match(line, start)
        rest = whole.end() if whole else start
        return line.startswith(self.quote or "\n", rest) and not self._quoted.match(line, rest)

    def _close(self, line: str) -> int | None:
        """Return where the field after an open quote begins, or None while it stays open."""
        match = self._closing.match(line)
        if match is None:
            return None
        return match.end() if match[0].endswith(self.separator) else len(line)


# Files ------------------------------------------------------------------------------------------


def usual_separator(path: Path) -> str:
    """What files with this suffix have between fields."""
    return "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","


@dataclass(frozen=True)
class CsvFile:
    r"""Where delimited text is and how it is written.

    Examples
    --------
    >>> CsvFile(Path("spam.tsv.gz"), CsvFormat()).separator
    '\t'
    """

    path: Path  # the file; a name that ends in ``.gz`` is decompressed
    format: CsvFormat  # how it is written
    version: FileVersion | None = None  # the only version of the file that may be read

    @property
    def separator(self) -> str:
        """The character between fields, by suffix where none is declared."""
        return self.format.separator or usual_separator(self.path)

    @property
    def has_header(self) -> bool:
        """Whether the first row holds the column names; so it is where nothing else was found."""
        return self.format.header is not False

    @property
    def grammar(self) -> Grammar:
        """What cuts the text into fields."""
        return Grammar(self.separator, self.format.quote)

    def scan(self) -> Generator[Record, None, None]:
        """Walk through the file slowly, malformed rows and header included.

        Raises
        ------
        ReadError
            If the file cannot be read, or a quote never closes.
        """
        try:
            with (
                readable(self.path, self.version),
                open_text(self.path, self.format.encoding) as lines,
            ):
                yield from self.grammar.records(lines)
        except OpenRecordError as error:
            raise ReadError(
                f"line {error} of {self.path.name}: the quote {self.format.quote} that opens here "
                "never closes",
                "everything after it would be lost",
                "close the quote, or use quote=None where quotes are ordinary characters",
            ) from None

    # Names

    def names(self) -> tuple[str, ...]:
        """Return the column names: declared, in the header, or numbered.

        Raises
        ------
        ReadError
            If the file is empty, or its names are unusable or not as many as its columns.
        """
        self._refuse_utf16()
        with closing(self.scan()) as records:
            first = next(records, None)
        if first is None:
            rule = "a table has at least a header or one row"
            raise ReadError(f"{self.path.name} is empty", rule, "check how it was written")
        if self.format.names is not None:
            return self._declared(first, tuple(self.format.names))
        if self.has_header:
            return self._header(first)
        return tuple(f"column_{i}" for i in range(1, len(first.fields) + 1))

    def _refuse_utf16(self) -> None:
        with readable(self.path), open_bytes(self.path) as file:
            mark = file.read(2)
        if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and is_utf8(self.format.encoding):
            raise self._utf16()

    def _utf16(self) -> ReadError:
        return ReadError(
            f"{self.path.name} is written in UTF-16",
            f"it is read as {self.format.encoding}",
            'use encoding="utf-16"',
        )

    def _declared(self, first: Record, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) != len(first.fields):
            raise ReadError(
                (
                    f"{self._at(first)}: {_fields(len(first.fields))}, where names=... "
                    f"holds {len(names)}"
                ),
                "there must be one name per column",
                "correct the names or the separator",
            )
        return names

    def _header(self, first: Record) -> tuple[str, ...]:
        names = [name.strip() if self.format.strip else name for name in first.fields]
        for position, name in enumerate(names, start=1):
            if undecoded(name):
                raise self._undecodable(first, f"column {position}", name)
            if "\0" in name:
                raise self._utf16()
            if name in names[: position - 1]:
                raise ReadError(
                    f"{self._at(first)}: columns {names.index(name) + 1} and {position} are both "
                    f"named {name!r}",
                    "column names must be unique",
                    "correct the header, or use names=...",
                )
        return tuple(names)

    # Malformed rows

    def malformed(self, record: Record, names: Sequence[str]) -> ReadError | None:
        """Say what is wrong with a row of a table with these columns, if anything is."""
        if len(record.fields) != len(names):
            return self._ragged(record, len(names))
        if undecoded(record.text):
            for name, field in zip(names, record.fields, strict=True):
                if undecoded(field):
                    return self._undecodable(record, f"column {name!r}", field)
        return None

    def explain(self, names: Sequence[str]) -> ReadError:
        """Walk up to the row that makes the file unreadable, and say what is wrong with it."""
        lines = 0
        try:
            for record in self.scan():
                problem = self.malformed(record, names)
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

    def left_out(self, lines: int, names: Sequence[str]) -> str:
        """Say how many malformed lines were left out, and name the first rows."""
        bad = (record for record in self.scan() if self.malformed(record, names) is not None)
        shown = ", ".join(str(record.line) for record in islice(bad, _LINES_SHOWN))
        return (
            f"{self.path.name}: {lines} malformed line"
            f"{' was' if lines == 1 else 's were'} left out, as skip_bad_rows="
            f"{self.format.skip_bad_rows!r} allows; rows that begin on line {shown}"
            f"{', ...' if lines > _LINES_SHOWN else ''}."
        )

    def locate(self, row: int, names: Sequence[str]) -> str:
        """Name the line where row `row`, counted from 0 without header and malformed rows, is."""
        whole = (record for record in self.scan() if self.malformed(record, names) is None)
        found = next(islice(whole, row + self.has_header, None), None)
        return f"row {row + 1} of {self.path.name}" if found is None else self._at(found)

    def _at(self, record: Record) -> str:
        return f"line {record.line} of {self.path.name}"

    def _ragged(self, record: Record, width: int) -> ReadError:
        last = record.line + record.lines - 1
        span = "" if record.lines == 1 else f", some in quotes, up to line {last}"
        one_more = span == "" and record.line == 2 and len(record.fields) == width + 1
        return ReadError(
            f"{self._at(record)}: {_fields(len(record.fields))}{span}, where the table has "
            f"{width} columns",
            "every row must have one field per column",
            "correct the row, or name the first column in the header (in R: write.csv)"
            if one_more and self.has_header
            else f"correct the row, or {_LEAVE_OUT}",
        )

    def _undecodable(self, record: Record, column: str, field: str) -> ReadError:
        before = _UNDECODED.split(field, maxsplit=1)[0]
        byte, after = ord(field[len(before)]) - 0xDC00, reprlib.repr(before)
        return ReadError(
            f"{self._at(record)}, {column}: byte 0x{byte:02x} after {after} is not "
            f"{self.format.encoding}",
            "text must be written in the declared encoding",
            f'declare it, for example encoding="latin-1", or {_LEAVE_OUT}',
        )


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
