"""How numbers are written in text: which mark comes before decimals, which cuts thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["GROUPED", "PLAIN", "Numerals"]

GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
"""A whole number whose thousands may be cut by commas."""


@dataclass(frozen=True)
class Numerals:
    """A way of writing numbers.

    Parameters
    ----------
    decimal : str
        Comes before decimals.
    thousands : str, optional
        Cuts the digits before it into threes.

    Examples
    --------
    >>> german = Numerals(",", ".")
    >>> german.matches("1.234,5"), german.matches("1.23")
    (True, False)
    >>> german.plain(pa.array(["1.234,5", "7", None])).to_pylist()
    ['1234.5', '7', None]
    >>> german.plain(pa.nulls(1, pa.string())).to_pylist()
    [None]
    """

    decimal: str = "."
    thousands: str | None = None

    def __str__(self) -> str:
        """Describe it, as in "1.000,5 for a thousand and a half"."""
        return f"1{self.thousands or ''}000{self.decimal}5 for a thousand and a half"

    @cached_property
    def pattern(self) -> str:
        """A regular expression for a whole cell."""
        mark = re.escape(self.decimal)
        whole = r"\d+"
        if self.thousands:
            whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+)"
        return rf"^[+-]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?$"

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def matches(self, cell: str) -> bool:
        """Whether a cell is a number, written in this way."""
        return self._compiled.match(cell) is not None

    def plain(self, cells: pa.Array[Any]) -> pa.Array[Any]:
        """The same numbers as programs write them.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a cell is no number, or written in another way.
        """
        if self == PLAIN:
            return cells
        if not pc.all(pc.match_substring_regex(cells, self.pattern), min_count=0).as_py():
            raise pa.ArrowInvalid("a cell is not a number in this notation")
        if self.thousands:
            cells = pc.replace_substring(cells, self.thousands, "")
        return pc.replace_substring(cells, self.decimal, ".")


PLAIN = Numerals()
"""As programs write them: 1234.5."""
