"""Tables in delimited text: nothing is coerced, dropped or swallowed without a word.

A file is read twice over, by two readers that follow the same grammar. pyarrow streams it fast,
every cell as text, and only then are cells stripped, matched with the missing tokens and cast.
When something is wrong, a slow scan in Python walks the file again to find the exact line.

The grammar: a field that begins with the quote character extends to the next one that is not
doubled, over line ends if need be; elsewhere a quote is an ordinary character. Lines end with
LF, CRLF or CR. Empty lines are no rows.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import reprlib
import warnings
import weakref
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from threading import Condition
from typing import IO, Any, ClassVar, Literal, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from suffice.data.table import BATCH_ROWS, first_refused, first_rows, require_columns
from suffice.errors import ParameterError, ReadError, SchemaError, SufficeWarning

__all__ = ["CsvFile", "CsvFormat", "CsvSplit", "CsvTable"]

T = TypeVar("T")

_MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")
_BLOCK_BYTES = 1 << 20
_LONGEST_RECORD = 1 << 28
_PATIENCE_SECONDS = 5.0
_LINES_SHOWN = 10
# Surrogates, which the scan decodes undecodable bytes to.
_UNDECODED = re.compile("[\udc80-\udcff]")
# A last row of our own. If pyarrow does not hand it back, an open quote has swallowed it.
_END = "\x1aend of table\x1a"


@dataclass(frozen=True, kw_only=True)
class CsvFormat:
    r"""How a delimited text file is written.

    Parameters
    ----------
    delimiter : str, optional
        One ASCII character between fields. By default a tab for ``.tsv``, else a comma.
    quote : str or None, default '"'
        Encloses fields that hold delimiters, line ends or quotes; None makes it ordinary text.
    header : bool, default True
        Whether the first row holds the column names.
    names : sequence of str, optional
        Column names, instead of those in the header. Without either, ``column_1`` and so on.
    missing : sequence of str
        Cells that stand for a missing value.
    strip : bool, default False
        Remove blanks around every field and column name.
    skip_bad_rows : int, default 0
        How many lines of malformed rows (a wrong number of fields, undecodable bytes) may be left
        out, with a warning, before they become an error.
    encoding : str, default "utf8"
        Any text encoding that Python knows.

    Raises
    ------
    ParameterError
        If an option has a value outside its rule.

    Examples
    --------
    >>> CsvFormat(delimiter=";", missing=["", "?"]).missing
    ('', '?')
    """

    delimiter: str | None = None
    quote: str | None = '"'
    header: bool = True
    names: Sequence[str] | None = None
    missing: Sequence[str] = _MISSING
    strip: bool = False
    skip_bad_rows: int = 0
    encoding: str = "utf8"

    def __post_init__(self) -> None:
        for option in ("delimiter", "quote"):
            _require_separator(option, getattr(self, option))
        if self.delimiter is not None and self.delimiter == self.quote:
            raise ParameterError(
                f"delimiter and quote are both {self.quote!r}",
                "they must differ",
                "use quote=None where fields are never quoted",
            )
        for option in ("names", "missing"):
            object.__setattr__(self, option, _strings_of(option, getattr(self, option)))
        _require_unique(self.names or ())
        _require_count(self.skip_bad_rows)
        _require_encoding(self.encoding)


def _require_separator(option: str, value: str | None) -> None:
    if value is not None and not (
        isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n"
    ):
        raise ParameterError(
            f"{option}={value!r}",
            "it must be one ASCII character that ends no line",
            'for a tab write "\\t"' if option == "delimiter" else "or None for no quoting",
        )


def _strings_of(option: str, value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None and option == "names":
        return None
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if value is None or not listed or not all(isinstance(item, str) for item in value):
        raise ParameterError(
            f"{option}={value!r}", "it must be a sequence of strings", "write a list or tuple"
        )
    return tuple(value)


def _require_unique(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(
            f"names holds {twice!r} twice", "column names must be unique", "rename one of them"
        )


def _require_count(value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(
            f"skip_bad_rows={value!r}",
            "it must be a whole number, 0 or more",
            "0 makes every malformed row an error",
        )


def _require_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, TypeError):
        raise ParameterError(
            f"encoding={encoding!r}",
            "it must be a text encoding that Python knows",
            'for example "utf8", "latin-1" or "utf-16"',
        ) from None


# Bytes and characters ---------------------------------------------------------------------------


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise ReadError(
            f"{path.name} cannot be read: {_first_line(error)}",
            "",
            "check the file or copy it again",
        ) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _open_bytes(path: Path) -> io.BufferedIOBase:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def _open_text(path: Path, encoding: str) -> IO[str]:
    # utf-8-sig drops a byte order mark; surrogates stand for bytes that do not decode.
    known = "utf-8-sig" if _is_utf8(encoding) else encoding
    file = cast(IO[bytes], _open_bytes(path))
    return io.TextIOWrapper(file, known, errors="surrogateescape", newline="")


class _Recoded(io.RawIOBase):
    """Text in another encoding as UTF-8, where undecodable bytes become invalid UTF-8."""

    def __init__(self, file: io.BufferedIOBase, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ended = False
        while not self._ready and not ended:
            encoded = self._file.read(len(buffer))
            ended = not encoded
            text = self._decoder.decode(encoded, final=ended)
            self._ready = text.encode("utf8", "surrogatepass")
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


class _Utf8Input:
    """The file that pyarrow reads: UTF-8, with the end row appended, and its bytes checked."""

    def __init__(self, path: Path, encoding: str, end: bytes) -> None:
        file = _open_bytes(path)
        if not _is_utf8(encoding):
            file = io.BufferedReader(_Recoded(file, encoding))
        self._file, self._end = file, io.BytesIO(end)
        self._decoder = codecs.getincrementaldecoder("utf8")()
        self.undecodable = False

    @property
    def closed(self) -> bool:
        return self._file.closed

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size) or self._end.read(size)
        if not self.undecodable:
            self._check(data)
        return data

    def _check(self, data: bytes) -> None:
        try:
            self._decoder.decode(data)
        except UnicodeDecodeError:
            self.undecodable = True

    def close(self) -> None:
        self._file.close()


class _Loan:
    """Objects given to pyarrow, whose threads may drop them some time after its reader is closed.

    A thread that does so while the interpreter ends makes the process hang or abort.
    """

    def __init__(self) -> None:
        self._lent = 0
        self._changed = Condition()

    def of(self, lent: T) -> T:
        """Count an object until it is dropped; the caller must keep no reference."""
        with self._changed:
            self._lent += 1
        weakref.finalize(lent, self._drop).atexit = False
        return lent

    def _drop(self) -> None:
        with self._changed:
            self._lent -= 1
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until everything is dropped."""
        with self._changed:
            self._changed.wait_for(lambda: not self._lent, _PATIENCE_SECONDS)


class _LentInput:
    """An input that only pyarrow holds, as it does the bytes that are read."""

    def __init__(self, source: _Utf8Input, loan: _Loan) -> None:
        self._source, self._loan = source, loan

    @property
    def closed(self) -> bool:
        return self._source.closed

    def read(self, size: int = -1) -> memoryview:
        source, loan = self._source, self._loan
        # The traceback of an error in here must not hold what is lent.
        del self
        return loan.of(memoryview(source.read(size)))

    def close(self) -> None:
        self._source.close()


# The slow scan ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Record:
    """A row as written: the line where it begins, how many lines it covers, and its fields."""

    line: int
    lines: int
    text: str
    fields: list[str]


class _Grammar:
    """Cuts text into fields exactly as pyarrow does."""

    def __init__(self, delimiter: str, quote: str | None) -> None:
        self.delimiter, self.quote = delimiter, quote
        d, q = re.escape(delimiter), re.escape(quote or "\0")
        inner = f"[^{q}]*+(?:{q}{q}[^{q}]*+)*+"
        self._field = re.compile(f"(?:{q}({inner}){q})?([^{d}]*){d}")
        self._whole = re.compile(f"(?:(?:{q}{inner}{q}|(?!{q}))[^{d}]*+{d})*+")
        self._quoted = re.compile(f"{q}{inner}{q}")
        self._closing = re.compile(f"{inner}{q}(?:[^{d}]*+{d})?+")

    def fields(self, text: str) -> list[str]:
        """Cut a whole record."""
        quote = self.quote
        if quote is None or quote not in text:
            return text.split(self.delimiter)
        return [
            (match[1] or "").replace(quote * 2, quote) + match[2]
            for match in self._field.finditer(text + self.delimiter)
        ]

    def opens(self, line: str, start: int = 0) -> bool:
        """Tell whether a quote that opens in a line is still open where the line ends."""
        whole = self._whole.match(line, start)
        rest = whole.end() if whole else start
        return line.startswith(self.quote or "\n", rest) and not self._quoted.match(line, rest)

    def close(self, line: str) -> int | None:
        """Return where the field after an open quote begins, or None while it stays open."""
        match = self._closing.match(line)
        if match is None:
            return None
        return match.end() if match[0].endswith(self.delimiter) else len(line)


def _records(path: Path, encoding: str, grammar: _Grammar) -> Generator[_Record, None, None]:
    """Walk through a file record by record; raise ReadError where a quote never closes."""
    pending: list[str] = []
    inside, opened, begun, size = False, 0, 1, 0
    with _readable(path), _open_text(path, encoding) as lines:
        for number, line in enumerate(lines, start=1):
            pending.append(line)
            size += len(line)
            if grammar.quote is not None and grammar.quote in line:
                start = grammar.close(line) if inside else 0
                if start is not None:
                    inside, opened = grammar.opens(line, start), number
            if inside and size < _LONGEST_RECORD:
                continue
            if inside:
                break
            text = "".join(pending).rstrip("\r\n")
            if text:
                yield _Record(begun, len(pending), text, grammar.fields(text))
            pending.clear()
            begun, size = number + 1, 0
    if inside:
        raise ReadError(
            f"line {opened} of {path.name}: the quote {grammar.quote} that opens here never closes",
            "everything after it would be lost",
            "close the quote, or use CsvFormat(quote=None) where quotes are ordinary characters",
        )


def _undecoded(text: str) -> bool:
    return not text.isascii() and _UNDECODED.search(text) is not None


@dataclass(frozen=True)
class CsvFile:
    r"""Where delimited text is and how it is written.

    Parameters
    ----------
    path : pathlib.Path
        The file; a name that ends in ``.gz`` is decompressed.
    format : CsvFormat
        How it is written.

    Examples
    --------
    >>> CsvFile(Path("spam.tsv.gz"), CsvFormat()).delimiter
    '\t'
    """

    path: Path
    format: CsvFormat

    @property
    def delimiter(self) -> str:
        """The character between fields, by suffix where none is declared."""
        suffixes = self.path.name.lower().removesuffix(".gz")
        return self.format.delimiter or ("\t" if suffixes.endswith(".tsv") else ",")

    def scan(self) -> Generator[_Record, None, None]:
        """Walk through the file slowly, malformed rows and header included.

        Raises
        ------
        ReadError
            If the file cannot be read, or a quote never closes.
        """
        return _records(
            self.path, self.format.encoding, _Grammar(self.delimiter, self.format.quote)
        )

    def at(self, record: _Record) -> str:
        """Name the line where a record begins."""
        return f"line {record.line} of {self.path.name}"

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
        if self.format.header:
            return self._header(first)
        return tuple(f"column_{i}" for i in range(1, len(first.fields) + 1))

    def _refuse_utf16(self) -> None:
        with _readable(self.path), _open_bytes(self.path) as file:
            mark = file.read(2)
        if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and _is_utf8(self.format.encoding):
            raise self._utf16()

    def _utf16(self) -> ReadError:
        return ReadError(
            f"{self.path.name} is written in UTF-16",
            f"it is read as {self.format.encoding}",
            'use CsvFormat(encoding="utf-16")',
        )

    def _declared(self, first: _Record, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) != len(first.fields):
            raise ReadError(
                f"{self.at(first)}: {_fields(len(first.fields))}, where CsvFormat(names=...) "
                f"holds {len(names)}",
                "there must be one name per column",
                "correct the names or the delimiter",
            )
        return names

    def _header(self, first: _Record) -> tuple[str, ...]:
        names = [name.strip() if self.format.strip else name for name in first.fields]
        for position, name in enumerate(names, start=1):
            if _undecoded(name):
                raise self.undecodable(first, f"column {position}", name)
            if "\0" in name:
                raise self._utf16()
            if name in names[: position - 1]:
                raise ReadError(
                    f"{self.at(first)}: columns {names.index(name) + 1} and {position} are both "
                    f"named {name!r}",
                    "column names must be unique",
                    "correct the header, or use CsvFormat(names=...)",
                )
        return tuple(names)

    def undecodable(self, record: _Record, column: str, field: str) -> ReadError:
        """Describe the first byte of a field that is not in the declared encoding."""
        before = _UNDECODED.split(field, maxsplit=1)[0]
        byte, after = ord(field[len(before)]) - 0xDC00, reprlib.repr(before)
        return ReadError(
            f"{self.at(record)}, {column}: byte 0x{byte:02x} after {after} is not "
            f"{self.format.encoding}",
            "text must be written in the declared encoding",
            'declare it, for example CsvFormat(encoding="latin-1"), or leave such rows out with '
            "CsvFormat(skip_bad_rows=...)",
        )


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


# Cells ------------------------------------------------------------------------------------------


def _refusal(target: pa.DataType) -> pa.ArrowInvalid:
    return pa.ArrowInvalid(f"a cell is not {target}")


def _parse(column: pa.Array[Any], target: pa.DataType) -> pa.Array[Any]:
    """Cast text; raise pyarrow.ArrowInvalid if a cell is not written as the type demands."""
    if pa.types.is_null(target):
        return _parse_nothing(column)
    if pa.types.is_boolean(target):
        return _parse_booleans(column)
    if pa.types.is_integer(target):
        return _parse_integers(column, target)
    return pc.cast(column, target)


def _parse_nothing(column: pa.Array[Any]) -> pa.Array[Any]:
    if column.null_count < len(column):
        raise _refusal(pa.null())
    return pa.nulls(len(column))


def _parse_booleans(column: pa.Array[Any]) -> pa.Array[Any]:
    codes = pc.index_in(pc.utf8_lower(column), value_set=pa.array(["false", "true"]))
    if codes.null_count > column.null_count:
        raise _refusal(pa.bool_())
    return codes.cast(pa.bool_())


def _parse_integers(column: pa.Array[Any], target: pa.DataType) -> pa.Array[Any]:
    # Arrow would take hexadecimal identifiers for numbers, and refuse a leading plus sign.
    for letter in "xX":
        if pc.any(pc.match_substring(column, letter)).as_py():
            raise _refusal(target)
    if pc.any(pc.starts_with(column, "+")).as_py():
        column = pc.replace_substring_regex(column, r"^\+([0-9])", r"\1")
    return pc.cast(column, target)


def _infer(column: pa.Array[Any]) -> pa.Array[Any]:
    """Cast text to the first of null, int64, float64 and bool that every cell allows."""
    for target in (pa.null(), pa.int64(), pa.float64(), pa.bool_()):
        try:
            return _parse(column, target)
        except pa.ArrowInvalid:
            continue
    return column


def _decodable(batch: pa.RecordBatch) -> pa.Array[Any]:
    """Mark the rows whose cells are all valid UTF-8."""
    valid = pa.array([True] * batch.num_rows, pa.bool_())
    for column in batch.columns:
        cells = column.view(pa.binary())
        try:
            cells.cast(pa.string())
        except pa.ArrowInvalid:
            valid = pc.and_(valid, pa.array([_decodes(cell) for cell in cells.to_pylist()]))
    return valid


def _decodes(cell: bytes | None) -> bool:
    try:
        (cell or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


# Reading ----------------------------------------------------------------------------------------


class _Pass:
    """One reading of one file as text, malformed rows left out and counted."""

    def __init__(self, split: CsvSplit) -> None:
        self._split, self._file, self._format = split, split.file, split.file.format
        # Whether a row is malformed must not depend on the columns asked for.
        self._read = split.names if self._format.skip_bad_rows else split.asked
        self._ragged = self._undecodable = 0

    @property
    def skipped(self) -> int:
        return self._ragged + self._undecodable

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the columns asked for; find out what is wrong with the file if pyarrow stops."""
        done = int(self._format.header)
        try:
            with _readable(self._file.path):
                for batch in _without_first(self._rows(_BLOCK_BYTES), done):
                    done += batch.num_rows
                    yield batch
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise self._split.explain(error) from error
            yield from self._again(done)

    def _again(self, done: int) -> Iterator[pa.RecordBatch]:
        """Read on with blocks that hold the longest record."""
        longest = max(len(record.text.encode("utf8", "replace")) for record in self._file.scan())
        self._ragged = self._undecodable = 0
        try:
            yield from _without_first(self._rows(2 * longest + _BLOCK_BYTES), done)
        except pa.ArrowInvalid as error:
            raise self._split.explain(error) from error

    def _rows(self, block_bytes: int) -> Iterator[pa.RecordBatch]:
        ended = False
        end = f"\n{self._file.delimiter.join([_END] * len(self._split.names))}\n"
        source = _Utf8Input(self._file.path, self._format.encoding, end.encode())
        loan = _Loan()
        reader: arrow_csv.CSVStreamingReader | None = None
        try:
            with closing(source), self._open(source, loan, block_bytes) as reader:
                for batch in reader:
                    if _ends_table(batch):
                        ended, batch = True, batch.slice(0, batch.num_rows - 1)
                    yield from self._checked(batch, source.undecodable)
        finally:
            reader = None
            loan.wait()
        if not ended:
            raise pa.ArrowInvalid("the end of the file lies inside quotes")

    def _open(
        self, source: _Utf8Input, loan: _Loan, block_bytes: int
    ) -> arrow_csv.CSVStreamingReader:
        split, missing = self._split, list(self._format.missing)
        return arrow_csv.open_csv(
            cast(IO[bytes], loan.of(_LentInput(source, loan))),
            arrow_csv.ReadOptions(column_names=list(split.names), block_size=block_bytes),
            arrow_csv.ParseOptions(
                delimiter=self._file.delimiter,
                quote_char=self._format.quote or False,
                newlines_in_values=self._format.quote is not None,
                invalid_row_handler=loan.of(partial(self._judge)),
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(split.names, pa.string()),
                null_values=missing,
                strings_can_be_null=bool(missing),
                quoted_strings_can_be_null=True,
                include_columns=list(self._read),
            ),
        )

    def _judge(self, row: arrow_csv.InvalidRow) -> Literal["skip", "error"]:
        try:
            lines = len(row.text.splitlines()) or 1
        except UnicodeDecodeError:
            lines = 1
        if self.skipped + lines > self._format.skip_bad_rows:
            return "error"
        self._ragged += lines
        return "skip"

    def _checked(self, batch: pa.RecordBatch, undecodable: bool) -> Iterator[pa.RecordBatch]:
        if undecodable:
            valid = batch.filter(_decodable(batch))
            self._undecodable += batch.num_rows - valid.num_rows
            if not self._format.skip_bad_rows or self.skipped > self._format.skip_bad_rows:
                raise pa.ArrowInvalid("undecodable bytes")
            batch = valid
        batch = self._stripped(batch.select(list(self._split.asked)))
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)

    def _stripped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if not self._format.strip:
            return batch
        tokens = pa.array(self._format.missing, pa.string())
        columns = []
        for padded in batch.columns:
            cells = pc.utf8_trim_whitespace(padded)
            columns.append(pc.if_else(pc.is_in(cells, value_set=tokens), None, cells))
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _ends_table(batch: pa.RecordBatch) -> bool:
    last = batch.column(0)[-1].as_buffer() if batch.num_rows else None
    return last is not None and last.to_pybytes() == _END.encode()


def _without_first(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        dropped = min(rows, batch.num_rows)
        rows -= dropped
        if dropped < batch.num_rows:
            yield batch.slice(dropped)


@dataclass(frozen=True)
class CsvSplit:
    """One file of delimited text.

    Parameters
    ----------
    file : CsvFile
        Where the rows are and how they are written.
    names : tuple of str
        All its columns.
    types : tuple of (str, pyarrow.DataType)
        The columns to read, and their types.

    Examples
    --------
    >>> file = CsvFile(Path("a.csv"), CsvFormat())
    >>> CsvSplit(file, ("x", "y"), (("y", pa.int64()),)).asked
    ('y',)
    """

    file: CsvFile
    names: tuple[str, ...]
    types: tuple[tuple[str, pa.DataType], ...]

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
            warnings.warn(self._left_out(reading.skipped), SufficeWarning)

    def text_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as text, missing cells as nulls.

        Raises
        ------
        ReadError
            If a row is malformed or the file cannot be read.
        """
        return _Pass(self).batches()

    def _typed(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        columns = []
        for (name, target), cells in zip(self.types, batch.columns, strict=True):
            try:
                columns.append(_parse(cells, target))
            except pa.ArrowInvalid:
                row = first_refused(cells, partial(_parse, target=target))
                raise self._misfit(name, target, cells[row].as_py(), done + row) from None
        return pa.RecordBatch.from_arrays(columns, names=list(self.asked))

    def _misfit(self, name: str, target: pa.DataType, cell: str, row: int) -> ReadError:
        shown = reprlib.repr(cell)
        where = f"{self.locate(row)}, column {name!r}: {shown}"
        if pa.types.is_null(target):
            rule = f"the first {BATCH_ROWS:,} cells of this column are missing, so it has no type"
            return ReadError(where, rule, "declare the column's type")
        return ReadError(
            f"{where} is not {target}",
            f"every cell of this column is read as {target}",
            f"correct the cell, declare {shown} in CsvFormat(missing=...), "
            "or declare another type for the column",
        )

    def locate(self, row: int) -> str:
        """Name the line where row `row` begins, by walking through the file again."""
        whole = (record for record in self.file.scan() if self._problem(record) is None)
        found = next(islice(whole, row + self.file.format.header, None), None)
        return f"row {row + 1} of {self.file.path.name}" if found is None else self.file.at(found)

    def explain(self, error: pa.ArrowInvalid) -> ReadError:
        """Find the row that made reading stop, and say what is wrong with it."""
        lines = 0
        for record in self.file.scan():
            problem = self._problem(record)
            lines += 0 if problem is None else record.lines
            if problem is not None and lines > self.file.format.skip_bad_rows:
                return problem
        return ReadError(f"{self.file.path.name} cannot be read: {_first_line(error)}")

    def _problem(self, record: _Record) -> ReadError | None:
        if len(record.fields) != len(self.names):
            return self._ragged(record)
        if not _undecoded(record.text):
            return None
        for name, field in zip(self.names, record.fields, strict=True):
            if _undecoded(field):
                return self.file.undecodable(record, f"column {name!r}", field)
        return None

    def _ragged(self, record: _Record) -> ReadError:
        last = record.line + record.lines - 1
        span = "" if record.lines == 1 else f", some in quotes, up to line {last}"
        return ReadError(
            f"{self.file.at(record)}: {_fields(len(record.fields))}{span}, where the table has "
            f"{len(self.names)} columns",
            "every row must have one field per column",
            "correct the row, or leave such rows out with CsvFormat(skip_bad_rows=...)",
        )

    def _left_out(self, lines: int) -> str:
        bad = (record for record in self.file.scan() if self._problem(record) is not None)
        shown = ", ".join(str(record.line) for record in islice(bad, _LINES_SHOWN))
        return (
            f"{self.file.path.name}: {lines} malformed line{' was' if lines == 1 else 's were'} "
            f"left out, as skip_bad_rows={self.file.format.skip_bad_rows} allows; rows that "
            f"begin on line {shown}{', ...' if lines > _LINES_SHOWN else ''}."
        )


class CsvTable:
    r"""Delimited text files with the same columns, one split each.

    Types are inferred from the first ``BATCH_ROWS`` rows: null if every cell is missing, else
    int64, float64, bool (true and false in any case) or string, whichever first fits them all.

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

    guesses: ClassVar[bool] = True

    def __init__(self, paths: Sequence[Path], format: CsvFormat | None = None) -> None:
        self.format = format or CsvFormat()
        self._files = tuple(CsvFile(path, self.format) for path in paths)
        self.names = self._files[0].names()
        for file in self._files[1:]:
            names = file.names()
            if names != self.names:
                raise SchemaError(
                    f"the columns of {self._files[0].path} are {', '.join(map(repr, self.names))}, "
                    f"those of {file.path} are {', '.join(map(repr, names))}",
                    "files of one table must have the same columns in the same order",
                    "read them apart, or give names to both with CsvFormat(names=...)",
                )

    @cached_property
    def _head(self) -> pa.RecordBatch:
        texts = tuple((name, pa.string()) for name in self.names)
        splits = (CsvSplit(file, self.names, texts) for file in self._files)
        batches = chain.from_iterable(split.text_batches() for split in splits)
        head = first_rows(batches, pa.schema(texts))
        columns = [_infer(column) for column in head.columns]
        return pa.RecordBatch.from_arrays(columns, names=list(self.names))

    def head(self) -> pa.RecordBatch:
        """Return the first ``BATCH_ROWS`` rows, all columns, in inferred types.

        Returns
        -------
        pyarrow.RecordBatch

        Raises
        ------
        ReadError
            If one of these rows is malformed.
        """
        return self._head

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[CsvSplit]:
        """Return one split per file, reading these columns only.

        Parameters
        ----------
        types : mapping of str to pyarrow.DataType or None
            The type of each column to read, or None for the inferred one.

        Returns
        -------
        sequence of CsvSplit

        Raises
        ------
        ParameterError
            If no column is asked for.
        SchemaError
            If a column is not there.
        """
        where = " and ".join(file.path.name for file in self._files[:2])
        require_columns(types, self.names, where)
        asked = tuple((name, kind or self._inferred(name)) for name, kind in types.items())
        return tuple(CsvSplit(file, self.names, asked) for file in self._files)

    def _inferred(self, name: str) -> pa.DataType:
        inferred: pa.DataType = self._head.schema.field(name).type
        return inferred
