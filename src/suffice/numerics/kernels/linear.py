"""Linear functions of rows: eight rows are the lanes, and a panel of functions shares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.error_free import LARGEST
from suffice.numerics.kernels.lanes import LANES, load, splat, store
from suffice.numerics.kernels.memory import aligned
from suffice.numerics.kernels.moments import copy
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.panels import (
    TILE,
    add_products,
    add_row,
    add_rows,
    add_sizes,
    arranged,
    columns_of,
    keep,
    panel_of,
    spare,
    too_large,
    zeros,
)

__all__ = ["add_complete", "write"]


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
                columns = columns_of(cells, at, apart, load(origin, j))
                size = add_sizes(columns, size)
                total = add_products(columns, slopes, c * width + j * len(panel), total)
            keep(total, sums, c * TILE + i, TILE)
            store(sizes, i, size)


@compiled
def _add_complete(
    x: Any, origin: Any, slope: Any, constant: Any, panel: Any, done: Any, out: Any
) -> int:
    (n, d), cells, tile = x.shape, x.reshape(-1), spare(x.shape[1])
    apart = tile.shape[1]
    origins, slopes = arranged(origin.reshape(1, d), 1), arranged(slope, len(panel))
    sums, sizes = aligned(len(slopes) // len(origins) * TILE), aligned(TILE)
    constants = np.repeat(constant, TILE)
    largest = LARGEST - np.max(np.abs(origin))
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        whole = rows == TILE and d >= LANES
        start = first * d if whole else 0
        if whole:
            _score(cells, start, apart, origins, slopes, panel, sums, sizes)
        else:
            copy(x[first : first + rows], tile)
            _score(tile.reshape(-1), start, apart, origins, slopes, panel, sums, sizes)
        near = 0
        for i in range(rows):
            near += sizes[i] <= largest
        if near < rows and too_large(x, first, rows):
            return first
        for i in range(rows):
            done[first + i] = sizes[i] == sizes[i]  # no cell is NaN
        if near == TILE:
            add_rows(out, first, rows, constants, sums)
            continue
        for i in range(rows):
            if done[first + i]:
                add_row(out, first, i, constants, sums)
    return -1


def add_complete(x: Any, origin: Any, slope: Any, constant: Any, done: Any, out: Any) -> int:
    """Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) of complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of which holds
    a number too large to be squared.
    """
    panel = panel_of(len(constant))
    return int(_add_complete(x, origin, slope, constant, panel, done, out))


@compiled
def _write(x: Any, origin: Any, slope: Any, constant: Any, panel: Any, out: Any) -> None:
    (n, d), cells, tile = x.shape, x.reshape(-1), spare(x.shape[1])
    apart = tile.shape[1]
    origins, slopes = arranged(origin.reshape(1, d), 1), arranged(slope, len(panel))
    sums, sizes = aligned(len(slopes) // len(origins) * TILE), aligned(TILE)
    constants = np.repeat(constant, TILE)
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        if rows == TILE and d >= LANES:
            _score(cells, first * d, apart, origins, slopes, panel, sums, sizes)
        else:
            copy(x[first : first + rows], tile)
            _score(tile.reshape(-1), 0, apart, origins, slopes, panel, sums, sizes)
        out[first : first + rows] = 0.0
        add_rows(out, first, rows, constants, sums)


def write(x: Any, origin: Any, slope: Any, constant: Any, out: Any) -> None:
    """Write (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k), of any rows.

    Where a cell is no finite number, the results of its row are none.
    """
    _write(x, origin, slope, constant, panel_of(len(constant)), out)
