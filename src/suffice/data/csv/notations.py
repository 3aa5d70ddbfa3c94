"""Which columns of delimited text are numbers with a mark, or dates, where nobody says so.

A column is what all cells looked at are. Numbers of which only some have the mark are text, and a
remark says so: 12 beside 10% may be 12 % or 1,200 %. Whether the day or the month comes first is
known only if a cell proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.csv.format import CsvFormat
from suffice.data.csv.sample import sampled_columns
from suffice.data.notation import MARKS, TEXT, Dates, Marked, Notation
from suffice.data.numerals import Numerals
from suffice.errors import ReadError

__all__ = ["Notations", "find_notations", "notations_of"]

FIRST = 8  # cells that show whether a column is worth a closer look
NEARLY = 0.9  # of the cells obey a notation, and the others are said
NAMED = 3  # columns in one remark
_TIMES = ("", " HH:MM", " HH:MM Z")
_ORDERS = {
    mark: tuple(mark.join(parts) for parts in (("YYYY", "MM", "DD"), ("DD", "MM", "YYYY")))
    for mark in "-/."
}
_LIKELY = re.compile(
    rf"[+-]?[{MARKS}]\s?\d|[+-]?\d[^{MARKS}]*[{MARKS}]$|\d{{1,4}}[-/.]\d{{1,2}}[-/.]"
)


@dataclass(frozen=True)
class Notations:
    """What was found in the columns of a file."""

    written: Mapping[str, str] = field(default_factory=dict)  # the spelling, by column
    refused: Mapping[str, ReadError] = field(default_factory=dict)  # what can be read in two ways
    nearly: Mapping[str, tuple[Notation, str]] = field(default_factory=dict)  # and a misfit
    mixed: Mapping[str, tuple[Marked, str]] = field(default_factory=dict)  # and a bare number
    remarks: tuple[str, ...] = ()


def find_notations(
    where: str, columns: Mapping[str, pa.Array[pa.StringScalar]], numerals: Numerals
) -> Notations:
    """Find the columns whose cells have a mark or are dates.

    Parameters
    ----------
    where : str
        What the file is called.
    columns : mapping of str to pyarrow.Array
        Cells that were looked at, without missing ones.
    numerals : Numerals
        How numbers are written.

    Examples
    --------
    >>> cells = pa.array(["31/01/2024", "1/2/2024"])
    >>> find_notations("a.csv", {"day": cells}, Numerals()).written
    {'day': 'DD/MM/YYYY'}
    """
    found: dict[str, Notation] = {}
    refused: dict[str, ReadError] = {}
    nearly: dict[str, tuple[Notation, str]] = {}
    mixed: dict[str, tuple[Marked, str]] = {}
    for name, cells in columns.items():
        if (both := _mixed(cells, numerals)) is not None:
            mixed[name] = both
            continue
        if not any(_LIKELY.match(cell) for cell in cells.slice(0, FIRST).to_pylist()):
            continue
        best, misfit = _closest(cells, numerals)
        if best is not None and misfit is None:
            if isinstance(best, Dates) and best.date[0] == "D":
                best = _in_order(best, cells)
            if best is None:
                refused[name] = _undecided(where, name, cells[0].as_py())
            else:
                found[name] = best
        elif best is not None:
            nearly[name] = best, str(misfit)
    written = {name: notation.spelling for name, notation in found.items()}
    odd = (_nearly(where, name, *known) for name, known in nearly.items())
    both_ways = (_both(where, name, *known) for name, known in mixed.items())
    remarks = (*_remarks(where, found), *odd, *both_ways)
    return Notations(written, refused, nearly, mixed, remarks)


def notations_of(paths: Sequence[Path], format: CsvFormat, names: Sequence[str]) -> Notations:
    """What the cells of columns show that nobody described, if it is to be guessed."""
    if not format.guess:
        return Notations()
    known = dict(format.written)
    columns = sampled_columns(paths, format, len(names))
    open_columns = {
        name: cells
        for name, cells in zip(names, columns, strict=True)
        if name not in known and len(cells)
    }
    return find_notations(paths[0].name, open_columns, format.numerals)


def _closest(
    cells: pa.Array[pa.StringScalar], numerals: Numerals
) -> tuple[Notation | None, str | None]:
    """The notation that most cells obey, and a cell that does not; none if few do."""
    best, misfit, most = None, None, NEARLY * len(cells)
    for notation, pattern in _candidates(cells[0].as_py(), numerals):
        obeys = pc.match_substring_regex(cells, pattern)
        number = pc.sum(obeys).as_py() or 0
        if number >= most and number > 0:
            others = cells.filter(pc.invert(obeys))
            best, most = notation, number
            misfit = others[0].as_py() if len(others) else None
            if misfit is None:
                break
    return best, misfit


def _mixed(cells: pa.Array[pa.StringScalar], numerals: Numerals) -> tuple[Marked, str] | None:
    """The mark that some numbers have, and a number without it, where all cells are numbers."""
    bare = pc.match_substring_regex(cells, numerals.pattern)
    marked = cells.filter(pc.invert(bare))
    if len(marked) in (0, len(cells)) or not _LIKELY.match(marked[0].as_py()):
        return None
    notation, misfit = _closest(marked, numerals)
    if misfit is None and isinstance(notation, Marked):
        return notation, cells.filter(bare)[0].as_py()
    return None


def _candidates(first: str, numerals: Numerals) -> Iterator[tuple[Notation, str]]:
    """Notations of which a first cell is one, or may be, and the pattern of a whole cell."""
    digits = numerals.pattern[1:-1].replace("[+-]?", "", 1)
    for mark in MARKS:
        if mark in first:
            sign = re.escape(mark)
            yield Marked(mark, True), f"^[+-]?{sign} ?[+-]?{digits}$"
            yield Marked(mark, False), f"^[+-]?{digits} ?{sign}$"
    for mark, orders in _ORDERS.items():
        if first.count(mark) >= 2:
            for order in orders:
                for time in _TIMES:
                    dates = Dates(order, time)
                    yield dates, dates.pattern


def _in_order(dates: Dates, cells: pa.Array[pa.StringScalar]) -> Dates | None:
    """Dates whose day comes first, or month, as a number above 12 proves; None without proof."""
    part = pc.extract_regex(cells, dates.pattern)
    first, second = (
        pc.max(pc.cast(pc.struct_field(part, [name]), pa.int8())).as_py() for name in "dm"
    )
    if first > 12:
        return dates
    if second > 12:
        mark = dates.date[2]
        return Dates(mark.join(("MM", "DD", "YYYY")), dates.time)
    return None


def _undecided(where: str, name: str, cell: str) -> ReadError:
    mark = next(letter for letter in cell if not letter.isdigit())
    day, month = f"DD{mark}MM{mark}YYYY", f"MM{mark}DD{mark}YYYY"
    time = " HH:MM" if ":" in cell else ""
    return ReadError(
        f"{where}, column {name!r}: {cell!r} is a date, and no cell that was looked at shows "
        "whether the day or the month comes first",
        "a date must have one meaning",
        (
            f"say which with written={{{name!r}: {day + time!r}}} or written={{{name!r}"
            f": {month + time!r}}}"
        ),
    )


def _remarks(where: str, found: Mapping[str, Notation]) -> Iterator[str]:
    """One line for all columns of a notation."""
    for notation in dict.fromkeys(found.values()):
        names = [name for name, other in found.items() if other == notation]
        unit = ", read in seconds since 1970-01-01" if isinstance(notation, Dates) else ""
        yield (
            f"{where}: {_listed(names)} hold{'s' if len(names) == 1 else ''} "
            f"{notation}{unit} (written={{{names[0]!r}: {TEXT!r}}} says otherwise)"
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:NAMED]))
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _both(where: str, name: str, notation: Marked, bare: str) -> str:
    return (
        f"{where}: some cells of {name!r} are {notation}, and some lack the "
        f"mark, as {bare}: all are kept as text; write them alike (written={{"
        f"{name!r}: {TEXT!r}}} leaves this note out)"
    )


def _nearly(where: str, name: str, notation: Notation, misfit: str) -> str:
    return (
        f"{where}: {name!r} would hold {notation}, but for {misfit!r}: it is "
        f"kept as text (missing={misfit!r} or written={{{name!r}: "
        f"{notation.spelling!r}}} say otherwise)"
    )
