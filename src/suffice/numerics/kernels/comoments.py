"""Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.

Conventions: n rows, d features. Rows belong to g groups, each with a pivot p (g, d) and the pairs
``weight`` (g, 2) and ``sums`` (g, 2, d). ``products`` (m, 2, d, d) holds the pairs of the upper
triangles, which group i shares with all groups of the same ``home[i]``; where that is −1, they are
0 and take no place.

Products are biased while rows are added (``products.py``), like the sums in ``moments.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.exact import LARGEST, add, divide, multiply, two_product, two_sum
from suffice.numerics.kernels.lanes import LANES, fma, load, splat, store, total
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.moments import (
    NOISE,
    ROOM,
    any_nonzero,
    can_be_squared,
    choose_pivots,
    copy,
    group,
    product_over,
)
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.products import (
    add_products,
    add_rounded_products,
    choose_bias,
    remove_bias,
    set_bias,
    sum_squares,
    within,
)
from suffice.numerics.kernels.tiles import aligned

__all__ = ["add_rows", "add_scattered_rows", "merge", "scatter", "settle"]

TILE_ROWS = 256


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
def _centre(x: Any, codes: Any, d: int, pivot: Any, v: Any, e: Any, square: Any) -> int:
    """Write v + e = x − p, and Σv² of every group; p and ``square`` are (g, padded).

    Returns 1 if a difference was rounded, else 0; −1 if a cell is missing or too large.
    """
    width, padded, cells, p = x.shape[1], square.shape[1], x.reshape(-1), pivot.reshape(-1)
    flat_v, flat_e, squares = v.reshape(-1), e.reshape(-1), square.reshape(-1)
    squares[:] = 0.0
    zero, rounded = splat(0.0), splat(0.0)
    for i in range(codes.shape[0]):
        if codes[i] < 0:
            continue
        for j in range(0, padded, LANES):
            c, to = codes[i] * padded + j, i * padded + j
            value, error = two_sum(load(cells, i * width + j), zero - load(p, c))
            store(flat_v, to, value)
            store(flat_e, to, error)
            store(squares, c, fma(value, value, load(squares, c)))
            rounded = fma(error, error, rounded)
    if not can_be_squared(square, d) and not _usable(x, codes):
        return -1
    return 1 if total(rounded) != 0.0 else 0


@compiled
def _weigh(weights: Any, scale: float, v: Any, e: Any, a: Any, a_lo: Any) -> None:
    """Write the pairs a + a_lo = (w / scale)(v + e)."""
    for i in range(weights.shape[0]):
        w = weights[i] / scale
        for j in range(v.shape[1]):
            a[i, j], rest = two_product(w, v[i, j])
            a_lo[i, j] = rest + w * e[i, j]


@compiled
def _add_sums(
    a: Any, a_lo: Any, rounded: bool, rows: Any, s: Any, s_lo: Any, x: Any, at: int
) -> None:
    """Add rows of a + a_lo, which is 0 unless ``rounded``, to pairs (padded,).

    Meanwhile x (n · d,) is asked for from ``at`` on.
    """
    width, a, a_lo = a.shape[1], a.reshape(-1), a_lo.reshape(-1)
    for j in range(0, s.shape[0], LANES):
        hi, lo = load(s, j), load(s_lo, j)
        for r in range(rows.shape[0]):
            prefetch(x, at)
            at += LANES
            hi, rest = two_sum(hi, load(a, rows[r] * width + j))
            lo += rest
            if rounded:
                lo += load(a_lo, rows[r] * width + j)
        store(s, j, hi)
        store(s_lo, j, lo)


@compiled
def _largest_weight(weights: Any, codes: Any) -> float:
    """Return a power of two above the weights of all rows that have a group."""
    largest = 0.0
    for i in range(weights.shape[0]):
        if codes[i] >= 0:
            largest = max(largest, weights[i])
    return math.ldexp(1.0, math.frexp(largest)[1])


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
    g, homes = pivot.shape[0], products.shape[0]
    padded = -(-d // LANES) * LANES
    start, order = np.zeros(g + 2, np.intp), np.zeros(TILE_ROWS, np.intp)
    cells, last = x.reshape(-1), np.zeros((TILE_ROWS, padded))
    v = aligned(TILE_ROWS * padded).reshape(TILE_ROWS, padded)
    e = aligned(TILE_ROWS * padded).reshape(TILE_ROWS, padded)
    weighted = weights.shape[0] > 0
    a, a_lo = (np.zeros_like(v), np.zeros_like(v)) if weighted else (v, e)
    scale = _largest_weight(weights, codes) if weighted else 1.0
    border = np.searchsorted(home, np.arange(homes + 1))
    square, spread, p = np.zeros((g, padded)), np.zeros(padded), np.zeros((g, padded))
    limit, room = np.full((homes, d), -np.inf), np.zeros(homes, np.intp)
    fits = np.zeros(homes, np.bool_)
    biased = aligned(homes * 4 * padded * padded).reshape(homes, 2, 2, padded, padded)
    bias, side = np.zeros((homes, padded)), np.zeros(homes, np.intp)
    s = np.zeros((g, 2, padded))
    plain = not weighted  # rows are added as they are
    copy(pivot, p)
    for c in range(g):
        plain &= not any_nonzero(p[c])
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
                plain &= not any_nonzero(p[c])
        left, left_lo, right, rounded = part, part, part, 0
        if not plain:
            rounded = _centre(part, labels, d, p, v, e, square)
            left, left_lo, right = a, a_lo, v
            if weighted:
                _weigh(weights[first : first + rows], scale, v[:rows], e[:rows], a, a_lo)
        all_fit = rounded >= 0
        for m in range(homes):
            members = order[start[border[m]] : start[border[m + 1]]]
            fits[m] = all_fit and room[m] >= members.shape[0]
            if fits[m] and members.shape[0] > 0:
                old, new = biased[m, side[m]], biased[m, 1 - side[m]]
                add_products(exact, left, right, d, members, old, new)
                fits[m] = within(new[0], limit[m])
        for m in range(homes):
            all_fit &= fits[m]
        if plain and not all_fit:
            rounded = _centre(part, labels, d, p, v, e, square)
            left, left_lo, right = v, e, v
        if rounded < 0:
            stopped = first
            break
        pairs = weighted or rounded > 0
        for m in range(homes):
            begin, end = border[m], border[m + 1]
            members = order[start[begin] : start[end]]
            if members.shape[0] == 0:
                continue
            if fits[m]:
                side[m] = 1 - side[m]
            else:
                sum_squares(left, right, members, spread)
                remove_bias(biased[m, side[m]], bias[m], scale, products[m])
                most = max(members.shape[0], min(ROOM, n - first))
                choose_bias(exact, spread, members.shape[0] / most, bias[m], limit[m])
                set_bias(bias[m], biased[m, side[m]])
                add_products(exact, left, right, d, members, biased[m, side[m]], biased[m, side[m]])
                room[m] = most
            room[m] -= members.shape[0]
            for c in range(begin, end):
                of_c, at = order[start[c] : start[c + 1]], (first + TILE_ROWS) * d
                if weighted:
                    for i in of_c:
                        w = weights[first + i]
                        weight[c, 0], weight[c, 1] = add(weight[c, 0], weight[c, 1], w, 0.0)
                else:
                    shows = float(of_c.shape[0])
                    weight[c, 0], weight[c, 1] = add(weight[c, 0], weight[c, 1], shows, 0.0)
                at += start[c] * padded
                _add_sums(left, left_lo, pairs, of_c, s[c, 0], s[c, 1], cells, at)
            if exact and pairs:
                lo = biased[m, side[m], 1]
                add_rounded_products(left, e, d, members, lo, lo)
                add_rounded_products(left_lo, v, d, members, lo, lo)
    for m in range(homes):
        remove_bias(biased[m, side[m]], bias[m], scale, products[m])
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
                    q, q_lo = product_over(q, q_lo, q, q_lo, weight[g, 0], weight[g, 1])
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
                q, q_lo = product_over(a, a_lo, b, b_lo, w, w_lo)
                _add_pair(out[m], i, j, -q, -q_lo)
    for m in range(out.shape[0]):
        for i in range(d):
            for j in range(i):
                out[m, 0, i, j], out[m, 1, i, j] = out[m, 0, j, i], out[m, 1, j, i]
