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

from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.numerics.elementary import exp, log
from suffice.numerics.logspace import row_sums

__all__ = ["members", "shares"]

DRAWN_TOGETHER = 3.0  # a, in rows


def shares(log_p: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares (M,) of M members, by Newton's method.

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
    total = float(weights.sum()) + m * DRAWN_TOGETHER  # the multiplier of Σ v = 1

    def penalised(v: NDArray[np.float64]) -> Value:
        answered = row_sums(p * v)
        ratio = p / answered[:, None]
        value = total * v.sum() - (weights * log(answered)).sum() - DRAWN_TOGETHER * log(v).sum()
        gradient = total - np.einsum("i,im->m", weights, ratio) - DRAWN_TOGETHER / v
        curvature = np.einsum("i,il,im->lm", weights, ratio, ratio)
        return Value(float(value), gradient, curvature + np.diag(DRAWN_TOGETHER / v**2))

    with np.errstate(divide="ignore", invalid="ignore"):  # a share of 0 costs infinitely much
        v = nonnegative_minimum(penalised, np.full(m, 1 / m))
    return np.asarray(v / v.sum())


def members(
    log_p: NDArray[np.float64], weights: NDArray[np.float64], most: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Which of M candidates are averaged, ``most`` of them, and their shares.

    All have shares; the candidate whose share is the least leaves, and the others have shares anew,
    until so few are left. A candidate that says again what a better one has said leaves early; the
    best by themselves may be three that agree.

    Parameters
    ----------
    log_p : ndarray (n, M)
        log P_m(y_i | x_i), finite.
    weights : ndarray (n,)
        ω of the rows.
    most : int
        1 or more.

    Examples
    --------
    The second says what the first does; the third knows the other rows:

    >>> p = np.array([[0.9, 0.8, 0.3]] * 60 + [[0.2, 0.2, 0.7]] * 40)
    >>> places, v = members(np.log(p), np.ones(100), 2)
    >>> places.tolist(), v.round(2).tolist()
    ([0, 2], [0.61, 0.39])
    """
    places = np.arange(log_p.shape[1])
    while True:
        v = shares(log_p[:, places], weights)
        if len(places) <= most:
            return places, v
        places = np.delete(places, v.argmin())
