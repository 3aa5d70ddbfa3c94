"""Exact class-wise moments Σw, Σw(x − p), Σw(x − p)² in one pass over row-major rows.

Conventions: n rows, d features, k classes. ``pivot[c, j]`` is a number near the values of feature
j in class c, see `near`; ``sums[c, :, j]`` holds S₁, S₁ˡᵒ, S₂, S₂ˡᵒ, the pairs of Σw(x − p) and
Σw(x − p)²; ``weight[c, :, j]`` holds the pair of Σw over the observed cells. NaN is a missing
cell; a row with a negative class code is left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.error_free import (
    LARGEST,
    SMALLEST,
    add,
    divide,
    multiply,
    quick_two_sum,
    two_product,
    two_sum,
)
from suffice.numerics.kernels.lanes import LANES, fma, load, present, splat, store
from suffice.numerics.kernels.memory import aligned, prefetch
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_rows", "add_weighted_rows", "mean_and_scatter", "merge", "near", "recentre"]

TILE_CELLS = 12_288
ROOM = 4_096  # rows that a bias makes room for, at most

SQUARES = LARGEST * LARGEST / 4.0  # of x − p, |p| ≤ LARGEST / 4: none of a larger x is below
MANTISSA = 2.0**52  # steps of a double that fit into a binade
FAR = 64.0  # standard deviations from 0 at which a mean is worth more than one double
NOISE = 2.0**-90  # what rounding may leave of a sum whose rows are all taken away


# Rows of weight one are taken in tiles, grouped by class, and centred: v + e = x − p. A sum S is
# kept with a bias larger than all that will be added to it. So S is never the smaller operand, its
# last place never moves, and what rounding takes off is exact: v − ((S + v) − S) of a number, and
# fma(v, v, S − (S + v²)) of a square. The bias comes off before it ceases to dominate. (Demmel and
# Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64 (2015); here the rest is kept.)
#
# Whether it still dominates is seen afterwards: the new sums stand beside the old ones, which are
# given up only if Σv² is within its bound. NaN and numbers too large to be squared are not.


# Loops instead of slices and array expressions: these would double the time of compilation.


@compiled
def copy(source: Any, target: Any) -> None:
    """Write a matrix to the upper left corner of another, as much of it as there is room for."""
    for i in range(source.shape[0]):
        for j in range(min(source.shape[1], target.shape[1])):
            target[i, j] = source[i, j]


@compiled
def any_nonzero(values: Any) -> bool:
    """Tell whether one of some numbers (d,) is not 0."""
    found = False
    for j in range(values.shape[0]):
        found |= values[j] != 0.0
    return found


@compiled
def _see(weight: Any, rows: float, missing: Any, seen: Any) -> bool:
    """Write the weight of each feature (d,) so far; return whether each has some."""
    shown = True
    for j in range(seen.shape[0]):
        seen[j] = weight[j] + (rows - missing[j])
        shown &= seen[j] > 0.0
    return shown


@compiled
def group(codes: Any, start: Any, order: Any) -> None:
    """Group rows by class: ``order[start[c] : start[c + 1]]`` are the rows of class c.

    ``start`` is (k + 2,); its last place is only worked with.
    """
    start[:] = 0
    for i in range(codes.shape[0]):
        start[codes[i] + 2] += codes[i] >= 0
    for c in range(1, start.shape[0]):
        start[c] += start[c - 1]
    for i in range(codes.shape[0]):
        c = codes[i] + 1
        if c > 0:
            order[start[c]] = i
            start[c] += 1


@compiled
def near(middle: float, spread: float) -> float:
    """Return the pivot of values that spread so far about their middle, but not one of them.

    It is 0 where they spread half as far as they lie from 0: x − 0 is exact. Else it is the next
    multiple of the largest power of two within the spread. Without spread it is the middle, which
    then is each of the values.
    """
    if abs(middle) <= 2.0 * spread:
        return 0.0
    step = math.ldexp(1.0, math.frexp(spread)[1] - 1)
    if spread == 0.0 or abs(middle) >= MANTISSA * step:
        return middle
    return math.floor(middle / step + 0.5) * step


@compiled
def choose_pivots(x: Any, rows: Any, weight: Any, pivot: Any) -> None:
    """Choose p for the features (d,) that these rows of one class are the first to show.

    It is near the middle of their range, unless that is so far that a difference would not tell
    which values are too large.
    """
    for j in range(weight.shape[0]):
        if weight[j] > 0.0:
            continue
        low, high = np.inf, -np.inf
        for i in rows:
            if abs(x[i, j]) <= LARGEST:
                low, high = min(low, x[i, j]), max(high, x[i, j])
        pivot[j] = near(low + (high - low) / 2.0, high - low) if low <= high else 0.0
        if abs(pivot[j]) > LARGEST / 4.0:
            pivot[j] = 0.0


@compiled
def centre(x: Any, codes: Any, pivot: Any, v: Any, e: Any, square: Any, missing: Any) -> bool:
    """Write v + e = x − p, or 0 for a missing cell, and the sums of v²; count the missing cells.

    Returns whether a difference was rounded. p, ``square`` and ``missing`` are (k, padded).
    """
    square[:] = 0.0
    errors = np.empty(LANES)
    width, padded, x = x.shape[1], square.shape[1], x.reshape(-1)
    p, v, e = pivot.reshape(-1), v.reshape(-1), e.reshape(-1)
    square, missing = square.reshape(-1), missing.reshape(-1)
    zero, one, rounded = splat(0.0), splat(1.0), splat(0.0)
    for i in range(codes.shape[0]):
        if codes[i] < 0:
            continue
        for j in range(0, padded, LANES):
            c = codes[i] * padded + j
            value, error = two_sum(load(x, i * width + j), zero - load(p, c))
            store(missing, c, load(missing, c) + present(value - value, one))
            value, error = present(value, zero), present(error, zero)
            store(v, i * padded + j, value)
            store(e, i * padded + j, error)
            store(square, c, fma(value, value, load(square, c)))
            rounded = fma(error, error, rounded)
    store(errors, 0, rounded)
    return bool(any_nonzero(errors))


@compiled
def below(a: Any, b: Any) -> bool:
    """Tell whether every number of a is at most that of b; NaN is not."""
    within = True
    for j in range(b.shape[0]):
        within &= a[j] <= b[j]
    return within


@compiled
def can_be_squared(square: Any, d: int) -> bool:
    """Tell whether the squares (k, padded) of d features are so small that each number is."""
    within = True
    for c in range(square.shape[0]):
        for j in range(d):
            within &= square[c, j] <= SQUARES
    return within


@compiled
def _any_too_large(x: Any, codes: Any) -> bool:
    """Tell whether a row that has a class holds a number too large to be squared."""
    large = False
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            for j in range(x.shape[1]):
                large |= abs(x[i, j]) > LARGEST
    return large


@compiled
def _add_members(
    v: Any, e: Any, width: int, rounded: bool, members: Any, biased: Any, side: int, x: Any, at: int
) -> None:
    """Add v + e and v² + 2ve of some rows to the biased sums of one side, (2, 4, padded).

    The new sums are written to the other side. v and e are flat: a slice counts its references. e
    is 0 unless ``rounded``; e² is below the last place. Meanwhile x (n · d,) is asked for from
    ``at`` on.
    """
    padded, biased = biased.shape[2], biased.reshape(-1)
    old, new = 4 * padded * side, 4 * padded * (1 - side)
    for j in range(0, padded, LANES):
        s, s_lo = load(biased, old + j), load(biased, old + padded + j)
        q, q_lo = load(biased, old + 2 * padded + j), load(biased, old + 3 * padded + j)
        for r in range(members.shape[0]):
            prefetch(x, at)
            at += LANES
            i = members[r] * width + j
            value = load(v, i)
            s, rest = quick_two_sum(s, value)
            s_lo += rest
            total = fma(value, value, q)
            q_lo += fma(value, value, q - total)
            q = total
            if rounded:
                error = load(e, i)
                s_lo += error
                q_lo = fma(value + value, error, q_lo)
        store(biased, new + j, s)
        store(biased, new + padded + j, s_lo)
        store(biased, new + 2 * padded + j, q)
        store(biased, new + 3 * padded + j, q_lo)


@compiled
def _unbias(biased: Any, bias: Any, sums: Any) -> None:
    """Add the biased sums (4, padded) of a class to its pairs (4, d)."""
    for s in range(0, 4, 2):
        for j in range(sums.shape[1]):
            plain = biased[s, j] - bias[s, j]
            sums[s, j], rest = two_sum(sums[s, j], plain)
            sums[s + 1, j] += rest + biased[s + 1, j]


@compiled
def _choose_bias(square: Any, rows: int, room: int, bias: Any, limit: Any) -> None:
    """Make room for more rows like these, whose squares add up to ``square``.

    As long as Σv² ≤ bound and n ≤ room, abs(Σv) ≤ √(n · bound) (Cauchy and Schwarz). The biased
    Σv² must not exceed ``limit``; where the bound says nothing of what can be squared, it always
    does.
    """
    for j in range(limit.shape[0]):
        bound = square[j] * (room / rows)
        bias[0, j] = bias[2, j] = 0.0
        if bound > 0.0:
            bias[0, j] = math.ldexp(1.5, math.frexp(math.sqrt(room * bound))[1] + 2)
            bias[2, j] = math.ldexp(1.5, math.frexp(bound)[1] + 2)
        limit[j] = bias[2, j] + bound if bound <= SQUARES else -np.inf


@compiled
def add_rows(x: Any, codes: Any, weight: Any, pivot: Any, sums: Any) -> int:
    """Add the rows of x (n, d) to their classes, each with weight one.

    Returns −1, or the first of a tile of rows that holds a number too large to be squared.
    """
    n, d = x.shape
    k = pivot.shape[0]
    padded = -(-d // LANES) * LANES
    size = max(16, TILE_CELLS // max(1, padded))
    start, order = np.zeros(k + 2, np.intp), np.zeros(size, np.intp)
    last = np.zeros((size, padded))
    v = aligned(size * padded).reshape(size, padded)
    e = aligned(size * padded).reshape(size, padded)
    cells, centred_values, errors = x.reshape(-1), v.reshape(-1), e.reshape(-1)
    biased = aligned(k * 8 * padded).reshape(k, 2, 4, padded)
    bias = np.zeros((k, 4, padded))
    side, limit, square = np.zeros(k, np.intp), np.full((k, d), -np.inf), np.zeros((k, padded))
    room, rows = np.zeros(k, np.intp), np.zeros(k)
    missing, p, seen = np.zeros((k, padded)), np.zeros((k, padded)), np.zeros(d)
    shown, plain = np.zeros(k, np.bool_), True  # rows are added as they are: no pivot, no gap
    copy(pivot, p)
    for c in range(k):
        plain &= not any_nonzero(p[c])
    for first in range(0, n, size):
        part, labels = x[first : first + size], codes[first : first + size]
        if (n - first - size) * d < LANES:  # the last panel of a row reads into the next one
            copy(part, last)
            part = last[: part.shape[0]]
        group(labels, start, order)
        for c in range(k):
            if start[c + 1] > start[c] and not shown[c]:
                _see(weight[c, 0], rows[c], missing[c], seen)
                choose_pivots(part, order[start[c] : start[c + 1]], seen, p[c])
                plain &= not any_nonzero(p[c])
        values, width, centred, rounded = part.reshape(-1), part.shape[1], False, False
        if not plain:
            rounded, centred = centre(part, labels, p, v, e, square, missing), True
            values, width = centred_values, padded
        for c in range(k):
            members = order[start[c] : start[c + 1]]
            if members.shape[0] == 0:
                continue
            ahead = (first + size) * d + start[c] * padded
            room[c] -= members.shape[0]
            if room[c] >= 0:
                _add_members(
                    values, errors, width, rounded, members, biased[c], side[c], cells, ahead
                )
            if room[c] < 0 or not below(biased[c, 1 - side[c], 2], limit[c]):
                if not centred:
                    rounded, centred = centre(part, labels, p, v, e, square, missing), True
                    values, width = centred_values, padded
                    plain = not any_nonzero(missing.reshape(-1))
                if not can_be_squared(square, d) and _any_too_large(part, labels):
                    return first
                _unbias(biased[c, side[c]], bias[c], sums[c])
                most = max(members.shape[0], min(ROOM, n - first))
                _choose_bias(square[c], members.shape[0], most, bias[c], limit[c])
                copy(bias[c], biased[c, side[c]])
                room[c] = most - members.shape[0]
                _add_members(
                    values, errors, width, rounded, members, biased[c], side[c], cells, ahead
                )
            side[c] = 1 - side[c]
            rows[c] += members.shape[0]
            if not shown[c]:
                shown[c] = _see(weight[c, 0], rows[c], missing[c], seen)
    copy(p, pivot)
    for c in range(k):
        _unbias(biased[c, side[c]], bias[c], sums[c])
        for j in range(d):
            shows = rows[c] - missing[c, j]
            weight[c, 0, j], weight[c, 1, j] = add(weight[c, 0, j], weight[c, 1, j], shows, 0.0)
    return -1


@compiled
def add_weighted_rows(x: Any, codes: Any, weights: Any, weight: Any, pivot: Any, sums: Any) -> int:
    """Add the rows of x (n, d) to their classes with weights (n,).

    Returns −1, or the row that holds a number too large to be squared.
    """
    n, d = x.shape
    k = pivot.shape[0]
    size = max(16, TILE_CELLS // max(1, d))
    start, order = np.zeros(k + 2, np.intp), np.zeros(size, np.intp)
    for i in range(n):
        if i % size == 0:
            group(codes[i : i + size], start, order)
            for c in range(k):
                rows = order[start[c] : start[c + 1]]
                if rows.shape[0]:
                    choose_pivots(x[i : i + size], rows, weight[c, 0], pivot[c])
        c, w = codes[i], weights[i]
        if c < 0:
            continue
        for j in range(d):
            if abs(x[i, j]) > LARGEST:
                return i
        for j in range(d):
            if x[i, j] != x[i, j]:
                continue
            weight[c, 0, j], weight[c, 1, j] = add(weight[c, 0, j], weight[c, 1, j], w, 0.0)
            v, e = two_sum(x[i, j], -pivot[c, j])
            a, b = two_product(w, v)
            sums[c, 0, j], t = two_sum(sums[c, 0, j], a)
            sums[c, 1, j] += t + (b + w * e)
            q, f = two_product(v, v)
            a, b = two_product(w, q)
            sums[c, 2, j], t = two_sum(sums[c, 2, j], a)
            sums[c, 3, j] += t + (b + w * (f + 2.0 * v * e))
    return -1


@compiled
def product_over(a: float, a_lo: float, b: float, b_lo: float, w: float, w_lo: float) -> Any:
    """Return the pair of ab/w; ab itself may be larger than any double.

    The product comes before the quotient: an exact one then stays exact, and so do ties.
    """
    up, down = 0, 0
    if not math.isfinite(a * b):
        up, down = -math.frexp(a)[1], -math.frexp(b)[1]
    a, a_lo, b, b_lo = (
        math.ldexp(a, up),
        math.ldexp(a_lo, up),
        math.ldexp(b, down),
        math.ldexp(b_lo, down),
    )
    p, p_lo = multiply(a, a_lo, b, b_lo)
    p, p_lo = divide(p, p_lo, w, w_lo)
    return math.ldexp(p, -up - down), math.ldexp(p_lo, -up - down)


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
                m, m_lo = product_over(s1, s1_lo, s1, s1_lo, w, w_lo)
                if add(s2, s2_lo, -m, -m_lo)[0] <= NOISE * before2:
                    m, m_lo = divide(s1, s1_lo, w, w_lo)
                    pivot[c, j] = add(pivot[c, j], 0.0, m, m_lo)[0]
                    s1 = s1_lo = s2 = s2_lo = 0.0
            weight[c, 0, j], weight[c, 1, j] = w, w_lo
            sums[c, 0, j], sums[c, 1, j] = s1, s1_lo
            sums[c, 2, j], sums[c, 3, j] = s2, s2_lo
    return -1


@compiled
def merge_classes(
    weight: Any, pivot: Any, sums: Any, weight2: Any, pivot2: Any, sums2: Any
) -> None:
    """Add the moments of the classes after the first to those of one class, in place."""
    for c in range(1, pivot2.shape[0]):
        rest = slice(c, c + 1)
        merge(weight, pivot, sums, weight2[rest], pivot2[rest], sums2[rest], 1.0)


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
def _mean_and_scatter(
    w: float, w_lo: float, p: float, s1: float, s1_lo: float, s2: float, s2_lo: float
) -> Any:
    """Return the pair of x̄ = p + S₁/W, and Σw(x − x̄)² = S₂ − S₁²/W, for W > 0.

    Each is right to about 2⁻¹⁰⁰, then rounded: only what lies nearer to a tie may round either way.
    """
    m, m_lo = divide(s1, s1_lo, w, w_lo)
    centre, centre_lo = add(p, 0.0, m, m_lo)
    m, m_lo = product_over(s1, s1_lo, s1, s1_lo, w, w_lo)
    s2, s2_lo = add(s2, s2_lo, -m, -m_lo)
    return centre, centre_lo, max(s2 + s2_lo, 0.0)


@compiled
def mean_and_scatter(
    weight: Any, pivot: Any, sums: Any, mean: Any, rest: Any, scatter: Any
) -> None:
    """Write x̄ and Σw(x − x̄)²; zeros where W = 0.

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
            m, m_lo, square = _mean_and_scatter(w, w_lo, pivot[c, j], s1, s1_lo, s2, s2_lo)
            mean[c, j], scatter[c, j] = m + m_lo, square
            rest[c, j] = _worthwhile(m, m_lo, math.sqrt(square / w))


@compiled
def recentre(weight: Any, pivot: Any, sums: Any) -> None:
    """Move the pivots, in place, to where mean and scatter alone decide, see `near`.

    With δ = p′ − p:  S₁′ = S₁ − δW  and  S₂′ = S₂ − δ(S₁ + S₁′).

    Pivots that are the values, or so near to them that squares underflow, stay.
    """
    k, d = pivot.shape
    for c in range(k):
        for j in range(d):
            w, w_lo = weight[c, 0, j], weight[c, 1, j]
            s1, s1_lo = two_sum(sums[c, 0, j], sums[c, 1, j])
            s2, s2_lo = two_sum(sums[c, 2, j], sums[c, 3, j])
            if s2 >= SMALLEST * SMALLEST * max(w, 1.0):
                m, m_lo, square = _mean_and_scatter(w, w_lo, pivot[c, j], s1, s1_lo, s2, s2_lo)
                p = near(m + m_lo, math.sqrt(square / w))
                delta, delta_lo = two_sum(p, -pivot[c, j])
                m, m_lo = multiply(delta, delta_lo, w, w_lo)
                m, m_lo = add(s1, s1_lo, -m, -m_lo)
                q, q_lo = add(s1, s1_lo, m, m_lo)
                q, q_lo = multiply(delta, delta_lo, q, q_lo)
                pivot[c, j], s1, s1_lo = p, m, m_lo
                s2, s2_lo = add(s2, s2_lo, -q, -q_lo)
                if square == 0.0:
                    s1 = s1_lo = s2 = s2_lo = 0.0
            sums[c, 0, j], sums[c, 1, j], sums[c, 2, j], sums[c, 3, j] = s1, s1_lo, s2, s2_lo
