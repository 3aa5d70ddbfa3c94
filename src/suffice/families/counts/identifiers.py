"""Columns that number or name the rows: what they show of a class is of these rows only.

A column is one if its sums show that no two rows have a value in common. Its family then gives it
one distribution for all classes, so it speaks for none of them. As this follows from the sums,
rows that are added or forgotten decide it anew.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.sums.counts import Counts
from suffice.sums.moments import Moments, MomentsLeftOut

__all__ = [
    "FEW",
    "alike",
    "identifiers_of",
    "row_numbers_of",
]

P = TypeVar("P")

FEW = 20  # rows: fewer show nothing
ROUNDING = 2.0**-46  # of mean and scatter, which are doubles


def identifiers_of(counts: Counts) -> NDArray[np.bool_]:
    """Whether each column of categories shows another value in every row, (d,).

    Rows have the weight 1: what weighs more may be several rows.
    """
    every = np.zeros(len(counts.vocabularies), np.bool_)
    for j, vocabulary in enumerate(counts.vocabularies):
        if len(vocabulary) < FEW:
            continue
        rows = counts.column(j).sum(axis=0)
        every[j] = rows.sum() >= FEW and bool(((rows == 1) | (rows == 0)).all())
    return every


def row_numbers_of(moments: Moments | MomentsLeftOut) -> NDArray[np.bool_]:
    """Whether each column of numbers has the moments of n numbers in a row, (d,).

    ::

        Σ(x − x̄)² = n(n² − 1)/12    x̄ = a + (n − 1)/2, a whole

    n different whole numbers cannot have less scatter. Other values have exactly these moments by
    a rare accident only.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> x = np.arange(60.0)
    >>> sums = GaussianNB().fit(np.c_[x + 1000, x**2], x > 20).statistic_.blocks[0]
    >>> row_numbers_of(sums)
    array([ True, False])
    """
    rows = moments.one_class
    n, scatter, first = rows.total[0], rows.scatter[0], rows.mean[0] - (rows.total[0] - 1) / 2
    expected = n * (n**2 - 1) / 12
    found = (n >= FEW) & (n == np.floor(n)) & (abs(scatter - expected) <= ROUNDING * expected)
    whole = abs(first - np.round(first)) <= ROUNDING * np.maximum(abs(rows.mean[0]), n)
    return np.asarray(found & whole)


def alike(by_class: P, pooled: P, columns: NDArray[np.intp]) -> P:
    """Parameters by class (k, d), in which some columns have those of all classes together, (1, d).

    Parameters
    ----------
    by_class, pooled : record of arrays
    columns : ndarray of int
        Which those are.
    """
    changed: dict[str, Any] = {}
    for each in fields(by_class):  # type: ignore[arg-type]
        changed[each.name] = getattr(by_class, each.name).copy()
        changed[each.name][:, columns] = getattr(pooled, each.name)[:, columns]
    return replace(by_class, **changed)  # type: ignore[type-var]
