"""Gradient descent on squared loss: sums over rows, and steps after every few rows.

Conventions: a table (n, p + t) holds p columns and, after them, t targets. With centres and inverse
units (p + t,) it is standardised as it is read,

    z = (constant, (x − m)/s)      u = (y − ȳ)/r      e = zᵀv − u

with v (t, 1 + p) and ``constant`` 1 or 0. Rows are taken in a given order, by one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.kernels.pairs import compiled

__all__ = ["add_gradient", "descend"]

CHAINS = 4  # partial sums of a scalar product, so that additions need not wait for each other


@compiled
def _dot(a: Any, b: Any) -> float:
    whole = a.shape[0] // CHAINS * CHAINS
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for j in range(0, whole, CHAINS):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(whole, a.shape[0]):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


@compiled
def add_gradient(
    table: Any,
    weights: Any,
    order: Any,
    center: Any,
    inverse: Any,
    v: Any,
    z: Any,
    g: Any,
    loss: Any,
) -> None:
    """Add ½ Σ ω e² to ``loss`` (t,) and Σ ω e z to ``g`` (t, 1 + p), over the rows in ``order``.

    ``z`` (1 + p,) is room for a row; its first element is the constant.
    """
    t, p = v.shape[0], v.shape[1] - 1
    for i in order:
        row = table[i]
        for j in range(p):
            z[1 + j] = (row[j] - center[j]) * inverse[j]
        for k in range(t):
            e = _dot(v[k], z) - (row[p + k] - center[p + k]) * inverse[p + k]
            loss[k] += 0.5 * weights[i] * e * e
            e *= weights[i]
            slope = g[k]
            for j in range(p + 1):
                slope[j] += e * z[j]


@compiled
def descend(
    table: Any,
    weights: Any,
    order: Any,
    size: int,
    center: Any,
    inverse: Any,
    penalty: Any,
    rate: float,
    momentum: float,
    nesterov: bool,
    z: Any,
    v: Any,
    velocity: Any,
    loss: Any,
) -> None:
    """Step after every ``size`` rows of ``order``: v ← v + d with d ← βd − ηg, in place.

    Nesterov's step is βd − ηg with that d. The ``loss`` added is that of each row before its step.
    """
    g = np.zeros(v.shape)
    ahead, behind = (momentum, 1.0) if nesterov else (1.0, 0.0)
    for first in range(0, order.shape[0], size):
        rows = order[first : first + size]
        g[:] = 0.0
        add_gradient(table, weights, rows, center, inverse, v, z, g, loss)
        share = 1.0 / rows.shape[0]
        for k in range(v.shape[0]):
            at, slope, d = v[k], g[k], velocity[k]
            for j in range(at.shape[0]):
                step = rate * (share * slope[j] + penalty[j] * at[j])
                d[j] = momentum * d[j] - step
                at[j] += ahead * d[j] - behind * step
