"""Cells of binary columns, 0 and 1 or −1 and 1, as the codes of two outcomes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.sums.block import BadCell

__all__ = ["outcome_codes"]

BINARY = "a binary column holds 0 and 1, or -1 and 1"
FAMILY = "give it a family of numbers when it is first fitted: families={'column': 'gaussian'}"


def outcome_codes(
    x: NDArray[Any], lows: NDArray[np.float64], strict: bool = True
) -> NDArray[np.int8]:
    """Return 0 and 1 for the smaller and the larger value of every column, −1 for missing cells.

    Parameters
    ----------
    x : ndarray (n, d) of int or float
        NaN = missing.
    lows : ndarray (d,)
        The smaller value of each column, 0 or −1; NaN where these cells have to tell: −1 if there
        is one.
    strict : bool
        Whether another value is refused; else it is missing if it is finite.

    Raises
    ------
    BadCell
        If there is another value and that is refused, or infinity; or if both 0 and −1 are there
        and nobody knows which of them is the smaller value.

    Examples
    --------
    >>> outcome_codes(np.array([[0, -1], [1, 1], [2, 0]]), np.array([0.0, -1.0]), strict=False)
    array([[ 0,  0],
           [ 1,  1],
           [-1, -1]], dtype=int8)
    """
    one, zero, minus, told = x == 1, x == 0, x == -1, lows == lows
    signed = (lows == -1) | (~told & minus.any(axis=0))
    known = one | np.where(signed, minus, zero)
    refused = ~(known | (x != x))
    if not strict:
        refused &= (zero & ~told) | np.isinf(x)
    if refused.any():
        row, column = map(int, np.argwhere(refused)[0])
        raise _refusal(row, column, x[row, column].item(), float(lows[column]))
    return np.asarray(one.view(np.int8) - (~known).view(np.int8))


def _refusal(row: int, column: int, value: Any, low: float) -> BadCell:
    if math.isinf(value):
        return BadCell(row, column, value, "a number must be finite")
    if low != low:
        return BadCell(row, column, value, BINARY)
    rule = f"the first rows of this column hold only {low:g} and 1, so it has two values"
    value = int(value) if value == value // 1 else value
    return BadCell(row, column, value, rule, FAMILY)
