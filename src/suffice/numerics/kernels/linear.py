"""Linear functions of rows: eight rows are the lanes, and a panel of functions shares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.lanes import LANES, load, repeat, splat, store
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.panels import (
    add_products,
    add_sizes,
    arranged,
    keep,
    panel_of,
    turned,
    zeros,
)
from suffice.numerics.kernels.tiles import TILE, aligned

__all__ = ["add_complete"]

AHEAD = 2_048  # cells between asking for one and reading it


@compiled
def _score(
    cells: Any, first: int, apart: int, origin: Any, slopes: Any, panel: Any, sums: Any, sizes: Any
) -> None:
    """Write vᵀ slope_c of 16 rows v = x − o to ``sums`` (k · 16,), and Σⱼ |vⱼ| to ``sizes`` (16,).

    The rows begin at ``cells[first]`` and are ``apart``, eight at least.
    """
    width = len(origin)
    for c in range(0, len(sums) // TILE, len(panel)):
        for i in range(0, TILE, LANES):
            row, total, size = first + i * apart, zeros(panel), splat(0.0)
            for j in range(0, width, LANES):
                at = row + min(j, apart - LANES)
                for line in range(LANES):
                    prefetch(cells, at + line * apart + AHEAD)
                columns = turned(cells, at, apart, load(origin, j))
                size = add_sizes(columns, size)
                total = add_products(columns, slopes, c * width + j * len(panel), total)
            keep(total, sums, c * TILE + i, TILE)
            store(sizes, i, size)


@compiled
def _add(sums: Any, constant: Any, first: int, out: Any) -> None:
    """Add the sums of 16 rows to ``out``, where the rows of a class lie side by side."""
    apart = out.strides[1] // out.itemsize
    for c in range(len(constant)):
        for i in range(0, TILE, LANES):
            at = c * apart + first + i
            store(out, at, load(out, at) + (load(sums, c * TILE + i) + repeat(constant, c)))


@compiled
def _add_complete(
    x: Any, origin: Any, slope: Any, constant: Any, panel: Any, done: Any, out: Any
) -> int:
    (n, d), k = x.shape, len(constant)
    cells, apart = x.reshape(-1), max(d, LANES)
    origins, slopes = arranged(origin.reshape(1, d), 1), arranged(slope, len(panel))
    spare, sizes = np.zeros(TILE * apart), aligned(TILE)
    sums = aligned(len(slopes) // len(origins) * TILE)
    largest = LARGEST - np.max(np.abs(origin))
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        if rows == TILE and d >= LANES:
            _score(cells, first * d, apart, origins, slopes, panel, sums, sizes)
        else:
            for i in range(rows):
                for j in range(d):
                    spare[i * apart + j] = x[first + i, j]
            _score(spare, 0, apart, origins, slopes, panel, sums, sizes)
        complete = True
        for i in range(rows):
            complete &= sizes[i] <= largest
        if not complete and np.any(np.abs(x[first : first + rows]) > LARGEST):
            return first
        for i in range(first, first + rows):
            done[i] = complete or not np.any(np.isnan(x[i]))
        if complete and rows == TILE:
            _add(sums, constant, first, out)
            continue
        for i in range(rows):
            if done[first + i]:
                for c in range(k):
                    out[first + i, c] += sums[c * TILE + i] + constant[c]
    return -1


def add_complete(x: Any, origin: Any, slope: Any, constant: Any, done: Any, out: Any) -> int:
    """Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to `scores` (n, k) of complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of which holds
    a number too large to be squared.
    """
    panel = panel_of(len(constant))
    return int(_add_complete(x, origin, slope, constant, panel, done, out))
