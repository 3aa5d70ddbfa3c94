"""Log-likelihoods of a block under every class, added to ``out`` (n, k).

NaN or a missing code adds nothing. Rows are taken in tiles of 64, column by column, so that the
innermost loop runs over rows: it has no dependency to wait for, and every row adds its columns in
the same order wherever it stands, which gives the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.pairs import compiled, fused_multiply_add

__all__ = [
    "add_binary",
    "add_linear",
    "add_quadratic",
    "add_sparse_linear",
    "add_student",
    "add_table",
    "best_class",
]

TILE = 64
PANEL = 8  # classes scored together: two vectors of four


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
def add_quadratic(x: Any, mean: Any, root: Any, log_scale: Any, out: Any) -> int:
    """Gaussian: add Σⱼ log_scale[c, j] − (root[c, j] (x[i, j] − mean[c, j]))².

    Returns −1, or the first of a tile of rows that holds a number too large to be squared.
    """
    k, d = mean.shape
    tile, total = np.zeros((d, TILE)), np.zeros(TILE)
    for start in range(0, x.shape[0], TILE):
        rows = x[start : start + TILE]
        status = _transpose(rows, tile)
        if status == 2:
            return start
        for c in range(k):
            total[:] = 0.0
            for j in range(d):
                m, r, log_s = mean[c, j], root[c, j], log_scale[c, j]
                if status == 0:
                    for i in range(TILE):
                        u = r * (tile[j, i] - m)
                        total[i] += fused_multiply_add(-u, u, log_s)
                else:
                    for i in range(TILE):
                        u = r * (tile[j, i] - m)
                        term = fused_multiply_add(-u, u, log_s)
                        total[i] += term if term == term else 0.0
            for i in range(rows.shape[0]):
                out[start + i, c] += total[i]
    return -1


@compiled
def add_student(x: Any, mean: Any, precision: Any, power: Any, log_scale: Any, out: Any) -> int:
    """Student-t: add Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²).

    Returns as `add_quadratic` does.
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
    tile, total = np.zeros((d, TILE)), np.zeros(TILE)
    for start in range(0, x.shape[0], TILE):
        rows = x[start : start + TILE]
        _transpose(rows, tile)
        for c in range(k):
            total[:] = 0.0
            for j in range(d):
                s = slope[c, j]
                for i in range(TILE):
                    p = tile[j, i] * s
                    total[i] += p if tile[j, i] > 0.0 else 0.0
            for i in range(rows.shape[0]):
                out[start + i, c] += total[i]


@compiled
def add_binary(values: Any, absent: Any, slope: Any, out: Any) -> None:
    """Outcomes 0, 1 (−1 = missing): add Σⱼ absent[c, j] + values[i, j] · slope[c, j]."""
    k, d = slope.shape
    tile, total = np.zeros((d, TILE)), np.zeros(TILE)
    for start in range(0, values.shape[0], TILE):
        rows = values[start : start + TILE]
        for i in range(rows.shape[0]):
            for j in range(d):
                tile[j, i] = rows[i, j]
        for c in range(k):
            total[:] = 0.0
            for j in range(d):
                a, s = absent[c, j], slope[c, j]
                for i in range(TILE):
                    total[i] += a + tile[j, i] * s if tile[j, i] >= 0.0 else 0.0
            for i in range(rows.shape[0]):
                out[start + i, c] += total[i]


@compiled
def add_sparse_linear(data: Any, indices: Any, indptr: Any, slope: Any, out: Any) -> None:
    """Event counts of a CSR matrix: add Σ x · slope[event, c], where 0 · (−∞) = 0.

    ``slope`` is (d, k or more), one event's weights side by side.
    """
    d = slope.shape[0]
    k = out.shape[1]
    total = np.zeros(k)
    for i in range(indptr.shape[0] - 1):
        total[:] = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            v, x = indices[q], data[q]
            if v < d and x == x and x != 0:
                for c in range(k):
                    total[c] += x * slope[v, c]
        for c in range(k):
            out[i, c] += total[c]


@compiled
def add_table(values: Any, low: Any, size: Any, offsets: Any, table: Any, out: Any) -> None:
    """Categories: add Σⱼ table[offsets[j] + values[i, j] − low[j], c].

    A value outside its range reads the place after the range. ``table`` is (M, k), k rounded up
    to whole panels of classes.
    """
    n, d = values.shape
    k = out.shape[1]
    total = np.zeros(PANEL)
    for i in range(n):
        for first in range(0, k, PANEL):
            total[:] = 0.0
            for j in range(d):
                v = values[i, j] - low[j]
                v = offsets[j] + (v if 0 <= v < size[j] else size[j])
                for c in range(PANEL):
                    total[c] += table[v, first + c]
            for c in range(min(PANEL, k - first)):
                out[i, first + c] += total[c]


@compiled
def best_class(scores: Any, best: Any) -> int:
    """Write the class of the largest score of every row; of equal scores, the first.

    A row of −∞ gets −1. Returns the number of such rows.
    """
    n, k = scores.shape
    impossible = 0
    for i in range(n):
        top = -np.inf
        best[i] = -1
        for c in range(k):
            if scores[i, c] > top:
                top = scores[i, c]
                best[i] = c
        impossible += best[i] < 0
    return impossible
