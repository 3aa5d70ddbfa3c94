"""Names of columns in options: lists of them, and what is said of one that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from suffice.errors import ParameterError
from suffice.phrases import meant as known_as

__all__ = ["listed", "no_such_column"]


def listed(given: Sequence[str] | None) -> tuple[str, ...]:
    """Cut comma lists of names into names; one that holds a comma stands in quotes, as in CSV.

    Examples
    --------
    >>> listed(["age, sex", "race", '"price, net", day'])
    ('age', 'sex', 'race', 'price, net', 'day')
    """
    return tuple(name.strip() for item in given or () for name in _cut(item))


def _cut(item: str) -> list[str]:
    if '"' not in item:
        return item.split(",")
    import csv

    try:
        return next(csv.reader([item], skipinitialspace=True))
    except csv.Error:  # a name has lines
        return item.split(",")


def no_such_column(option: str, name: str, names: Sequence[str]) -> ParameterError:
    """The error of an option that names no column.

    Examples
    --------
    >>> print(no_such_column("ignore", "price", ["price, net", "day"]))
    --ignore names the column 'price'; the columns are 'price, net', 'day'; a name that holds a \
comma stands in quotes: --ignore '"price, net"'.
    """
    meant = [known for known in names if "," in known and name in map(str.strip, known.split(","))]
    step = (
        f"a name that holds a comma stands in quotes: --{option} {quote(_quoted(meant[0]))}"
        if meant
        else known_as(name, names)
    )
    return ParameterError(
        f"--{option} names the column {name!r}",
        f"the columns are {', '.join(map(repr, names))}",
        step,
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
