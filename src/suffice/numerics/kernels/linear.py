"""Linear functions of rows: four rows at a time, and the lanes are columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, totals, turn
from suffice.numerics.kernels.moments import copy
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.tiles import TILE, aligned, padded, take

__all__ = ["add_complete"]


@compiled
def _score(tile: Any, rows: int, k: int, slopes: Any, sums: Any) -> None:
    """Write vᵀ slope_c of rows v of a tile to ``sums`` (k · 16,); slopes are `padded`.

    Two slopes share the loads of four rows; an odd one has a neighbour of zeros.
    """
    width = tile.shape[0] // TILE
    for i in range(0, rows, 4):
        v0 = i * width
        v1, v2, v3 = v0 + width, v0 + 2 * width, v0 + 3 * width
        for c in range(0, k, 2):
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            t0, t1, t2, t3 = s0, s1, s2, s3
            for j in range(0, width, LANES):
                s, t = load(slopes, c * width + j), load(slopes, (c + 1) * width + j)
                x0, x1 = load(tile, v0 + j), load(tile, v1 + j)
                x2, x3 = load(tile, v2 + j), load(tile, v3 + j)
                s0, s1, s2, s3 = fma(s, x0, s0), fma(s, x1, s1), fma(s, x2, s2), fma(s, x3, s3)
                t0, t1, t2, t3 = fma(t, x0, t0), fma(t, x1, t1), fma(t, x2, t2), fma(t, x3, t3)
            totals(s0, s1, s2, s3, sums, c * TILE + i)
            totals(t0, t1, t2, t3, sums, (c + 1) * TILE + i)


@compiled
def add_complete(x: Any, origin: Any, slope: Any, constant: Any, done: Any, out: Any) -> int:
    """Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) for complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of which holds
    a number too large to be squared.
    """
    (k, d), n = slope.shape, x.shape[0]
    width, classes = -(-d // LANES) * LANES, -(-k // LANES) * LANES
    even = np.zeros((k + k % 2, d))
    copy(slope, even)
    cells, slopes, tile = x.reshape(-1), padded(even), aligned(TILE * width)
    sums, scores = aligned(classes * TILE), aligned(TILE * classes)
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        complete = take(cells, first, rows, origin, tile)
        if not complete and np.any(np.abs(x[first : first + rows]) > LARGEST):
            return first
        for i in range(first, first + rows):
            done[i] = complete or not np.any(np.isnan(x[i]))
        _score(tile, rows, k, slopes, sums)
        for c in range(0, classes, LANES):
            for i in range(0, TILE, LANES):
                turn(sums, c * TILE + i, TILE, scores, i * classes + c, classes)
        for i in range(rows):
            if done[first + i]:
                for c in range(k):
                    out[first + i, c] += scores[i * classes + c] + constant[c]
    return -1
