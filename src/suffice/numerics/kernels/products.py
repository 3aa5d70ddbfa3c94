"""Sums of products of features over rows, biased: what is added to the co-moments of a home.

Conventions: d features, ``padded`` to whole panels of eight; ``biased`` (2, padded, padded) holds S
and what rounding took from it. A product then takes four operations, no splitting (see
``moments.py``): S′ = fma(a, b, S) rounds once, S′ − S is exact, and fma(a, b, S − S′) is what the
rounding took.

A product stands where whole panels cross: those of the last features, which fill no panel, with all
others are kept below the diagonal, because there the panels are full.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.exact import two_sum
from suffice.numerics.kernels.lanes import LANES, fma, load, repeat, store
from suffice.numerics.kernels.moments import SQUARES
from suffice.numerics.kernels.pairs import compiled

__all__ = [
    "add_products",
    "add_rounded_products",
    "choose_bias",
    "remove_bias",
    "set_bias",
    "sum_squares",
    "within",
]

LEFT = 4  # features on the left that share the loads of a panel on the right


@compiled
def _exactly(a: Any, b: Any, s: Any, s_lo: Any) -> Any:
    """Add a · b to a biased pair."""
    hi = fma(a, b, s)
    return hi, s_lo + fma(a, b, s - hi)


@compiled
def _panels(left: int, d: int) -> Any:
    """Return where the panels begin and end whose products with a feature are kept in its row."""
    whole = d // LANES * LANES
    return (left // LANES * LANES, whole) if left < whole else (0, whole + LANES)


@compiled
def _add_exact(a: Any, b: Any, d: int, rows: Any, old: Any, new: Any) -> None:
    """Add Σ a bᵀ over rows to biased pairs (2, padded, padded); the new ones may be the old."""
    width, padded = a.shape[1], old.shape[1]
    a, b = a.reshape(-1), b.reshape(-1)
    s, s_lo = old[0].reshape(-1), old[1].reshape(-1)
    new_s, new_lo = new[0].reshape(-1), new[1].reshape(-1)
    for left in range(0, d, LEFT):
        begin, end = _panels(left, d)
        for right in range(begin, end, LANES):
            i0 = left * padded + right
            i1, i2, i3 = i0 + padded, i0 + 2 * padded, i0 + 3 * padded
            s0, s1, s2, s3 = load(s, i0), load(s, i1), load(s, i2), load(s, i3)
            t0, t1, t2, t3 = load(s_lo, i0), load(s_lo, i1), load(s_lo, i2), load(s_lo, i3)
            for row in rows:
                panel, at = load(b, row * width + right), row * width + left
                s0, t0 = _exactly(repeat(a, at), panel, s0, t0)
                s1, t1 = _exactly(repeat(a, at + 1), panel, s1, t1)
                s2, t2 = _exactly(repeat(a, at + 2), panel, s2, t2)
                s3, t3 = _exactly(repeat(a, at + 3), panel, s3, t3)
            for at, hi, lo in ((i0, s0, t0), (i1, s1, t1), (i2, s2, t2), (i3, s3, t3)):
                store(new_s, at, hi)
                store(new_lo, at, lo)


@compiled
def add_rounded_products(a: Any, b: Any, d: int, rows: Any, old: Any, new: Any) -> None:
    """Add Σ a bᵀ over rows to plain sums (padded, padded); the new ones may be the old."""
    width, padded = a.shape[1], old.shape[0]
    a, b, s, new = a.reshape(-1), b.reshape(-1), old.reshape(-1), new.reshape(-1)
    for left in range(0, d, LEFT):
        begin, end = _panels(left, d)
        for right in range(begin, end, LANES):
            i0 = left * padded + right
            i1, i2, i3 = i0 + padded, i0 + 2 * padded, i0 + 3 * padded
            s0, s1, s2, s3 = load(s, i0), load(s, i1), load(s, i2), load(s, i3)
            for row in rows:
                panel, at = load(b, row * width + right), row * width + left
                s0 = fma(repeat(a, at), panel, s0)
                s1 = fma(repeat(a, at + 1), panel, s1)
                s2 = fma(repeat(a, at + 2), panel, s2)
                s3 = fma(repeat(a, at + 3), panel, s3)
            store(new, i0, s0)
            store(new, i1, s1)
            store(new, i2, s2)
            store(new, i3, s3)


@compiled
def add_products(exact: bool, a: Any, v: Any, d: int, rows: Any, old: Any, new: Any) -> None:
    """Add Σ a vᵀ over rows to biased pairs, or to plain sums in their first places."""
    if exact:
        _add_exact(a, v, d, rows, old, new)
    else:
        add_rounded_products(a, v, d, rows, old[0], new[0])


@compiled
def sum_squares(a: Any, v: Any, rows: Any, squares: Any) -> None:
    """Write Σ a v over rows of every feature to ``squares`` (padded,)."""
    squares[:] = 0.0
    for i in rows:
        for j in range(a.shape[1]):
            squares[j] += a[i, j] * v[i, j]


@compiled
def choose_bias(exact: bool, square: Any, share: float, bias: Any, limit: Any) -> None:
    """Write the factors of the bias of products, with room for 1 / share as many rows.

    As long as Σv² ≤ bound, abs(Σ vᵢvⱼ) ≤ √(boundᵢ boundⱼ) (Cauchy and Schwarz). The biased Σv²
    must not exceed ``limit``; where the bound says nothing of what can be squared, it always does.
    Rounded products have no bias.
    """
    for j in range(limit.shape[0]):
        bound = square[j] / share
        bias[j] = 0.0
        if exact and bound > 0.0:
            bias[j] = math.ldexp(1.0, math.frexp(math.sqrt(bound))[1] + 1)
        limit[j] = 3.0 * bias[j] * bias[j] + bound if bound <= SQUARES else -np.inf


@compiled
def within(products: Any, limit: Any) -> bool:
    """Tell whether each square is at most its limit (d,); NaN is not."""
    within = True
    for j in range(limit.shape[0]):
        within &= products[j, j] <= limit[j]
    return within


@compiled
def set_bias(bias: Any, biased: Any) -> None:
    """Set products to their bias."""
    biased[:] = 0.0
    for i in range(bias.shape[0]):
        for j in range(bias.shape[0]):
            biased[0, i, j] = 3.0 * bias[i] * bias[j]


@compiled
def remove_bias(biased: Any, bias: Any, scale: float, products: Any) -> None:
    """Add biased products (2, padded, padded), times a power of two, to the pairs (2, d, d)."""
    d = products.shape[1]
    for i in range(d):
        for j in range(i, d):
            row, column = (i, j) if j < _panels(i, d)[1] else (j, i)
            plain = scale * (biased[0, row, column] - 3.0 * bias[i] * bias[j])
            products[0, i, j], rest = two_sum(products[0, i, j], plain)
            products[1, i, j] += rest + scale * biased[1, row, column]
