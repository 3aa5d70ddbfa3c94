"""Linear functions of rows: four rows at a time, and the lanes are columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, totals
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.tiles import TILE, aligned, padded, take

__all__ = ["add_complete"]


@compiled
def _score(tile: Any, rows: int, slopes: Any, sums: Any) -> None:
    """Write vᵀ slope_c of rows v of a tile to ``sums`` (k · 16,); slopes are `padded`."""
    width = tile.shape[0] // TILE
    for i in range(0, rows, 4):
        v0 = i * width
        v1, v2, v3 = v0 + width, v0 + 2 * width, v0 + 3 * width
        for c in range(sums.shape[0] // TILE):
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for j in range(0, width, LANES):
                w = load(slopes, c * width + j)
                s0, s1 = fma(w, load(tile, v0 + j), s0), fma(w, load(tile, v1 + j), s1)
                s2, s3 = fma(w, load(tile, v2 + j), s2), fma(w, load(tile, v3 + j), s3)
            totals(s0, s1, s2, s3, sums, c * TILE + i)


@compiled
def add_complete(x: Any, origin: Any, slope: Any, constant: Any, done: Any, out: Any) -> int:
    """Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) for complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of which holds
    a number too large to be squared.
    """
    k, n = slope.shape[0], x.shape[0]
    cells, slopes, sums = x.reshape(-1), padded(slope), np.zeros(k * TILE)
    tile = aligned(TILE * (slopes.shape[0] // k))
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        complete = take(cells, first, rows, origin, tile)
        if not complete and np.any(np.abs(x[first : first + rows]) > LARGEST):
            return first
        for i in range(first, first + rows):
            done[i] = complete or not np.any(np.isnan(x[i]))
        _score(tile, rows, slopes, sums)
        for c in range(k):
            for i in range(rows):
                if done[first + i]:
                    out[first + i, c] += sums[c * TILE + i] + constant[c]
    return -1
