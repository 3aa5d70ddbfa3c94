"""Whole numbers that are codes, and count from 0, as an ordinal encoder gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from suffice.errors import DataError
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["MOST_CODES", "counts_from_zero", "over_range"]

MOST_CODES = 1_000_000  # of one column; each has a probability in every class


def counts_from_zero(values: Iterable[Any]) -> bool:
    """Whether all values are whole numbers, 0 or more."""
    values = tuple(values)
    if set(map(type, values)) == {int}:
        return bool(min(values) >= 0)
    return all(isinstance(v, int | float) and v >= 0 and v == int(v) for v in values)


def over_range(j: int, vocabulary: Vocabulary, least: int) -> Vocabulary:
    """All whole numbers from 0 on, if the values of column j are such; else the values.

    Raises
    ------
    DataError
        If there would be more than a table can have.
    """
    values = vocabulary.values
    if vocabulary.counts_from_zero and len(values) >= least:
        return vocabulary
    if not counts_from_zero(values):
        return vocabulary
    largest = int(values[-1]) if values else -1
    places = max(largest + 1, least)
    if places > MOST_CODES:
        raise DataError(
            f"column {j}, counted from 0: {places} values from 0 to {places - 1}",
            f"whole numbers are codes that count from 0, {MOST_CODES:,} at most",
            "number the values without gaps, or give them as strings",
        )
    return vocabulary if len(values) == places else Vocabulary(tuple(range(places)))
