"""Log-likelihoods of a block under every class, added to ``out`` (n, k).

NaN or a missing code adds nothing. A row adds its columns in the same order wherever it stands,
which gives the same bits. The innermost loop over counts and outcomes runs over rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.error_free import LARGEST
from suffice.numerics.kernels.lanes import LANES, choose, load, splat, store
from suffice.numerics.kernels.memory import aligned, prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = [
    "add_binary",
    "add_linear",
    "add_sparse_linear",
    "add_student",
    "add_table",
    "best_class",
]

BLOCK = 512  # rows whose largest scores are found together
COLUMNWISE = 64  # rows of a tile whose lanes are rows
PANEL = LANES  # classes scored together
AHEAD = np.uintp(128)  # cells between asking for a row of a table and adding it
CELLS_AHEAD = 2_048  # cells between asking for one and reading it


@compiled
def _transpose(x: Any, tile: Any) -> int:
    """Copy up to 64 rows into ``tile`` (d, 64).

    Returns 0 if every cell is usable, 1 if some are NaN, 2 if some are too large.
    """
    missing = 0
    large = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            tile[j, i] = x[i, j]
            missing |= x[i, j] != x[i, j]
            large |= abs(x[i, j]) > LARGEST
    return 2 if large else missing


@compiled
def add_student(x: Any, mean: Any, precision: Any, power: Any, log_scale: Any, out: Any) -> int:
    """Student-t: add Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²).

    Returns −1, or the first row that holds a number too large to be squared.
    """
    k, d = mean.shape
    for i in range(x.shape[0]):
        for c in range(k):
            total = 0.0
            for j in range(d):
                v = x[i, j] - mean[c, j]
                if abs(v) > 2 * LARGEST:
                    return i
                if v == v:
                    total += log_scale[c, j] - power[c, j] * math.log1p(precision[c, j] * v * v)
            out[i, c] += total
    return -1


@compiled
def add_linear(x: Any, slope: Any, out: Any) -> None:
    """Event counts: add Σⱼ x[i, j] · slope[c, j], where 0 · (−∞) = 0."""
    k, d = slope.shape
    tile, total = np.zeros((d, COLUMNWISE)), np.zeros(COLUMNWISE)
    for start in range(0, x.shape[0], COLUMNWISE):
        rows = x[start : start + COLUMNWISE]
        _transpose(rows, tile)
        for c in range(k):
            total[:] = 0.0
            for j in range(d):
                s = slope[c, j]
                for i in range(COLUMNWISE):
                    p = tile[j, i] * s
                    total[i] += p if tile[j, i] > 0.0 else 0.0
            for i in range(rows.shape[0]):
                out[start + i, c] += total[i]


@compiled
def add_binary(values: Any, absent: Any, slope: Any, out: Any) -> None:
    """Outcomes 0, 1 (−1 = missing): add Σⱼ absent[c, j] + values[i, j] · slope[c, j]."""
    k, d = slope.shape
    tile, total = np.zeros((d, COLUMNWISE)), np.zeros(COLUMNWISE)
    for start in range(0, values.shape[0], COLUMNWISE):
        rows = values[start : start + COLUMNWISE]
        for i in range(rows.shape[0]):
            for j in range(d):
                tile[j, i] = rows[i, j]
        for c in range(k):
            total[:] = 0.0
            for j in range(d):
                a, s = absent[c, j], slope[c, j]
                for i in range(COLUMNWISE):
                    total[i] += a + tile[j, i] * s if tile[j, i] >= 0.0 else 0.0
            for i in range(rows.shape[0]):
                out[start + i, c] += total[i]


@compiled
def add_sparse_linear(data: Any, indices: Any, indptr: Any, slope: Any, out: Any) -> None:
    """Event counts of a CSR matrix: add Σ x · slope[event, c], where 0 · (−∞) = 0.

    ``slope`` is (d, k), k rounded up to whole panels of classes. Its rows are far apart, so they
    are asked for ``AHEAD`` cells before they are added.
    """
    d, width = slope.shape
    n, k = out.shape
    terms, total = slope.ravel(), np.zeros(PANEL)
    last = np.uintp(len(indices) - 1)
    for start in range(0, n, COLUMNWISE):
        for first in range(0, k, PANEL):
            for i in range(start, min(start + COLUMNWISE, n)):
                sums = splat(0.0)
                for q in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                    prefetch(terms, indices[min(q + AHEAD, last)] * width + first)
                    v, x = indices[q], np.float64(data[q])
                    if v < d and x > 0.0:
                        sums = sums + splat(x) * load(terms, v * width + first)
                store(total, 0, sums)
                for c in range(min(PANEL, k - first)):
                    out[i, first + c] += total[c]


@compiled
def add_table(values: Any, low: Any, size: Any, offsets: Any, table: Any, out: Any) -> None:
    """Categories: add Σⱼ table[offsets[j] + values[i, j] − low[j], c].

    A value outside its range reads the place after the range. ``table`` is (M, k), k rounded up
    to whole panels of classes.
    """
    (n, d), k, width = values.shape, out.shape[1], table.shape[1]
    cells, logs, total = values.reshape(-1), table.reshape(-1), np.zeros(PANEL)
    for i in range(n):
        for j in range(0, d, LANES):
            prefetch(cells, i * d + j + CELLS_AHEAD)
        for first in range(0, k, PANEL):
            s = splat(0.0)
            for j in range(d):
                v = cells[i * d + j] - low[j]
                v = offsets[j] + (v if 0 <= v < size[j] else size[j])
                s += load(logs, v * width + first)
            store(total, 0, s)
            for c in range(min(PANEL, k - first)):
                out[i, first + c] += total[c]


@compiled
def best_class(scores: Any, best: Any) -> int:
    """Write the class of the largest score of every row; of equal scores, the first.

    A row of −∞ gets −1. Returns the number of such rows.
    """
    n, k = scores.shape
    top, place = aligned(BLOCK), aligned(BLOCK)
    impossible = 0
    for first in range(0, n, BLOCK):
        rows = min(BLOCK, n - first)
        whole = rows - rows % LANES
        top[:], place[:] = -np.inf, -1.0
        for c in range(k):
            of_class = scores[first:, c]  # side by side in memory
            for i in range(0, whole, LANES):
                s, t = load(of_class, i), load(top, i)
                store(place, i, choose(s, t, splat(float(c)), load(place, i)))
                store(top, i, choose(s, t, s, t))
            for i in range(whole, rows):
                if of_class[i] > top[i]:
                    place[i], top[i] = c, of_class[i]
        for i in range(rows):
            best[first + i] = np.intp(place[i])
            impossible += place[i] < 0.0
    return impossible
