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

    Examples
    --------
    >>> row_sums(np.array([[1.0, 2.0, 4.0]]))
    array([7.])
    """
    n, d, *rest = terms.shape
    if n < d:
        return np.add.accumulate(terms, axis=1)[:, -1]
    sums = np.zeros((n, *rest))
    for j in range(d):
        sums += terms[:, j]
    return sums


def log_sum_exp(log_joint: Floats) -> Floats:
    """Return log Σ_c exp(a_c) for every row: m + log Σ_c exp(a_c − m) with m = max_c a_c.

    Parameters
    ----------
    log_joint : ndarray (n, k)
        Logarithms, −∞ allowed.

    Returns
    -------
    ndarray (n,)
        −∞ where the whole row is −∞.

    Examples
    --------
    >>> log_sum_exp(np.array([[-1000.0, -1000.0], [-np.inf, -np.inf]]))
    array([-999.30685282,          -inf])
    """
    out = np.empty(len(log_joint))
    kernels.posterior.log_sum_exp(log_joint, out)
    return out


def log_normalise(log_joint: Floats, log_prior: Floats) -> tuple[Floats, int]:
    """Return log P(c | x) = log P(c, x) − log Σ_c P(c, x), and how many rows fell back.

    A row that is impossible under every class has no posterior; the prior is its answer.

    Parameters
    ----------
    log_joint : ndarray (n, k)
        log P(c, x).
    log_prior : ndarray (k,)
        log P(c).

    Returns
    -------
    log_posterior : ndarray (n, k)
    impossible : int
        Number of rows answered by the prior.

    Examples
    --------
    >>> log_normalise(np.array([[-np.inf, -np.inf]]), np.log([0.25, 0.75]))[0]
    array([[-1.38629436, -0.28768207]])
    """
    posterior = np.empty_like(log_joint)
    return posterior, kernels.posterior.log_normalise(log_joint, log_prior, posterior)


def normalise(log_joint: Floats, prior: Floats) -> tuple[Floats, int]:
    """Return P(c | x) = exp(a_c − m) / Σ_c exp(a_c − m) with m = max_c a_c.

    Parameters
    ----------
    log_joint : ndarray (n, k)
        log P(c, x); overwritten.
    prior : ndarray (k,)
        P(c), the answer for a row that is impossible under every class.

    Returns
    -------
    posterior : ndarray (n, k)
    impossible : int
        Number of rows answered by the prior.

    Examples
    --------
    >>> normalise(np.array([[-1000.0, -1000.0], [-np.inf, -np.inf]]), np.array([0.25, 0.75]))
    (array([[0.5 , 0.5 ],
           [0.25, 0.75]]), 1)
    """
    return log_joint, kernels.posterior.normalise(log_joint, prior)
