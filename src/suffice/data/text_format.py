"""The format of delimited text: what is given of it, and what is found by looking at the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from suffice.data.spelling import PLAIN, THOUSANDS, Moment, Number, Spelling, spelling_named
from suffice.errors import ParameterError
from suffice.rules import check_options

AUTO = "auto"
USUALLY_MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")
"""Cells that stand for a missing value where nobody names others."""


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    r"""The format of delimited text. What is left open is found by looking at the file.

    The format that was found belongs to the model: later files are read with its missing tokens
    and its spellings of columns; what a file shows by itself (separator, header) is looked for.
    What leaves out rows, ``skip_last`` and ``skip_bad_rows``, is of one file and not remembered.

    Parameters
    ----------
    separator : str, optional
        One ASCII character between fields. By default the one of comma, semicolon, tab and ``|``
        that cuts the first rows into equally many fields, or a blank where none does and there
        are columns of numbers. Several blanks are as one.
    quote : str or None, default "auto"
        Encloses fields that hold separators, line ends or quotes; None makes it ordinary text.
        By default ``"``, or ``'`` where the first rows have none of the former and every ``'``
        encloses a field; and rows that it may swallow are refused.
    header : bool, optional
        Whether the first row holds the column names. By default it does, unless it looks like
        those below it: a number in a column of numbers, or values that come again. A row with the
        names that a model knows is a header.
    names : sequence of str, optional
        Column names, one for every field of a row, instead of those in the header.
    missing : sequence of str, or str, optional
        Cells that stand for a missing value, instead of the usual ones; one string is added to
        these. Usual are empty cells, NA, N/A, n/a, NaN, nan, null, NULL and None.
    strip : bool, optional
        Remove blanks around every field and column name. By default where every value of some
        column begins or ends with one. Numbers and dates never need it.
    decimal, thousands : str, optional
        The mark before decimals, and the one that cuts digits into threes. By default as the
        cells of each column have it.
    written : mapping of str to str, optional
        How the cells of a column are spelled: ``number``, ``1.000,5``, ``$1``, ``1%``,
        ``DD/MM/YYYY``, ``HH:MM``, ``true/false`` and the like (`suffice.data.spelling`);
        ``text`` keeps them as they are. Other columns are looked at in the beginning, the middle
        and the end of the file. Every later cell has to obey.
    skip_lines : int, optional
        Lines above the header. By default titles, comments and ``sep=;`` are found.
    skip_last : int, optional
        Rows at the end that are left out, such as totals; 0 by default.
    skip_bad_rows : int, default 0
        How many lines of malformed rows (a wrong number of fields, undecodable bytes) may be left
        out, with a warning, before they become an error.
    encoding : str, default "utf8"
        Any text encoding that Python knows. UTF-16 shows by itself.

    Examples
    --------
    >>> TextFormat(separator=";", missing=["", "?"]).missing
    ('', '?')
    """

    separator: str | None = None
    quote: str | None = AUTO
    header: bool | None = None
    names: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    strip: bool | None = None
    decimal: Literal[".", ","] | None = None
    thousands: str | None = None
    written: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    skip_lines: int | None = None
    skip_last: int | None = None
    skip_bad_rows: int = 0
    encoding: str = "utf8"
    # What a model knows: the columns that it reads, and values of columns that are not missing.
    features: tuple[str, ...] = ()
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        check_options(self)
        _require_separator("separator", self.separator)
        _require_separator("quote", None if self.quote == AUTO else self.quote)
        if self.separator is not None and self.separator == self.quote:
            raise ParameterError(
                f"separator and quote are both {self.quote!r}",
                "they must differ",
                "use quote=None where fields are never quoted",
            )
        if isinstance(self.missing, str):
            object.__setattr__(self, "missing", (*USUALLY_MISSING, self.missing))
        for option in ("names", "missing"):
            object.__setattr__(self, option, _strings_of(option, getattr(self, option)))
        object.__setattr__(self, "written", _spellings_of(self.written))
        if self.names is not None:
            if not self.names:
                raise ParameterError("names is empty", "a table has one column at least")
            (name, times), *_ = Counter(self.names).most_common()
            if times > 1:
                raise ParameterError(
                    f"names holds {name!r} twice",
                    "column names must be unique",
                    "rename one of them",
                )
        if self.thousands is not None and self.thousands not in tuple(THOUSANDS):
            shown = ", ".join(map(repr, THOUSANDS))
            raise ParameterError(f"thousands={self.thousands!r}", f"it must be one of {shown}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ParameterError(
                f"decimal and thousands are both {self.decimal!r}", "they must differ"
            )
        _require_count("skip_bad_rows", self.skip_bad_rows, "0 makes every malformed row an error")
        for option in ("skip_lines", "skip_last"):
            if getattr(self, option) is not None:
                _require_count(option, getattr(self, option), "0 leaves out nothing")
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise ParameterError(
                f"encoding={self.encoding!r}",
                "it must be a text encoding that Python knows",
                'for example "utf8", "cp1252" or "utf-16"',
            ) from None

    @property
    def tokens(self) -> tuple[str, ...]:
        """Cells that stand for a missing value."""
        return USUALLY_MISSING if self.missing is None else tuple(self.missing)

    def tokens_of(self, column: str) -> tuple[str, ...]:
        """Cells of a column that stand for a missing value."""
        kept = dict(self.kept).get(column, ())
        return tuple(token for token in self.tokens if token not in kept)

    @property
    def numbers(self) -> Number:
        """Notation of numbers where nothing else is said of a column."""
        found = spelling_named("number", self.decimal, self.thousands)
        return found if isinstance(found, Number) else PLAIN

    def spelling(self, column: str) -> Spelling | None:
        """Return the spelling of a column; None where it is not known."""
        name = dict(self.written).get(column)
        return None if name is None else spelling_named(name, self.decimal, self.thousands)

    def spelled(self, table: pa.Table) -> pa.Table:
        """Return a table with text in the place of numbers and times that this format spells."""
        columns = {}
        for name in table.column_names:
            cells, spelling = table[name].combine_chunks(), self.spelling(name)
            if isinstance(spelling, Number | Moment):
                cells = spelling.write(cells)
            columns[name] = cells
        return pa.table(columns)

    def over(self, known: TextFormat) -> TextFormat:
        """Return this format where it says something, and else what a model knows of its files.

        Separator, header, names and lines above it are left open: these the file shows.
        """
        written = dict(known.written)
        if self.decimal or self.thousands:
            for name, one in written.items():
                spelling = spelling_named(one)
                if isinstance(spelling, Number):
                    marks = replace(self.numbers, mark=spelling.mark, leads=spelling.leads)
                    written[name] = marks.name
        return replace(
            self,
            quote=None if known.quote is None else self.quote,
            missing=known.missing if self.missing is None else self.missing,
            strip=self.strip or known.strip or None,
            written=tuple((written | dict(self.written)).items()),
            encoding=known.encoding if self.encoding == "utf8" else self.encoding,
            kept=known.kept if self.missing is None else (),
            decimal=None if known.written else self.decimal,
            thousands=None if known.written else self.thousands,
        )


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


def _strings_of(option: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(item, str) for item in value):
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


def _spellings_of(written: Any) -> tuple[tuple[str, str], ...]:
    try:
        pairs = tuple((str(name), str(spelling)) for name, spelling in dict(written).items())
    except (TypeError, ValueError):
        raise ParameterError(
            f"written={written!r}", "it maps columns to how they are written"
        ) from None
    for _, spelling in pairs:
        spelling_named(spelling)
    return pairs


def _require_count(option: str, value: Any, zero: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"{option}={value!r}", "it must be a whole number, 0 or more", zero)
