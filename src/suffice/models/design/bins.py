"""Numbers cut into bins: an ordered category, whose levels are what a number has reached."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.error_free import LARGEST
from suffice.sums.block import BadCell, require_finite
from suffice.sums.moments import TOO_LARGE
from suffice.sums.pairs import CutBins
from suffice.sums.vocabulary import Vocabulary

BELOW = "-inf"  # the level of numbers below the first cut
DIGITS = range(6, 16)  # of a cut in print: as few as tell it from the others
FEW = 32  # cuts: comparing a number with each is then faster than to search among them


def steps(bins: CutBins) -> tuple[str, ...]:
    """The cuts in print, distinct.

    Examples
    --------
    >>> steps(CutBins(np.array([0.5, 2.0]))), steps(CutBins(np.array([1e9 + 1, 1e9 + 2])))
    (('0.5', '2'), ('1000000001', '1000000002'))
    """
    cuts = bins.cuts.tolist()
    for digits in DIGITS:
        found = tuple(f"{float(f'{cut:.{digits}g}'):.15g}" for cut in cuts)
        if len(set(found)) == len(cuts):
            return found
    return tuple(map(repr, cuts))


def levels_of(bins: CutBins) -> tuple[Vocabulary, tuple[str, ...]]:
    """The levels of a column as an ordered category: their values, and these in order.

    Examples
    --------
    >>> levels_of(CutBins(np.array([9.0, 10.0])))
    (Vocabulary(values=('-inf', '10', '9'), closed=False), ('-inf', '9', '10'))
    """
    levels = (BELOW, *steps(bins))
    return Vocabulary.of(levels), levels


def span(bins: CutBins) -> tuple[float, float]:
    """Return the ends of a picture of the column: a bin beyond the outermost edges.

    Examples
    --------
    >>> span(CutBins(np.array([2.0, 3.0, 6.0]))), span(CutBins(np.array([50.0])))
    ((0.0, 8.0), (0.0, 100.0))
    """
    if not len(bins.cuts):
        return 0.0, 1.0
    first, last = float(bins.cuts[0]), float(bins.cuts[-1])
    beyond = (last - first) / (len(bins.cuts) - 1) if last > first else abs(first) or 1.0
    return first - beyond, last + beyond


def binned(bins: CutBins, x: NDArray[Any]) -> NDArray[np.int32]:
    """Return the number of bin edges at or below each number, (n,); −1 where it is missing.

    Examples
    --------
    >>> binned(CutBins(np.array([0.0, 10.0])), np.array([-1.0, 0.0, 12.0, np.nan])).tolist()
    [0, 1, 2, -1]
    """
    size = np.abs(x)
    if not size.max(initial=0.0) <= LARGEST:  # or a cell is missing
        require_finite(x[:, None])
        for row in np.flatnonzero(size > LARGEST)[:1].tolist():
            raise BadCell(row, 0, float(x[row]), TOO_LARGE)
    if len(bins.cuts) > FEW:
        found = np.searchsorted(bins.cuts, x, side="right").astype(np.int32)
    else:
        found = np.zeros(len(x), np.int32)
        for cut in bins.cuts.tolist():
            found += x >= cut
    found[np.isnan(x)] = -1
    return found
