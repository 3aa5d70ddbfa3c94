"""Sums of products of features over rows, biased: what is added to the co-moments of a home.

Conventions: d features. A *tile* holds rows turned on their sides: ``a[j · STRIDE + r]`` is feature
j of row r, so that eight rows are eight lanes. Features are taken three by three: block (I, J),
I ≤ J, holds the products of features 3I, 3I + 1, 3I + 2 with 3J, 3J + 1, 3J + 2, and every product
has eight sums, one a lane. ``s`` and ``s_lo`` are flat: product q has the eight places from 8q on.

A sum is kept with a bias larger than all that is added to it (see ``moments.py``), so that a
product takes four operations: S′ = fma(a, b, S) rounds once, S′ − S is exact, and
fma(a, b, S − S′) is what the rounding took.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.error_free import two_sum
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store, turn
from suffice.numerics.kernels.memory import aligned
from suffice.numerics.kernels.pairs import compiled

__all__ = [
    "SIDE",
    "STRIDE",
    "TILE_ROWS",
    "add_products",
    "add_rounded_products",
    "choose_bias",
    "remove_bias",
    "set_bias",
    "table",
]

SIDE = 3  # features of a block: nine sums and what rounding took fill 18 of 32 registers
TILE_ROWS = 256
STRIDE = TILE_ROWS + LANES  # not a power of two: features would share places in the cache


@compiled
def table(d: int) -> Any:
    """Return place for the biased pairs of all products of d features."""
    blocks = -(-d // SIDE)
    products = blocks * (blocks + 1) // 2 * SIDE * SIDE
    places = -(-products // LANES) * LANES * LANES
    return aligned(places), aligned(places)


@compiled
def _three(array: Any, at: int, step: int) -> Any:
    return load(array, at), load(array, at + step), load(array, at + 2 * step)


@compiled
def _keep(array: Any, at: int, values: Any) -> None:
    store(array, at, values[0])
    store(array, at + LANES, values[1])
    store(array, at + 2 * LANES, values[2])


@compiled
def _exactly(a: Any, b: Any, s: Any, s_lo: Any) -> Any:
    """Add a · b to a biased pair."""
    hi = fma(a, b, s)
    return hi, s_lo + fma(a, b, s - hi)


@compiled
def _three_exactly(a: Any, b: Any, s: Any, s_lo: Any) -> Any:
    s0, t0 = _exactly(a, b[0], s[0], s_lo[0])
    s1, t1 = _exactly(a, b[1], s[1], s_lo[1])
    s2, t2 = _exactly(a, b[2], s[2], s_lo[2])
    return (s0, s1, s2), (t0, t1, t2)


@compiled
def _three_rounded(a: Any, b: Any, s: Any) -> Any:
    return fma(a, b[0], s[0]), fma(a, b[1], s[1]), fma(a, b[2], s[2])


@compiled
def _add_exact(a: Any, b: Any, d: int, rows: int, s: Any, s_lo: Any) -> None:
    """Add Σ a bᵀ over the rows of a tile to biased pairs."""
    q, row = 0, SIDE * LANES
    for left in range(0, d, SIDE):
        for right in range(left, d, SIDE):
            i, j = left * STRIDE, right * STRIDE
            s0, t0 = _three(s, q, LANES), _three(s_lo, q, LANES)
            s1, t1 = _three(s, q + row, LANES), _three(s_lo, q + row, LANES)
            s2, t2 = _three(s, q + 2 * row, LANES), _three(s_lo, q + 2 * row, LANES)
            for r in range(0, rows, LANES):
                panel = _three(b, j + r, STRIDE)
                s0, t0 = _three_exactly(load(a, i + r), panel, s0, t0)
                s1, t1 = _three_exactly(load(a, i + STRIDE + r), panel, s1, t1)
                s2, t2 = _three_exactly(load(a, i + 2 * STRIDE + r), panel, s2, t2)
            for hi, lo in ((s0, t0), (s1, t1), (s2, t2)):
                _keep(s, q, hi)
                _keep(s_lo, q, lo)
                q += row


@compiled
def add_rounded_products(a: Any, b: Any, d: int, rows: int, s: Any) -> None:
    """Add Σ a bᵀ over the rows of a tile to plain sums."""
    q, row = 0, SIDE * LANES
    for left in range(0, d, SIDE):
        for right in range(left, d, SIDE):
            i, j = left * STRIDE, right * STRIDE
            s0, s1, s2 = (
                _three(s, q, LANES),
                _three(s, q + row, LANES),
                _three(s, q + 2 * row, LANES),
            )
            for r in range(0, rows, LANES):
                panel = _three(b, j + r, STRIDE)
                s0 = _three_rounded(load(a, i + r), panel, s0)
                s1 = _three_rounded(load(a, i + STRIDE + r), panel, s1)
                s2 = _three_rounded(load(a, i + 2 * STRIDE + r), panel, s2)
            for sums in (s0, s1, s2):
                _keep(s, q, sums)
                q += row


@compiled
def add_products(exact: bool, a: Any, v: Any, d: int, rows: int, s: Any, s_lo: Any) -> None:
    """Add Σ a vᵀ over the rows of a tile to biased pairs, or to plain sums."""
    if exact:
        _add_exact(a, v, d, rows, s, s_lo)
    else:
        add_rounded_products(a, v, d, rows, s)


@compiled
def choose_bias(exact: bool, square: Any, bias: Any) -> None:
    """Write the factors (d,) of the bias of products, given Σv² of all rows to come, (g, width).

    abs(Σ vᵢvⱼ) ≤ √(Σvᵢ² Σvⱼ²) (Cauchy and Schwarz). Rounded products have no bias.
    """
    for j in range(bias.shape[0]):
        total = 0.0
        for c in range(square.shape[0]):
            total += square[c, j]
        bias[j] = 0.0
        if exact and total > 0.0:
            bias[j] = math.ldexp(1.0, math.frexp(math.sqrt(total))[1] + 1)


@compiled
def set_bias(bias: Any, d: int, s: Any, s_lo: Any) -> None:
    """Set products to their bias, 3 βᵢ βⱼ; β has zeros behind its d factors."""
    s_lo[:] = 0.0
    q = 0
    for left in range(0, d, SIDE):
        for right in range(left, d, SIDE):
            for i in range(left, left + SIDE):
                for j in range(right, right + SIDE):
                    store(s, q, splat(3.0 * bias[i] * bias[j]))
                    q += LANES


@compiled
def _add_up(s: Any, s_lo: Any, q: int, square: Any, hi: Any, lo: Any) -> None:
    """Write the pairs of eight products, from q on, whose lanes stand in s and s_lo."""
    turn(s, q * LANES, LANES, square, 0, LANES)
    total, rest = load(square, 0), splat(0.0)
    for lane in range(LANES, LANES * LANES, LANES):
        total, error = two_sum(total, load(square, lane))
        rest += error
    turn(s_lo, q * LANES, LANES, square, 0, LANES)
    for lane in range(0, LANES * LANES, LANES):
        rest += load(square, lane)
    store(hi, q, total)
    store(lo, q, rest)


@compiled
def remove_bias(s: Any, s_lo: Any, bias: Any, scale: float, products: Any) -> None:
    """Add biased products, times a power of two, to the pairs (2, d, d)."""
    d, q, square = products.shape[1], 0, aligned(LANES * LANES)
    hi, lo = np.empty(s.shape[0] // LANES), np.empty(s.shape[0] // LANES)
    for left in range(0, d, SIDE):
        for right in range(left, d, SIDE):
            for i in range(left, left + SIDE):
                for j in range(right, right + SIDE):
                    store(s, q, load(s, q) - splat(3.0 * bias[i] * bias[j]))
                    q += LANES
    for q in range(0, hi.shape[0], LANES):
        _add_up(s, s_lo, q, square, hi, lo)
    q = 0
    for left in range(0, d, SIDE):
        for right in range(left, d, SIDE):
            for i in range(left, left + SIDE):
                for j in range(right, right + SIDE):
                    if i <= j < d:
                        products[0, i, j], rest = two_sum(products[0, i, j], scale * hi[q])
                        products[1, i, j] += rest + scale * lo[q]
                    q += 1
