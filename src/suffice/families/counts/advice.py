"""What counts tell of a column that its owner may not know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.sums.counts import Counts

__all__ = ["advice_on_counts"]

FEW = 20  # rows, or values: fewer show nothing
NUMERIC_FRACTION = 0.9  # of the values have to be numbers
_NUMBER = re.compile(r"[-+]?[$€£¥]?\s*[-+]?\d[\d,. ]*([eE][-+]?\d+)?\s*[%$€£¥]?")


def advice_on_counts(counts: Counts) -> Iterator[tuple[int, str]]:
    """Yield the columns (0 to d − 1) that one should look at, and what is to be said of each.

    Examples
    --------
    >>> from suffice.sums.block import CodedBlock
    >>> from suffice.sums.counts import CountAccumulator
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> names = Vocabulary(tuple(f"person {i}" for i in range(30)))
    >>> total = CountAccumulator(1)
    >>> rows = np.arange(30)
    >>> total.add(CodedBlock(rows[:, None], (names,)), rows % 2, np.empty(0), 2)
    >>> list(advice_on_counts(total.statistic()))
    [(0, 'has another value in every row, as an identifier does: leave it out')]
    """
    for j, vocabulary in enumerate(counts.vocabularies):
        count = counts.column(j)
        observed: NDArray[np.bool_] = np.asarray(count.any(axis=0))
        values = [value for value, seen in zip(vocabulary.values, observed, strict=True) if seen]
        said = _advice(values, count[:, observed])
        if said:
            yield j, said


def _advice(values: Sequence[Any], count: NDArray[np.float64]) -> str:
    """What there is to say of m values that are counted in k classes, (k, m)."""
    rows = count.sum()
    if len(values) == 1:
        return f"has one value only, {values[0]!r}: it tells nothing"
    if rows < FEW:
        return ""
    if (count.sum(axis=0) == 1).all():
        return "has another value in every row, as an identifier does: leave it out"
    if len(values) == len(count) and ((count > 0).sum(axis=0) == 1).all() and count.any(1).all():
        return "has one value for each class: if it is a copy of the label, leave it out"
    numbers = [isinstance(value, str) and bool(_NUMBER.fullmatch(value)) for value in values]
    if len(values) >= FEW and sum(numbers) >= NUMERIC_FRACTION * len(values):
        return _on_text(values, numbers)
    return ""


def _on_text(values: Sequence[str], numbers: Sequence[bool]) -> str:
    others = [value for value, number in zip(values, numbers, strict=True) if not number]
    if not others:
        return f"holds numbers that are kept as text, such as {values[0]!r}: convert them"
    named = ", ".join(map(repr, others[:3])) + (" and others" if len(others) > 3 else "")
    return f"would hold numbers if {named} stood for missing cells"
