"""Logistic loss: −log P(y | x) as a function of scores t, and its sums over dense rows.

::

    two classes       ℓ = log(1 + e⁻ˢ),  s = ±t        ∂ℓ/∂t = p − y            p = 1/(1 + e⁻ᵗ)
    k > 2 classes     ℓ = log Σ_c exp(t_c) − t_y        ∂ℓ/∂t_c = p_c − [c = y]   p_c ∝ exp(t_c)

Nothing overflows, and neither p nor 1 − p is ever a difference of numbers near 1. A loss comes as
a + log(1 + r) with r ≥ 0; a sum of such logarithms is the logarithm of a product.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store, totals
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_gradient", "add_sparse_gradient", "outcomes"]

ROWS = 4  # taken together
FAINT = 2.0**-10  # below it, five terms of the series of log(1 + r) are exact
LARGE = 2.0**600  # a product that is far from the largest double
AHEAD = 4_096  # cells between asking for one and reading it


@compiled
def _two_classes(t: float, y: int) -> tuple[float, float, float, float, float]:
    """Return p − y, p and 1 − p of class 1, and a and r of the loss.

    Numbers, and no arrays: what is called for every row is then part of its loop.
    """
    small = math.exp(-abs(t))
    rare, common = small / (1.0 + small), 1.0 / (1.0 + small)
    p, other = (common, rare) if t >= 0.0 else (rare, common)
    return p if y == 0 else -other, p, other, max(t if y == 0 else -t, 0.0), small


@compiled
def _many_classes(t: Any, i: int, y: int, residual: Any, p: Any, other: Any) -> tuple[float, float]:
    """Write p_c − [c = y], p_c and 1 − p_c of every class, of row i; return a and r of its loss."""
    k = residual.shape[1]
    best = 0
    for c in range(1, k):
        best = c if t[i, c] > t[i, best] else best
    rest = 0.0  # Σ exp(t_c − t_best) over the other classes
    for c in range(k):
        p[i, c] = math.exp(t[i, c] - t[i, best])
        rest += p[i, c] if c != best else 0.0
    share = 1.0 / (1.0 + rest)
    for c in range(k):
        p[i, c] *= share
        other[i, c] = rest * share if c == best else 1.0 - p[i, c]
        residual[i, c] = -other[i, c] if c == y else p[i, c]
    return t[i, best] - t[i, y], rest


@compiled
def _with_loss(sum_: float, factor: float, a: float, r: float, w: float) -> tuple[float, float]:
    """Add w (a + log(1 + r)) to a sum and a factor whose logarithm is missing in it.

    Rows of weight 1 multiply the factor: a logarithm takes as long as all else that a row needs.
    """
    sum_ += w * a
    if w != 1.0:
        return sum_ + w * math.log1p(r), factor
    if r < FAINT:
        r *= 1.0 - r * (1.0 / 2.0 - r * (1.0 / 3.0 - r * (1.0 / 4.0 - r / 5.0)))
        return sum_ + r, factor
    factor *= 1.0 + r
    return (sum_ + math.log(factor), 1.0) if factor > LARGE else (sum_, factor)


@compiled
def outcomes(t: Any, codes: Any, loss: Any, residual: Any, p: Any, other: Any) -> None:
    """Write ℓ (n,), ∂ℓ/∂t, p and 1 − p (n, m) of scores ``t`` (n, m); m = 1 for two classes."""
    for i in range(t.shape[0]):
        if t.shape[1] == 1:
            residual[i, 0], p[i, 0], other[i, 0], a, r = _two_classes(t[i, 0], codes[i])
        else:
            a, r = _many_classes(t, i, codes[i], residual, p, other)
        loss[i] = a + math.log1p(r)


@compiled
def add_gradient(
    x: Any,
    origin: Any,
    directions: Any,
    codes: Any,
    weights: Any,
    factors: Any,
    weight: Any,
    fingerprint: Any,
    gradient: Any,
) -> float:
    """Add what one pass over rows x (n, d) says of m coefficient vectors; return Σ w f_y ℓ.

    With z = (1, x − origin): Σ w and Σ w cᵀz to ``weight`` and ``fingerprint`` (k,) of every class,
    Σ w f_y ∂ℓ/∂t_a z to ``gradient`` (m, 1 + d). ``directions`` (m + 1, 1 + d) are the coefficients
    and then c; ``codes`` (n,) the classes; ``weights`` (n,), or (0,) for all 1; f are ``factors``.
    """
    (many, d), n = directions.shape, x.shape[0]
    m, d = many - 1, d - 1
    width = -(-d // LANES) * LANES
    slopes, sums = np.zeros((many, width)), np.zeros((m, width))
    slopes[:, :d] = directions[:, 1:]
    rows, scores = np.zeros((ROWS, width)), np.zeros(many * ROWS)
    t = scores.reshape(many, ROWS).T
    residual, p, other = np.zeros((ROWS, m)), np.zeros((ROWS, m)), np.zeros((ROWS, m))
    cells, w, v, g = x.reshape(-1), slopes.reshape(-1), rows.reshape(-1), sums.reshape(-1)
    losses = np.ones((factors.shape[0], 2))
    losses[:, 0] = 0.0
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        _shifted(cells, first, last, origin, v)
        for c in range(many):
            s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
            for j in range(0, width, LANES):
                a = load(w, c * width + j)
                s0, s1 = fma(a, load(v, j), s0), fma(a, load(v, width + j), s1)
                s2, s3 = fma(a, load(v, 2 * width + j), s2), fma(a, load(v, 3 * width + j), s3)
            totals(s0, s1, s2, s3, scores, c * ROWS)
            for i in range(ROWS):
                t[i, c] += directions[c, 0]
        for i in range(ROWS):
            if first + i >= last:
                for c in range(m):
                    residual[i, c] = 0.0  # rows of the four before
                continue
            y = codes[first + i]
            of_row = weights[first + i] if weights.shape[0] else 1.0
            weight[y] += of_row
            fingerprint[y] += of_row * t[i, m]
            if m == 1:
                residual[i, 0], _, _, a, r = _two_classes(t[i, 0], y)
            else:
                a, r = _many_classes(t, i, y, residual, p, other)
            losses[y, 0], losses[y, 1] = _with_loss(losses[y, 0], losses[y, 1], a, r, of_row)
            for c in range(m):
                residual[i, c] *= of_row * factors[y]
                gradient[c, 0] += residual[i, c]
        for c in range(m):
            r0, r1 = splat(residual[0, c]), splat(residual[1, c])
            r2, r3 = splat(residual[2, c]), splat(residual[3, c])
            for j in range(0, width, LANES):
                s = load(g, c * width + j)
                s = fma(r0, load(v, j), fma(r1, load(v, width + j), s))
                s = fma(r2, load(v, 2 * width + j), fma(r3, load(v, 3 * width + j), s))
                store(g, c * width + j, s)
    gradient[:, 1:] += sums[:, :d]
    return _total(losses, factors)


@compiled
def _total(losses: Any, factors: Any) -> float:
    """Σ f_y of the losses (k, 2) of the classes."""
    total = 0.0
    for y in range(factors.shape[0]):
        total += factors[y] * (losses[y, 0] + math.log(losses[y, 1]))
    return total


@compiled
def _shifted(cells: Any, first: int, last: int, origin: Any, rows: Any) -> None:
    """Write x − o of rows from ``first`` to ``last`` to ``rows`` (4 · width,)."""
    d, width = origin.shape[0], rows.shape[0] // ROWS
    for i in range(first, last):
        start, place = i * d, (i - first) * width
        if d < LANES:
            for j in range(d):
                rows[place + j] = cells[start + j] - origin[j]
            continue
        for j in range(0, d, LANES):
            prefetch(cells, start + j + AHEAD)
            j = min(j, d - LANES)  # the last lanes overlap those before
            store(rows, place + j, load(cells, start + j) - load(origin, j))


@compiled
def add_sparse_gradient(
    indptr: Any,
    indices: Any,
    data: Any,
    directions: Any,
    codes: Any,
    weights: Any,
    factors: Any,
    weight: Any,
    fingerprint: Any,
    gradient: Any,
) -> float:
    """Do what `add_gradient` does for compressed rows x, with z = (1, x).

    ``directions`` and ``gradient`` (1 + d, width) have a row for every column of x: m coefficients
    and c, or m sums, and room up to whole lanes. Rows whose code is −1 are left out.
    """
    k, width, n = factors.shape[0], directions.shape[1], codes.shape[0]
    m = 1 if k == 2 else k
    table, sums = directions.reshape(-1), gradient.reshape(-1)
    t, r = np.zeros(width), np.zeros(width)
    scores, residual = t.reshape(1, -1), r[:m].reshape(1, -1)
    p, other = np.zeros((1, m)), np.zeros((1, m))
    losses = np.ones((k, 2))
    losses[:, 0] = 0.0
    for i in range(n):
        y = codes[i]
        if y < 0:
            continue
        start, stop = indptr[i], indptr[i + 1]
        for first in range(0, width, LANES):
            s = load(table, first)
            for q in range(start, stop):
                s = fma(splat(float(data[q])), load(table, (1 + indices[q]) * width + first), s)
            store(t, first, s)
        of_row = weights[i] if weights.shape[0] else 1.0
        weight[y] += of_row
        fingerprint[y] += of_row * t[m]
        if m == 1:
            r[0], _, _, a, rest = _two_classes(t[0], y)
        else:
            a, rest = _many_classes(scores, 0, y, residual, p, other)
        losses[y, 0], losses[y, 1] = _with_loss(losses[y, 0], losses[y, 1], a, rest, of_row)
        for c in range(m):
            r[c] *= of_row * factors[y]
        for first in range(0, width, LANES):
            of_lanes = load(r, first)
            store(sums, first, load(sums, first) + of_lanes)
            for q in range(start, stop):
                place = (1 + indices[q]) * width + first
                store(sums, place, fma(splat(float(data[q])), of_lanes, load(sums, place)))
    return _total(losses, factors)
