"""Rows copied to a tile, eight columns side by side: what is read once and used for every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store, total
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = ["TILE", "aligned", "padded", "take"]

TILE = 16  # rows: few, so that they stay in the first cache
AHEAD = 4_096  # cells between asking for one and reading it


@compiled
def aligned(n: int) -> Any:
    """Return n zeros from the beginning of a cache line on: eight lanes then lie in one."""
    room = np.zeros(n + LANES)
    skip = -(room.ctypes.data // 8) % LANES
    return room[skip : skip + n]


@compiled
def padded(table: Any) -> Any:
    """Return the rows of a table (k, d), each filled up with zeros to whole lanes, one by one."""
    k, d = table.shape
    width = -(-d // LANES) * LANES
    rows = aligned(k * width)
    for c in range(k):
        for j in range(d):
            rows[c * width + j] = table[c, j]
    return rows


@compiled
def take(x: Any, first: int, rows: int, origin: Any, tile: Any) -> bool:
    """Write x − o of some rows, from ``first`` on, to ``tile`` (16 · width,); ask for the next.

    x is flat. The columns that fill up a row stay as they are. Returns whether no cell is NaN and
    every square is far from the largest double.
    """
    d, width = origin.shape[0], tile.shape[0] // TILE
    squares, rest = splat(0.0), 0.0
    if d < LANES:
        for i in range(rows):
            for j in range(d):
                cell = x[(first + i) * d + j]
                rest += cell * cell
                tile[i * width + j] = cell - origin[j]
        return rest <= LARGEST * LARGEST
    for i in range(rows):
        start, to = (first + i) * d, i * width
        for j in range(0, d, LANES):
            prefetch(x, start + j + AHEAD)
            j = min(j, d - LANES)  # the last lanes overlap those before
            cells = load(x, start + j)
            squares = fma(cells, cells, squares)
            store(tile, to + j, cells - load(origin, j))
    return bool(total(squares) <= LARGEST * LARGEST)
