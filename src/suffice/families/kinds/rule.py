"""What a column of whole numbers is: a category, or numbers. All rows decide it.

A column whose source does not say what its whole numbers stand for is a category if its rows show

- whole numbers of at most 256 in size only, and
- at most 20 of them, each 10 times on average; or 0 and 1, or −1 and 1 alone.

This is a function of the counts. So the order of rows and batches does not reach it, and rows that
are added, merged or forgotten decide it anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.whole_values import WholeValues, whole_values

__all__ = ["categories_of", "is_category", "why"]

MOST_VALUES = 20
ROWS_PER_VALUE = 10


def is_category(distinct: Any, observed: Any, smallest: Any, largest: Any) -> NDArray[np.bool_]:
    """Whether columns are categories, by their values: how many, in how many cells, and the ends.

    Examples
    --------
    >>> is_category(distinct=3, observed=np.array([29.0, 30.0]), smallest=1, largest=4)
    array([False,  True])
    """
    few = (distinct > 0) & (distinct <= MOST_VALUES) & (observed >= ROWS_PER_VALUE * distinct)
    two = (distinct == 2) & (largest == 1) & ((smallest == 0) | (smallest == -1))
    return np.asarray(few | two)


def categories_of(bins: BinnedCounts) -> NDArray[np.intp]:
    """The columns that are categories, by their place."""
    return np.flatnonzero([_is_category(found) for found in whole_values(bins)])


def why(found: WholeValues | None) -> tuple[bool, str]:
    """Whether a column is a category, and the reason, in which no cell is quoted.

    Examples
    --------
    >>> why(WholeValues(np.array([1, 2, 4]), np.array([9.0, 20.0, 4.0]), 33.0))
    (True, '3 whole numbers, each seen 11 times on average')
    >>> why(None)
    (False, 'not all are whole numbers up to 256')
    """
    if found is None:
        return False, "not all are whole numbers up to 256"
    m, rows = len(found.values), f"{found.observed:.15g}"
    if not _is_category(found):
        return False, f"whole numbers, {m} distinct in {rows}"
    low, high = found.values[[0, -1]].tolist()
    if m == 2 and high == 1 and low <= 0:
        return True, f"only {low} and {high}"
    times = int(found.observed // m)
    return True, f"{m} whole number{'s' * (m > 1)}, each seen {times} times on average"


def _is_category(found: WholeValues | None) -> bool:
    if found is None or not len(found.values):
        return False
    return bool(is_category(len(found.values), found.observed, *found.values[[0, -1]]))
