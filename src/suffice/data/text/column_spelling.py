"""Guess how the cells of a column are spelled.

A column is what all cells looked at are. Where all but a few are, it is kept as text and is in
doubt, and models say so. Digits in two meanings (``1,000``; 1 February or 2 January) are settled by
any cell of the column or, for numbers, by another column of the table.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.schema import called
from suffice.data.spelling import (
    MARKS,
    PLAIN,
    TEXT,
    TRUTH,
    Moment,
    Number,
    Spelling,
    are_rounded,
    date_spellings,
    number_spellings,
    read_cells,
    whole_numbers,
)
from suffice.sums.block import HELD, HELD_RULE, HELD_STEP

PROBE = 64  # values that show whether a column is worth a closer look
SEVERAL = 10  # distinct numbers
_LIKELY = re.compile(
    rf"[({MARKS}+\-\u2212]{{0,3}}[ \u00a0]?[+-]?[.,]?\d|"
    "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)
_GROUPED = r"^[+-]?(?:[0-9]{1,3}|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)$"


@dataclass(frozen=True)
class Doubt:
    """A column that is spelled in one way but for a few cells."""

    spelling: Spelling
    first: str  # the first cell that is not
    odd: int  # how many are not
    cells: int  # of so many that were looked at

    def of(self, name: str, where: str = "") -> str:
        """Say it of a column, with the ways out."""
        at = f" in {where}" if where else ""
        return (
            f"column {name!r} would be {self.spelling} but for {self.odd:,} of {self.cells:,} "
            f"cells, first {self.first!r}{at}; missing={self.first!r} reads it so; "
            f"categorical={name!r}, or written={{{name!r}: 'text'}}, keeps its values"
        )


@dataclass(frozen=True)
class Guess:
    """The spelling of a column, and what is to be said of it."""

    spelling: Spelling = TEXT
    type: pa.DataType = pa.string()  # noqa: RUF009 - a constant
    others: tuple[Spelling, ...] = ()  # by which all cells are read too, as other values
    cell: str = ""  # that has two meanings
    doubt: Doubt | None = None
    codes: str = ""  # a number with leading zeros, if all cells are digits


def counted(
    cells: pa.Array[Any], missing: Sequence[str]
) -> tuple[pa.Array[Any], NDArray[np.int64], Mapping[str, int]]:
    """Return distinct cells, how often each is there, and the counts of missing ones apart."""
    table = pc.value_counts(cells).flatten()
    bare = pc.utf8_trim_whitespace(table[0])
    absent = pc.is_in(bare, value_set=pa.array(missing, pa.string()))
    values, counts = (column.filter(pc.invert(absent)) for column in table)
    tokens, times = (column.filter(absent).to_pylist() for column in table)
    return values, np.asarray(counts), dict(zip(tokens, times, strict=True))


def guess(
    cells: pa.Array[Any],
    counts: NDArray[np.int64],
    decimal: str | None = None,
    thousands: str | None = None,
) -> Guess:
    """Find the spelling of a column by its distinct cells, none missing, and their counts."""
    if not len(cells):
        return Guess(type=pa.null())
    if decimal in (None, ".") and not thousands and (found := _plain(cells)) is not None:
        return found
    first = cells.slice(0, PROBE).to_pylist()
    words = {cell.strip().lower() for cell in first}
    if words <= _WORDS and (found := _truth(cells)) is not None:
        return found
    if 2 * sum(_LIKELY.match(cell.strip()) is not None for cell in first) < len(first):
        return Guess()
    coded = pc.utf8_trim_whitespace(cells).dictionary_encode()
    counts = np.bincount(coded.indices, counts).astype(np.int64)
    return _closest(coded.dictionary, counts, decimal, thousands)


_WORDS = {"0", "1"}.union(*TRUTH.pairs)


def _truth(cells: pa.Array[Any]) -> Guess | None:
    """Truth values: both words of a pair, or true and false beside 0 and 1."""
    words = set(pc.unique(pc.utf8_lower(pc.utf8_trim_whitespace(cells))).to_pylist())
    if words <= {"true", "false"} or any(words == set(pair) for pair in TRUTH.pairs):
        return Guess(TRUTH, pa.bool_())
    mixed = words <= {"true", "false", "yes", "no", "0", "1"} and not words <= {"yes", "no"}
    return Guess(TRUTH, pa.bool_()) if mixed and not words <= {"0", "1"} else None


def fractions(cells: pa.Array[Any]) -> pa.Array[Any] | None:
    """Return numbers that are clearly fractions with a decimal point, None if they are not.

    The first cells show it, so that the others are looked at only once, by the cast.
    """
    first = cells.slice(0, PROBE)
    try:
        numbers = pc.cast(first, pa.float64())
        if _all_match(first, _GROUPED):
            return None
        numbers = pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None
    ends = pc.min_max(numbers)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or not -HELD < low <= high < HELD or pc.any(pc.is_nan(numbers)).as_py():
        return None
    try:
        whole_numbers(first)
    except pa.ArrowInvalid:
        return numbers
    return None


def _plain(cells: pa.Array[Any]) -> Guess | None:
    """Numbers as programs write them, codes of digits, or dates such as 20240131."""
    try:
        whole_numbers(cells.slice(0, PROBE))
        whole = whole_numbers(cells)
    except pa.ArrowInvalid:
        return _real(cells)
    codes = cells.filter(pc.match_substring_regex(cells, r"^0[0-9]"))
    if len(codes):
        return Guess(codes=codes[0].as_py())
    compact = Moment("YYYYMMDD")
    low, high = pc.min_max(whole).values()
    if low.as_py() >= 18000101 and high.as_py() <= 20991231 and low != high:
        try:
            compact.read(cells)
            return Guess(compact, compact.type)
        except pa.ArrowInvalid:
            pass
    return Guess(PLAIN, pa.int64())


def _real(cells: pa.Array[Any]) -> Guess | None:
    """Numbers that are not all whole, or identifiers, which a double would round."""
    first = cells.slice(0, PROBE)
    try:
        pc.cast(first, pa.float64())
        numbers = pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None
    far = cells.filter(pc.greater_equal(pc.abs(numbers), HELD))
    if are_rounded(far) and _all_match(cells, r"^[+-]?[0-9]+$"):
        return Guess()
    in_threes = _all_match(first, _GROUPED) and _all_match(cells, _GROUPED)
    others = (Number(",", "."),) if in_threes else ()
    return Guess(PLAIN, pa.float64(), others, cells[0].as_py())


def _all_match(cells: pa.Array[Any], pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _closest(
    values: pa.Array[Any], counts: Any, decimal: str | None, thousands: str | None
) -> Guess:
    whole: list[Number | Moment] = []
    best, most, alike = None, None, np.zeros(len(values), bool)
    for spelling in _candidates(values, decimal, thousands):
        match = pc.match_substring_regex(values, spelling.pattern).to_numpy(zero_copy_only=False)
        if match.all():
            whole.append(spelling)
        alike |= match
        if best is None or counts[match].sum() > counts[most].sum():
            best, most = spelling, match
    if whole:
        return _one_of(values, whole)
    if best is None or most is None or not _in_doubt(counts, alike, most):
        return Guess()
    odd = values.filter(pa.array(~most))
    doubt = Doubt(best, odd[0].as_py(), int(counts[~most].sum()), int(counts.sum()))
    return Guess(doubt=doubt)


def _candidates(
    values: pa.Array[Any], decimal: str | None, thousands: str | None
) -> Iterator[Number | Moment]:
    odd = values.filter(pc.invert(pc.match_substring_regex(values, PLAIN.pattern)))
    shown = odd.slice(0, PROBE * PROBE).to_pylist()
    yield from number_spellings(
        "".join(cell for cell in shown if _LIKELY.match(cell)), decimal, thousands
    )
    dates = (date_spellings(cell) for cell in values.slice(0, PROBE).to_pylist())
    yield from dict.fromkeys(moment for found in dates for moment in found)


def _in_doubt(counts: Any, alike: Any, most: Any) -> bool:
    """Return whether the cells of another spelling are too few to be values of their own.

    Parameters
    ----------
    counts : ndarray (v,)
        How often each distinct value stands there.
    alike, most : ndarray (v,) of bool
        The values that have any spelling of numbers or dates, and the one that most have.
    """
    share, distinct = counts[alike].sum() / counts.sum(), int(most.sum())
    odd = len(counts) - distinct
    if counts[most].sum() >= 0.95 * counts.sum():
        return True
    if share >= 0.9:
        return distinct > odd or (bool(alike.all()) and distinct > 1)
    return bool(share >= 0.5) and distinct >= SEVERAL and odd <= max(3, distinct / 10)


def _one_of(values: pa.Array[Any], whole: Sequence[Number | Moment]) -> Guess:
    """Choose the first spelling of all values, and name those that read other values."""
    last = [s for s in whole if isinstance(s, Moment) and s.date.startswith(_YEAR_FIRST)]
    whole = [s for s in whole if s not in last] or whole
    chosen = whole[0]
    try:
        read = chosen.read(values)
        others = [s for s in whole[1:] if type(s) is type(chosen) and s.read(values) != read]
    except pa.ArrowInvalid:  # a day that no month has, which is refused by its line
        return Guess(chosen, chosen.type)
    begin = [s for s in (chosen, *others) if others and _begin_months(s, values)]
    if len(begin) == 1:
        return Guess(begin[0], begin[0].type)
    cell = ""
    if others:
        cell = values.filter(pc.not_equal(read, others[0].read(values)))[0].as_py()
    kind = chosen.type
    if isinstance(chosen, Number) and not chosen.mark:
        kind = pa.int64() if _all_match(values, f"^[^{chosen.decimal}eE]*$") else kind
    return Guess(chosen, kind, tuple(others), cell)


def _begin_months(spelling: Number | Moment, values: pa.Array[Any]) -> bool:
    if not isinstance(spelling, Moment) or "DD" not in spelling.date:
        return False
    dates = spelling.read(values)
    days, months, years = (pc.count_distinct(part(dates)) for part in (pc.day, pc.month, pc.year))
    first = pc.min(pc.day(dates))
    return bool(first.as_py() == days.as_py() == 1 < min(months.as_py(), years.as_py()))


_YEAR_FIRST = ("YY/", "YY.", "YY ", "YY-")


def settled(guesses: Mapping[str, Guess], quoted: bool) -> dict[str, Guess]:
    """Settle numbers in two meanings by what other columns prove.

    Where commas separate fields, one in a number has been ``quoted`` on purpose.
    """
    proven = {
        g.spelling.decimal
        for g in guesses.values()
        if isinstance(g.spelling, Number) and not g.others and pa.types.is_floating(g.type)
    }
    found = {}
    for name, one in guesses.items():
        if isinstance(one.spelling, Number) and one.others:
            readings = [s for s in (one.spelling, *one.others) if isinstance(s, Number)]
            grouped = [s for s in readings if s.thousands == "," and quoted]
            fits = [s for s in readings if {s.decimal} == proven]
            plain = [s for s in readings if s == PLAIN]
            chosen = next(iter(fits or grouped or plain), None)
            if chosen is not None:
                kind = pa.int64() if chosen.thousands else pa.float64()
                one = replace(one, spelling=chosen, others=(), type=kind)
        found[name] = one
    return found


def misfit(
    where: str, name: str, cell: str, spelling: Spelling, kind: pa.DataType
) -> tuple[str, str, str]:
    """Say that a cell of a column is spelled in another way, in the words of an error."""
    shown = reprlib.repr(cell)
    where = f"{where}: {shown}"
    number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    if pa.types.is_floating(kind) and are_rounded(pa.array([cell])):
        return where, HELD_RULE, HELD_STEP
    with suppress(pa.ArrowInvalid):
        if number and math.isinf(read_cells(pa.array([cell]), spelling, kind, ())[0].as_py()):
            rule = "a number must be finite, and below 1.8e308 in size"
            return where, rule, f"correct the cell, or missing={shown}"
    bare, decimal = cell.strip(), spelling.decimal if isinstance(spelling, Number) else "."
    fitting = (one for one in number_spellings(bare) if number and one.matches(bare))
    if others := [one for one in fitting if one.decimal != decimal or one.thousands]:
        options = dict.fromkeys(
            f"thousands={one.thousands!r}" if one.decimal == decimal else f"decimal={one.decimal!r}"
            for one in others
        )
        return (
            f"{where} is a number in another notation, such as {others[0].name}",
            f"this column holds {spelling}",
            f"say which with {' or '.join(options)}",
        )
    way = f"written as {spelling.name}" if spelling not in (PLAIN, TEXT) else called(kind)
    return (
        f"{where} is not {way}",
        f"every cell of this column is read as {spelling}",
        f"correct the cell, or missing={shown}, or written={{{name!r}: 'text'}}",
    )
