"""Columns into rows: cells of one column, which lie side by side, each to its row of a matrix.

And whole numbers into doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.kernels.lanes import LANES, turn
from suffice.numerics.kernels.pairs import compiled

__all__ = ["is_valid", "place", "to_doubles", "to_rows"]


@compiled
def is_valid(valid: Any, cell: int) -> bool:
    """Tell whether a cell is not null, by its bit."""
    at = np.uint64(cell)
    return bool((valid[at >> np.uint64(3)] >> (at & np.uint64(7))) & 1)


@compiled
def place(values: Any, valid: Any, first: int, rows: Any, j: int) -> None:
    """Write numbers to column j of ``rows`` (n, d), NaN where a cell is null.

    ``valid`` are the bits of cells that are not null, or nothing; that of cell 0 is the ``first``.
    """
    if valid.shape[0] == 0:
        for i in range(values.shape[0]):
            rows[i, j] = values[i]
        return
    for i in range(values.shape[0]):
        rows[i, j] = values[i] if is_valid(valid, first + i) else np.nan


@compiled
def to_rows(x: Any, rows: Any) -> None:
    """Copy doubles (n, d) whose columns are contiguous to ``rows`` (n, d), which are."""
    (n, d), apart, target = x.shape, x.strides[1] // 8, rows.reshape(-1)
    tall, wide = n // LANES * LANES, d // LANES * LANES
    for j in range(0, wide, LANES):  # few columns at a time: each is read ahead of need
        for i in range(0, tall, LANES):
            turn(x, j * apart + i, apart, target, i * d + j, d)
    for j in range(d):
        for i in range(tall if j < wide else 0, n):
            rows[i, j] = x[i, j]


@compiled
def to_doubles(values: Any, lowest: Any, highest: Any, numbers: Any) -> bool:
    """Copy whole numbers (n, d) to doubles (n, d); tell whether all lie between two bounds."""
    beyond = False
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            numbers[i, j] = value
            beyond |= (value < lowest) | (value > highest)
    return not beyond
