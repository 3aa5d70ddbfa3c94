"""How many digits of a variance are left where rows far larger than the others were forgotten.

A pair of doubles holds about 106 bits of a sum of squares. While a value is in it that is 2²⁶ times
larger than the rest, 52 of them are its own; what it pushed out does not come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments
from suffice.sums.fourth_moments import FourthMoments
from suffice.sums.moments import Moments

__all__ = ["Loss", "losses"]

HELD = 2.0**100  # a pair tells a sum of squares from its neighbours to one in so many
ENOUGH = 2.0**52  # what a double needs of it


class Loss(NamedTuple):
    """Columns whose variances lost digits.

    Parameters
    ----------
    block, column : int
        The column that lost most.
    digits : int
        How many decimal digits of its variance are left.
    others : int
        How many more columns of the block lost digits.
    """

    block: int
    column: int
    digits: int
    others: int


def losses(before: Any, after: Any) -> Iterator[Loss]:
    """Yield what sums lost when rows were taken away, one loss for each block at most.

    Parameters
    ----------
    before, after : ByClass or Comoments

    Examples
    --------
    >>> from suffice.sums.block import RealBlock
    >>> from suffice.sums.moments import MomentsAccumulator
    >>> def moments(*x):
    ...     total = MomentsAccumulator(1)
    ...     total.add(RealBlock(np.array(x)[:, None]), np.zeros(len(x), int), np.empty(0), 1)
    ...     return total.statistic()
    >>> every = moments(1.0, 2.0, 3.0, 1e12)
    >>> list(losses(every, every - moments(1e12)))
    [Loss(block=0, column=0, digits=6, others=0)]
    """
    if isinstance(before, ByClass):
        index = before.classes.index(after.classes.values, -1)
        blocks = zip([block.take(index) for block in before.blocks], after.blocks, strict=True)
    else:
        blocks = zip([before], [after], strict=True)
    for b, (many, few) in enumerate(blocks):
        if isinstance(many, Moments):
            rests = _rests((many.scatter, few.scatter), few.total, few.mean)
        elif isinstance(many, Comoments | FourthMoments) and few.columns.complete:
            rests = _of_products(many.columns, few.columns)
        else:
            continue
        share = rests.min(axis=0, initial=1.0)
        lost = np.flatnonzero(share < 1 / ENOUGH)
        if len(lost):
            j = int(share.argmin())
            digits = floor(log10(HELD * share[j])) if share[j] * HELD > 1 else 0
            yield Loss(b, j, digits, len(lost) - 1)


def _of_products(before: Comoments, after: Comoments) -> NDArray[np.float64]:
    """`_rests` of the rows of all classes."""
    many, few = before.one_class, after.one_class
    if not (many.complete and len(many.scatter.hi) and len(few.scatter.hi)):
        return np.ones((1, after.d))
    scatters = [np.diagonal(s.scatter.hi, axis1=1, axis2=2) for s in (many, few)]
    return _rests((scatters[0], scatters[1]), few.total, few.mean.hi)


def _rests(
    scatters: tuple[NDArray[np.float64], NDArray[np.float64]],
    total: NDArray[np.float64],
    mean: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The share of a scatter that is left, (k, d).

    Values that are left as equal have none: their size stands for it, or that of all classes where
    they are 0, for they may not have been equal. Of a column of zeros nothing is said.
    """
    before, after = scatters
    size = total * mean**2
    of_column = (after + size).sum(axis=0) / np.maximum(total.sum(axis=0), 1.0)
    after = np.where(after > 0, after, np.where(size > 0, size, total * of_column))
    return np.divide(after, before, out=np.ones_like(after), where=(after > 0) & (before > 0))
