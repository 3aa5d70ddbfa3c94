"""Error-free transformations: the rounded result of an operation, and its rounding error, exactly.

The functions take floats or arrays alike. The compiled kernels have the same formulas, but for a
fused product (``src/native/support/double_double.hpp``); a test holds one against the other.

References
----------
T. J. Dekker, "A floating-point technique for extending the available precision",
Numer. Math. 18 (1971). D. E. Knuth, TAOCP vol. 2, 4.2.2, theorem B. T. Ogita, S. M. Rump,
S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.numerics.arrays import Floats

LARGEST = 1e150  # the square of a difference of larger numbers may overflow
SMALLEST = 1e-140  # the square of a smaller difference may lose digits to underflow
PART = 1 << 16  # numbers of an array that are computed at a time
SPLITTER = 134217729.0  # 2**27 + 1: cuts a double into two halves of 26 bits


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and e with s + e = a + b exactly (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def quick_two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and its error, for abs(a) ≥ abs(b) (Dekker)."""
    s = a + b
    return s, b - (s - a)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return p = fl(a · b) and e with p + e = a · b exactly (Veltkamp's split)."""
    p, a0, b0 = a * b, SPLITTER * a, SPLITTER * b
    a1, b1 = a0 - (a0 - a), b0 - (b0 - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def add(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) + (b + b_lo), relative error at most 2⁻¹⁰⁴."""
    s, e = two_sum(a, b)
    t, f = two_sum(a_lo, b_lo)
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


def multiply(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) · (b + b_lo), relative error at most 2⁻¹⁰²."""
    p, e = two_product(a, b)
    return quick_two_sum(p, e + (a * b_lo + a_lo * b))


def divide(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) / (b + b_lo): long division, two quotient digits and a rest."""
    q1 = a / b
    p, p_lo = multiply(b, b_lo, q1, 0.0 * q1)
    r, r_lo = add(a, a_lo, -p, -p_lo)
    q2 = r / b
    p, p_lo = multiply(b, b_lo, q2, 0.0 * q2)
    r, r_lo = add(r, r_lo, -p, -p_lo)
    q, e = quick_two_sum(q1, q2)
    return quick_two_sum(q, e + r / b)


def in_parts(function: Callable[..., tuple[Any, Any]], *arrays: Any) -> tuple[Floats, Floats]:
    """Return the pairs that a function of single numbers makes of large arrays, part by part.

    A part fits in the cache, and Ctrl-C is heard after each.
    """
    if np.broadcast(*arrays).size <= PART:
        return function(*arrays)
    arrays = np.broadcast_arrays(*arrays)
    out = np.empty((2, *arrays[0].shape))
    step = PART * len(arrays[0]) // arrays[0].size
    for first in range(0, len(arrays[0]), max(1, step)):
        part = slice(first, first + step) if step else first
        out[:, part] = in_parts(function, *(each[part] for each in arrays))
    return out[0], out[1]
