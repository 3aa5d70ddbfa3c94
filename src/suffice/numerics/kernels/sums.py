"""Sums of double-double arrays, in one pass without temporaries."""

from __future__ import annotations

from typing import Any

from suffice.numerics.error_free import add, multiply, two_sum
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_pairs", "normalise", "scale"]


@compiled
def add_pairs(a: Any, a_lo: Any, b: Any, b_lo: Any, sign: float, hi: Any, lo: Any) -> None:
    """Write the pairs (a + a_lo) + sign · (b + b_lo) to ``hi`` and ``lo``, all (n,)."""
    for i in range(a.shape[0]):
        hi[i], lo[i] = add(a[i], a_lo[i], sign * b[i], sign * b_lo[i])


@compiled
def normalise(hi: Any, lo: Any) -> None:
    """Make the pairs (k, m) hold the rounded value first, in place.

    Errors that are all zero are not written to: memory of zeros takes no room before it is.
    """
    for c in range(hi.shape[0]):
        rounded = False
        for j in range(hi.shape[1]):
            rounded |= lo[c, j] != 0.0
        if rounded:
            for j in range(hi.shape[1]):
                hi[c, j], lo[c, j] = two_sum(hi[c, j], lo[c, j])


@compiled
def scale(pairs: Any, factor: float, out: Any) -> None:
    """Write the pairs (m, 2, n) times a factor to ``out``."""
    for i in range(pairs.shape[0]):
        for j in range(pairs.shape[2]):
            hi, lo = two_sum(pairs[i, 0, j], pairs[i, 1, j])
            out[i, 0, j], out[i, 1, j] = multiply(hi, lo, factor, 0.0)
