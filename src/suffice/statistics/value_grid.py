"""A fixed grid of real numbers: the cells in which `BinnedCounts` counts them.

The cell of a number is decided by the number alone, so tables that were counted apart can be added.
In the order of the numbers, for each sign:

==========================  ====================================================================
what                        cells
==========================  ====================================================================
0                           one
0 < x < 2⁻⁴⁰                one
2⁻⁴⁰ ≤ x < 2⁴⁰              80 exponents by 256 parts: sign, exponent and 8 bits of the mantissa
x = 1, 2, …, 256            one each, apart from the numbers next to them
x ≥ 2⁴⁰                     one
==========================  ====================================================================

A cell between 2⁻⁴⁰ and 2⁴⁰ is at most 1/256 as wide as its numbers are large.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["CELLS", "cell_bounds", "cells_of"]

PARTS = 256  # of an octave
OCTAVES = 40  # below 1, and above it
WHOLE = 256  # the largest whole number with a cell of its own
FIRST = 2  # rank of the cell that starts at 2⁻⁴⁰: zero and tiny numbers come before it
LAST = FIRST + 2 * OCTAVES * PARTS + WHOLE  # rank of the cell of huge numbers
CELLS = 2 * LAST + 1
"""How many cells there are: 41,477, numbered by the order of the numbers in them."""
_DROPPED = 52 - 8  # bits of the mantissa that a cell does not look at
_TINY = (1023 - OCTAVES) * PARTS  # exponent and 8 bits of the mantissa of 2⁻⁴⁰
_MAGNITUDE = np.int64(2**63 - 1)  # all bits but the sign


def cells_of(x: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the cell of every number, 0 to `CELLS` − 1, and −1 for NaN.

    Examples
    --------
    >>> cells_of(np.array([0.0, -0.0, np.nan, -np.inf, np.inf])).tolist()
    [20738, 20738, -1, 0, 41476]
    >>> cells_of(np.array([2005.0, 2007.0, 2008.0])).tolist()  # 2004 ≤ x < 2008 is a cell
    [34041, 34041, 34042]
    """
    size = np.abs(x)
    octave = (size.view(np.int64) & _MAGNITUDE) >> _DROPPED
    octave -= _TINY
    least = np.fmin(size, float(WHOLE)).astype(np.int64, copy=False) if size.size else octave
    whole = (size == least) & (size > 0)
    rank = np.where(octave < 0, size > 0, octave + least + (FIRST - whole.astype(np.int64)))
    np.minimum(rank, LAST, out=rank)
    cells = np.where(np.signbit(x), LAST - rank, LAST + rank)
    return np.where(np.isnan(x), -1, cells).astype(np.int32)


def cell_bounds(cells: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest number that a cell may hold; −∞ and ∞ at the ends.

    Neighbouring cells share a bound. The cell of a whole number has that number twice.

    Examples
    --------
    >>> low, high = cell_bounds(cells_of(np.array([0.0, 3.0, -2000.5])))
    >>> low.tolist(), high.tolist()
    ([0.0, 3.0, -2004.0], [0.0, 3.0, -2000.0])
    """
    least, most = _magnitudes()
    rank = np.asarray(cells, np.int64) - LAST
    near, far = least[np.abs(rank)], most[np.abs(rank)]
    return np.where(rank < 0, -far, near), np.where(rank < 0, -near, far)


@cache
def _magnitudes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest size of the numbers of a cell, by its rank (LAST + 1,)."""
    places = np.arange(2 * OCTAVES * PARTS + 1)
    edges = np.ldexp(1 + places % PARTS / PARTS, places // PARTS - OCTAVES)
    starts = edges[:-1]
    rank = FIRST + places[:-1] + np.minimum(np.floor(starts), WHOLE).astype(np.int64)
    least, most = np.zeros(LAST + 1), np.zeros(LAST + 1)
    most[1] = edges[0]
    least[rank], most[rank] = starts, edges[1:]
    whole = (starts == np.floor(starts)) & (starts >= 1) & (starts <= WHOLE)
    least[rank[whole] - 1] = most[rank[whole] - 1] = starts[whole]
    least[LAST], most[LAST] = edges[-1], np.inf
    least.setflags(write=False)
    most.setflags(write=False)
    return least, most
