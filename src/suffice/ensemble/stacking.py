"""Shares of the members of an average, by what each said of rows that it had not learnt.

::

    max  Σ_i ω_i log Σ_m v_m P_m(y_i | x_i) + a Σ_m log v_m,   v_m ≥ 0,  Σ_m v_m = 1,  a = 3

The second term draws the shares towards equal ones, as if every member had answered a rows alone.

Source: Y. Yao, A. Vehtari, D. Simpson, A. Gelman, Using stacking to average Bayesian predictive
distributions (Bayesian Analysis 13, 2018), eq. 2.4; D. H. Wolpert, Stacked generalization (Neural
Networks 5, 1992).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.elementary import exp

__all__ = ["shares"]

DRAWN_TOGETHER = 3.0  # a, in rows
MOST_STEPS = 10_000
SMALL = 1e-12  # a change of the shares that ends the search


def shares(log_p: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares (M,) of M members, by expectation-maximisation.

    Parameters
    ----------
    log_p : ndarray (n, M)
        log P_m(y_i | x_i), finite.
    weights : ndarray (n,)
        ω of the rows.

    Examples
    --------
    Nine rows of ten are better answered by the first member:

    >>> log_p = np.log([[0.9, 0.5]] * 90 + [[0.1, 0.5]] * 10)
    >>> shares(log_p, np.ones(100)).round(2)
    array([0.86, 0.14])
    >>> shares(log_p, np.zeros(100)).tolist()
    [0.5, 0.5]
    """
    m = log_p.shape[1]
    p = exp(log_p - log_p.max(axis=1, keepdims=True)) if len(log_p) else log_p
    v, total = np.full(m, 1 / m), weights.sum() + m * DRAWN_TOGETHER
    for _ in range(MOST_STEPS):
        answered = p * v
        answered *= (weights / answered.sum(axis=1))[:, None]
        before, v = v, (answered.sum(axis=0) + DRAWN_TOGETHER) / total
        if np.abs(v - before).max() < SMALL:
            break
    return v
