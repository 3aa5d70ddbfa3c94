"""Exact class-wise counts of coded cells, dense event counts and sparse event counts.

Conventions: n rows, d columns, k classes. A row with a negative class code is left out. Codes of
column j are whole numbers from ``low[j]`` to ``low[j] + size[j] − 1``; the columns stand side by
side in a table, column j from ``offsets[j]`` on. ``tally`` (k, M) holds numbers of rows;
``table[c, :, v]`` holds the pair of Σw over the rows of class c that show code v. The pairs of
event counts Σwx are two arrays (k, M), ``hi`` and ``lo``: memory of zeros takes no room before it
is written to, and ``lo`` stays zero while all sums are doubles, as those of whole numbers are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.error_free import two_product, two_sum
from suffice.numerics.kernels.columns import is_valid
from suffice.numerics.kernels.memory import prefetch
from suffice.numerics.kernels.pairs import brief, compiled

__all__ = [
    "add_binary",
    "add_codes",
    "add_events",
    "add_rows",
    "add_sparse_events",
    "add_weighted_codes",
    "are_below",
    "are_counts",
    "look_up",
    "mark",
    "read_codes",
]

SIDE_BY_SIDE = 4  # tallies of the same classes
BITS = 64  # of a word


@compiled
def read_codes(stored: Any, valid: Any, first: int, codes: Any, shown: Any) -> bool:
    """Write codes, −1 where a cell is null, and True to ``shown`` at each; the last is that of −1.

    ``valid`` are the bits of cells that are not null, or nothing; that of cell 0 is the ``first``.
    Returns whether every code has a place.
    """
    n, last, inside = stored.shape[0], shown.shape[0] - 1, True
    for i in range(n):
        code = np.int64(stored[i])
        inside &= 0 <= code < last
        codes[i] = code
    if not inside:  # unless only those of nulls are not
        for i in range(n):
            known = valid.shape[0] == 0 or is_valid(valid, first + i)
            if known and not 0 <= np.int64(stored[i]) < last:
                return False
    if valid.shape[0]:
        for i in range(n):
            if not is_valid(valid, first + i):
                codes[i] = -1
    for i in range(n):
        shown[codes[i] if codes[i] >= 0 else last] = True
    return True


@compiled
def mark(values: Any, low: Any, seen: Any) -> None:
    """Write True to ``seen`` at values − low."""
    one, shown = np.uint64(1), np.uint64(0)
    if seen.shape[0] > BITS:
        for i in range(values.shape[0]):
            seen[values[i] - low] = True
        return
    for i in range(values.shape[0]):
        shown |= one << np.uint64(values[i] - low)
    for place in range(seen.shape[0]):
        seen[place] = shown >> np.uint64(place) & one


@brief
def look_up(values: Any, low: Any, table: Any, codes: Any) -> None:
    """Write ``table[values − low]`` to ``codes``."""
    for i in range(values.shape[0]):
        codes[i] = table[values[i] - low]


@brief
def add_rows(codes: Any, weights: Any, table: Any, rest: Any) -> bool:
    """Add w to ``table[class]``, the pair (k, 2) of each class, or to ``rest`` (1, 2) without.

    Returns whether every code is below k; else nothing is added.
    """
    k = table.shape[0]
    if not are_below(codes, k, -1):
        return False
    if weights.shape[0] == 0:
        tally = np.zeros((SIDE_BY_SIDE, k + 1))  # of one, a sum would wait for the sum before
        for i in range(codes.shape[0]):
            tally[i % SIDE_BY_SIDE, codes[i] if codes[i] >= 0 else k] += 1.0
        for c in range(k + 1):
            _add_weight(table if c < k else rest, c if c < k else 0, tally[:, c].sum())
        return True
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            _add_weight(table, codes[i], weights[i])
        else:
            _add_weight(rest, 0, weights[i])
    return True


@compiled
def _add_weight(table: Any, c: int, w: float) -> None:
    table[c, 0], e = two_sum(table[c, 0], w)
    table[c, 1] += e


@compiled
def add_codes(values: Any, low: Any, size: Any, offsets: Any, codes: Any, tally: Any) -> int:
    """Count rows of weight one.

    Returns −1, or the first row that has a code outside its range; from there on, nothing was
    counted.
    """
    n, d = values.shape
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        for j in range(d):
            v = values[i, j] - low[j]
            if v < 0 or v >= size[j]:
                for back in range(j):
                    tally[c, offsets[back] + values[i, back] - low[back]] -= 1
                return i
            tally[c, offsets[j] + v] += 1
    return -1


@compiled
def add_weighted_codes(
    values: Any, low: Any, size: Any, offsets: Any, codes: Any, weights: Any, table: Any
) -> int:
    """Add w for every row. Returns as `add_codes` does."""
    n, d = values.shape
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        for j in range(d):
            if not 0 <= values[i, j] - low[j] < size[j]:
                return i
        for j in range(d):
            v = offsets[j] + values[i, j] - low[j]
            table[c, 0, v], e = two_sum(table[c, 0, v], weights[i])
            table[c, 1, v] += e
    return -1


@compiled
def add_binary(values: Any, codes: Any, tally: Any) -> None:
    """Count rows of weight one whose codes are −1, 0 or 1: no look-up, so rows are vectors."""
    n, d = values.shape
    k = tally.shape[0]
    ones = np.zeros((k, d), np.int32)
    missing = np.zeros((k, d), np.int32)
    rows = np.zeros(k, np.int64)
    for i in range(n):
        c = codes[i]
        if c >= 0:
            rows[c] += 1
            for j in range(d):
                ones[c, j] += values[i, j] == 1
                missing[c, j] += values[i, j] < 0
    for c in range(k):
        for j in range(d):
            tally[c, 3 * j] += missing[c, j]
            tally[c, 3 * j + 1] += rows[c] - missing[c, j] - ones[c, j]
            tally[c, 3 * j + 2] += ones[c, j]


@compiled
def add_events(x: Any, codes: Any, weights: Any, hi: Any, lo: Any) -> None:
    """Add w · x[i, j] to the pair of class and column j; NaN is a missing cell."""
    n, d = x.shape
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(d):
            v = x[i, j] if x[i, j] == x[i, j] else 0.0
            p, f = two_product(w, v)
            hi[c, j], e = two_sum(hi[c, j], p)
            lo[c, j] += e + f


@compiled
def are_counts(values: Any, largest: float) -> bool:
    """Tell whether values (n,) are from 0 to ``largest``, or NaN: missing."""
    beyond = False
    for q in range(values.shape[0]):
        beyond |= (values[q] < 0) | (values[q] > largest)
    return not beyond


@compiled
def are_below(places: Any, d: int, least: int) -> bool:
    """Tell whether places (n,) are all below d, and none below the least."""
    beyond = False
    for q in range(places.shape[0]):
        beyond |= (places[q] >= d) | (places[q] < least)
    return not beyond


@compiled
def add_sparse_events(
    data: Any, indices: Any, indptr: Any, codes: Any, weights: Any, hi: Any, lo: Any
) -> None:
    """Add w · x to the pair of class and column for every stored cell of a CSR matrix.

    The sums are far apart: with every cell, that at the same place of the next row is asked for.
    """
    n = codes.shape[0]
    last = np.uintp(len(indices) - 1)
    for i in range(n):
        if codes[i] < 0:
            continue
        sums, errors, after = hi[codes[i]], lo[codes[i]], hi[codes[min(i + 1, n - 1)]]
        first, stop = np.uintp(indptr[i]), np.uintp(indptr[i + 1])
        w = weights[i] if weights.shape[0] else 1.0
        for q in range(first, stop):
            prefetch(after, indices[min(q + (stop - first), last)])
            if data[q] == data[q]:
                v = np.uintp(indices[q])
                p, f = two_product(w, np.float64(data[q]))
                sums[v], e = two_sum(sums[v], p)
                if e + f != 0.0:
                    errors[v] += e + f
