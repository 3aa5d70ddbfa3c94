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

A cell between 2⁻⁴⁰ and 2⁴⁰ is at most 1/256 as wide as its numbers are large. The loop that finds
cells is compiled: `src/native/bins.cpp`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels

__all__ = ["CELLS", "WHOLE", "cell_bounds", "cells_of"]

PARTS = 256  # of an octave
OCTAVES = 40  # below 1, and above it
WHOLE = 256  # the largest whole number with a cell of its own
FIRST = 2  # rank of the cell that starts at 2⁻⁴⁰: zero and tiny numbers come before it
LAST = FIRST + 2 * OCTAVES * PARTS + WHOLE  # rank of the cell of huge numbers
CELLS = 2 * LAST + 1
"""How many cells there are: 41,477, numbered by the order of the numbers in them."""


def cells_of(x: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the cell of every number, 0 to `CELLS` − 1, and −1 for NaN.

    Examples
    --------
    >>> cells_of(np.array([0.0, -0.0, np.nan, -np.inf, np.inf])).tolist()
    [20738, 20738, -1, 0, 41476]
    >>> cells_of(np.array([2005.0, 2007.0, 2008.0])).tolist()  # 2004 ≤ x < 2008 is a cell
    [34041, 34041, 34042]
    """
    x = np.asarray(x, np.float64)
    cells = np.empty((x.size, 1), np.int32)
    kernels.bins.cells(x.reshape(-1, 1), np.zeros(1), cells)
    return cells.reshape(x.shape)


def cell_bounds(cells: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest number that a cell may hold; −∞ and ∞ at the ends.

    Neighbouring cells share a bound. The cell of a whole number has that number twice.

    Examples
    --------
    >>> low, high = cell_bounds(cells_of(np.array([0.0, 3.0, -2000.5])))
    >>> low.tolist(), high.tolist()
    ([0.0, 3.0, -2004.0], [0.0, 3.0, -2000.0])
    """
    low, high = _bounds()
    return low[cells], high[cells]


@cache
def _bounds() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bounds of every cell (CELLS,)."""
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
    return np.append(-most[:0:-1], least), np.append(-least[:0:-1], most)
