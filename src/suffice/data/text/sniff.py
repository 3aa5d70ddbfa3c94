"""Find out how delimited text is written, from one sample that is spread over the file.

The first file is opened once: its first rows are read as text, and some lines in its middle and at
its end. What is found is a guess that every cell is then held to.
"""

from __future__ import annotations

import codecs
import io
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.spelling import (
    PLAIN,
    TEXT,
    TRUTH,
    Moment,
    Number,
    Spelling,
    Text,
    read_cells,
    without_missing,
)
from suffice.data.table import About, first_rows, leading
from suffice.data.text.column_spelling import PROBE, Guess, counted, fractions, guess, settled
from suffice.data.text.dialect import (
    Names,
    dialect_of,
    encoding_of,
    has_header,
    names_of,
)
from suffice.data.text.pieces import ByteStream, opened
from suffice.data.text.reading import Reading
from suffice.data.text.records import (
    BLANK,
    Grammar,
    OpenRecordError,
    Record,
    TextFile,
    is_utf8,
    undecoded,
    unpacked_name,
)
from suffice.data.text_format import AUTO, TextFormat
from suffice.data.version import no_content, readable, version_of
from suffice.errors import ReadError, SchemaError
from suffice.numerics.in_print import listed
from suffice.sums.batch import BATCH_ROWS

SAMPLE_BYTES = 1 << 16  # in the middle and at the end
NAMED = 3  # columns in one remark
_CHARACTERS = 1 << 16  # in which the dialect is looked for
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", BLANK: "blanks"}
_TOTAL = re.compile(r"(?i)(grand |sub)?totals?:?|sums?:?|summe:?|gesamt:?|averages?:?|means?:?")


@dataclass(frozen=True)
class Sniffed:
    """The format of files, and what their first rows hold."""

    about: About
    files: tuple[TextFile, ...]  # whose format leaves nothing open
    head: pa.RecordBatch  # the first rows
    respelled: frozenset[str]  # columns whose labels are lost or spelled in another way
    goes_on: tuple[int, int]  # rows of the first file that are in it, and bytes
    empty: tuple[str, ...]  # fields left out that must hold nothing
    refused: Mapping[str, ReadError]  # columns with two meanings


def sniff(
    paths: Sequence[Path],
    asked: TextFormat,
    known: TextFormat | None = None,
    label: str | None = None,
) -> Sniffed:
    """Find what a format leaves open: what is asked for and what a model knows go first.

    The cells of a label are not read as truth values or numbers of several spellings.
    """
    first = paths[0]
    given = asked if known is None else asked.over(known)
    tabs = unpacked_name(first.name.lower()).endswith((".tsv", ".tab"))
    usual = "\t" if tabs else ","
    if known is not None and known.separator and usual == ",":
        usual = known.separator
    with readable(first):
        version = version_of(first)
    with opened(first, version) as stream:
        carried = asked.encoding != given.encoding
        if carried and (encoding_of(stream.start) or _shows_utf8(stream.start, given.encoding)):
            given = replace(given, encoding=asked.encoding)
        open_order = is_utf8(given.encoding) or codecs.lookup(given.encoding).name == "utf-16"
        if open_order and (encoding := encoding_of(stream.start)):
            given = replace(given, encoding=encoding)
        found, top, names = _first_table(first, stream, given, usual, known)
        file = TextFile(
            path=first,
            version=version,
            format=found,
            grammar=Grammar(found.separator or usual, found.quote, bool(found.strip)),
            names=names.names,
            skipped=found.skip_lines or 0,
            has_header=bool(found.header),
            careful=asked.quote == AUTO,
        )
        _refuse_undecoded(file, top[0])
        _check_width(file, top)
        sample = list(_further(file, stream))
        at_once = _fractions_at_first(file, top, sample) if len(paths) == 1 else ()
        head, goes_on = _first_rows(file, stream, at_once)
    _refuse_header_again(file, head)
    files = [file]
    for path in paths[1:]:
        other, rows = _other_file(path, file)
        files.append(other)
        sample += rows if path in (paths[len(paths) // 2], paths[-1]) else []
        if head.num_rows < BATCH_ROWS:
            with opened(other.path, other.version) as stream:
                more, _ = _first_rows(other, stream)
            head = first_rows([head, more], head.schema)
    whole = [row for row in sample if len(row) == len(file.names)]
    columns = _Columns(file, head, whole, asked, known, label)
    nothing = {name for name, one in columns.guesses.items() if pa.types.is_null(one.type)}
    empty = tuple(name for name in names.unnamed if name in nothing and head.num_rows)
    left_out = (*names.row_names, *empty)
    losses = tuple(_losses(columns, names, empty))
    last = sample[-1] if sample else [c.as_py() for cells in head.columns for c in cells[-1:]]
    remarks = (
        *_dialect_remarks(columns, usual, top[0], names),
        *_column_remarks(columns),
        *_name_remarks(columns, names, left_out, last),
    )
    known_cells = ((n, one) for n, one in columns.guesses.items() if n not in nothing)
    format = replace(
        file.format,
        names=file.names,
        written=tuple((name, one.spelling.name) for name, one in known_cells),
        missing=given.tokens,
        decimal=None,
        thousands=None,
    )
    head = columns.typed([name for name in file.names if name not in left_out])
    return Sniffed(
        About(True, None, format, (*remarks, *losses), losses, columns.doubts(), left_out),
        tuple(replace(one, format=format) for one in files),
        head,
        columns.respelled,
        goes_on if columns.are_read else (0, 0),
        empty,
        columns.refused,
    )


# Rows -------------------------------------------------------------------------------------------


def _first_rows(
    file: TextFile, stream: ByteStream, at_once: Sequence[str] = ()
) -> tuple[pa.RecordBatch, tuple[int, int]]:
    """Read the first rows, columns as text but for those that are to be read as numbers at once.

    Return besides how many of them need not be read again, and the byte behind these.
    """
    types = dict.fromkeys(file.names, pa.string()) | dict.fromkeys(at_once, pa.float64())
    while True:
        reading = Reading(file, types, raw=True)
        with closing(reading.batches(stream, ahead=0)) as batches:
            found = list(leading(batches, BATCH_ROWS))
        columns = chain.from_iterable(batch.schema for batch in found)
        refused = [column.name for column in columns if column.type != types[column.name]]
        if not refused:
            head = first_rows(found, pa.schema(list(types.items())))
            return head, reading.goes_on(stream, head.num_rows)
        types |= dict.fromkeys(refused, pa.string())


def _fractions_at_first(
    file: TextFile, top: Sequence[Record], sample: Sequence[Sequence[str]]
) -> Sequence[str]:
    """Return columns that are fractions or empty in the few first rows and in a sample of others.

    They are read as numbers at once, which takes less than to look at their cells as text.
    """
    format, first = file.format, top[file.has_header :][:PROBE]
    rows = [row for row in (*(r.fields for r in first), *sample) if len(row) == len(file.names)]
    if not sample or not rows or format.strip or not _are_plain(format):
        return ()
    if any(undecoded(cell) for row in rows for cell in row):  # which is said of the first rows
        return ()
    found = []
    for name, cells in zip(file.names, zip(*rows, strict=True), strict=True):
        missing = "" in format.tokens_of(name)
        numbers = pa.array([cell for cell in cells if cell or not missing], pa.string())
        clear = format.spelling(name) in (None, PLAIN) and not _is_odd(numbers)
        if clear and fractions(numbers) is not None:
            found.append(name)
    return found


def _first_table(
    path: Path, stream: ByteStream, asked: TextFormat, usual: str, known: TextFormat | None
) -> tuple[TextFormat, Sequence[Record], Names]:
    """Find the format of a file, its first rows, and the names of its columns."""
    lines = _first_lines(stream.start, asked)
    found, top = dialect_of(lines, asked, usual)
    if known is not None and known.skip_lines and not _knows(top, known):
        again = dialect_of(lines, replace(asked, skip_lines=known.skip_lines), usual)
        found, top = again if _knows(again[1], known) else (found, top)
    if not top:
        raise no_content(path)
    rows = [record.fields for record in top]
    header = asked.header
    if header is None:
        header = has_header(rows, asked.tokens, known)
    found = replace(found, header=header, skip_last=asked.skip_last or 0)
    names = names_of(rows, header, asked.names, known)
    if known is not None and not header and not names.by_position and asked.names is None:
        raise ReadError(
            f"{path.name} has no header, as its first row is {_row(rows[0])}",
            f"columns are found by name, or by position among {len(known.features)}",
            "if that row is a header, say header=True; else give names=...",
        )
    return found, top, names


def _refuse_undecoded(file: TextFile, first: Record) -> None:
    for position, name in enumerate(first.fields if file.has_header else (), start=1):
        if undecoded(name):
            raise file.undecodable(file.skipped + first.line, f"column {position}", name)


def _shows_utf8(start: bytes, other: str) -> bool:
    """Return whether bytes are UTF-8, and other characters in another encoding."""
    try:
        text = codecs.getincrementaldecoder("utf8")().decode(start)
    except UnicodeDecodeError:
        return False
    return "\0" not in text and text != start.decode(other, "replace")


def _knows(top: Sequence[Record], known: TextFormat) -> bool:
    return bool(top) and not set(top[0].fields).isdisjoint(known.features)


def _first_lines(start: bytes, format: TextFormat) -> list[str]:
    """Return the first lines; one that is cut off counts only if alone."""
    encoding = "utf-8-sig" if is_utf8(format.encoding) else format.encoding
    text = start.decode(encoding, "surrogateescape" if "16" not in encoding else "replace")
    lines = list(io.StringIO(text[:_CHARACTERS], newline=""))
    return lines if len(text) <= _CHARACTERS or len(lines) == 1 else lines[:-1]


def _check_width(file: TextFile, top: Sequence[Record]) -> None:
    first, header = top[0], file.has_header
    below = top[header:]
    width = len(below[0].fields) if below else len(first.fields)
    alike = all(len(row.fields) == width for row in below)
    own = tuple(first.fields) == file.names
    if len(file.names) != width and not own and (alike or not header):
        raise ReadError(
            f"line {file.skipped + first.line + header} of {file.path.name}: {width} fields, "
            f"where names=... holds {len(file.names)}",
            "there must be one name per column",
            "correct the names or the separator",
        )


def _other_file(path: Path, like: TextFile) -> tuple[TextFile, list[list[str]]]:
    with readable(path):
        file = replace(like, path=path, version=version_of(path))
    with opened(path, file.version) as stream:
        lines = _first_lines(stream.start, like.format)[like.skipped :]
    _, top = dialect_of(lines, replace(like.format, skip_lines=0), like.grammar.separator)
    if not top:
        raise no_content(path)
    _refuse_undecoded(file, top[0])
    rows = [record.fields for record in top]
    names = names_of(rows, like.has_header, None, None).names
    known = like.names, names_of([list(like.names)], True, None, None).names
    if len(names) != len(like.names) or (like.has_header and names not in known):
        raise SchemaError(
            f"the columns of {like.path} are {listed(map(reprlib.repr, like.names))}, "
            f"those of {path} are {listed(map(reprlib.repr, names))}",
            "files of one table must have the same columns in the same order",
            "read them apart, or give names to both with names=...",
        )
    return file, [row for row in rows[like.has_header :] if not any(map(undecoded, row))]


def _further(file: TextFile, stream: ByteStream) -> Iterator[list[str]]:
    """Rows in the middle of a file and at its end, where bytes can be reached."""
    size = file.version.size if file.version else 0
    if not is_utf8(file.format.encoding) or size < 4 * SAMPLE_BYTES or stream.compressed:
        return
    for start in ((size - SAMPLE_BYTES) // 2, size - SAMPLE_BYTES):
        stream.file.seek(start)
        lines = stream.file.read(SAMPLE_BYTES).splitlines(keepends=True)
        last = start == size - SAMPLE_BYTES
        text = b"".join(lines[1:] if last else lines[1:-1])
        with suppress(OpenRecordError):
            below = io.StringIO(text.decode("utf8", "replace"), newline="")
            yield from (record.fields for record in file.grammar.records(below))


def _refuse_header_again(file: TextFile, head: pa.RecordBatch) -> None:
    """Refuse the header as one of the first rows: it would make texts of columns of numbers."""
    names = file.names
    if len(names) < 2 or not file.has_header or any(map(PLAIN.matches, names)):
        return
    if any(map(pa.types.is_floating, head.schema.types)):
        return
    if pc.index(head.column(0), names[0]).as_py() < 0:
        return
    equal = (pc.equal(column, name) for column, name in zip(head.columns, names, strict=True))
    if not pc.any(reduce(pc.and_, equal)).as_py():
        return
    with closing(file.scan()) as records:
        again = next(r.line for r in records if tuple(map(str.strip, r.fields)) == names)
    raise ReadError(
        f"line {again} of {file.path.name} is the header again",
        "a header stands once, above the rows",
        "take the line out",
    )


# Columns ----------------------------------------------------------------------------------------


class _Columns:
    def __init__(
        self,
        file: TextFile,
        head: pa.RecordBatch,
        sample: Sequence[Sequence[str]],
        asked: TextFormat,
        known: TextFormat | None,
        label: str | None,
    ) -> None:
        self.file, self.format, self.asked, self.known = file, file.format, asked, known
        self.label = label
        self.first = dict(zip(file.names, head.columns, strict=True))
        self.refused: dict[str, ReadError] = {}
        self.absent: dict[str, dict[str, int]] = {}  # cells that stand for a missing value
        self.of_model = () if known is None else tuple(dict(known.written))
        self.said: list[str] = []
        self._odd: set[str] = set()  # numbers that a label would lose the spelling of
        self.are_read = True  # whether all first cells are what they are taken for
        further = list(zip(*sample, strict=True)) or [()] * len(file.names)
        guesses = {
            name: self._guess(name, cells, more)
            for (name, cells), more in zip(self.first.items(), further, strict=True)
        }
        self.guesses = settled(guesses, file.grammar.separator == ",")
        for name, one in self.guesses.items():
            if one.others:
                self.refused[name] = _undecided(file.path.name, name, one)
                self.guesses[name] = Guess()
        unlike = {name for name, one in self.guesses.items() if one.spelling == TRUTH} | self._odd
        if label in unlike:
            self.guesses[label] = Guess()
        lost = {name for name, tokens in self.absent.items() if any(tokens)}
        self.respelled = frozenset(unlike | lost)

    def doubts(self) -> dict[str, str]:
        """Say which columns hold numbers or dates but for a few cells, and where the first is."""
        found = {}
        for place, (name, one) in enumerate(self.guesses.items()):
            if one.doubt is not None:
                cells = ((r, r.fields[place].strip()) for r in self.file.whole())
                where = (self.file.at(r) for r, cell in cells if cell == one.doubt.first)
                found[name] = one.doubt.of(name, next(where, ""))
        return found

    def _guess(self, name: str, first: pa.Array[Any], more: Sequence[str]) -> Guess:
        if pa.types.is_floating(first.type):
            return Guess(PLAIN, pa.float64())
        format, spelling = self.format, self.format.spelling(name)
        further = [cell.strip() for cell in more] if format.strip else more
        cells = pa.concat_arrays([first, pa.array(further, pa.string())]) if more else first
        plain = spelling in (None, PLAIN) and _are_plain(format)
        numbers = fractions(cells) if plain else None
        found = Guess(PLAIN, pa.float64())
        if numbers is None:
            found = self._look(name, cells, spelling)
        if pa.types.is_floating(found.type) and _is_odd(first):
            self._odd.add(name)
        if numbers is not None and not (name == self.label and name in self._odd):
            self.first[name] = numbers.slice(0, len(first))
        return found

    def _look(self, name: str, cells: pa.Array[Any], spelling: Spelling | None) -> Guess:
        """Guess the spelling of cells, unless it is given, and count those that are missing."""
        format, tokens = self.format, self.format.tokens_of(name)
        values, counts, absent = counted(cells, tokens)
        self.absent[name] = {cell: n for cell, n in absent.items() if cell in tokens}
        if isinstance(spelling, Text):
            return Guess()
        found = guess(values, counts, format.decimal, format.thousands)
        if spelling is None:
            return found
        if spelling == PLAIN and found.spelling == TRUTH and name in self.of_model:
            return found  # 0 and 1 of the model, if they are its only values
        if name in self.of_model:
            self._compare(name, spelling, found.spelling, values)
        whole = isinstance(spelling, Number) and not spelling.mark
        whole = whole and found.spelling == spelling and pa.types.is_integer(found.type)
        return Guess(spelling, pa.int64() if whole else spelling.type)

    def _compare(
        self, name: str, own: Spelling, found: Spelling, cells: pa.Array[pa.StringScalar]
    ) -> None:
        """Say that numbers are read as the model's, where the file may mean others."""
        if not (isinstance(own, Number) and isinstance(found, Number)) or own in (PLAIN, found):
            return
        with suppress(pa.ArrowInvalid):
            if own.read(cells) != found.read(cells):
                self.said.append(
                    f"{self.file.path.name}: numbers of {name!r} are read as {own.name}, as in "
                    "the files of the model (decimal='.' says otherwise)"
                )

    def typed(self, names: Sequence[str]) -> pa.RecordBatch:
        """Return the first rows in their types."""
        columns = {}
        for name in names:
            cells, one = self.first.pop(name), self.guesses[name]
            tokens = self.format.tokens_of(name)
            if self.absent.get(name):
                cells = without_missing(cells, tokens)
            if not pa.types.is_floating(cells.type):
                try:
                    cells = read_cells(cells, one.spelling, one.type, tokens)
                except pa.ArrowInvalid:  # which is refused by its line where the column is read
                    self.are_read, cells = False, pa.nulls(len(cells), one.type)
            columns[name] = cells
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _are_plain(format: TextFormat) -> bool:
    """Return whether numbers are written as programs do, and none stands for a missing value."""
    marks = format.decimal in (None, ".") and not format.thousands
    return marks and not any(map(PLAIN.matches, format.tokens))


def _is_odd(cells: pa.Array[pa.StringScalar]) -> bool:
    """Return whether some of the first numbers are spelled as programs would not write them."""
    first = cells.slice(0, 64)
    return bool(pc.any(pc.match_substring_regex(first, "[eE+]")).as_py())


def _undecided(where: str, name: str, one: Guess) -> ReadError:
    readings = (one.spelling, *one.others)
    if isinstance(one.spelling, Number):
        values = (str(s.read(pa.array([one.cell]))[0].as_py()) for s in readings[:2])
        return ReadError(
            f"{where}, column {name!r}: {one.cell!r} is either {' or '.join(values)}",
            "a number must have one meaning",
            "say which with decimal=',' or thousands=','"
            if "," in one.cell
            else "say which with decimal='.' or decimal=','",
        )
    ways = " or ".join(f"written={{{name!r}: {s.name!r}}}" for s in readings)
    return ReadError(
        f"{where}, column {name!r}: {one.cell!r} is a date, and no cell that was looked at shows "
        "whether the day or the month comes first",
        "a date must have one meaning",
        f"say which with {ways}",
    )


# Remarks ----------------------------------------------------------------------------------------


def _losses(columns: _Columns, names: Names, empty: Sequence[str]) -> Iterator[str]:
    file, asked = columns.file, columns.asked
    where, count = file.path.name, file.skipped
    if asked.skip_lines is None and count:
        lines = f"{count} line{'' if count == 1 else 's'} above the header"
        yield f"{where}: {lines} left out (skip_lines=0 reads all)"
    lost = [
        f"{token!r} of {name!r} ({cells:,})"
        for name in sorted(columns.absent, key=lambda one: one != columns.label)
        if name == columns.label
        or (asked.missing is None and columns.guesses[name].spelling == TEXT)
        for token, cells in columns.absent[name].items()
        if token
    ]
    if lost and not columns.of_model:
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        shown = ", ".join(lost[:NAMED])
        yield f"{where}: cells {shown}{more} are read as missing (missing='' keeps them)"
    if empty:
        yield f"{where}: fields without a name and a value are left out: {_listed(empty)}"
    if names.row_names:
        yield (
            f"{where}: the first field, which the header does not name, is taken for names of rows "
            "and left out (names=... keeps it)"
        )


def _dialect_remarks(columns: _Columns, usual: str, top: Record, names: Names) -> Iterator[str]:
    file, asked, known = columns.file, columns.asked, columns.known
    where, format = file.path.name, file.format
    if asked.separator is None and format.separator != usual:
        mark = _MARKS.get(file.grammar.separator, file.grammar.separator)
        yield _remark(where, f"fields are separated by {mark}", "separator")
    if asked.quote == AUTO and format.quote == "'":
        yield _remark(where, "fields are enclosed in '", "quote")
    usual_encoding = known.encoding if known and is_utf8(asked.encoding) else asked.encoding
    if usual_encoding != format.encoding:
        yield _remark(where, f"text is written in {format.encoding.upper()}", "encoding")
    if asked.strip is None and format.strip and (known is None or not known.strip):
        yield _remark(where, "blanks around fields are removed", "strip")
    first = _row(top.fields)
    headless = f"there is no header, as the first row is {first}"
    if names.by_position and (format.header or known is None or known.header is not False):
        begin = f"the header {first} names no column of the model" if format.header else headless
        yield _remark(where, f"{begin}: columns are found by position", "header")
    elif asked.header is None and asked.names is None and not (format.header or known):
        yield _remark(where, headless, "header")
    if names.doubled:
        listed = _listed(names.doubled)
        yield f"{where}: names that stand twice become {listed} (names=... says otherwise)"


def _column_remarks(columns: _Columns) -> Iterator[str]:
    where, asked = columns.file.path.name, dict(columns.asked.written)
    found: dict[Spelling, list[str]] = {}
    for name, one in columns.guesses.items():
        if one.spelling in (PLAIN, TEXT) or name in asked or name in columns.of_model:
            continue
        words = (cell.lower() for cell in columns.first[name].slice(0, 64).to_pylist() if cell)
        if one.spelling != TRUTH or next(words, "true") not in ("true", "false", "yes", "no"):
            found.setdefault(one.spelling, []).append(name)
    for spelling, names in found.items():
        is_date = isinstance(spelling, Moment) and spelling.date
        unit = ", read in seconds since 1970-01-01" if is_date else ""
        yield (
            f"{where}: {_listed(names)} hold{'s' if len(names) == 1 else ''} "
            f"{spelling}{unit} (written={{{names[0]!r}: 'text'}} says otherwise)"
        )
    codes = {name: one.codes for name, one in columns.guesses.items() if one.codes}
    for name, code in islice(codes.items(), 1):
        yield (
            f"{where}: codes such as {code!r} stay text in {_listed(list(codes))} "
            f"(written={{{name!r}: 'number'}} says otherwise)"
        )
    yield from columns.said


def _name_remarks(
    columns: _Columns, names: Names, left_out: Sequence[str], last: Sequence[str]
) -> Iterator[str]:
    file = columns.file
    where, kept = file.path.name, [name for name in names.unnamed if name not in left_out]
    if kept:
        yield _remark(where, f"fields without a name are called {_listed(kept)}", "names")
    begin = next((cell for cell in last if cell), "")
    if not file.format.skip_last and _TOTAL.fullmatch(begin.strip()):
        yield f"{where}: the last row is read, {_row(last)} (skip_last=1 leaves it out)"


def _remark(where: str, found: str, option: str) -> str:
    return f"{where}: {found} ({option}=... says otherwise)"


def _row(fields: Sequence[str]) -> str:
    return reprlib.repr(", ".join(fields))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:NAMED]))
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
