"""Gradient descent on sums over rows: gradients, and steps after every few rows.

Conventions: of a table (n, ≥ p) the first p columns are read. With centres and inverse units (p,)
a row is standardised as it is read,

    z = (constant, (x − m)/s)      t = V z

with coefficients v (m, 1 + p) and ``constant`` 1 or 0. Rows are taken in a given order, by one
thread. What the loss is follows from the targets, when the loop is compiled: numbers (n, m) have
squared errors, class codes (n,) the logistic loss.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

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


# -- the loss of a row: ω ∂ℓ/∂t in the place of t (m,), and ω ℓ added to ``loss``


@register_jitable
def _squared(targets: Any, i: Any, weight: Any, t: Any, loss: Any) -> Any:
    """Half the squared error of every target, ℓ = ½(t − u)²."""
    for k in range(t.shape[0]):
        e = t[k] - targets[i, k]
        loss[k] += 0.5 * weight * e * e
        t[k] = weight * e


@register_jitable
def _logistic(targets: Any, i: Any, weight: Any, t: Any, loss: Any) -> Any:
    """Minus the log-probability of the class: of t₁ − t₀ for two classes, else of every t_c."""
    code = targets[i]
    if t.shape[0] == 1:
        small = exp(-abs(t[0]))
        on_its_side = (code == 1) == (t[0] >= 0.0)
        loss[0] += weight * (log1p(small) + (0.0 if on_its_side else abs(t[0])))
        wrong = (small if on_its_side else 1.0) / (1.0 + small)
        t[0] = -weight * wrong if code == 1 else weight * wrong
        return
    top, own = t.max(), t[code]
    total = 0.0
    for c in range(t.shape[0]):
        t[c] = exp(t[c] - top)
        total += t[c]
    loss[0] += weight * (log(total) + (top - own))
    others = 0.0
    for c in range(t.shape[0]):
        if c != code:
            t[c] *= weight / total
            others += t[c]
    t[code] = -others


def _slopes(targets: Any, i: Any, weight: Any, t: Any, loss: Any) -> Any:
    """The loss that belongs to the targets."""
    raise NotImplementedError


@overload(_slopes)
def _slopes_of(targets: Any, i: Any, weight: Any, t: Any, loss: Any) -> Any:
    return _squared if targets.ndim == 2 else _logistic


# -- loops


@compiled
def add_gradient(
    table: Any,
    targets: Any,
    weights: Any,
    order: Any,
    center: Any,
    inverse: Any,
    v: Any,
    z: Any,
    t: Any,
    g: Any,
    loss: Any,
) -> None:
    """Add Σ ω ℓ to ``loss`` and Σ ω ∂ℓ/∂t zᵀ to ``g`` (m, 1 + p), over the rows in ``order``.

    ``z`` (1 + p,) is room for a row, whose first element is the constant, ``t`` (m,) for scores.
    """
    m, p = v.shape[0], v.shape[1] - 1
    for i in order:
        row = table[i]
        for j in range(p):
            z[1 + j] = (row[j] - center[j]) * inverse[j]
        for k in range(m):
            t[k] = _dot(v[k], z)
        _slopes(targets, i, weights[i], t, loss)
        for k in range(m):
            e, slope = t[k], g[k]
            for j in range(p + 1):
                slope[j] += e * z[j]


@compiled
def descend(
    table: Any,
    targets: Any,
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
    t: Any,
    v: Any,
    velocity: Any,
    loss: Any,
    path: Any,
) -> None:
    """Step after every ``size`` rows of ``order``: v ← v + d with d ← βd − ηg, in place.

    Nesterov's step is βd − ηg with that d. The ``loss`` added is that of each row before its step;
    v after every step is added to ``path``.
    """
    g = np.zeros(v.shape)
    ahead, behind = (momentum, 1.0) if nesterov else (1.0, 0.0)
    for first in range(0, order.shape[0], size):
        rows = order[first : first + size]
        g[:] = 0.0
        add_gradient(table, targets, weights, rows, center, inverse, v, z, t, g, loss)
        share = 1.0 / rows.shape[0]
        for k in range(v.shape[0]):
            at, slope, d, along = v[k], g[k], velocity[k], path[k]
            for j in range(at.shape[0]):
                step = rate * (share * slope[j] + penalty[j] * at[j])
                d[j] = momentum * d[j] - step
                at[j] += ahead * d[j] - behind * step
                along[j] += at[j]
