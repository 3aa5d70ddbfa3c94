"""What to say of missing cells where every row needs all of its own."""

from __future__ import annotations

from collections.abc import Mapping

from suffice.errors import DataError
from suffice.numerics.in_print import NAMED

__all__ = ["incomplete", "listed_missing"]


def listed_missing(counts: Mapping[str, str]) -> str:
    """Say which columns lack how many cells; nothing where all are there.

    Examples
    --------
    >>> listed_missing({"age": "2", "size": "1"})
    "2 of column 'age', 1 of column 'size'"
    """
    first = [f"{n} of column {name!r}" for name, n in list(counts.items())[:NAMED]]
    more = f" and some of {len(counts) - NAMED} more" if len(counts) > NAMED else ""
    return ", ".join(first) + more


def incomplete(counts: str, otherwise: str) -> DataError:
    """The error of missing cells, which `listed_missing` counts; ``otherwise`` keeps their rows."""
    return DataError(
        f"cells are missing (NaN or null): {counts}",
        "every row needs all its cells",
        f"use incomplete='drop' to learn from complete rows only, or {otherwise}",
    )
