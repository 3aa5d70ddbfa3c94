"""Columns as people spell them, and what they mean: one table for every source of strings.

Each entry has the cells of a column, and the numbers, dates or truth values that they stand for.
"""

import datetime as dt
from typing import Any, NamedTuple

__all__ = ["SPELLINGS", "Spelled"]

DAYS = [dt.date(2021, 11, 25), dt.date(2021, 3, 5), dt.date(2022, 1, 31), dt.date(2020, 2, 29)]
TIMES = [
    dt.datetime(2021, 11, 25, 13, 5, 9),
    dt.datetime(2021, 3, 5, 0, 30),
    dt.datetime(2022, 1, 31, 12, 0, 1),
    dt.datetime(2020, 2, 29, 8, 59, 59),
]
NUMBERS = [1234.5, -5.25, 1200000.0, 0.5]
WHOLE = [1234, -5, 1200000, 7]
FLAGS = [True, False, False, True]


class Spelled(NamedTuple):
    """The cells of a column, and what they stand for."""

    cells: list[str]
    values: list[Any]


def _numbers(form: str, decimal: str = ".", thousands: str = "") -> Spelled:
    marks = str.maketrans({",": thousands, ".": decimal})
    return Spelled([form.format(f"{x:,.2f}".translate(marks)) for x in NUMBERS], NUMBERS)


def _dates(form: str) -> Spelled:
    return Spelled([day.strftime(form) for day in DAYS], DAYS)


def _times(form: str) -> Spelled:
    return Spelled([time.strftime(form) for time in TIMES], TIMES)


SPELLINGS: dict[str, Spelled] = {
    "plain": _numbers("{}"),
    "whole": Spelled([str(n) for n in WHOLE], WHOLE),
    "signed": Spelled(["+1234", "-5", "+1200000", "7"], WHOLE),
    "minus sign": Spelled(["1234", "\u22125", "1200000", "7"], WHOLE),
    "exponents": Spelled(["1.2345E3", "-5.25e0", "1.2e+06", "5e-1"], NUMBERS),
    "blanks behind": _numbers("{} "),
    "decimal comma": _numbers("{}", ","),
    "thousands": _numbers("{}", ".", ","),
    "decimal comma, thousands": _numbers("{}", ",", "."),
    "blanks between": _numbers("{}", ",", " "),
    "no-break blanks": _numbers("{}", ",", "\u00a0"),
    "narrow blanks": _numbers("{}", ",", "\u202f"),
    "thin blanks": _numbers("{}", ".", "\u2009"),
    "Swiss": _numbers("{}", ".", "\u2019"),
    "apostrophes": _numbers("{}", ".", "'"),
    "dollars": _numbers("${}", ".", ","),
    "minus before dollars": Spelled(["$1234.50", "-$5.25", "$1200000", "$.5"], NUMBERS),
    "euros": _numbers("{} €", ",", "."),
    "per cent": _numbers("{}%"),
    "ISO dates": _dates("%Y-%m-%d"),
    "day first": _dates("%d/%m/%Y"),
    "German dates": _dates("%d.%m.%Y"),
    "month first": _dates("%m/%d/%Y"),
    "two-digit years": _dates("%m/%d/%y"),
    "month names": _dates("%d-%b-%Y"),
    "American dates": _dates("%B %d, %Y"),
    "compact dates": _dates("%Y%m%d"),
    "times": _times("%Y-%m-%d %H:%M:%S"),
    "one-digit hours": Spelled(
        ["11/25/2021 13:05:09", "3/5/2021 0:30", "1/31/2022 12:00:01", "2/29/2020 8:59:59"], TIMES
    ),
    "morning and afternoon": _times("%m/%d/%Y %I:%M:%S %p"),
    "nanoseconds": _times("%Y-%m-%dT%H:%M:%S.000000000"),
    "times of day": Spelled(
        ["13:05:09", "0:30", "12:00:01", "8:59:59"], [time.time() for time in TIMES]
    ),
    "truth": Spelled(["true", "false", "false", "true"], FLAGS),
    "capitals": Spelled(["TRUE", "FALSE", "FALSE", "TRUE"], FLAGS),
    "yes and no": Spelled(["yes", "No", "no", "Yes"], FLAGS),
    "letters": Spelled(["t", "f", "f", "t"], FLAGS),
}
