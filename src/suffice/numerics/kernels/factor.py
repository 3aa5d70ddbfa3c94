"""LDLᵀ, substitution and products of matrices of double-double pairs.

Every loop adds a multiple of one row to another: rows are contiguous and their elements are
independent of each other, so that double-double, a chain of some thirty operations, runs in
vector registers. Matrices are pairs of arrays, row-major.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.error_free import add, divide, multiply
from suffice.numerics.kernels.pairs import compiled

__all__ = ["factorise", "product", "solve"]


@compiled
def _add_multiple(s: Any, s_lo: Any, f: float, f_lo: float, x: Any, x_lo: Any) -> None:
    """Add f · x to the pairs s, all (m,)."""
    for j in range(s.shape[0]):
        p, p_lo = multiply(f, f_lo, x[j], x_lo[j])
        s[j], s_lo[j] = add(s[j], s_lo[j], p, p_lo)


@compiled
def product(a: Any, a_lo: Any, b: Any, b_lo: Any) -> Any:
    """Return the pairs a b of a (n, d) and b (d, m); zeros of a cost nothing."""
    c = np.zeros((a.shape[0], b.shape[1]))
    c_lo = np.zeros_like(c)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            if a[i, k] != 0.0:
                _add_multiple(c[i], c_lo[i], a[i, k], a_lo[i, k], b[k], b_lo[k])
    return c, c_lo


@compiled
def factorise(upper: Any, upper_lo: Any, noise: Any) -> Any:
    """Turn the upper triangle of A (d, d), in place, into Lᵀ; return the pairs of D and L⁻¹.

    Row i of A = L D Lᵀ and of L L⁻¹ = I say

        d_i l_ji = a_ij − Σ_{k<i} l_ik d_k l_jk  (j ≥ i)    (L⁻¹)_i = e_i − Σ_{k<i} l_ik (L⁻¹)_k

    so that d_i = cᵀ A c with c = (L⁻¹)_i. Where it is at most Σ_j c_j² noise_j it is taken for 0,
    and so is column i of L below the diagonal.

    The first of the results is −1, or the index of a pivot that is negative by more than that.
    """
    d = upper.shape[0]
    pivots, pivots_lo = np.zeros(d), np.zeros(d)
    inverse, inverse_lo = np.zeros((d, d)), np.zeros((d, d))
    for i in range(d):
        row, row_lo = upper[i, i:], upper_lo[i, i:]
        inverse[i, i] = 1.0
        for k in range(i):
            if pivots[k] == 0.0:
                continue
            f, f_lo = -upper[k, i], -upper_lo[k, i]
            c, c_lo = inverse[k, : k + 1], inverse_lo[k, : k + 1]
            _add_multiple(inverse[i, : k + 1], inverse_lo[i, : k + 1], f, f_lo, c, c_lo)
            f, f_lo = multiply(f, f_lo, pivots[k], pivots_lo[k])
            _add_multiple(row, row_lo, f, f_lo, upper[k, i:], upper_lo[k, i:])
        unknown = 0.0
        for j in range(i + 1):
            unknown += inverse[i, j] * inverse[i, j] * noise[j]
        pivot, pivot_lo = row[0], row_lo[0]
        if pivot < -unknown:
            return i, pivots, pivots_lo, inverse, inverse_lo
        row[0], row_lo[0] = 1.0, 0.0
        if pivot <= unknown:
            row[1:] = 0.0
            row_lo[1:] = 0.0
            continue
        pivots[i], pivots_lo[i] = pivot, pivot_lo
        for j in range(1, row.shape[0]):
            row[j], row_lo[j] = divide(row[j], row_lo[j], pivot, pivot_lo)
    return -1, pivots, pivots_lo, inverse, inverse_lo


@compiled
def solve(upper: Any, upper_lo: Any, pivots: Any, pivots_lo: Any, x: Any, x_lo: Any) -> None:
    """Replace x (d, t) by the solution of L D Lᵀ x = b, with 0 where a pivot is 0."""
    d = upper.shape[0]
    for i in range(d):
        for k in range(i):
            if pivots[k] != 0.0:
                _add_multiple(x[i], x_lo[i], -upper[k, i], -upper_lo[k, i], x[k], x_lo[k])
    for i in range(d - 1, -1, -1):
        if pivots[i] == 0.0:
            x[i] = 0.0
            x_lo[i] = 0.0
            continue
        for t in range(x.shape[1]):
            x[i, t], x_lo[i, t] = divide(x[i, t], x_lo[i, t], pivots[i], pivots_lo[i])
        for k in range(i + 1, d):
            if pivots[k] != 0.0:
                _add_multiple(x[i], x_lo[i], -upper[i, k], -upper_lo[i, k], x[k], x_lo[k])
