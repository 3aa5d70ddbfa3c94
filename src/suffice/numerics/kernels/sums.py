"""Sums of double-double arrays, in one pass without temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import add, two_sum
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_pairs", "normalise"]


@compiled
def add_pairs(a: Any, a_lo: Any, b: Any, b_lo: Any, sign: float) -> Any:
    """Return the pairs (a + a_lo) + sign · (b + b_lo), all (n,)."""
    hi, lo = np.empty_like(a), np.empty_like(a)
    for i in range(a.shape[0]):
        hi[i], lo[i] = add(a[i], a_lo[i], sign * b[i], sign * b_lo[i])
    return hi, lo


@compiled
def normalise(table: Any) -> None:
    """Make the pairs (k, 2, m) hold the rounded value first, in place."""
    for c in range(table.shape[0]):
        for j in range(table.shape[2]):
            table[c, 0, j], table[c, 1, j] = two_sum(table[c, 0, j], table[c, 1, j])
