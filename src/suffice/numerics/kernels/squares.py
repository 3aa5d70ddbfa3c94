"""Log-likelihoods of independent Gaussians: scaled squares of distances from the means."""

from __future__ import annotations

from typing import Any

from suffice.numerics.error_free import LARGEST
from suffice.numerics.kernels.lanes import LANES, splat, store
from suffice.numerics.kernels.memory import aligned
from suffice.numerics.kernels.moments import copy
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.panels import (
    TILE,
    add_rows,
    add_shown,
    add_sizes,
    arranged,
    columns_of,
    keep,
    less_squares,
    panel_of,
    spare,
    too_large,
    zeros,
)

__all__ = ["add_gaussian"]


@compiled
def _square(
    cells: Any, first: int, apart: int, mean: Any, root: Any, panel: Any, sums: Any, sizes: Any
) -> None:
    """Write −Σⱼ (root_cj (xⱼ − mean_cj))² of 16 rows x to ``sums``, and Σⱼ |xⱼ| to ``sizes``.

    The rows begin at ``cells[first]``. What is missing adds no square; a sum of sizes it makes NaN.
    """
    classes, nothing = len(sums) // TILE, splat(0.0)
    width = len(mean) // classes
    for c in range(0, classes, len(panel)):
        for i in range(0, TILE, LANES):
            row, total, size = first + i * apart, zeros(panel), nothing
            for j in range(0, width, LANES):
                columns = columns_of(cells, row + min(j, apart - LANES), apart, nothing)
                size = add_sizes(columns, size)
                total = less_squares(columns, mean, root, c * width + j * len(panel), total)
            keep(total, sums, c * TILE + i, TILE)
            store(sizes, i, size)


@compiled
def _add_up(cells: Any, first: int, apart: int, table: Any, panel: Any, sums: Any) -> None:
    """Write Σⱼ table_cj of 16 rows over the columns that each shows to ``sums`` (k · 16,)."""
    classes = len(sums) // TILE
    width = len(table) // classes
    for c in range(0, classes, len(panel)):
        for i in range(0, TILE, LANES):
            row, total = first + i * apart, zeros(panel)
            for j in range(0, width, LANES):
                columns = columns_of(cells, row + min(j, apart - LANES), apart, splat(0.0))
                total = add_shown(columns, table, c * width + j * len(panel), total)
            keep(total, sums, c * TILE + i, TILE)


@compiled
def _add_gaussian(x: Any, mean: Any, root: Any, log_scale: Any, panel: Any, out: Any) -> int:
    (k, d), n, cells, tile = mean.shape, x.shape[0], x.reshape(-1), spare(x.shape[1])
    flat, apart, size = tile.reshape(-1), tile.shape[1], len(panel)
    means, roots, logs = arranged(mean, size), arranged(root, size), arranged(log_scale, size)
    classes = -(-k // size) * size
    sums, sizes, constants = aligned(classes * TILE), aligned(TILE), aligned(classes * TILE)
    shown, start = aligned(classes * TILE), 0
    _add_up(flat, start, apart, logs, panel, constants)
    for first in range(0, n, TILE):
        rows = min(TILE, n - first)
        whole = rows == TILE and d >= LANES
        start = first * d if whole else 0
        if whole:
            _square(cells, start, apart, means, roots, panel, sums, sizes)
        else:
            copy(x[first : first + rows], tile)
            _square(flat, start, apart, means, roots, panel, sums, sizes)
        near = 0
        for i in range(rows):
            near += sizes[i] <= LARGEST
        if near == rows:
            add_rows(out, first, rows, constants, sums)
            continue
        if too_large(x, first, rows):
            return first
        if whole:
            _add_up(cells, start, apart, logs, panel, shown)
        else:
            _add_up(flat, start, apart, logs, panel, shown)
        add_rows(out, first, rows, shown, sums)
    return -1


def add_gaussian(x: Any, mean: Any, root: Any, log_scale: Any, out: Any) -> int:
    """Add Σⱼ log_scale[c, j] − (root[c, j] (x[i, j] − mean[c, j]))² to ``out`` (n, k).

    NaN adds nothing. Returns −1, or the first of a tile of rows one of which holds a number too
    large to be squared.
    """
    return int(_add_gaussian(x, mean, root, log_scale, panel_of(len(mean)), out))
