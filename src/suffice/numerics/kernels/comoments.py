"""Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.

Conventions: n rows, d features. Rows belong to g groups, each with a pivot p (g, d) and the pairs
``weight`` (g, 2) and ``sums`` (g, 2, d). ``products`` (m, 2, d, d) holds the pairs of the upper
triangles, which group i shares with all groups of the same ``home[i]``; where that is −1, they are
0 and take no place.

Products are biased, like the sums in ``moments.py``. One then takes four operations, no splitting:
S′ = fma(a, b, S) rounds once, S′ − S is exact, and fma(a, b, S − S′) is what the rounding took.

While rows are added, the products of the last features, which fill no panel of eight, with all
others are kept below the diagonal: there the panels are full.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST, add, divide, multiply, two_product, two_sum
from suffice.numerics.kernels.lanes import LANES, fma, load, repeat, splat, store
from suffice.numerics.kernels.moments import (
    NOISE,
    ROOM,
    any_nonzero,
    below,
    can_be_squared,
    choose_pivots,
    copy,
    group,
)
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.tiles import aligned

__all__ = ["add_rows", "add_scattered_rows", "merge", "scatter", "settle"]

TILE_ROWS = 256
LEFT = 4  # features on the left that share the loads of a panel on the right


@compiled
def _usable(x: Any, codes: Any) -> bool:
    """Tell whether the rows that have a class show every cell, and none is too large."""
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            for j in range(x.shape[1]):
                if not abs(x[i, j]) <= LARGEST:
                    return False
    return True


@compiled
def _centre(x: Any, codes: Any, pivot: Any, v: Any, e: Any, square: Any) -> bool:
    """Write v + e = x − p, and Σv² of every group; p and ``square`` are (g, padded).

    Returns whether a difference was rounded. A missing cell makes its square NaN.
    """
    width, padded, x, p = x.shape[1], square.shape[1], x.reshape(-1), pivot.reshape(-1)
    v, e, square = v.reshape(-1), e.reshape(-1), square.reshape(-1)
    square[:] = 0.0
    errors, zero, rounded = np.empty(LANES), splat(0.0), splat(0.0)
    for i in range(codes.shape[0]):
        if codes[i] < 0:
            continue
        for j in range(0, padded, LANES):
            c, to = codes[i] * padded + j, i * padded + j
            value, error = two_sum(load(x, i * width + j), zero - load(p, c))
            store(v, to, value)
            store(e, to, error)
            store(square, c, fma(value, value, load(square, c)))
            rounded = fma(error, error, rounded)
    store(errors, 0, rounded)
    return bool(any_nonzero(errors))


@compiled
def _weigh(weights: Any, scale: float, v: Any, e: Any, a: Any, a_lo: Any) -> None:
    """Write the pairs a + a_lo = (w / scale)(v + e)."""
    for i in range(weights.shape[0]):
        w = weights[i] / scale
        for j in range(v.shape[1]):
            a[i, j], rest = two_product(w, v[i, j])
            a_lo[i, j] = rest + w * e[i, j]


@compiled
def _add_sums(a: Any, a_lo: Any, rows: Any, s: Any, s_lo: Any) -> None:
    """Add rows of a + a_lo (n, padded) to pairs (padded,)."""
    padded, a, a_lo = a.shape[1], a.reshape(-1), a_lo.reshape(-1)
    for j in range(0, padded, LANES):
        total, total_lo = load(s, j), load(s_lo, j)
        for i in rows:
            total, rest = two_sum(total, load(a, i * padded + j))
            total_lo += rest + load(a_lo, i * padded + j)
        store(s, j, total)
        store(s_lo, j, total_lo)


@compiled
def _exactly(a: Any, b: Any, s: Any, s_lo: Any) -> Any:
    """Add a · b to a biased pair."""
    total = fma(a, b, s)
    return total, s_lo + fma(a, b, s - total)


@compiled
def _panels(left: int, d: int) -> Any:
    """Return where the panels begin and end whose products with a feature are kept in its row."""
    whole = d // LANES * LANES
    return (left // LANES * LANES, whole) if left < whole else (0, whole + LANES)


@compiled
def _add_products(a: Any, b: Any, d: int, rows: Any, s: Any, s_lo: Any) -> None:
    """Add Σ a bᵀ over rows to biased sums (padded, padded)."""
    width = a.shape[1]
    a, b, s, s_lo = a.reshape(-1), b.reshape(-1), s.reshape(-1), s_lo.reshape(-1)
    for left in range(0, d, LEFT):
        begin, end = _panels(left, d)
        for right in range(begin, end, LANES):
            i0 = left * width + right
            i1, i2, i3 = i0 + width, i0 + 2 * width, i0 + 3 * width
            s0, s1, s2, s3 = load(s, i0), load(s, i1), load(s, i2), load(s, i3)
            t0, t1, t2, t3 = load(s_lo, i0), load(s_lo, i1), load(s_lo, i2), load(s_lo, i3)
            for row in rows:
                panel, at = load(b, row * width + right), row * width + left
                s0, t0 = _exactly(repeat(a, at), panel, s0, t0)
                s1, t1 = _exactly(repeat(a, at + 1), panel, s1, t1)
                s2, t2 = _exactly(repeat(a, at + 2), panel, s2, t2)
                s3, t3 = _exactly(repeat(a, at + 3), panel, s3, t3)
            for at, total, rest in ((i0, s0, t0), (i1, s1, t1), (i2, s2, t2), (i3, s3, t3)):
                store(s, at, total)
                store(s_lo, at, rest)


@compiled
def _add_rounded_products(a: Any, b: Any, d: int, rows: Any, s: Any) -> None:
    """Add Σ a bᵀ over rows to plain sums (padded, padded)."""
    width = a.shape[1]
    a, b, s = a.reshape(-1), b.reshape(-1), s.reshape(-1)
    for left in range(0, d, LEFT):
        begin, end = _panels(left, d)
        for right in range(begin, end, LANES):
            i0 = left * width + right
            i1, i2, i3 = i0 + width, i0 + 2 * width, i0 + 3 * width
            s0, s1, s2, s3 = load(s, i0), load(s, i1), load(s, i2), load(s, i3)
            for row in rows:
                panel, at = load(b, row * width + right), row * width + left
                s0 = fma(repeat(a, at), panel, s0)
                s1 = fma(repeat(a, at + 1), panel, s1)
                s2 = fma(repeat(a, at + 2), panel, s2)
                s3 = fma(repeat(a, at + 3), panel, s3)
            store(s, i0, s0)
            store(s, i1, s1)
            store(s, i2, s2)
            store(s, i3, s3)


@compiled
def _choose_bias(exact: bool, square: Any, rows: int, room: int, bias: Any, bound: Any) -> None:
    """Write the factors of the bias of products, with room for more rows; rounded ones have none.

    As long as Σv² ≤ bound, abs(Σ vᵢvⱼ) ≤ √(boundᵢ boundⱼ) (Cauchy and Schwarz).
    """
    for j in range(bound.shape[0]):
        bound[j] = square[j] * (room / rows)
        bias[j] = 0.0
        if exact and bound[j] > 0.0:
            bias[j] = math.ldexp(1.0, math.frexp(math.sqrt(bound[j]))[1] + 1)


@compiled
def _bias(bias: Any, biased: Any) -> None:
    """Set products to their bias."""
    biased[:] = 0.0
    for i in range(bias.shape[0]):
        for j in range(bias.shape[0]):
            biased[0, i, j] = 3.0 * bias[i] * bias[j]


@compiled
def _unbias(biased: Any, bias: Any, scale: float, products: Any) -> None:
    """Add biased products (2, padded, padded), times a power of two, to the pairs (2, d, d)."""
    d = products.shape[1]
    for i in range(d):
        for j in range(i, d):
            row, column = (i, j) if j < _panels(i, d)[1] else (j, i)
            plain = scale * (biased[0, row, column] - 3.0 * bias[i] * bias[j])
            products[0, i, j], rest = two_sum(products[0, i, j], plain)
            products[1, i, j] += rest + scale * biased[1, row, column]


@compiled
def add_rows(
    x: Any,
    codes: Any,
    weights: Any,
    exact: bool,
    weight: Any,
    pivot: Any,
    sums: Any,
    home: Any,
    products: Any,
) -> int:
    """Add complete rows (n, d) to the groups of their codes; ``weights`` is (n,) or empty.

    Groups with one home stand side by side. Returns −1, or the first of a tile of rows that were
    not added, like those after it, because a cell is missing or too large.
    """
    n, d = x.shape
    g = pivot.shape[0]
    padded = -(-d // LANES) * LANES
    start, order = np.zeros(g + 2, np.intp), np.zeros(TILE_ROWS, np.intp)
    last = np.zeros((TILE_ROWS, padded))
    v = aligned(TILE_ROWS * padded).reshape(TILE_ROWS, padded)
    e = aligned(TILE_ROWS * padded).reshape(TILE_ROWS, padded)
    weighted = weights.shape[0] > 0
    a, a_lo = (np.zeros_like(v), np.zeros_like(v)) if weighted else (v, e)
    scale = math.ldexp(1.0, math.frexp(np.max(weights))[1]) if weighted else 1.0
    square, spread, p = np.zeros((g, padded)), np.zeros(padded), np.zeros((g, padded))
    homes = products.shape[0]
    border = np.searchsorted(home, np.arange(homes + 1))
    total, bound, room = np.zeros((homes, padded)), np.zeros((homes, d)), np.zeros(homes, np.intp)
    biased = aligned(homes * 2 * padded * padded).reshape(homes, 2, padded, padded)
    bias = np.zeros((homes, padded))
    s = np.zeros((g, 2, padded))
    copy(pivot, p)
    stopped = -1
    for first in range(0, n, TILE_ROWS):
        part, labels = x[first : first + TILE_ROWS], codes[first : first + TILE_ROWS]
        rows = part.shape[0]
        if (n - first - TILE_ROWS) * d < LANES:  # the last panel of a row reads into the next one
            copy(part, last)
            part = last[:rows]
        group(labels, start, order)
        for c in range(g):
            if start[c + 1] > start[c] and weight[c, 0] == 0.0:
                seen = np.zeros(d)
                choose_pivots(part, order[start[c] : start[c + 1]], seen, p[c])
        rounded = _centre(part, labels, p, v, e, square)
        if not can_be_squared(square, d) and not _usable(part, labels):
            stopped = first
            break
        if weighted:
            _weigh(weights[first : first + rows], scale, v[:rows], e[:rows], a, a_lo)
        for m in range(homes):
            begin, end = border[m], border[m + 1]
            members = order[start[begin] : start[end]]
            if members.shape[0] == 0:
                continue
            for j in range(padded):
                spread[j] = 0.0
                for c in range(begin, end):
                    spread[j] += square[c, j]
                total[m, j] += spread[j]
            room[m] -= members.shape[0]
            if room[m] < 0 or not below(total[m], bound[m]):
                _unbias(biased[m], bias[m], scale, products[m])
                most = max(members.shape[0], min(ROOM, n - first))
                _choose_bias(exact, spread, members.shape[0], most, bias[m], bound[m])
                _bias(bias[m], biased[m])
                for j in range(padded):
                    total[m, j] = spread[j]
                room[m] = most - members.shape[0]
            for c in range(begin, end):
                of_c = order[start[c] : start[c + 1]]
                if weighted:
                    for i in of_c:
                        w = weights[first + i]
                        weight[c, 0], weight[c, 1] = add(weight[c, 0], weight[c, 1], w, 0.0)
                else:
                    shows = float(of_c.shape[0])
                    weight[c, 0], weight[c, 1] = add(weight[c, 0], weight[c, 1], shows, 0.0)
                _add_sums(a, a_lo, of_c, s[c, 0], s[c, 1])
            if not exact:
                _add_rounded_products(a, v, d, members, biased[m, 0])
                continue
            _add_products(a, v, d, members, biased[m, 0], biased[m, 1])
            if rounded or weighted:
                _add_rounded_products(a, e, d, members, biased[m, 1])
                _add_rounded_products(a_lo, v, d, members, biased[m, 1])
    for m in range(homes):
        _unbias(biased[m], bias[m], scale, products[m])
    for c in range(g):
        for j in range(d):
            sums[c, 0, j], rest = two_sum(sums[c, 0, j], scale * s[c, 0, j])
            sums[c, 1, j] += rest + scale * s[c, 1, j]
    copy(p, pivot)
    return stopped


@compiled
def add_scattered_rows(
    x: Any, groups: Any, weights: Any, weight: Any, pivot: Any, sums: Any, home: Any, products: Any
) -> None:
    """Add rows (n, d) to their groups one by one; a missing cell adds nothing."""
    n, d = x.shape
    v, e, a, a_lo = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(n):
        g = groups[i]
        w = weights[i] if weights.shape[0] else 1.0
        if weight[g, 0] == 0.0:
            for j in range(d):
                pivot[g, j] = x[i, j] if x[i, j] == x[i, j] else 0.0
        weight[g, 0], weight[g, 1] = add(weight[g, 0], weight[g, 1], w, 0.0)
        for j in range(d):
            value = x[i, j] if x[i, j] == x[i, j] else pivot[g, j]
            v[j], e[j] = two_sum(value, -pivot[g, j])
            a[j], rest = two_product(w, v[j])
            a_lo[j] = rest + w * e[j]
            sums[g, 0, j], rest = two_sum(sums[g, 0, j], a[j])
            sums[g, 1, j] += rest + a_lo[j]
        m = home[g]
        if m < 0:
            continue
        for j in range(d):
            for h in range(j, d):
                q, f = two_product(a[j], v[h])
                products[m, 0, j, h], rest = two_sum(products[m, 0, j, h], q)
                products[m, 1, j, h] += rest + (f + a[j] * e[h] + a_lo[j] * v[h])


@compiled
def _add_pair(table: Any, i: int, j: int, value: float, value_lo: float) -> None:
    """Add a pair to place (i, j) of a table of pairs (2, ...)."""
    hi, lo = two_sum(table[0, i, j], table[1, i, j])
    table[0, i, j], table[1, i, j] = add(hi, lo, value, value_lo)


@compiled
def merge(
    weight: Any,
    pivot: Any,
    sums: Any,
    home: Any,
    products: Any,
    weight2: Any,
    pivot2: Any,
    sums2: Any,
    place: Any,
    sign: float,
) -> int:
    """Add (sign = 1) or take away (sign = −1) other groups, in place; group i goes to ``place[i]``.

    With δ = p₂ − p:  Σw(x − p) = S + δW  and  Σw(x − p)(x − p)ᵀ = P + δSᵀ + Sδᵀ + Wδδᵀ,
    of which the P of the others was added beforehand.

    Returns −1, or the group that would be left with a negative weight.
    """
    d = pivot.shape[1]
    delta, delta_lo, s, s_lo = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(place.shape[0]):
        g, w, w_lo = place[i], weight2[i, 0], weight2[i, 1]
        m, before = home[g], weight[g, 0]
        if before == 0.0:
            pivot[g] = pivot2[i]
        moved = False
        for j in range(d):
            delta[j], delta_lo[j] = two_sum(pivot2[i, j], -pivot[g, j])
            moved |= delta[j] != 0.0
            s[j], s_lo[j] = two_sum(sums2[i, 0, j], sums2[i, 1, j])
        if moved and m >= 0:
            # δSᵀ + Sδᵀ + Wδδᵀ = δ(S + Wδ)ᵀ + Sδᵀ
            for j in range(d):
                for h in range(j, d):
                    q, q_lo = multiply(w, w_lo, delta[h], delta_lo[h])
                    q, q_lo = add(q, q_lo, s[h], s_lo[h])
                    q, q_lo = multiply(delta[j], delta_lo[j], q, q_lo)
                    f, f_lo = multiply(s[j], s_lo[j], delta[h], delta_lo[h])
                    q, q_lo = add(q, q_lo, f, f_lo)
                    _add_pair(products[m], j, h, sign * q, sign * q_lo)
        weight[g, 0], weight[g, 1] = add(before, weight[g, 1], sign * w, sign * w_lo)
        for j in range(d):
            q, q_lo = multiply(w, w_lo, delta[j], delta_lo[j])
            q, q_lo = add(q, q_lo, s[j], s_lo[j])
            hi, lo = two_sum(sums[g, 0, j], sums[g, 1, j])
            sums[g, 0, j], sums[g, 1, j] = add(hi, lo, sign * q, sign * q_lo)
        if sign < 0.0 and weight[g, 0] < -NOISE * before:
            return int(g)
        if sign < 0.0 and weight[g, 0] <= NOISE * before:
            weight[g], pivot[g], sums[g] = 0.0, 0.0, 0.0
    return -1


@compiled
def settle(weight: Any, pivot: Any, sums: Any, home: Any, products: Any, before: Any) -> int:
    """After rows were taken away: of values that are all equal, leave a scatter of exactly 0.

    ``before`` (m, d) are the sums of squares that there were. Returns −1, or a feature whose
    scatter would be negative.
    """
    d = pivot.shape[1]
    for m in range(products.shape[0]):
        for j in range(d):
            rest, rest_lo = two_sum(products[m, 0, j, j], products[m, 1, j, j])
            for g in range(home.shape[0]):
                if home[g] == m and weight[g, 0] > 0.0:
                    q, q_lo = two_sum(sums[g, 0, j], sums[g, 1, j])
                    q, q_lo = multiply(q, q_lo, q, q_lo)
                    q, q_lo = divide(q, q_lo, weight[g, 0], weight[g, 1])
                    rest, rest_lo = add(rest, rest_lo, -q, -q_lo)
            if rest < -1e-12 * before[m, j]:
                return j
            if rest > NOISE * before[m, j]:
                continue
            for g in range(home.shape[0]):
                if home[g] == m and weight[g, 0] > 0.0:
                    q, q_lo = two_sum(sums[g, 0, j], sums[g, 1, j])
                    q, q_lo = divide(q, q_lo, weight[g, 0], weight[g, 1])
                    pivot[g, j] = add(pivot[g, j], 0.0, q, q_lo)[0]
                    sums[g, 0, j] = sums[g, 1, j] = 0.0
            products[m, :, j, :] = 0.0
            products[m, :, :, j] = 0.0
    return -1


@compiled
def scatter(weight: Any, sums: Any, home: Any, products: Any, out: Any) -> None:
    """Write the pairs (m, 2, d, d) of Σw(x − x̄)(x − x̄)ᵀ = P − Σ SSᵀ/W over the groups."""
    d = sums.shape[2]
    for m in range(products.shape[0]):
        for i in range(d):
            for j in range(i, d):
                hi, lo = two_sum(products[m, 0, i, j], products[m, 1, i, j])
                out[m, 0, i, j], out[m, 1, i, j] = hi, lo
    for g in range(home.shape[0]):
        m, w, w_lo = home[g], weight[g, 0], weight[g, 1]
        if m < 0 or w <= 0.0:
            continue
        for i in range(d):
            a, a_lo = two_sum(sums[g, 0, i], sums[g, 1, i])
            for j in range(i, d):
                b, b_lo = two_sum(sums[g, 0, j], sums[g, 1, j])
                q, q_lo = multiply(a, a_lo, b, b_lo)
                q, q_lo = divide(q, q_lo, w, w_lo)
                _add_pair(out[m], i, j, -q, -q_lo)
    for m in range(out.shape[0]):
        for i in range(d):
            for j in range(i):
                out[m, 0, i, j], out[m, 1, i, j] = out[m, 0, j, i], out[m, 1, j, i]
