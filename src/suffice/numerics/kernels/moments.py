"""Exact class-wise moments Σw, Σw(x − p), Σw(x − p)² in one pass over row-major rows.

Conventions: n rows, d features, k classes. ``pivot[c, j]`` is the first value seen of feature j in
class c; ``sums[c, :, j]`` holds S₁, S₁ˡᵒ, S₂, S₂ˡᵒ, the pairs of Σw(x − p) and Σw(x − p)²;
``weight[c, :, j]`` holds the pair of Σw over the observed cells. NaN is a missing cell; a row
with a negative class code is left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST, add, divide, multiply, two_product, two_sum
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_rows", "mean_and_scatter", "merge"]

FAR = 64.0  # standard deviations from 0 at which a mean is worth more than one double
NOISE = 2.0**-90  # what rounding may leave of a sum whose rows are all taken away


# A complete row of weight one is added by three short loops: each is a vector loop, and together
# they are faster than one loop whose arrays the compiler cannot tell apart.


@compiled
def _subtract(x: Any, pivot: Any, v: Any, e: Any) -> bool:
    """Write the pairs x − p; return whether a cell is missing or too large."""
    unusable = 0
    for j in range(x.shape[0]):
        value = x[j]
        difference, error = two_sum(value, -pivot[j])
        v[j] = difference
        e[j] = error
        unusable |= not abs(value) <= LARGEST
    return unusable != 0


@compiled
def _add_differences(v: Any, e: Any, s: Any, s_lo: Any) -> None:
    """Add v + e to the pairs s."""
    for j in range(v.shape[0]):
        total, t = two_sum(s[j], v[j])
        s[j] = total
        s_lo[j] += t + e[j]


@compiled
def _add_squares(v: Any, e: Any, s: Any, s_lo: Any) -> None:
    """Add (v + e)² = v² + 2ve to the pairs s; e² is below their last bit."""
    for j in range(v.shape[0]):
        value = v[j]
        q, f = two_product(value, value)
        total, t = two_sum(s[j], q)
        s[j] = total
        s_lo[j] += t + (f + 2.0 * value * e[j])


@compiled
def _add_row(x: Any, w: float, weight: Any, pivot: Any, sums: Any) -> bool:
    """Add any row; return whether every feature has a pivot now."""
    complete = True
    for j in range(x.shape[0]):
        if x[j] != x[j]:
            complete &= weight[0, j] > 0.0
            continue
        if weight[0, j] == 0.0:
            pivot[j] = x[j]
        weight[0, j], weight[1, j] = add(weight[0, j], weight[1, j], w, 0.0)
        v, e = two_sum(x[j], -pivot[j])
        a, b = two_product(w, v)
        sums[0, j], t = two_sum(sums[0, j], a)
        sums[1, j] += t + (b + w * e)
        q, f = two_product(v, v)
        a, b = two_product(w, q)
        sums[2, j], t = two_sum(sums[2, j], a)
        sums[3, j] += t + (b + w * (f + 2.0 * v * e))
    return complete


@compiled
def add_rows(x: Any, codes: Any, weights: Any, weight: Any, pivot: Any, sums: Any) -> int:
    """Add the rows of x (n, d) to their classes; ``weights`` is (n,) or empty for all ones.

    Returns −1, or the index of a row that holds a number too large to be squared.
    """
    n, d = x.shape
    k = pivot.shape[0]
    v, e = np.empty(d), np.empty(d)
    complete = np.zeros(k, np.bool_)
    rows = np.zeros(k)
    for c in range(k):
        complete[c] = np.all(weight[c, 0] > 0.0)
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        plain = complete[c] and weights.shape[0] == 0
        if plain and not _subtract(x[i], pivot[c], v, e):
            rows[c] += 1.0
            _add_differences(v, e, sums[c, 0], sums[c, 1])
            _add_squares(v, e, sums[c, 2], sums[c, 3])
            continue
        for j in range(d):
            if abs(x[i, j]) > LARGEST:
                return i
        w = weights[i] if weights.shape[0] else 1.0
        complete[c] = _add_row(x[i], w, weight[c], pivot[c], sums[c])
    for c in range(k):
        for j in range(d):
            weight[c, 0, j], weight[c, 1, j] = add(weight[c, 0, j], weight[c, 1, j], rows[c], 0.0)
    return -1


@compiled
def merge(
    weight: Any, pivot: Any, sums: Any, weight2: Any, pivot2: Any, sums2: Any, sign: float
) -> int:
    """Add (sign = 1) or take away (sign = −1) other moments, in place.

    With δ = p₂ − p:  Σw(x − p) = S₁ + δW  and  Σw(x − p)² = S₂ + 2δS₁ + δ²W.

    Returns −1, or the flat index c·d + j of a cell that would be left with a negative sum.
    """
    k, d = pivot.shape
    for c in range(k):
        for j in range(d):
            if weight2[c, 0, j] == 0.0:
                continue
            if weight[c, 0, j] == 0.0:
                pivot[c, j] = pivot2[c, j]
            w, w_lo = weight2[c, 0, j], weight2[c, 1, j]
            s1, s1_lo = two_sum(sums2[c, 0, j], sums2[c, 1, j])
            s2, s2_lo = two_sum(sums2[c, 2, j], sums2[c, 3, j])
            delta, delta_lo = two_sum(pivot2[c, j], -pivot[c, j])
            shift, shift_lo = multiply(delta, delta_lo, w, w_lo)
            m, m_lo = add(2.0 * s1, 2.0 * s1_lo, shift, shift_lo)
            m, m_lo = multiply(delta, delta_lo, m, m_lo)
            s2, s2_lo = add(s2, s2_lo, m, m_lo)
            s1, s1_lo = add(s1, s1_lo, shift, shift_lo)

            before = weight[c, 0, j]
            before2, _ = two_sum(sums[c, 2, j], sums[c, 3, j])
            w, w_lo = add(before, weight[c, 1, j], sign * w, sign * w_lo)
            a, a_lo = two_sum(sums[c, 0, j], sums[c, 1, j])
            s1, s1_lo = add(a, a_lo, sign * s1, sign * s1_lo)
            a, a_lo = two_sum(sums[c, 2, j], sums[c, 3, j])
            s2, s2_lo = add(a, a_lo, sign * s2, sign * s2_lo)
            if sign < 0.0 and (w < -NOISE * before or s2 < -1e-12 * before2):
                return int(c * d + j)
            if sign < 0.0 and w <= NOISE * before:
                w = w_lo = s1 = s1_lo = s2 = s2_lo = 0.0
                pivot[c, j] = 0.0
            elif sign < 0.0:
                # A scatter this far below what was there is rounding: the values left are equal.
                m, m_lo = multiply(s1, s1_lo, s1, s1_lo)
                m, m_lo = divide(m, m_lo, w, w_lo)
                if add(s2, s2_lo, -m, -m_lo)[0] <= NOISE * before2:
                    m, m_lo = divide(s1, s1_lo, w, w_lo)
                    pivot[c, j] = add(pivot[c, j], 0.0, m, m_lo)[0]
                    s1 = s1_lo = s2 = s2_lo = 0.0
            weight[c, 0, j], weight[c, 1, j] = w, w_lo
            sums[c, 0, j], sums[c, 1, j] = s1, s1_lo
            sums[c, 2, j], sums[c, 3, j] = s2, s2_lo
    return -1


@compiled
def _worthwhile(mean: float, rest: float, sd: float) -> float:
    """Keep the rest of a mean that is far from 0, to 2⁻⁶⁰ of the standard deviation.

    Bits below that depend on the order of the rows.
    """
    step = math.ldexp(1.0, math.frexp(sd)[1] - 60)
    if abs(mean) <= FAR * sd or sd == 0.0 or step == 0.0:
        return 0.0
    return math.floor(rest / step + 0.5) * step


@compiled
def mean_and_scatter(
    weight: Any, pivot: Any, sums: Any, mean: Any, rest: Any, scatter: Any
) -> None:
    """Write x̄ = p + S₁/W and Σw(x − x̄)² = S₂ − S₁²/W, each rounded once; zeros where W = 0.

    ``rest`` is what rounding took off the mean, where that is much by the measure of the spread.
    """
    k, d = pivot.shape
    for c in range(k):
        for j in range(d):
            w, w_lo = weight[c, 0, j], weight[c, 1, j]
            if w <= 0.0:
                mean[c, j] = rest[c, j] = scatter[c, j] = 0.0
                continue
            s1, s1_lo = two_sum(sums[c, 0, j], sums[c, 1, j])
            s2, s2_lo = two_sum(sums[c, 2, j], sums[c, 3, j])
            m, m_lo = divide(s1, s1_lo, w, w_lo)
            centre, centre_lo = add(pivot[c, j], 0.0, m, m_lo)
            mean[c, j] = centre + centre_lo
            # The square before the quotient: an exact S₁²/W then stays exact, and so do ties.
            m, m_lo = multiply(s1, s1_lo, s1, s1_lo)
            m, m_lo = divide(m, m_lo, w, w_lo)
            s2, s2_lo = add(s2, s2_lo, -m, -m_lo)
            scatter[c, j] = max(s2 + s2_lo, 0.0)
            rest[c, j] = _worthwhile(centre, centre_lo, math.sqrt(scatter[c, j] / w))
