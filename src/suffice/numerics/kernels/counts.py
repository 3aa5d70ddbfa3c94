"""Exact class-wise counts of coded cells, dense event counts and sparse event counts.

Conventions: n rows, d columns, k classes. A row with a negative class code is left out. Codes of
column j are whole numbers from ``low[j]`` to ``low[j] + size[j] − 1``; the columns stand side by
side in a table, column j from ``offsets[j]`` on. ``tally`` (k, M) holds numbers of rows;
``table[c, :, v]`` holds the pair of Σw over the rows of class c that show code v.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.exact import two_product, two_sum
from suffice.numerics.kernels.pairs import compiled

__all__ = [
    "add_binary",
    "add_codes",
    "add_events",
    "add_rows",
    "add_sparse_events",
    "add_weighted_codes",
]


@compiled
def add_rows(codes: Any, weights: Any, table: Any) -> None:
    """Add w to ``table[class]``, the pair (k, 2) of the weight of each class."""
    if weights.shape[0] == 0:
        tally = np.zeros(table.shape[0])
        for i in range(codes.shape[0]):
            if codes[i] >= 0:
                tally[codes[i]] += 1.0
        for c in range(table.shape[0]):
            table[c, 0], e = two_sum(table[c, 0], tally[c])
            table[c, 1] += e
        return
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= 0:
            table[c, 0], e = two_sum(table[c, 0], weights[i])
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
def add_events(x: Any, codes: Any, weights: Any, table: Any) -> None:
    """Add w · x[i, j] to ``table[class, j]``; NaN is a missing cell."""
    n, d = x.shape
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(d):
            v = x[i, j] if x[i, j] == x[i, j] else 0.0
            p, f = two_product(w, v)
            s, e = two_sum(table[c, 0, j], p)
            table[c, 0, j] = s
            table[c, 1, j] += e + f


@compiled
def add_sparse_events(
    data: Any, indices: Any, indptr: Any, codes: Any, weights: Any, table: Any
) -> None:
    """Add w · x to ``table[class, column]`` for every stored cell of a CSR matrix.

    Rows are taken class by class: one class's row of the table fits a cache, all do not.
    """
    n = codes.shape[0]
    k = table.shape[0]
    start = np.zeros(k + 1, np.int64)
    order = np.empty(n, np.int64)
    for i in range(n):
        if codes[i] >= 0:
            start[codes[i] + 1] += 1
    for c in range(k):
        start[c + 1] += start[c]
    for i in range(n):
        if codes[i] >= 0:
            order[start[codes[i]]] = i
            start[codes[i]] += 1
    for i in order[: start[k - 1] if k else 0]:
        hi, lo = table[codes[i], 0], table[codes[i], 1]
        w = weights[i] if weights.shape[0] else 1.0
        for q in range(indptr[i], indptr[i + 1]):
            if data[q] == data[q]:
                p, f = two_product(w, float(data[q]))
                v = indices[q]
                hi[v], e = two_sum(hi[v], p)
                if e + f != 0.0:
                    lo[v] += e + f
