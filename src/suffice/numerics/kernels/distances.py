"""Mahalanobis distances of rows from k means, under a covariance of each class or one of all.

Conventions: n rows, d features. W (s, d, d) is lower triangular and whitens: Σ⁻¹ = WᵀW. With an
origin o near the means, ``shift`` (k, d) holds W(μ − o), so that

    (x − μ)ᵀ Σ⁻¹ (x − μ) = |W(x − o) − W(μ − o)|².

A class's score −½|…|² + ``log_scale`` is added to ``out`` (n, k).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.error_free import LARGEST
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_complete", "add_marginal"]

TILE = 64  # rows scored together: they are the lanes
NEGLIGIBLE = 1e-13  # what rounding leaves of the variance of a dependent column


@compiled
def _transpose(x: Any, origin: Any, tile: Any) -> int:
    """Write up to 64 rows of x − o to ``tile`` (d, 64).

    Returns 0 if every cell is usable, 1 if some are NaN, 2 if some are too large.
    """
    missing = 0
    large = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            tile[j, i] = x[i, j] - origin[j]
            missing |= x[i, j] != x[i, j]
            large |= abs(x[i, j]) > LARGEST
    return 2 if large else missing


@compiled
def _whiten(w: Any, tile: Any, white: Any) -> None:
    """Write W v of 64 rows v, the columns of ``tile``; W is lower triangular."""
    d = w.shape[0]
    flat, out = tile.reshape(-1), white.reshape(-1)
    for i in range(0, d, 2):
        second = min(i + 1, d - 1)
        for lane in range(0, TILE, 2 * LANES):
            a0, a1 = splat(0.0), splat(0.0)
            b0, b1 = splat(0.0), splat(0.0)
            for j in range(second + 1):
                v0, v1 = load(flat, j * TILE + lane), load(flat, j * TILE + lane + LANES)
                wa, wb = splat(w[i, j]), splat(w[second, j])
                a0, a1 = fma(wa, v0, a0), fma(wa, v1, a1)
                b0, b1 = fma(wb, v0, b0), fma(wb, v1, b1)
            store(out, i * TILE + lane, a0)
            store(out, i * TILE + lane + LANES, a1)
            store(out, second * TILE + lane, b0)
            store(out, second * TILE + lane + LANES, b1)


@compiled
def _add_squares(white: Any, shift: Any, total: Any) -> None:
    """Write Σᵢ (yᵢ − shiftᵢ)² of 64 rows y, the columns of ``white``."""
    flat = white.reshape(-1)
    for lane in range(0, TILE, 2 * LANES):
        a, b = splat(0.0), splat(0.0)
        for i in range(shift.shape[0]):
            u = splat(shift[i])
            y0, y1 = load(flat, i * TILE + lane) - u, load(flat, i * TILE + lane + LANES) - u
            a, b = fma(y0, y0, a), fma(y1, y1, b)
        store(total, lane, a)
        store(total, lane + LANES, b)


@compiled
def add_complete(
    x: Any, origin: Any, whitening: Any, shift: Any, log_scale: Any, done: Any, out: Any
) -> int:
    """Score the tiles of rows that have no missing cell, and mark their rows as ``done`` (n,).

    Returns −1, or the first of a tile of rows that holds a number too large to be squared.
    """
    s, k, d = whitening.shape[0], shift.shape[0], x.shape[1]
    tile, white, total = np.zeros((d, TILE)), np.zeros((d, TILE)), np.zeros(TILE)
    for first in range(0, x.shape[0], TILE):
        rows = x[first : first + TILE]
        for m in range(s):
            status = _transpose(rows, origin[m], tile)
            if status == 2:
                return first
            if status == 1:
                break
            done[first : first + TILE] = True
            _whiten(whitening[m], tile, white)
            for c in range(k) if s == 1 else range(m, m + 1):
                _add_squares(white, shift[c], total)
                for i in range(rows.shape[0]):
                    out[first + i, c] += log_scale[c] - 0.5 * total[i]
    return -1


@compiled
def _marginal(covariance: Any, observed: Any, lower: Any, used: Any) -> float:
    """Factor the covariance of the observed columns, L Lᵀ; return its log-determinant.

    A column that the others determine is not ``used``.
    """
    d = observed.shape[0]
    log_determinant = 0.0
    for j in range(d):
        used[j] = False
        if not observed[j]:
            continue
        rest = covariance[j, j]
        for i in range(j):
            if used[i]:
                total = covariance[j, i]
                for h in range(i):
                    if used[h]:
                        total -= lower[j, h] * lower[i, h]
                lower[j, i] = total / lower[i, i]
                rest -= lower[j, i] * lower[j, i]
        if rest > NEGLIGIBLE * covariance[j, j]:
            used[j] = True
            lower[j, j] = math.sqrt(rest)
            log_determinant += math.log(rest)
    return log_determinant


@compiled
def add_marginal(
    x: Any, mean: Any, rest: Any, covariance: Any, distance: Any, log_determinant: Any, rank: Any
) -> None:
    """Write the distances (n, k) of rows in the columns that they show.

    Rows of one pattern stand together. ``log_determinant`` and ``rank`` (n, s) are those of the
    covariances (s, d, d) of these columns.
    """
    n, d = x.shape
    s, k = covariance.shape[0], mean.shape[0]
    lower, y = np.zeros((s, d, d)), np.zeros(d)
    used, observed = np.zeros((s, d), np.bool_), np.zeros(d, np.bool_)
    for i in range(n):
        known = i > 0
        for j in range(d):
            shown = x[i, j] == x[i, j]
            known &= shown == observed[j]
            observed[j] = shown
        for m in range(s):
            if known:
                log_determinant[i, m], rank[i, m] = log_determinant[i - 1, m], rank[i - 1, m]
            else:
                log_determinant[i, m] = _marginal(covariance[m], observed, lower[m], used[m])
                rank[i, m] = np.sum(used[m])
            for c in range(k) if s == 1 else range(m, m + 1):
                total = 0.0
                for j in range(d):
                    if used[m, j]:
                        y[j] = (x[i, j] - mean[c, j]) - rest[c, j]
                        for h in range(j):
                            if used[m, h]:
                                y[j] -= lower[m, j, h] * y[h]
                        y[j] /= lower[m, j, j]
                        total += y[j] * y[j]
                distance[i, c] = total
