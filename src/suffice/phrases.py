"""Strings that remember which options they name, so that the command line can spell these its way.

::

    Phrase("use ", Option("quote", "None", "CsvFormat"), " where quotes are ordinary characters")

    in Python            use CsvFormat(quote=None) where quotes are ordinary characters
    at the command line  use --quote none where quotes are ordinary characters

Each is a string as Python users read it, so errors and warnings print, compare and pickle as ever.
An f-string made of one is an ordinary string: compose with `Phrase` where options have to last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

__all__ = [
    "Option",
    "Phrase",
    "PythonOnly",
    "amount",
    "meant",
    "rows_in_print",
    "rows_of_classes",
    "with_article",
]

NAMED = 3  # classes in a sentence


class Option(str):
    """An option that the command line has too, by the name that it has in Python.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : str
        The value as source code, or ``...`` for any value; none if only the option is named.
    owner : str, optional
        What is called with it, where the text shows the call.

    Examples
    --------
    >>> print(Option("names"), Option("C", "1.0"), Option("names", "...", "CsvFormat"))
    names C=1.0 CsvFormat(names=...)
    """

    name: str
    value: str
    owner: str

    def __new__(cls, name: str, value: str = "", owner: str = "") -> Self:
        """Write the option as Python does."""
        text = f"{name}={value}" if value else name
        self = super().__new__(cls, f"{owner}({text})" if owner else text)
        self.name, self.value, self.owner = name, value, owner
        return self

    @classmethod
    def of(cls, name: str, value: Any) -> Self:
        """An option with a value that was found.

        Examples
        --------
        >>> print(Option.of("estimation", "best"))
        estimation='best'
        """
        return cls(name, repr(value))

    def __reduce__(self) -> tuple[type[Self], tuple[str, ...]]:
        return type(self), (self.name, self.value, self.owner)


class PythonOnly(str):
    """Words that help in Python only, and what stands in their place elsewhere: often nothing.

    Examples
    --------
    >>> print("1 or more" + PythonOnly(", or None for all cores"))
    1 or more, or None for all cores
    """

    elsewhere: str

    def __new__(cls, text: str, elsewhere: str = "") -> Self:
        """Keep both."""
        self = super().__new__(cls, text)
        self.elsewhere = elsewhere
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, ...]]:
        return type(self), (str(self), self.elsewhere)


class Phrase(str):
    """A string that remembers its parts.

    Parameters
    ----------
    *parts : str
        Any of them an `Option`, `PythonOnly` or `Phrase`.

    Examples
    --------
    >>> print(Phrase("use ", Option("penalty", "'firth'")))
    use penalty='firth'
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join the parts."""
        self = super().__new__(cls, "".join(parts))
        self.parts = parts
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, ...]]:
        return type(self), self.parts


def amount(weight: float) -> str:
    """Write a number of rows, or a sum of weights.

    Examples
    --------
    >>> amount(32561.0), amount(2.5)
    ('32,561', '2.5')
    """
    return f"{weight:,.0f}" if float(weight).is_integer() else f"{weight:,.6g}"


def rows_in_print(weight: float) -> str:
    """Write how many rows there are, or what they weigh.

    Examples
    --------
    >>> rows_in_print(1), rows_in_print(32561.0), rows_in_print(0)
    ('1 row', '32,561 rows', '0 rows')
    """
    return f"{amount(weight)} row{'' if weight == 1 else 's'}"


def rows_of_classes(rows: Mapping[Any, float]) -> str:
    """Say how many rows each of some classes has.

    Examples
    --------
    >>> rows_of_classes({"typo": 1.0, "b": 2.0})
    "1 row of class 'typo', 2 rows of class 'b'"
    """
    first = [f"{rows_in_print(w)} of class {c!r}" for c, w in list(rows.items())[:NAMED]]
    others = len(rows) - len(first)
    return ", ".join(first) + (f" and those of {others} more" if others else "")


def meant(name: Any, known: Iterable[Any]) -> str:
    """Say which of some names may be meant by one that is none of them; nothing if none is near.

    Examples
    --------
    >>> meant("specis", ["island", "species"]), meant("Y", ["x", "y"]), meant("q", ["x", "y"])
    ("perhaps 'species' is meant", "perhaps 'y' is meant", '')
    """
    from difflib import get_close_matches

    folded = {str(one).strip().casefold(): one for one in known}
    near = get_close_matches(str(name).strip().casefold(), folded, 1, 0.75)
    return f"perhaps {folded[near[0]]!r} is meant" if near else ""


def with_article(name: str) -> str:
    """A noun with its article.

    Examples
    --------
    >>> with_article("ElasticNet"), with_article("Ridge")
    ('an ElasticNet', 'a Ridge')
    """
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"
