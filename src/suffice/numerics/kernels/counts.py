"""Exact class-wise counts of coded cells, dense event counts and sparse event counts.

Conventions: n rows, d columns, k classes, M = Σ mⱼ categories of all columns side by side.
``table[c, :, v]`` holds the pair of Σw over the rows of class c that show category v. A negative
code is a missing cell; a row with a negative class code is left out.
"""

from __future__ import annotations

from typing import Any

from suffice.numerics.exact import two_product, two_sum
from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_codes", "add_events", "add_rows", "add_sparse_events"]


@compiled
def add_rows(codes: Any, weights: Any, table: Any) -> None:
    """Add w to ``table[class]``, the pair (k, 2) of the weight of each class."""
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= 0:
            w = weights[i] if weights.shape[0] else 1.0
            table[c, 0], e = two_sum(table[c, 0], w)
            table[c, 1] += e


@compiled
def add_codes(values: Any, offsets: Any, codes: Any, weights: Any, table: Any) -> None:
    """Add w to ``table[class, offsets[j] + values[i, j]]``; ``weights`` is (n,) or empty."""
    n, d = values.shape
    for i in range(n):
        c = codes[i]
        if c < 0:
            continue
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(d):
            if values[i, j] >= 0:
                v = offsets[j] + values[i, j]
                table[c, 0, v], e = two_sum(table[c, 0, v], w)
                table[c, 1, v] += e


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
            if x[i, j] == x[i, j]:
                p, f = two_product(w, x[i, j])
                table[c, 0, j], e = two_sum(table[c, 0, j], p)
                table[c, 1, j] += e + f


@compiled
def add_sparse_events(
    data: Any, indices: Any, indptr: Any, codes: Any, weights: Any, table: Any
) -> None:
    """Add w · x to ``table[class, column]`` for every stored cell of a CSR matrix."""
    for i in range(indptr.shape[0] - 1):
        c = codes[i]
        if c < 0:
            continue
        w = weights[i] if weights.shape[0] else 1.0
        for q in range(indptr[i], indptr[i + 1]):
            if data[q] == data[q]:
                p, f = two_product(w, float(data[q]))
                v = indices[q]
                table[c, 0, v], e = two_sum(table[c, 0, v], p)
                table[c, 1, v] += e + f
