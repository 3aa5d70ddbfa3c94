"""How delimited text is written, as the options of its reader say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice.data.missing_tokens import IN_TEXT
from suffice.data.notation import Notation, notation_named
from suffice.data.numerals import Numerals
from suffice.errors import ParameterError

__all__ = ["CsvFormat"]


@dataclass(frozen=True, kw_only=True)
class CsvFormat:
    r"""How a delimited text file is written.

    Parameters
    ----------
    separator : str, optional
        One ASCII character between fields. By default the one of comma, semicolon, tab and ``|``
        that cuts the first rows into equally many fields, or a blank where none does and there
        are columns of numbers. Several blanks are as one.
    quote : str or None, default '"'
        Encloses fields that hold separators, line ends or quotes; None makes it ordinary text.
        Where the first rows have none of ``"``, and every ``'`` encloses a field, it is ``'``.
    header : bool, optional
        Whether the first row holds the column names. By default it does, unless it looks like
        those below it: a number in a column of numbers, or values that come again.
    names : sequence of str, optional
        Column names, instead of those in the header. Without either, ``column_1`` and so on.
    missing : sequence of str
        Cells that stand for a missing value.
    strip : bool, optional
        Remove blanks around every field and column name. By default where every value of some
        column begins or ends with one.
    decimal, thousands : str, optional
        The mark before decimals, and the one that cuts digits into threes. By default as the first
        rows have it: ``1.5``, ``1,5``, ``1,000.5`` or ``1.000,5``. Every number has to obey.
    written : mapping of str to str, optional
        How the cells of a column are written: ``$1``, ``1%``, ``DD/MM/YYYY``, ``MM/DD/YYYY``,
        ``YYYY-MM-DD HH:MM`` and the like (`suffice.data.notation`); ``text`` keeps them as they
        are. Other columns are looked at in the beginning, the middle and the end of the file.
    guess : bool, default True
        Whether they are. Where they have been, every later cell has to obey.
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
    >>> CsvFormat(separator=";", missing=["", "?"]).missing
    ('', '?')
    """

    separator: str | None = None
    quote: str | None = '"'
    header: bool | None = None
    names: Sequence[str] | None = None
    missing: Sequence[str] = IN_TEXT
    strip: bool | None = None
    decimal: str | None = None
    thousands: str | None = None
    written: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    guess: bool = True
    skip_bad_rows: int = 0
    encoding: str = "utf8"

    @property
    def numerals(self) -> Numerals:
        """How numbers are written; what is not said is as programs write them."""
        other = {",": ".", ".": ","}.get(self.thousands or "", ".")
        return Numerals(self.decimal or other, self.thousands)

    def notation(self, column: str) -> Notation | None:
        """How the cells of a column are written, if not as programs write numbers."""
        spelling = dict(self.written).get(column)
        return None if spelling is None else notation_named(spelling)

    def __post_init__(self) -> None:
        for option in ("separator", "quote"):
            _require_separator(option, getattr(self, option))
        if self.separator is not None and self.separator == self.quote:
            raise ParameterError(
                f"separator and quote are both {self.quote!r}",
                "they must differ",
                "use quote=None where fields are never quoted",
            )
        for option in ("names", "missing"):
            object.__setattr__(self, option, _strings_of(option, getattr(self, option)))
        object.__setattr__(self, "written", _notations_of(self.written))
        _require_unique(self.names or ())
        if not isinstance(self.guess, bool):
            raise ParameterError(f"guess={self.guess!r}", "it is True or False")
        _require_marks(self.decimal, self.thousands)
        _require_count(self.skip_bad_rows)
        _require_encoding(self.encoding)


def _require_separator(option: str, value: str | None) -> None:
    if value is not None and not (
        isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n\0"
    ):
        raise ParameterError(
            f"{option}={value!r}",
            "it must not be NUL"
            if value == "\0"
            else "it must be one ASCII character that ends no line",
            'for a tab write "\\t"' if option == "separator" else "or None for no quoting",
        )


def _require_marks(decimal: str | None, thousands: str | None) -> None:
    for option, mark, known in (("decimal", decimal, ".,"), ("thousands", thousands, ",.' _")):
        if mark is not None and not (isinstance(mark, str) and len(mark) == 1 and mark in known):
            shown = ", ".join(map(repr, known))
            raise ParameterError(f"{option}={mark!r}", f"it must be one of {shown}")
    if decimal is not None and decimal == thousands:
        raise ParameterError(
            f"decimal and thousands are both {decimal!r}",
            "they must differ",
        )


def _strings_of(option: str, value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None and option == "names":
        return None
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if value is None or not listed or not all(isinstance(item, str) for item in value):
        raise ParameterError(
            f"{option}={value!r}", "it must be a sequence of strings", "write a list or tuple"
        )
    for item in value:
        try:
            item.encode()
        except UnicodeEncodeError:
            raise ParameterError(
                f"{option} holds {item!r}, which has half of a character",
                "text is Unicode, without lone surrogates",
                "leave it out",
            ) from None
    return tuple(value)


def _notations_of(written: Any) -> tuple[tuple[str, str], ...]:
    try:
        found = dict(written)
        pairs = tuple((str(name), str(spelling)) for name, spelling in found.items())
    except (TypeError, ValueError):
        raise ParameterError(
            f"written={written!r}", "it maps columns to how they are written"
        ) from None
    for _, spelling in pairs:
        notation_named(spelling)
    return pairs


def _require_unique(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(
            f"names holds {twice!r} twice",
            "column names must be unique",
            "rename one of them",
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
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            f"encoding={encoding!r}",
            "it must be a text encoding that Python knows",
            'for example "utf8", "latin-1" or "utf-16"',
        ) from None
