"""Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.

Conventions: n rows, d features. Rows belong to g groups, each with a pivot p (g, d) and the pairs
``weight`` (g, 2) and ``sums`` (g, 2, d). ``products`` (m, 2, d, d) holds the pairs of the upper
triangles, which group i shares with all groups of the same ``home[i]``; where that is −1, they are
0 and take no place.

Products are biased while the rows of a chunk are added (``products.py``).
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
    two_product,
    two_sum,
)
from suffice.numerics.kernels.lanes import LANES, choose, fma, load, splat, store, total, turn
from suffice.numerics.kernels.memory import aligned, prefetch
from suffice.numerics.kernels.moments import (
    NOISE,
    any_nonzero,
    can_be_squared,
    choose_pivots,
    copy,
    group,
    near,
    product_over,
)
from suffice.numerics.kernels.pairs import compiled
from suffice.numerics.kernels.products import (
    SIDE,
    STRIDE,
    TILE_ROWS,
    add_products,
    add_rounded_products,
    choose_bias,
    remove_bias,
    set_bias,
    table,
)

__all__ = ["add_rows", "add_scattered_rows", "merge", "recentre", "scatter", "settle"]

CHUNK_CELLS = 2**16  # looked at, then added while they are near
LEAST_ROWS = 1_024  # of a home in a chunk, about, so that its bias is worth its while
MOST_HOMES = 1_024  # so many rows of them, whose squares can still be added


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
def _look(x: Any, y: Any, codes: Any, shares: Any, p: Any, square: Any) -> bool:
    """Write Σw((x, y) − p)² of every group; tell whether a difference was rounded.

    ``shares`` are the weights, or one that all rows have; p and ``square`` are (g, width).
    """
    stride, width, cells, squares = x.shape[1], p.shape[1], x.reshape(-1), square.reshape(-1)
    mask, p_x, square_y = np.zeros(width), np.zeros_like(p), np.zeros((p.shape[0], y.shape[1]))
    mask[:stride] = 1.0  # the last panel of a row reads into the next one
    copy(p[:, :stride], p_x)
    pivots, plain = p_x.reshape(-1), not any_nonzero(p_x.reshape(-1))
    zero, rounded, rounded_y = splat(0.0), splat(0.0), False
    share, w = shares[0], splat(shares[0])
    squares[:] = 0.0
    for i in range(codes.shape[0]):
        c = codes[i]
        if c < 0:
            continue
        if shares.shape[0] > 1:
            share, w = shares[i], splat(shares[i])
        for j in range(0, stride, LANES):
            at, value = c * width + j, load(cells, i * stride + j)
            value = choose(load(mask, j), zero, value, zero)
            if not plain:
                value, error = two_sum(value, zero - load(pivots, at))
                rounded = fma(error, error, rounded)
            store(squares, at, fma(w * value, value, load(squares, at)))
        for j in range(y.shape[1]):
            v, e = two_sum(y[i, j], -p[c, stride + j])
            square_y[c, j] += share * v * v
            rounded_y |= e != 0.0
    for c in range(p.shape[0]):
        for j in range(y.shape[1]):
            square[c, stride + j] = square_y[c, j]
    return rounded_y or total(rounded) != 0.0


@compiled
def _turn_rows(
    x: Any,
    y: Any,
    rows: Any,
    codes: Any,
    p: Any,
    rounded: bool,
    v: Any,
    e: Any,
    strip: Any,
    ahead: int,
) -> None:
    """Write v + e = (x, y) − p of some rows to a tile; e stays as it is unless ``rounded``.

    Rows of zeros fill up the last eight. Meanwhile the rows ``ahead`` rows from here are asked for.
    """
    stride, width, cells, pivots = x.shape[1], p.shape[1], x.reshape(-1), p.reshape(-1)
    errors, zero = LANES * width, splat(0.0)
    for r in range(0, rows.shape[0], LANES):
        for i in range(LANES):
            to = i * width
            if r + i >= rows.shape[0]:
                strip[to : to + width] = strip[errors + to : errors + to + width] = 0.0
                continue
            row = rows[r + i]
            at, c = row * stride, codes[row]
            for j in range(0, stride, LANES):
                prefetch(cells, at + ahead * stride + j)
                value, error = two_sum(load(cells, at + j), zero - load(pivots, c * width + j))
                store(strip, to + j, value)
                if rounded:
                    store(strip, errors + to + j, error)
            for j in range(y.shape[1]):
                at = to + stride + j
                strip[at], strip[errors + at] = two_sum(y[row, j], -p[c, stride + j])
        for j in range(0, width, LANES):
            turn(strip, j, width, v, j * STRIDE + r, STRIDE)
            if rounded:
                turn(strip, errors + j, width, e, j * STRIDE + r, STRIDE)


@compiled
def _weigh(shares: Any, rows: Any, d: int, v: Any, e: Any, a: Any, a_lo: Any) -> None:
    """Write the pairs a + a_lo = w(v + e) of the rows of a tile."""
    zero, w = splat(0.0), np.zeros(TILE_ROWS)
    for r in range(rows.shape[0]):
        w[r] = shares[rows[r]]
    for j in range(0, d * STRIDE, STRIDE):
        for r in range(0, rows.shape[0], LANES):
            share, value = load(w, r), load(v, j + r)
            product = share * value
            store(a, j + r, product)
            store(a_lo, j + r, fma(share, value, zero - product) + share * load(e, j + r))


@compiled
def _add_sums(a: Any, a_lo: Any, pairs: bool, begin: int, end: int, d: int, sums: Any) -> None:
    """Add rows of a tile, a + a_lo if there are pairs, to lanes of pairs (2 · d · 8,)."""
    whole = begin + (end - begin) // LANES * LANES
    mask = np.zeros(LANES)  # it hides the rows behind the last
    mask[: end - whole] = 1.0
    shown = load(mask, 0)
    for j in range(d):
        hi, lo = load(sums, j * LANES), load(sums, (d + j) * LANES)
        for r in range(j * STRIDE + begin, j * STRIDE + whole, LANES):
            hi, rest = two_sum(hi, load(a, r))
            lo += rest
            if pairs:
                lo += load(a_lo, r)
        if whole < end:
            hi, rest = two_sum(hi, shown * load(a, j * STRIDE + whole))
            lo += rest
            if pairs:
                lo += shown * load(a_lo, j * STRIDE + whole)
        store(sums, j * LANES, hi)
        store(sums, (d + j) * LANES, lo)


@compiled
def _shares(weights: Any, codes: Any) -> Any:
    """Return a power of two above the weights of all rows that have a group, and w over it.

    Without weights, every row has the same.
    """
    if weights.shape[0] == 0:
        return 1.0, np.ones(1)
    largest, shares = 0.0, np.empty_like(weights)
    for i in range(weights.shape[0]):
        if codes[i] >= 0:
            largest = max(largest, weights[i])
    scale = math.ldexp(1.0, math.frexp(largest)[1])
    for i in range(weights.shape[0]):
        shares[i] = weights[i] / scale
    return scale, shares


@compiled
def _add_weight(rows: Any, weights: Any, weight: Any) -> None:
    """Add the weights of some rows, or one each, to a pair (2,)."""
    if weights.shape[0] == 0:
        weight[0], weight[1] = add(weight[0], weight[1], float(rows.shape[0]), 0.0)
        return
    for i in rows:
        weight[0], weight[1] = add(weight[0], weight[1], weights[i], 0.0)


@compiled
def _add_lanes(lanes: Any, scale: float, sums: Any) -> None:
    """Add lanes of pairs (2 · d · 8,), times a power of two, to the pairs (2, d)."""
    d = sums.shape[1]
    for j in range(d):
        for at in range(j * LANES, (j + 1) * LANES):
            sums[0, j], rest = two_sum(sums[0, j], scale * lanes[at])
            sums[1, j] += rest + scale * lanes[d * LANES + at]


@compiled
def _add_tile(
    rows: int, exact: bool, weighted: bool, rounded: bool, d: int, tile: Any, s: Any, s_lo: Any
) -> None:
    """Add the products of the rows of a tile, (a + a_lo)(v + e)ᵀ but for a_lo eᵀ, to a table."""
    v, e, a, a_lo = tile
    add_products(exact, a, v, d, rows, s, s_lo)
    if exact and rounded:
        add_rounded_products(a, e, d, rows, s_lo)
    if exact and (weighted or rounded):
        add_rounded_products(a_lo, v, d, rows, s_lo)


@compiled
def add_rows(
    x: Any,
    y: Any,
    codes: Any,
    weights: Any,
    exact: bool,
    weight: Any,
    pivot: Any,
    sums: Any,
    home: Any,
    products: Any,
) -> int:
    """Add complete rows (x, y) to the groups of their codes; ``weights`` is (n,) or empty.

    The d columns are those of x (n, p) and behind them those of y (n, t), of which there may be 0.

    Groups with one home stand side by side. Returns −1, or the first of a chunk of rows that were
    not added, like those after it, because a cell is missing or too large.

    A chunk is looked at, so that the bias of every home is known; then it is added, tile by tile.
    """
    n, d = x.shape[0], x.shape[1] + y.shape[1]
    g, homes, width = pivot.shape[0], products.shape[0], -(-d // LANES) * LANES
    border = np.searchsorted(home, np.arange(homes + 1))
    # The last panel of a row of x reads into the next one: the last rows, or all few, are copied.
    inside = n - LANES if n > TILE_ROWS else 0
    last = np.zeros((n - inside + LANES, x.shape[1]))[: n - inside]
    most = max(LEAST_ROWS * min(homes, MOST_HOMES), CHUNK_CELLS // d)
    size = max(last.shape[0], min(inside, most))
    start, order = np.zeros(g + 2, np.intp), np.zeros(size, np.intp)
    p, square, bias = np.zeros((g, width)), np.zeros((g, width)), np.zeros(d + SIDE)
    weighted, (scale, shares) = weights.shape[0] > 0, _shares(weights, codes)
    v, e = aligned((d + LANES) * STRIDE), aligned((d + LANES) * STRIDE)
    a, a_lo = (np.zeros_like(v), np.zeros_like(e)) if weighted else (v, e)
    strip, lanes, (s, s_lo) = aligned(2 * LANES * width), np.zeros((g, 2 * d * LANES)), table(d)
    copy(pivot, p)
    first, stopped, rounded = 0, -1, False
    while first < n:
        many = min(size, inside - first) if first < inside else n - first
        part, beside = x[first : first + many], y[first : first + many]
        labels = codes[first : first + many]
        if first >= inside:
            copy(part, last)
            part = last
        share = shares[first : first + many] if weighted else shares
        group(labels, start, order)
        for c in range(g):
            if start[c + 1] > start[c] and weight[c, 0] == 0.0:
                rows = order[start[c] : start[c + 1]][:TILE_ROWS]
                choose_pivots(part, rows, np.zeros(x.shape[1]), p[c])
                choose_pivots(beside, rows, np.zeros(y.shape[1]), p[c, x.shape[1] :])
        rounded = _look(part, beside, labels, share, p, square) or rounded
        seen = not weighted and can_be_squared(square, d)  # a weight may hide a number too large
        if not seen and not (_usable(part, labels) and _usable(beside, labels)):
            stopped = first
            break
        for m in range(homes):
            begin, end = border[m], border[m + 1]
            if start[begin] == start[end]:
                continue
            choose_bias(exact, square[begin:end], bias[:d])
            set_bias(bias, d, s, s_lo)
            for at in range(start[begin], start[end], TILE_ROWS):
                rows = order[at : min(at + TILE_ROWS, start[end])]
                _turn_rows(part, beside, rows, labels, p, rounded, v, e, strip, size)
                if weighted:
                    _weigh(share, rows, d, v, e, a, a_lo)
                _add_tile(rows.shape[0], exact, weighted, rounded, d, (v, e, a, a_lo), s, s_lo)
                for c in range(begin, end):
                    here = max(0, start[c] - at), min(rows.shape[0], start[c + 1] - at)
                    if here[0] < here[1]:
                        _add_sums(a, a_lo, weighted or rounded, here[0], here[1], d, lanes[c])
            remove_bias(s, s_lo, bias, scale, products[m])
        for c in range(g):
            _add_weight(order[start[c] : start[c + 1]], weights[first:], weight[c])
        first += many
    for c in range(g):
        _add_lanes(lanes[c], scale, sums[c])
    copy(p, pivot)
    return stopped


@compiled
def add_scattered_rows(
    x: Any, groups: Any, weights: Any, weight: Any, pivot: Any, sums: Any, home: Any, products: Any
) -> None:
    """Add rows (n, d) to their groups, all new, one by one; a missing cell adds nothing.

    The pivot of a group without products is its only row.
    """
    n, d = x.shape
    v, e, a, a_lo = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    start, order = np.zeros(pivot.shape[0] + 2, np.intp), np.zeros(n, np.intp)
    group(groups, start, order)
    for g in range(pivot.shape[0]):
        if home[g] >= 0:
            choose_pivots(x, order[start[g] : start[g + 1]], np.zeros(d), pivot[g])
            continue
        for i in order[start[g] : start[g + 1]]:
            for j in range(d):
                pivot[g, j] = x[i, j] if x[i, j] == x[i, j] else 0.0
    for i in range(n):
        g = groups[i]
        w = weights[i] if weights.shape[0] else 1.0
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
def _squares(weight: Any, sums: Any, home: Any, products: Any) -> Any:
    """Return the pairs (m, 2, d) of Σw(x − x̄)² = P − Σ S²/W over the groups of every home."""
    d = sums.shape[2]
    out = np.zeros((products.shape[0], 2, d))
    for m in range(products.shape[0]):
        for j in range(d):
            out[m, 0, j], out[m, 1, j] = two_sum(products[m, 0, j, j], products[m, 1, j, j])
    for g in range(home.shape[0]):
        m = home[g]
        if m < 0 or weight[g, 0] <= 0.0:
            continue
        for j in range(d):
            q, q_lo = two_sum(sums[g, 0, j], sums[g, 1, j])
            q, q_lo = product_over(q, q_lo, q, q_lo, weight[g, 0], weight[g, 1])
            out[m, 0, j], out[m, 1, j] = add(out[m, 0, j], out[m, 1, j], -q, -q_lo)
    return out


@compiled
def _level(m: int, j: int, weight: Any, pivot: Any, sums: Any, home: Any, products: Any) -> None:
    """Leave a scatter of exactly 0 of feature j in the groups of a home: each value is its mean."""
    for g in range(home.shape[0]):
        if home[g] == m and weight[g, 0] > 0.0:
            q, q_lo = two_sum(sums[g, 0, j], sums[g, 1, j])
            q, q_lo = divide(q, q_lo, weight[g, 0], weight[g, 1])
            pivot[g, j] = add(pivot[g, j], 0.0, q, q_lo)[0]
            sums[g, 0, j] = sums[g, 1, j] = 0.0
    products[m, :, j, :] = 0.0
    products[m, :, :, j] = 0.0


@compiled
def settle(weight: Any, pivot: Any, sums: Any, home: Any, products: Any, before: Any) -> int:
    """After rows were taken away: of values that are all equal, leave a scatter of exactly 0.

    ``before`` (m, d) are the sums of squares that there were. Returns −1, or a feature whose
    scatter would be negative.
    """
    rest = _squares(weight, sums, home, products)
    for m in range(products.shape[0]):
        for j in range(pivot.shape[1]):
            if rest[m, 0, j] < -1e-12 * before[m, j]:
                return j
            if rest[m, 0, j] <= NOISE * before[m, j]:
                _level(m, j, weight, pivot, sums, home, products)
    return -1


@compiled
def _spreads(weight: Any, pivot: Any, sums: Any, home: Any, products: Any) -> Any:
    """Return the standard deviations (m, d) of every home; −1 where pivots are to stay."""
    spread, total = _squares(weight, sums, home, products)[:, 0], np.zeros(products.shape[0])
    for g in range(home.shape[0]):
        if home[g] >= 0:
            total[home[g]] += weight[g, 0]
    for m in range(products.shape[0]):
        least = SMALLEST * SMALLEST * max(total[m], 1.0)
        for j in range(pivot.shape[1]):
            if products[m, 0, j, j] < least:
                spread[m, j] = -1.0
            elif spread[m, j] <= 0.0:
                _level(m, j, weight, pivot, sums, home, products)
                spread[m, j] = -1.0
            else:
                spread[m, j] = math.sqrt(spread[m, j] / total[m])
    return spread


@compiled
def recentre(weight: Any, pivot: Any, sums: Any, home: Any, products: Any) -> None:
    """Move the pivots, in place, to where means and scatters alone decide, see `near`.

    With δ = p′ − p:  S′ = S − Wδ  and  P′ = P − δSᵀ − S′δᵀ.

    Pivots that are the values, or so near to them that squares underflow, stay.
    """
    d = pivot.shape[1]
    spread = _spreads(weight, pivot, sums, home, products)
    delta, delta_lo, s, s_lo = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for g in range(home.shape[0]):
        m, w, w_lo = home[g], weight[g, 0], weight[g, 1]
        if m < 0:
            continue
        moved = False
        for j in range(d):
            s[j], s_lo[j] = two_sum(sums[g, 0, j], sums[g, 1, j])
            p = pivot[g, j]
            if spread[m, j] >= 0.0:
                # As `Comoments.mean` has it.
                q, q_lo = multiply(w, w_lo, p, 0.0)
                q, q_lo = add(q, q_lo, s[j], s_lo[j])
                p = near(divide(q, q_lo, w, w_lo)[0], spread[m, j])
            delta[j], delta_lo[j] = two_sum(p, -pivot[g, j])
            moved |= delta[j] != 0.0
            pivot[g, j] = p
            q, q_lo = multiply(w, w_lo, delta[j], delta_lo[j])
            sums[g, 0, j], sums[g, 1, j] = add(s[j], s_lo[j], -q, -q_lo)
        if not moved:
            continue
        for j in range(d):
            for h in range(j, d):
                q, q_lo = multiply(delta[j], delta_lo[j], s[h], s_lo[h])
                f, f_lo = multiply(sums[g, 0, j], sums[g, 1, j], delta[h], delta_lo[h])
                q, q_lo = add(q, q_lo, f, f_lo)
                _add_pair(products[m], j, h, -q, -q_lo)


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
