"""The dialect of delimited text, where nobody says it: found by looking at its first rows.

The separator is a character that cuts the first rows into equally many fields. It is a blank only
if no other does, as sentences have blanks too. What stands above these rows is a title. The first
row is data, and no header, if it holds what no name is: a number in a column of numbers, or values
that come again below. ``csv.Sniffer`` of the standard library takes a header of years for data,
and knows no decimal comma, so this is done here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from suffice.data.spelling import MARKS, PLAIN, Number
from suffice.data.text.records import BLANK, Grammar, OpenRecordError, Record
from suffice.data.text_format import AUTO, TextFormat

DELIMITERS = ",;\t|"
_QUOTE, _OTHER_QUOTE = '"', "'"
_ROWS = 200
_ABOVE = 30  # lines that may stand above the table
_REGULAR = 0.9  # of the rows have as many fields as the first: some may be malformed
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_NUMBERS = (PLAIN, Number(","), Number(".", ","), Number(",", "."), Number(".", " "))


def encoding_of(start: bytes) -> str | None:
    """Return UTF-16 where the first bytes show it, with a mark or by the zeros of plain letters."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    part = start[:1024]
    for order, zeros in (("le", part[1::2]), ("be", part[::2])):
        if len(zeros) > 1 and zeros.count(0) > 0.6 * len(zeros) and part.count(0) < 0.6 * len(part):
            return f"utf-16-{order}"
    return None


def dialect_of(
    lines: Sequence[str], asked: TextFormat, usual: str
) -> tuple[TextFormat, list[Record]]:
    """Find the table in the first lines of a text; ``usual`` is the separator that is likely.

    Return where it begins and what cuts it into fields, and its rows from the header on.
    """
    skip, separator = asked.skip_lines, asked.separator
    if skip is None:
        skip = 0
        told = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
        if told is not None:
            skip, separator = 1, separator or told[1]
        skip += _comments(lines[skip:], separator, usual, asked)
    quote = _quote(lines[skip:], asked, separator, usual)
    found = separator or _separator(lines[skip:], quote, usual, asked.tokens)
    rows = _rows(lines[skip:], Grammar(found, quote))
    if asked.skip_lines is None and asked.header is not False:  # a row without names may be short
        above = skip
        for begin, mark in _below_title(lines, skip, separator, quote, usual, rows):
            skip, found = begin, mark
            rows = _rows(lines[skip:], Grammar(found, quote))
        skip += _padding(rows)
        rows = rows if skip == above else _rows(lines[skip:], Grammar(found, quote))
    strip = asked.strip
    if strip is None:
        strip = _is_padded([row.fields for row in rows])
    if strip:
        rows = _rows(lines[skip:], Grammar(found, quote, strip=True))
        rows = [replace(row, fields=[cell.strip() for cell in row.fields]) for row in rows]
    return replace(asked, separator=found, quote=quote, strip=strip, skip_lines=skip), rows


def _rows(lines: Sequence[str], grammar: Grammar) -> list[Record]:
    records: list[Record] = []
    with suppress(OpenRecordError):
        records.extend(islice(grammar.records(lines), _ROWS))
    return records


# Above the table --------------------------------------------------------------------------------


def _comments(lines: Sequence[str], separator: str | None, usual: str, asked: TextFormat) -> int:
    """Count lines that are comments; the last of them may be the header, as in ``#id,x``."""
    count = 0
    while count < len(lines) and lines[count].startswith("#"):
        count += 1
    if not 0 < count < len(lines):
        return 0
    mark = separator or _separator(lines[count:], None, usual, asked.tokens)
    last, first = (lines[place].rstrip("\r\n").split(mark) for place in (count - 1, count))
    return count - 1 if len(last) == len(first) > 1 else count


def _below_title(
    lines: Sequence[str],
    skip: int,
    separator: str | None,
    quote: str | None,
    usual: str,
    rows: Sequence[Record],
) -> list[tuple[int, str]]:
    """Return the first line of a table below titles, and its separator; nothing without titles."""
    marks = [separator] if separator else [usual, *DELIMITERS.replace(usual, "")]
    first = rows[0].fields if rows else []
    if len(first) > 1 and (_evenly(rows) or len(first) > 3):
        return []
    for begin in range(skip + 1, min(skip + _ABOVE, len(lines) - 1)):
        if not lines[begin].strip():
            continue
        for mark in marks:
            below = _rows(lines[begin:], Grammar(mark, quote))
            fields = [row.fields for row in below]
            if (
                mark in lines[begin]
                and len(fields) > 1
                and len(fields[0]) > max(len(first), 1)
                and len(_regular(fields)) >= _REGULAR * len(fields)
                and _are_names(fields[0])
                and (
                    len(fields[0]) > 2 or _some_are_numbers(zip(*_regular(fields[1:]), strict=True))
                )
            ):
                return [(begin, mark)]
    return []


def _padding(rows: Sequence[Record]) -> int:
    """Count the lines of a regular table that are titles: ``Report,,`` above a row of names."""
    width = len(rows[0].fields) if rows else 0
    if width < 3 or sum(map(bool, rows[0].fields)) > 1 or not rows[0].fields[0]:
        return 0
    for row in rows[1:_ABOVE]:
        if len(row.fields) == width and _are_names(row.fields):
            return row.line - 1
        if row.fields[-1]:
            return 0
    return 0


def _are_names(cells: Sequence[str]) -> bool:
    return all(cells) and len(set(cells)) == len(cells) and not any(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    return any(notation.matches(cell.strip().strip(MARKS)) for notation in _NUMBERS)


def _some_are_numbers(columns: Iterable[Sequence[str]]) -> bool:
    return any(cells and all(map(_is_number, cells)) for cells in columns)


# Separator, quote, blanks -----------------------------------------------------------------------


def _regular(rows: Sequence[list[str]]) -> list[list[str]]:
    return [row for row in rows if len(row) == len(rows[0])]


def _evenly(records: Sequence[Record]) -> list[list[str]]:
    """Return the rows if most have as many fields as the first, and more than one.

    A header that lacks one name, as that of R's ``write.table``, is left out.
    """
    rows = [record.fields for record in records]
    if len(rows) > 1 and {len(row) for row in rows[1:]} == {len(rows[0]) + 1}:
        return rows[1:]
    regular = _regular(rows)
    alike = rows and len(rows[0]) > 1 and len(regular) >= _REGULAR * len(rows)
    return regular if alike else []


def _quote(
    lines: Sequence[str], asked: TextFormat, separator: str | None, usual: str
) -> str | None:
    """Return the quote: ``'`` where there is no other, and it does nothing but enclose fields."""
    if asked.quote != AUTO:
        return asked.quote
    if separator in (_QUOTE, _OTHER_QUOTE):
        return None
    text, q = "".join(lines), _OTHER_QUOTE
    if _QUOTE in text or q not in text:
        return _QUOTE
    ends = re.escape(separator or _separator(lines, q, usual, asked.tokens)) + r"\r\n"
    bare = re.sub(f"(?<![^{ends}]){q}(?>(?:[^{q}]|{q}{q})*){q}(?![^{ends}])", "", text)
    return _QUOTE if q in bare else q


def _separator(lines: Sequence[str], quote: str | None, usual: str, missing: Sequence[str]) -> str:
    """Return the character that cuts rows alike; of several the one that leaves most numbers."""
    first = next((line for line in lines if line.strip()), "")
    best, most = usual, -2.0
    below = [line.strip() for line in lines[1:] if line.strip()]
    if "," not in first and "," in "".join(below) and all(map(_NUMBERS[1].matches, below)):
        return ";"  # a column of numbers with decimal commas
    marks = [mark for mark in usual + DELIMITERS.replace(usual, "") if mark in first]
    for mark in marks:
        rows = _evenly(_rows(lines, Grammar(mark, quote))) if mark != quote else []
        order = -2.0 if not rows else 0.0 if len(marks) == 1 else _order(rows)
        if order > most:
            best, most = mark, order
    if most == -2.0 and len(first.split()) > 1:
        cells = zip(*_evenly(_rows(lines, Grammar(BLANK, quote)))[1:], strict=True)
        columns = [[cell for cell in column if cell not in missing] for column in cells]
        numbers = any(column and all(map(PLAIN.matches, column)) for column in columns)
        return BLANK if numbers else best
    return best


def _order(rows: Sequence[Sequence[str]]) -> float:
    """Numbers less cells that may have to be cut further, per cell."""
    cells = [cell for row in rows for cell in row]
    numbers = [any(n.matches(cell.strip()) for n in _NUMBERS[:2]) for cell in cells]
    whole = zip(cells, numbers, strict=True)
    uncut = sum(not number and any(mark in cell for mark in DELIMITERS) for cell, number in whole)
    return (sum(numbers) - uncut) / len(cells)


def _is_padded(rows: Sequence[list[str]]) -> bool:
    """Return whether blanks stand around every value of some column, as in ``a, b, c``."""
    columns = zip(*_regular(rows)[1:], strict=True)
    known = ([cell for cell in cells if cell] for cells in columns)
    return len(rows) > 2 and any(
        cells and all(cell != cell.strip() for cell in cells) for cells in known
    )


# The header -------------------------------------------------------------------------------------


def has_header(rows: Sequence[list[str]], missing: Sequence[str], known: TextFormat | None) -> bool:
    """Return whether the first row holds names."""
    if known is not None:
        expected = {*known.features, *(known.names or ())}
        if known.header is not False and expected.intersection(map(str.strip, rows[0])):
            return True
        if _has_cells_of(rows[0], known, missing):
            return False
        if len(rows) < 2:
            return known.header is not False and not any(map(_is_number, rows[0]))
    rows = _regular(rows)
    if len(rows) < 2 or _comes_again(rows, missing):
        return True
    columns = [
        (name, [cell for cell in cells if cell not in missing])
        for name, *cells in zip(*rows, strict=True)
        if name not in missing
    ]
    numbers = [(name, cells) for name, cells in columns if _is_number(name)]
    if numbers:
        names = [name for name, _ in numbers]
        # Beside labels, a row of whole numbers above fractions alone.
        unlike = len(numbers) == len(columns) or all(_has_fraction(cells) for _, cells in numbers)
        if _are_years(names) or (unlike and _are_positions(names)):
            return True
        return not _some_are_numbers(cells for _, cells in numbers)
    if _some_are_numbers(cells for name, cells in columns if name.isidentifier()):
        return True
    if known is not None and known.header is False:
        return False
    again = sum(cells.count(name) > 1 for name, cells in columns)
    return 2 * again < max(1, len(columns))


def _has_cells_of(row: Sequence[str], known: TextFormat, missing: Sequence[str]) -> bool:
    """Return whether every number that the model expects in a row is there, by position."""
    spellings = [known.spelling(name) for name in _in_order(known, len(row))]
    numbers = [
        cell
        for cell, spelling in zip(row, spellings, strict=False)
        if isinstance(spelling, Number) and cell not in missing
    ]
    return bool(numbers) and all(map(_is_number, numbers))


def _in_order(known: TextFormat, width: int) -> Sequence[str]:
    return next((names for names in (known.names or (), known.features) if len(names) == width), ())


def _comes_again(rows: Sequence[Sequence[str]], missing: Sequence[str]) -> bool:
    """Return whether the first row stands again among numbers, as where files were joined."""
    first, *rest = rows
    others = [row for row in rest if row != first]
    if not others or len(others) == len(rest):
        return False
    columns = zip(first, zip(*others, strict=True), strict=True)
    known = [(name, [cell for cell in cells if cell not in missing]) for name, cells in columns]
    named = any(_is_number(name) for name, _ in known)
    return not named and _some_are_numbers(cells for _, cells in known)


def _are_years(names: Sequence[str]) -> bool:
    years = [int(name) for name in names if _YEAR.fullmatch(name)]
    return len(years) == len(names) > 1 and len(set(years)) == len(years)


def _has_fraction(cells: Sequence[str]) -> bool:
    return any(not cell.strip(" +-").isdigit() for cell in cells)


def _are_positions(names: Sequence[str]) -> bool:
    """Return whether names number the columns, as where a matrix without names was written."""
    count = len(names)
    return list(names) in ([str(i) for i in range(count)], [str(i + 1) for i in range(count)])


class Names(NamedTuple):
    """The name of every field of a row, and what is to be said of them."""

    names: tuple[str, ...]
    unnamed: tuple[str, ...] = ()  # those named by their position, as the header names none
    row_names: tuple[str, ...] = ()  # one that has the names of the rows
    by_position: bool = False  # whether the names are those of the model, in its order
    doubled: tuple[str, ...] = ()  # those named by their position too, as others have the name


def names_of(
    rows: Sequence[list[str]], header: bool, asked: Sequence[str] | None, known: TextFormat | None
) -> Names:
    """Name the fields of rows, which begin with the header if there is one."""
    below = rows[1:] if header else rows
    width = len(below[0]) if below else len(rows[0])
    if asked is not None:
        return Names(tuple(asked))
    of_model = () if known is None else _in_order(known, width)
    if not header:
        if of_model:
            return Names(tuple(of_model), by_position=True)
        return Names(tuple(f"column_{i}" for i in range(1, width + 1)))
    first, row_names = list(rows[0]), False
    one_more = len(first) > 1 and width == len(first) + 1
    trails = one_more and not any(row[-1] for row in below)
    one_more &= len(below) > 1 or trails
    if below and one_more and all(len(row) == width for row in below):
        last, begin = [row[-1] for row in below], [row[0] for row in below]
        row_names = any(last) and len(set(begin)) == len(begin)
        first = ["", *first] if row_names else [*first, ""]
    if known is not None and known.header is False and of_model:
        return Names(tuple(of_model), by_position=True)
    names, unnamed, doubled = list[str](), list[str](), list[str]()
    for place, name in enumerate(first, start=1):
        own = name or f"column_{place}"
        while own in names or (own != name and own in first):
            own += f"_{place}"
        names.append(own)
        if own != name:
            (doubled if name else unnamed).append(own)
    return Names(
        tuple(names), tuple(unnamed), tuple(names[:1]) if row_names else (), False, tuple(doubled)
    )
