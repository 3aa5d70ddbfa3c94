"""How delimited text is written, where nobody says it: found by looking at its first rows.

The separator is a character that cuts the first rows into equally many fields. It is a blank only
if no other does, as sentences have blanks too. The first row is data, and no header, if it holds
what no name is: a number in a column of numbers, or values that come again below. ``csv.Sniffer``
of the standard library takes a header of years for data, and knows no decimal comma, so this is
done here.
"""

from __future__ import annotations

import io
import re
import reprlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.csv.blanks import BLANK
from suffice.data.csv.format import CsvFormat
from suffice.data.csv.records import Grammar, OpenRecordError, Record, open_text, usual_separator
from suffice.data.csv.sample import sampled_columns
from suffice.data.files.version import readable
from suffice.data.notation import unmarked
from suffice.data.numerals import GROUPED, PLAIN, Numerals
from suffice.errors import ReadError

__all__ = ["Dialect", "find_dialect"]

_DELIMITERS = ",;\t|"
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", BLANK: "blanks"}
_QUOTE, _OTHER_QUOTE = '"', "'"
_CHARACTERS = 1 << 16  # that are looked at
_ROWS = 200
_REGULAR = 0.9  # of the rows have as many fields as the first: some may be malformed
_WRITTEN = (Numerals(","), Numerals(".", ","), Numerals(",", "."))
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")


@dataclass(frozen=True)
class Dialect:
    """How a file is written."""

    format: CsvFormat  # the one asked for, with nothing left open
    remarks: tuple[str, ...] = ()  # what was found, where it is not the usual, and how to change it


def find_dialect(path: Path, format: CsvFormat) -> Dialect:
    r"""Settle what a format leaves open: separator, header, and how numbers are written.

    Parameters
    ----------
    path : pathlib.Path
        The file. Up to 200 rows of its first 65,536 characters are looked at.
    format : CsvFormat
        What is known; None stands for what is to be found.

    Raises
    ------
    ReadError
        If a column of numbers can be read in two ways.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "a.csv"
    ...     _ = file.write_text("1,5;no\n2,25;yes\n3,5;no\n")
    ...     found = find_dialect(file, CsvFormat()).format
    >>> found.separator, found.decimal, found.header
    (';', ',', False)
    """
    usual = usual_separator(path)
    lines = _first_lines(path, format.encoding)
    quote = _quote(lines, format, usual)
    separator = format.separator or _separator(lines, quote, usual, format.missing)
    rows = list(_regular(_rows(lines, Grammar(separator, quote))))
    strip = _is_padded(rows) if format.strip is None else format.strip
    if strip:
        rows = [[cell.strip() for cell in row] for row in rows]
    numerals = format.numerals
    if not _says_numerals(format):
        # In all of the sample: the header is not known yet, and takes no part in either case.
        known = replace(format, separator=separator, quote=quote, strip=strip)
        further = sampled_columns([path], known, len(rows[0])) if rows else []
        numerals = _numerals(path, rows, further, format.missing, separator)
    header = format.header
    if header is None:
        header = _has_header(rows, numerals, format.missing)
    settled = replace(
        format,
        separator=separator,
        quote=quote,
        header=header,
        strip=strip,
        decimal=numerals.decimal,
        thousands=numerals.thousands,
    )
    return Dialect(settled, tuple(_remarks(path, format, settled, usual, rows)))


def _remarks(
    path: Path, asked: CsvFormat, found: CsvFormat, usual: str, rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    if asked.separator is None and found.separator != usual:
        mark = _NAMES.get(found.separator or "", found.separator)
        yield _remark(path, f"fields are separated by {mark}", "separator")
    if found.quote != asked.quote:
        yield _remark(path, f"fields are enclosed in {found.quote}", "quote")
    if asked.strip is None and found.strip:
        yield _remark(path, "blanks around fields are removed", "strip")
    if found.numerals != asked.numerals:
        option = "thousands" if found.decimal == "." else "decimal"
        yield _remark(path, f"numbers are written {found.numerals}", option)
    if asked.header is None and asked.names is None and not found.header:
        first = reprlib.repr(", ".join(rows[0]))
        yield _remark(path, f"there is no header, as the first row is {first}", "header")


def _remark(path: Path, found: str, option: str) -> str:
    return f"{path.name}: {found} ({option}=... says otherwise)"


# The first rows ---------------------------------------------------------------------------------


def _first_lines(path: Path, encoding: str) -> list[str]:
    """The lines among the first characters; one that is cut off there counts only if alone."""
    lines, whole = [], True
    with suppress(ReadError), readable(path), open_text(path, encoding) as file:
        lines = list(io.StringIO(file.read(_CHARACTERS), newline=""))
        whole = not file.read(1)
    return lines if whole or len(lines) == 1 else lines[:-1]


def _rows(lines: Sequence[str], grammar: Grammar) -> list[list[str]]:
    """The first records, up to a quote that is open at the end of what is looked at."""
    records: list[Record] = []
    with suppress(OpenRecordError):
        records.extend(islice(grammar.records(lines), _ROWS))
    return [record.fields for record in records]


def _regular(rows: Sequence[list[str]]) -> Iterator[list[str]]:
    """The rows that have as many fields as the first."""
    return (row for row in rows if len(row) == len(rows[0]))


def _quote(lines: Sequence[str], format: CsvFormat, usual: str) -> str | None:
    """What encloses fields: ``'`` where there is no other quote, and it does nothing else."""
    text, q = "".join(lines), _OTHER_QUOTE
    if format.quote != _QUOTE or _QUOTE in text or q not in text:
        return format.quote
    ends = re.escape(format.separator or _separator(lines, q, usual, format.missing)) + r"\r\n"
    bare = re.sub(f"(?<![^{ends}]){q}(?>(?:[^{q}]|{q}{q})*){q}(?![^{ends}])", "", text)
    return format.quote if q in bare else q


def _separator(lines: Sequence[str], quote: str | None, usual: str, missing: Sequence[str]) -> str:
    """The character that cuts rows alike; of several the one that leaves most numbers."""
    first = next((line for line in lines if line.strip()), "")
    best, most = usual, -2.0
    for mark in usual + _DELIMITERS.replace(usual, ""):
        if mark in first and mark != quote and (rows := _evenly(lines, mark, quote)):
            order = _order(rows)
            if order > most:
                best, most = mark, order
    if most == -2.0 and BLANK in first.strip():
        cells = zip(*_evenly(lines, BLANK, quote)[1:], strict=True)
        columns = [[cell for cell in column if cell not in missing] for column in cells]
        return BLANK if any(column and _all(PLAIN, column) for column in columns) else best
    return best


def _evenly(lines: Sequence[str], mark: str, quote: str | None) -> list[list[str]]:
    """The rows that a mark cuts like the first; none if it cuts many otherwise, or into one.

    A header that lacks one name, as that of R's ``write.table``, is left out: the reader says so.
    """
    rows = _rows(lines, Grammar(mark, quote))
    if len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) + 1}:
        return rows[1:]
    regular = list(_regular(rows))
    alike = rows and len(rows[0]) > 1 and len(regular) >= _REGULAR * len(rows)
    return regular if alike else []


def _order(rows: Sequence[Sequence[str]]) -> float:
    """Numbers less cells that may have to be cut further, per cell."""
    cells = [cell for row in rows for cell in row]
    numbers = [PLAIN.matches(cell.strip()) or _WRITTEN[0].matches(cell.strip()) for cell in cells]
    whole = zip(cells, numbers, strict=True)
    uncut = sum(not number and any(mark in cell for mark in _DELIMITERS) for cell, number in whole)
    return (sum(numbers) - uncut) / len(cells)


def _is_padded(rows: Sequence[Sequence[str]]) -> bool:
    """Whether blanks stand around every value of some column, as before fields in ``a, b, c``."""
    columns = zip(*rows[1:], strict=True)
    return len(rows) > 2 and any(all(cell != cell.strip() for cell in cells) for cells in columns)


# Numbers ----------------------------------------------------------------------------------------


def _says_numerals(format: CsvFormat) -> bool:
    return format.decimal is not None or format.thousands is not None


def _numerals(
    path: Path,
    rows: Sequence[Sequence[str]],
    further: Sequence[pa.Array[Any]],
    missing: Sequence[str],
    separator: str,
) -> Numerals:
    """The one way of writing numbers in which all columns that look like numbers are numbers."""
    columns = [
        (j, unmarked([cell for cell in column if cell not in missing] + _unusual(column[0], more)))
        for j, (column, more) in enumerate(
            zip(zip(*rows[1:], strict=True), further, strict=False), start=1
        )
    ]
    open_columns = [(j, c) for j, c in columns if c and not _all(PLAIN, c)]
    readings = [
        [numerals for numerals in _WRITTEN if _all(numerals, cells)] for _, cells in open_columns
    ]
    for (j, cells), possible in zip(open_columns, readings, strict=True):
        # A field of a file with commas between fields is quoted where it has one itself.
        unclear = Numerals(".", ",") not in possible or separator != ","
        if Numerals(",") in possible and unclear:
            for cell in filter(GROUPED.fullmatch, cells):
                raise _ambiguous(path, j, cell)
    plain = [cells for _, cells in columns if _all(PLAIN, cells) and "." in "".join(cells)]
    for numerals in (_WRITTEN[1], _WRITTEN[0], _WRITTEN[2]):
        explained = [numerals in possible for possible in readings if possible]
        if explained and all(explained) and all(_all(numerals, cells) for cells in plain):
            return numerals
    return PLAIN


def _unusual(first: str, cells: pa.Array[Any]) -> list[str]:
    """Some of the cells that programs would not take for numbers, in a column that has numbers."""
    if not any(character.isdigit() for character in first):
        return []
    odd = pc.unique(cells.filter(pc.invert(pc.match_substring_regex(cells, PLAIN.pattern))))
    found: list[str] = odd.slice(0, _ROWS).to_pylist()
    return found


def _all(numerals: Numerals, cells: Sequence[str]) -> bool:
    return all(map(numerals.matches, cells))


def _ambiguous(path: Path, column: int, cell: str) -> ReadError:
    return ReadError(
        f"{path.name}, column {column}: {cell!r} is either {cell.replace(',', '.')} or "
        f"{cell.replace(',', '')}",
        "a number must have one meaning",
        "say which with decimal=',' or thousands=','",
    )


# The header -------------------------------------------------------------------------------------


def _has_header(rows: Sequence[Sequence[str]], numerals: Numerals, missing: Sequence[str]) -> bool:
    """Whether the first row holds names."""
    if len(rows) < 2 or _comes_again(rows, numerals, missing):
        return True
    columns = [
        (name, [cell for cell in cells if cell not in missing])
        for name, *cells in zip(*rows, strict=True)
        if name not in missing
    ]
    numbers = [(name, cells) for name, cells in columns if numerals.matches(name)]
    if numbers:
        names = [name for name, _ in numbers]
        if _are_years(names) or (len(numbers) == len(columns) and _are_positions(names)):
            return True
        return not any(cells and _all(numerals, cells) for _, cells in numbers)
    again = sum(cells.count(name) > 1 for name, cells in columns)
    return 2 * again < max(1, len(columns))


def _comes_again(rows: Sequence[Sequence[str]], numerals: Numerals, missing: Sequence[str]) -> bool:
    """Whether the first row stands again among rows of numbers, as where files were joined."""
    first, *rest = rows
    others = [row for row in rest if row != first]
    if not others or len(others) == len(rest):
        return False
    columns = zip(first, zip(*others, strict=True), strict=True)
    known = [(name, [cell for cell in cells if cell not in missing]) for name, cells in columns]
    return any(cells and _all(numerals, cells) for name, cells in known) and not any(
        numerals.matches(name) for name, _ in known
    )


def _are_years(names: Sequence[str]) -> bool:
    """Whether there are several, as in a table with a column for each year."""
    years = [int(name) for name in names if _YEAR.fullmatch(name)]
    return len(years) == len(names) > 1 and len(set(years)) == len(years)


def _are_positions(names: Sequence[str]) -> bool:
    """Whether they number the columns, as where a matrix without names was written."""
    count = len(names)
    return list(names) in ([str(i) for i in range(count)], [str(i + 1) for i in range(count)])
