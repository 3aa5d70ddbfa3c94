"""Numbers with a mark (``$10``, ``10%``) and dates in text: how a column of them is written.

A notation is spelled as a person writes an example of it: ``$1``, ``1%``, ``DD/MM/YYYY``,
``YYYY-MM-DD HH:MM``; ``text`` says that cells stay as they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.numerals import PLAIN, Numerals
from suffice.errors import ParameterError

__all__ = [
    "GROUPED_NUMBERS",
    "MARKS",
    "TEXT",
    "Dates",
    "Grouped",
    "Marked",
    "Notation",
    "notation_named",
    "unmarked",
]

MARKS = "$€£¥%"
TEXT, GROUPED_NUMBERS = "text", "1,000"
_CLOCK, _ZONE = " HH:MM", " HH:MM Z"
_PARTS = {"YYYY": r"(?P<y>\d{4})", "MM": r"(?P<m>\d{1,2})", "DD": r"(?P<d>\d{1,2})"}
_TIME = r"[T ](?P<t>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)"
_OFFSET = r" ?(?P<z>Z|[+-]\d{2}:?\d{2})"
_SPELLED = re.compile(
    r"(?P<date>YYYY(?P<a>[-/.])MM(?P=a)DD|DD(?P<b>[-/.])MM(?P=b)YYYY|MM(?P<c>[-/.])DD(?P=c)YYYY)"
    rf"(?P<time>{_CLOCK}(?: Z)?)?"
)
_WRAPPED = re.compile(rf"([+-]?)([{MARKS}]?)\s?([^{MARKS}]*?)\s?([{MARKS}]?)")


@dataclass(frozen=True)
class Marked:
    """Numbers that have a mark before or behind them.

    Parameters
    ----------
    mark : str
        Such as ``$``.
    leads : bool
        Whether it comes before the digits.

    Examples
    --------
    >>> Marked("%", False).parse(pa.array(["10%", "2.5 %"]), PLAIN).to_pylist()
    [10.0, 2.5]
    """

    mark: str
    leads: bool

    @property
    def spelling(self) -> str:
        """An example."""
        return f"{self.mark}1" if self.leads else f"1{self.mark}"

    @property
    def type(self) -> pa.DataType:
        """What the cells become."""
        return pa.float64()

    @property
    def pattern(self) -> str:
        """What a cell looks like, whatever its digits are."""
        mark = re.escape(self.mark)
        return rf"^[+-]?{mark} ?[0-9].*$" if self.leads else rf"^[+-]?[0-9.].* ?{mark}$"

    def __str__(self) -> str:
        """Say what the column holds."""
        if self.mark == "%":
            return "numbers in per cent, as in 10%"
        return f"numbers in {self.mark}, as in {self.spelling}"

    def parse(self, cells: pa.Array[Any], numerals: Numerals) -> pa.Array[Any]:
        """The numbers.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a cell lacks the mark, or is no number besides.
        """
        _require(cells, self.pattern)
        bare = pc.utf8_trim_whitespace(pc.replace_substring(cells, self.mark, ""))
        _require(bare, numerals.pattern)
        plain = numerals.plain(pc.replace_substring_regex(bare, r"^([+-]?) ", r"\1"))
        return pc.cast(pc.replace_substring_regex(plain, r"^\+", ""), pa.float64())


@dataclass(frozen=True)
class Dates:
    """Dates, or points in time, written in one order.

    Parameters
    ----------
    date : str
        Such as ``DD/MM/YYYY``.
    time : str
        Empty for days; `` HH:MM`` for times of day with or without seconds; `` HH:MM Z`` if an
        offset from universal time follows.

    Examples
    --------
    >>> Dates("DD.MM.YYYY").parse(pa.array(["31.1.2024"]), PLAIN)[0].as_py()
    datetime.date(2024, 1, 31)
    """

    date: str
    time: str = ""

    @property
    def spelling(self) -> str:
        """How one is written."""
        return self.date + self.time

    @property
    def type(self) -> pa.DataType:
        """What the cells become."""
        if not self.time:
            return pa.date32()
        return pa.timestamp("us", "UTC" if self.time == _ZONE else None)

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a whole cell, with the parts by name."""
        mark = next(letter for letter in self.date if not letter.isalpha())
        day = re.escape(mark).join(_PARTS[part] for part in self.date.split(mark))
        time = {"": "", _CLOCK: _TIME, _ZONE: _TIME + _OFFSET}[self.time]
        return f"^{day}{time}$"

    def __str__(self) -> str:
        """Say what the column holds."""
        what = "times" if self.time else "dates"
        order = {"D": ", the day first", "M": ", the month first"}.get(self.date[0], "")
        return f"{what}{order}: {self.spelling}"

    def parse(self, cells: pa.Array[Any], numerals: Numerals = PLAIN) -> pa.Array[Any]:
        """The dates.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a cell is no date, or written in another way.
        """
        _require(cells, self.pattern)
        part = pc.extract_regex(cells, self.pattern)
        month, day = (pc.utf8_lpad(pc.struct_field(part, [f]), 2, "0") for f in "md")
        text = pc.binary_join_element_wise(pc.struct_field(part, ["y"]), month, day, "-")
        if self.time:
            text = pc.binary_join_element_wise(text, pc.struct_field(part, ["t"]), " ")
        if self.time == _ZONE:
            text = pc.binary_join_element_wise(text, pc.struct_field(part, ["z"]), "")
        return pc.cast(text, self.type)


@dataclass(frozen=True)
class Grouped:
    """Numbers without a mark, whose digits are cut or whose decimals follow a comma.

    How they are written is said once for all columns of a table (`Numerals`).

    Examples
    --------
    >>> Grouped().parse(pa.array(["1,000", "2.5"]), Numerals(".", ",")).to_pylist()
    [1000.0, 2.5]
    """

    spelling = GROUPED_NUMBERS

    @property
    def type(self) -> pa.DataType:
        """What the cells become."""
        return pa.float64()

    def __str__(self) -> str:
        """Say what the column holds."""
        return "numbers whose digits are grouped, or that have a decimal comma"

    def parse(self, cells: pa.Array[Any], numerals: Numerals) -> pa.Array[Any]:
        """The numbers.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a cell is no number.
        """
        _require(cells, numerals.pattern)
        return pc.cast(pc.replace_substring_regex(numerals.plain(cells), r"^\+", ""), pa.float64())


Notation = Marked | Dates | Grouped


def _require(cells: pa.Array[Any], pattern: str) -> None:
    found = pc.match_substring_regex(cells, pattern)
    if not pc.all(found, min_count=0).as_py():
        raise pa.ArrowInvalid("a cell is written in another way")


@cache
def notation_named(spelling: str) -> Notation | None:
    """The notation that is spelled so; None for text as it is written.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> notation_named("$1"), notation_named("MM/DD/YYYY")
    (Marked(mark='$', leads=True), Dates(date='MM/DD/YYYY', time=''))
    """
    if spelling == TEXT:
        return None
    if spelling == GROUPED_NUMBERS:
        return Grouped()
    if len(spelling) == 2 and "1" in spelling and spelling.strip("1") in tuple(MARKS):
        return Marked(spelling.strip("1"), spelling[1] == "1")
    found = _SPELLED.fullmatch(spelling)
    if found is None:
        raise ParameterError(
            f"written={spelling!r}",
            "a notation is text, 1,000, $1, 1%, 1€, DD/MM/YYYY, MM/DD/YYYY or YYYY-MM-DD, also "
            "with other marks, and HH:MM or HH:MM Z behind",
        )
    return Dates(found["date"], found["time"] or "")


def unmarked(cells: list[str]) -> list[str]:
    """The same cells without the one mark that all of them have, if there is one.

    Examples
    --------
    >>> unmarked(["$1", "-$2.5"]), unmarked(["$1", "2"])
    (['1', '-2.5'], ['$1', '2'])
    """
    if not cells or not any(mark in cells[0] for mark in MARKS):
        return cells
    found = [_WRAPPED.fullmatch(cell) for cell in cells]
    marks = {(match[2], match[4]) if match else ("", "") for match in found}
    if len(marks) != 1 or sum(map(bool, *marks)) != 1:
        return cells
    return [f"{match[1]}{match[3]}" for match in found if match]
