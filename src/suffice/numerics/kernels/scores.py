"""Log-likelihoods of a block under every class, added to ``out`` (n, k).

NaN or a negative code is a missing cell: it adds nothing. The order of additions is fixed, so the
same row gives the same bits wherever it stands.
"""

from __future__ import annotations

import math
from typing import Any

from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_linear", "add_quadratic", "add_sparse_linear", "add_student", "add_table"]


@compiled
def add_quadratic(x: Any, mean: Any, precision: Any, log_scale: Any, out: Any) -> None:
    """Gaussian: add Σⱼ log_scale[c, j] − ½ precision[c, j] (x[i, j] − mean[c, j])²."""
    k, d = mean.shape
    for i in range(x.shape[0]):
        for c in range(k):
            total = 0.0
            for j in range(d):
                v = x[i, j] - mean[c, j]
                if v == v:
                    total += log_scale[c, j] - 0.5 * precision[c, j] * v * v
            out[i, c] += total


@compiled
def add_student(x: Any, mean: Any, precision: Any, power: Any, log_scale: Any, out: Any) -> None:
    """Student-t: add Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²)."""
    k, d = mean.shape
    for i in range(x.shape[0]):
        for c in range(k):
            total = 0.0
            for j in range(d):
                v = x[i, j] - mean[c, j]
                if v == v:
                    total += log_scale[c, j] - power[c, j] * math.log1p(precision[c, j] * v * v)
            out[i, c] += total


@compiled
def add_linear(x: Any, slope: Any, out: Any) -> None:
    """Event counts: add Σⱼ x[i, j] · slope[c, j], where 0 · (−∞) = 0."""
    k, d = slope.shape
    for i in range(x.shape[0]):
        for c in range(k):
            total = 0.0
            for j in range(d):
                if x[i, j] == x[i, j] and x[i, j] != 0.0:
                    total += x[i, j] * slope[c, j]
            out[i, c] += total


@compiled
def add_sparse_linear(data: Any, indices: Any, indptr: Any, slope: Any, out: Any) -> None:
    """Event counts of a CSR matrix: ``slope`` is (d, k), one token's weights side by side."""
    d, k = slope.shape
    for i in range(indptr.shape[0] - 1):
        for q in range(indptr[i], indptr[i + 1]):
            v = indices[q]
            if v < d and data[q] == data[q] and data[q] != 0:
                for c in range(k):
                    out[i, c] += data[q] * slope[v, c]


@compiled
def add_table(values: Any, offsets: Any, table: Any, out: Any) -> None:
    """Categories: add Σⱼ table[offsets[j] + values[i, j], c]; ``table`` is (M, k)."""
    n, d = values.shape
    k = table.shape[1]
    for i in range(n):
        for j in range(d):
            if values[i, j] >= 0:
                v = offsets[j] + values[i, j]
                for c in range(k):
                    out[i, c] += table[v, c]
