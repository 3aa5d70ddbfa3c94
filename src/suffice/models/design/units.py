"""What coefficients of dates and times are per."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.data.schema import Column, UniformColumns

__all__ = ["units"]


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
