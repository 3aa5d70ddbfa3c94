"""What coefficients are per: units of dates and times, and values that others are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.data.schema import Column, UniformColumns
from suffice.models.design.terms import Terms

__all__ = ["measures", "units"]

MOST_NAMED = 8


def measures(terms: Terms, columns: Sequence[Column]) -> tuple[str, ...]:
    """Lines that say what coefficients are compared with, and per what they are.

    Examples
    --------
    >>> from suffice.statistics.vocabulary import Vocabulary
    >>> measures(Terms(("hue",), ("price",), {"hue": Vocabulary(("blue", "red"))}), ())
    ('Categories are compared with hue[blue].',)
    """
    names = terms.reference_terms
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    compared = f"Categories are compared with {', '.join(names[:MOST_NAMED])}{more}."
    return (*([compared] if names else []), *units(columns))


def units(columns: Sequence[Column]) -> tuple[str, ...]:
    """A line for every column of times: the unit that its numbers are in.

    Examples
    --------
    >>> from suffice.data.schema import DATES
    >>> units([Column("sold", "time", "real", DATES), Column("size", "number", "real", "numbers")])
    ('sold: dates, in seconds since 1970-01-01',)
    """
    if isinstance(columns, UniformColumns):
        return ()
    return tuple(f"{c.name}: {c.reason}" for c in columns if c.stored == "time")
