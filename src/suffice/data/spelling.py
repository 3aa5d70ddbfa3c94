"""Spellings of the cells of a column: numbers, dates and times, truth values, text.

A spelling is named as a person writes an example of it: ``number``, ``1.000,5``, ``$1``, ``1%``,
``DD/MM/YYYY``, ``MMM DD, YYYY HH:MM AM``, ``HH:MM``, ``true/false``, ``text``. The pattern by which
a column is found to be spelled so is the one by which each of its cells is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.python_cells import is_rounded
from suffice.errors import ParameterError
from suffice.sums.block import HELD

MARKS = "$€£¥₹₽₩₺%‰"  # before or behind a number
BLANKS = " \u00a0\u202f\u2009"  # also between thousands
THOUSANDS = ",.'\u2019_" + BLANKS
_MINUS = "\u2212"  # beside the hyphen


def _require(cells: pa.Array[Any], pattern: str) -> None:
    if not pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py():
        raise pa.ArrowInvalid("a cell is written in another way")


# Numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """Numbers in one notation.

    Parameters
    ----------
    decimal : str
        Comes before decimals.
    thousands : str, optional
        Cuts the digits before it into threes.
    mark : str
        Of a currency or of per cent, if all cells have one.
    leads : bool
        Whether the mark comes before the digits. A sign stands on either side of it.

    Examples
    --------
    >>> Number(",", ".", "€", leads=False).read(pa.array(["-1.234,5 €", "7€"])).to_pylist()
    [-1234.5, 7.0]
    """

    decimal: str = "."
    thousands: str | None = None
    mark: str = ""
    leads: bool = True

    type = pa.float64()

    @property
    def name(self) -> str:
        if self == PLAIN:
            return "number"
        digits = f"1{self.thousands}000" if self.thousands else "1"
        if self.decimal != "." or self.thousands:
            digits += f"{self.decimal}5"
        return self.mark + digits if self.leads else digits + self.mark

    def __str__(self) -> str:
        if self == PLAIN:
            return "numbers"
        if self.mark == "%":
            return f"numbers in per cent, such as {self.name}"
        return f"numbers such as {self.name}"

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a whole cell without the blanks around it."""
        decimal, sign = re.escape(self.decimal), f"[+\\-{_MINUS}]?"
        whole = r"[0-9]+"
        if self.thousands:
            cut = re.escape(self.thousands)
            whole = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{cut}[0-9]{{3}})+)"
        digits = rf"(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        if not self.mark:
            return f"^{sign}{digits}$"
        mark, blank = re.escape(self.mark), f"[{BLANKS}]?"
        if self.leads:
            return f"^{sign}{mark}{blank}{sign}{digits}$"
        return f"^{sign}{digits}{blank}{mark}$"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def matches(self, cell: str) -> bool:
        """Return whether a cell is spelled so."""
        return self._compiled.match(cell) is not None

    def read(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        if self == PLAIN:
            with np.errstate(invalid="ignore"):
                try:
                    return _held(cells, pc.cast(cells, pa.float64()))
                except pa.ArrowInvalid:
                    cells = pc.utf8_trim_whitespace(cells)
        digits = pc.utf8_trim_whitespace(cells)
        _require(digits, self.pattern)
        for mark in (self.mark, *BLANKS, self.thousands):
            if mark:
                digits = pc.replace_substring(digits, mark, "")
        for written, plain in ((self.decimal, "."), (_MINUS, "-")):
            if written != plain:
                digits = pc.replace_substring(digits, written, plain)
        digits = pc.replace_substring_regex(digits, r"^\+", "")
        return _held(digits, pc.cast(digits, pa.float64()))

    def write(self, values: pa.Array[Any]) -> pa.Array[Any]:
        if not pa.types.is_floating(values.type) or self == PLAIN:
            return values
        return pa.array([None if v is None else self._one(v) for v in values.to_pylist()])

    def _one(self, value: float) -> str:
        digits = repr(abs(value)).replace(".", self.decimal)
        sign = "-" if value < 0 else ""
        return f"{sign}{self.mark}{digits}" if self.leads else f"{sign}{digits}{self.mark}"


PLAIN = Number()
"""As programs write them: 1234.5."""

_WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
_EXAMPLE = re.compile(
    rf"(?P<lead>[{MARKS}]?)1(?:(?P<cut>[{THOUSANDS}])?000)?(?:(?P<decimal>[.,])5)?"
    rf" ?(?P<trail>[{MARKS}]?)"
)


def _held(cells: pa.Array[Any], numbers: pa.Array[Any]) -> pa.Array[Any]:
    far = np.abs(numbers.to_numpy(zero_copy_only=False)) >= HELD
    if far.any() and are_rounded(cells.filter(pa.array(far))):
        raise pa.ArrowInvalid("a whole number would be rounded")
    return numbers


def are_rounded(cells: pa.Array[Any]) -> bool:
    """Return whether digits that write out a whole number are read as another one."""
    for letter in "eE":  # what has an exponent soon passes
        cells = cells.filter(pc.invert(pc.match_substring(cells, letter)))
    whole = cells.filter(pc.match_substring_regex(cells, _WHOLE))
    return any(is_rounded(Decimal(cell)) for cell in whole.to_pylist())


def number_spellings(
    cells: str, decimal: str | None = None, thousands: str | None = None
) -> Iterator[Number]:
    """Yield the notations that the characters of some cells allow, the usual ones first.

    Parameters
    ----------
    cells : str
        Some cells, joined.
    decimal, thousands : str, optional
        Marks that are given.
    """
    decimals = (decimal,) if decimal else tuple(d for d in ".," if d != thousands)
    cuts = (thousands,) if thousands else (None, *(mark for mark in THOUSANDS if mark in cells))
    marks = [("", True), *product((m for m in MARKS if m in cells), (True, False))]
    for (mark, leads), cut, point in product(marks, cuts, decimals):
        if point != cut:
            yield Number(point, cut, mark, leads)


# Dates and times --------------------------------------------------------------------------------

_MONTHS = "january february march april may june july august september october november december"
_NAMES = "|".join(rf"{m[:3]}(?:{m[3:]})?" if m[3:] else m for m in _MONTHS.split())
_PARTS = {
    "YYYY": r"(?P<y>[0-9]{4})",
    "YY": r"(?P<y>[0-9]{2})",
    "MMM": rf"(?P<n>(?i:{_NAMES}|sept))\.?",
    "MM": r"(?P<m>0?[1-9]|1[0-2])",
    "DD": r"(?P<d>0?[1-9]|[12][0-9]|3[01])",
}
_COMPACT = r"^(?P<y>1[89][0-9]{2}|20[0-9]{2})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12][0-9]|3[01])$"
_ZONES = {"Z": "+00:00", "UTC": "+00:00", "GMT": "+00:00", "CET": "+01:00", "CEST": "+02:00"}
_ZONES |= {zone + "ST": f"-{hour:02}:00" for zone, hour in zip("ECMP", range(5, 9), strict=True)}
_ZONES |= {zone + "DT": f"-{hour:02}:00" for zone, hour in zip("ECMP", range(4, 8), strict=True)}
_CLOCK = (
    r"(?P<h>[01]?[0-9]|2[0-3]):(?P<i>[0-5][0-9])(?::(?P<s>[0-5][0-9])(?:[.,](?P<f>[0-9]{1,9}))?)?"
)
_TIMES = {
    "": "",
    "HH:MM": _CLOCK,
    "HH:MM AM": _CLOCK.replace("[01]?[0-9]|2[0-3]", "0?[1-9]|1[0-2]")
    + r"[ \x{202f}]?(?P<a>(?i:[ap]\.?m\.?))",
}
_ZONE = rf" ?(?P<z>{'|'.join(_ZONES)}|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)"
_SEPARATORS = "-/. "
_DATES = (
    *(s.join(p) for s in _SEPARATORS for p in (("YYYY", "MM", "DD"), ("DD", "MM", "YYYY"))),
    *(s.join(("MM", "DD", "YYYY")) for s in _SEPARATORS),
    *(s.join(p) for s in _SEPARATORS for p in (("DD", "MM", "YY"), ("MM", "DD", "YY"))),
    *(s.join(("YY", "MM", "DD")) for s in _SEPARATORS),
    *(s.join(("DD", "MMM", y)) for s in _SEPARATORS for y in ("YYYY", "YY")),
    *(s.join(("YYYY", "MMM", "DD")) for s in _SEPARATORS),
    *("MMM DD, YYYY", "MMM DD YYYY", "MMM YYYY", "MMM-YYYY", "YYYY-MM", "YYYY/MM", "MM/YYYY"),
    "YYYYMMDD",
)
_CENTURY = 69  # two digits from here on are of the 20th century, as in POSIX


@dataclass(frozen=True)
class Moment:
    """Dates, points in time, or times of day, in one order.

    Parameters
    ----------
    date : str
        Such as ``DD/MM/YYYY``; empty for a time of day.
    time : str
        Empty, ``HH:MM`` or ``HH:MM AM``, with or without seconds and their decimals.
    zone : bool
        Whether a zone or an offset from universal time follows.

    Examples
    --------
    >>> Moment("DD.MM.YYYY").read(pa.array(["31.1.2024"]))[0].as_py()
    datetime.date(2024, 1, 31)
    >>> Moment("MMM DD, YYYY", "HH:MM AM").read(pa.array(["Jan 5, 2024 1:30 PM"]))[0].as_py()
    datetime.datetime(2024, 1, 5, 13, 30)
    """

    date: str
    time: str = ""
    zone: bool = False

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.date, self.time, "Z" if self.zone else "")))

    @property
    def type(self) -> pa.DataType:
        if not self.date:
            return pa.time64("us")
        if not self.time:
            return pa.date32()
        return pa.timestamp("us", "UTC" if self.zone else None)

    def __str__(self) -> str:
        what = "dates" if not self.time else "times" if self.date else "times of day"
        order = {"DD": ", the day first", "MM": ", the month first"}.get(self.date[:2], "")
        order = order if "DD" in self.date and self.date[:3] != "MMM" else ""
        return f"{what}{order}, such as {self.name}"

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a whole cell, with the parts by name."""
        if self.date == "YYYYMMDD" and not self.time:
            return _COMPACT
        pieces = re.split(r"(YYYY|YY|MMM|MM|DD)", self.date)
        day = "".join(_PARTS.get(piece, re.escape(piece)) for piece in pieces)
        between = "(?:T|,? +)" if self.date and self.time else ""
        return f"^{day}{between}{_TIMES[self.time]}{_ZONE if self.zone else ''}$"

    def read(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        cells = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        _require(cells, self.pattern)
        part = pc.extract_regex(cells, self.pattern)
        found = {field.name: pc.struct_field(part, [field.name]) for field in part.type}
        text = self._day(found) if self.date else "1970-01-01"
        if self.time:
            text = pc.binary_join_element_wise(text, self._clock(found), " ")
        if self.zone:
            zone = found["z"]
            for name in sorted(_ZONES, key=len, reverse=True):
                zone = pc.replace_substring_regex(zone, f"^{name}$", _ZONES[name])
            text = pc.binary_join_element_wise(text, zone, "")
        if not self.date:
            return pc.cast(pc.cast(pc.cast(text, pa.timestamp("us")), pa.int64()), self.type)
        return pc.cast(text, self.type)

    def _day(self, found: dict[str, Any]) -> pa.Array[Any]:
        year = found["y"]
        if "YYYY" not in self.date:
            near = pc.less(pc.cast(year, pa.int8()), _CENTURY)
            century = pc.if_else(near, "20", "19")
            year = pc.binary_join_element_wise(century, year, "")
        if "n" in found:
            short = pc.utf8_slice_codeunits(pc.utf8_lower(found["n"]), 0, 3)
            names = pa.array([name[:3] for name in _MONTHS.split()])
            month = pc.cast(pc.add(pc.index_in(short, names), 1), pa.string())
        else:
            month = found["m"]
        day = found.get("d", pa.scalar("1"))
        two = (pc.utf8_lpad(each, 2, "0") for each in (month, day))
        return pc.binary_join_element_wise(year, *two, "-")

    def _clock(self, found: dict[str, Any]) -> pa.Array[Any]:
        hour = found["h"]
        if "a" in found:
            number = pc.cast(hour, pa.int8())
            of_day = pc.if_else(pc.equal(number, 12), 0, number)
            later = pc.match_substring_regex(found["a"], "^[pP]")
            hour = pc.cast(pc.if_else(later, pc.add(of_day, 12), of_day), pa.string())
        second = pc.if_else(pc.equal(found["s"], ""), "00", found["s"])
        parts = (pc.utf8_lpad(hour, 2, "0"), found["i"], second)
        fraction = pc.utf8_rpad(pc.utf8_slice_codeunits(found["f"], 0, 6), 6, "0")
        return pc.binary_join_element_wise(pc.binary_join_element_wise(*parts, ":"), fraction, ".")

    def write(self, values: pa.Array[Any]) -> pa.Array[Any]:
        if not pa.types.is_temporal(values.type):
            return values
        if pa.types.is_time(values.type):
            return pc.cast(pc.cast(values, pa.time32("s"), safe=False), pa.string())
        form = self.date
        for part, code in (("YYYY", "%Y"), ("YY", "%y"), ("MMM", "%b"), ("MM", "%m"), ("DD", "%d")):
            form = form.replace(part, code)
        form += {"": "", "HH:MM": " %H:%M:%S", "HH:MM AM": " %I:%M:%S %p"}[self.time]
        seconds = pc.cast(values, pa.timestamp("s"), safe=False)
        return pc.strftime(seconds, form + ("Z" if self.zone else ""))


_MOMENTS = {
    one.name: one
    for zone, time, date in product((False, True), _TIMES, ("", *_DATES))
    if (one := Moment(date, time, zone)).name and ((date and time) or not zone)
}


def date_spellings(cell: str) -> Iterator[Moment]:
    """Yield the orders in which a cell is a date or a time."""
    if any(map(str.isdigit, cell)):
        dates = ["", *(date for date in _DATES if _beginning(date).match(cell))]
        likely = (moment for moment in _MOMENTS.values() if moment.date in dates)
        yield from (moment for moment in likely if _matcher(moment).match(cell))


@cache
def _matcher(moment: Moment) -> re.Pattern[str]:
    return re.compile(moment.pattern.replace(r"\x{202f}", "\u202f"))


@cache
def _beginning(date: str) -> re.Pattern[str]:
    return re.compile(Moment(date).pattern.removesuffix("$"))


# Truth values and text --------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Truth values, in any of the words that databases and spreadsheets have for them."""

    name = "true/false"
    type = pa.bool_()
    pattern = r"^(?i:true|false|t|f|yes|no|y|n|0|1)$"
    pairs = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))

    def __str__(self) -> str:
        return "truth values"

    def read(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        words = pc.utf8_lower(pc.utf8_trim_whitespace(cells.cast(pa.string())))
        _require(words, self.pattern)
        found = pc.is_in(words, value_set=pa.array(_TRUE))
        return pc.if_else(pc.is_valid(words), found, pa.scalar(None, pa.bool_()))


# No array: making one loads pandas, and this module is imported early.
_TRUE = ["true", "yes", "t", "y", "1"]


@dataclass(frozen=True)
class Text:
    """Text as it is written."""

    name = "text"
    type = pa.string()

    def __str__(self) -> str:
        return "text"

    def read(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        return cells


Spelling = Number | Moment | Truth | Text
TRUTH, TEXT = Truth(), Text()


@cache
def spelling_named(name: str, decimal: str | None = None, thousands: str | None = None) -> Spelling:
    """Return the spelling of a name.

    Parameters
    ----------
    name : str
    decimal, thousands : str, optional
        Marks of numbers, where the name tells none.

    Examples
    --------
    >>> spelling_named("$1"), spelling_named("MM/DD/YYYY").type
    (Number(decimal='.', thousands=None, mark='$', leads=True), DataType(date32[day]))
    """
    if name in (TEXT.name, TRUTH.name):
        return TEXT if name == TEXT.name else TRUTH
    other = {",": ".", ".": ","}.get(thousands or "", ".")
    usual = Number(decimal or other, thousands)
    found = _EXAMPLE.fullmatch("1" if name == "number" else name)
    if found is not None and not (found["lead"] and found["trail"]):
        cut, point = found["cut"], found["decimal"]
        if cut or point:
            usual = Number(point or {".": ","}.get(cut or "", "."), cut)
        mark = found["lead"] or found["trail"]
        return replace(usual, mark=mark, leads=not found["trail"])
    if name in _MOMENTS:
        return _MOMENTS[name]
    raise ParameterError(
        f"written={name!r}",
        "a spelling is number, text, true/false, an example such as 1,000.5, 1.000,5, $1, 1% or "
        "1€, or a date such as DD/MM/YYYY, MM/DD/YY, DD-MMM-YYYY, YYYYMMDD or YYYY-MM, a time "
        "HH:MM or HH:MM AM, or both, with Z behind for a zone",
    )


# Cells -----------------------------------------------------------------------------------------


def without_missing(cells: pa.Array[Any], tokens: Sequence[str]) -> pa.Array[Any]:
    """Return cells with nulls in the place of tokens."""
    absent = pc.is_in(cells, value_set=pa.array(tokens, pa.string()))
    found: pa.Array[Any] = pc.if_else(absent, pa.scalar(None, pa.string()), cells)
    return found


def whole_numbers(cells: pa.Array[Any]) -> pa.Array[Any]:
    """Cast digits to int64; Arrow would take hexadecimal identifiers, and no plus sign."""
    if pc.any(pc.match_substring_regex(cells, "[xX]")).as_py():
        raise pa.ArrowInvalid("a cell is hexadecimal")
    try:
        return pc.cast(cells, pa.int64())
    except pa.ArrowInvalid:
        cells = pc.replace_substring_regex(cells, r"^\+([0-9])", r"\1")
        return pc.cast(pc.replace_substring(cells, "\u2212", "-"), pa.int64())


def read_cells(
    cells: pa.Array[Any], spelling: Spelling, kind: pa.DataType, tokens: Sequence[str]
) -> pa.Array[Any]:
    """Read cells, missing ones as nulls, by a spelling and in a type."""
    if pa.types.is_null(kind):
        if cells.null_count < len(cells):
            raise pa.ArrowInvalid("a cell is not empty")
        return pa.nulls(len(cells))
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return pc.cast(cells, kind)
    try:
        return _read(cells, spelling, kind)
    except pa.ArrowInvalid:
        bare = without_missing(pc.utf8_trim_whitespace(cells), tokens)
        return _read(bare, spelling, kind)


def _read(cells: pa.Array[Any], spelling: Spelling, kind: pa.DataType) -> pa.Array[Any]:
    if spelling == PLAIN and pa.types.is_floating(kind):
        return _read_each(cells, spelling, kind)
    coded = cells.dictionary_encode()
    return _read_each(coded.dictionary, spelling, kind).take(coded.indices)


def _read_each(cells: pa.Array[Any], spelling: Spelling, kind: pa.DataType) -> pa.Array[Any]:
    if pa.types.is_boolean(kind):
        return TRUTH.read(cells)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = spelling if isinstance(spelling, Number) else PLAIN
        if pa.types.is_integer(kind) and numbers == PLAIN:
            return pc.cast(whole_numbers(cells), kind)
        return pc.cast(numbers.read(cells), kind)
    return spelling.read(cells)
