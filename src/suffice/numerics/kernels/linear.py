"""Linear functions of rows: four rows at a time, and the lanes are columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store, total
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_complete"]

ROWS = 4
AHEAD = 4_096  # cells between asking for one and reading it
OVERFLOW = 1.8e158  # takes what is larger than LARGEST, and little more, to infinity


@compiled
def _shifted(cells: Any, start: int, origin: Any, row: Any, place: int) -> float:
    """Write x − o of a row, the cells from ``start`` on, to ``row`` from ``place`` on.

    Returns 0, or NaN if a cell may not be usable.
    """
    d = origin.shape[0]
    if d < LANES:
        rest = 0.0
        for j in range(d):
            v = cells[start + j]
            rest += v * OVERFLOW * 0.0
            row[place + j] = v - origin[j]
        return rest
    check = splat(0.0)
    for j in range(0, d, LANES):
        prefetch(cells, start + j + AHEAD)
        j = min(j, d - LANES)  # the last lanes overlap those before
        u = load(cells, start + j)
        check = fma(u * splat(OVERFLOW), splat(0.0), check)
        store(row, place + j, u - load(origin, j))
    return float(total(check))


@compiled
def add_complete(x: Any, origin: Any, slope: Any, constant: Any, done: Any, out: Any) -> int:
    """Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) for complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of four rows one of which holds a
    number too large to be squared.
    """
    (k, d), n = slope.shape, x.shape[0]
    width = -(-d // LANES) * LANES
    slopes, rows, sums = np.zeros((k, width)), np.zeros((ROWS, width)), np.zeros((k, ROWS))
    slopes[:, :d] = slope
    cells, w, v = x.reshape(-1), slopes.reshape(-1), rows.reshape(-1)
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        check = 0.0
        for i in range(first, last):
            check += _shifted(cells, i * d, origin, v, (i - first) * width)
        usable = check == 0.0
        if not usable and np.any(np.abs(x[first:last]) > LARGEST):
            return first
        for c in range(k):
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for j in range(0, width, LANES):
                a = load(w, c * width + j)
                s0, s1 = fma(a, load(v, j), s0), fma(a, load(v, width + j), s1)
                s2, s3 = fma(a, load(v, 2 * width + j), s2), fma(a, load(v, 3 * width + j), s3)
            sums[c, 0], sums[c, 1] = total(s0), total(s1)
            sums[c, 2], sums[c, 3] = total(s2), total(s3)
        for i in range(first, last):
            done[i] = usable or not np.any(np.isnan(x[i]))
            if done[i]:
                for c in range(k):
                    out[i, c] += sums[c, i - first] + constant[c]
    return -1
