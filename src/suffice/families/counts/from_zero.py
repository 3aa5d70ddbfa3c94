"""Whole numbers that are codes, and count from 0, as an ordinal encoder gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.sums.block import BadCell, CodedBlock, IntegerBlock
from suffice.sums.counts import CountAccumulator
from suffice.sums.vocabulary import Vocabulary

__all__ = [
    "MOST_CODES",
    "CodeAccumulator",
    "counts_from_zero",
    "is_below",
    "over_range",
    "require_codes",
]

MOST_CODES = 1_000_000  # of one column; each has a probability in every class
CODE_RULE = "Negative values in data passed to CategoricalNB (input X): numbers are codes from 0 on"
CODE_STEP = "NaiveBayes takes them as categories; a missing cell is NaN, not -1"


class CodeAccumulator(CountAccumulator):
    """Counts categories; numbers among them are 0 or more."""

    def add(
        self,
        block: CodedBlock | IntegerBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is below 0.
        """
        require_codes(block)
        super().add(block, codes, weights, k)


def require_codes(
    block: CodedBlock | IntegerBlock, known: tuple[Vocabulary, ...] | None = None
) -> None:
    """Refuse numbers below 0, except those that are ``known``.

    Raises
    ------
    BadCell
        Naming the first of a column.
    """
    if isinstance(block, IntegerBlock):
        if block.values.dtype.kind == "u" or block.values.min(initial=0) >= 0:
            return
        block = block.coded()
    for j, vocabulary in enumerate(block.vocabularies):
        taken = () if known is None else known[j].codes
        below = [is_below(value) and value not in taken for value in vocabulary.values]
        if any(below):
            codes = block.codes[:, j]
            rows = np.flatnonzero((codes >= 0) & np.array(below)[codes])
            for row in rows[:1].tolist():
                raise BadCell(row, j, vocabulary.values[codes[row]], CODE_RULE, CODE_STEP)


def is_below(value: Any) -> bool:
    """Whether a value is a number below 0."""
    return isinstance(value, int | float) and value < 0


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
