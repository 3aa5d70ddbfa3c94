"""Probabilities kept as logarithms: log-sum-exp and normalisation.

Densities underflow; their logarithms do not. Nothing is exponentiated before the largest log
joint of its row is taken out, and −∞ (an impossible event) is a legal value.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics import kernels
from suffice.numerics.arrays import Floats
from suffice.numerics.memory import require_memory

LARGE = 2**25  # numbers, for which memory is asked: 256 MB
FEWER_ROWS = "ask about fewer rows at a time, or make labels fewer"


def scores(n: int, k: int, start: float | None = None) -> Floats:
    """An array for the scores (n, k) of n rows, one class after the other; filled if asked for.

    The spare row keeps the memory layout the same for every n: kernels are compiled per layout.
    """
    if n * k > LARGE:
        require_memory(8.0 * n * k, f"scores of {n:,} rows and {k:,} classes", FEWER_ROWS)
    out = np.empty((k, n + 1)).T[:n]
    if start is not None:
        out[:] = start
    return out


def cell_scores(n: int, d: int, k: int) -> Floats:
    """An array for the scores (n, d, k) of every cell, 0 at first; each column as in `scores`."""
    if n * d * k > LARGE:
        what = f"terms of {n:,} rows, {d:,} columns and {k:,} classes"
        require_memory(8.0 * n * d * k, what, FEWER_ROWS)
    return np.zeros((d, k, n + 1)).transpose(2, 0, 1)[:n]


def row_sums(terms: Floats) -> Floats:
    """Return Σⱼ a_ij of every row of (n, d, ...), added from left to right, (n, ...).

    A sum of NumPy along an axis has another order where a row is alone, or lies otherwise in
    memory.
    """
    n, d, *rest = terms.shape
    if n < d:
        return np.add.accumulate(terms, axis=1)[:, -1]
    sums = np.zeros((n, *rest))
    for j in range(d):
        sums += terms[:, j]
    return sums


def log_sum_exp(log_joint: Floats) -> Floats:
    """Return log Σ_c exp(a_c) of each row of (n, k): m + log Σ_c exp(a_c − m) with m = max_c a_c.

    A number may be −∞; the sum is −∞ where the whole row is.
    """
    out = np.empty(len(log_joint))
    kernels.posterior.log_sum_exp(log_joint, out)
    return out


def log_normalise(log_joint: Floats, log_prior: Floats) -> tuple[Floats, int]:
    """Return log P(c | x) = log P(c, x) − log Σ_c P(c, x), (n, k), and how many rows fell back.

    A row that is impossible under every class has no posterior; the prior (k,) is its answer.
    """
    posterior = np.empty_like(log_joint)
    return posterior, kernels.posterior.log_normalise(log_joint, log_prior, posterior)


def normalise(log_joint: Floats, prior: Floats) -> tuple[Floats, int]:
    """Return P(c | x) = exp(a_c − m) / Σ_c exp(a_c − m) with m = max_c a_c; see `log_normalise`.

    The log joint (n, k) is overwritten by it.
    """
    return log_joint, kernels.posterior.normalise(log_joint, prior)
