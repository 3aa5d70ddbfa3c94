"""The least variance of a Gaussian, chosen from moments by an expected leave-one-out log loss."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from suffice.numerics.arrays import Floats
from suffice.numerics.elementary import log
from suffice.numerics.logspace import log_sum_exp, row_sums

FRACTIONS = tuple(10.0**exponent for exponent in range(-9, 0))
"""Fractions of a column's pooled variance that are tried: 1e-9, 1e-8, …, 0.1."""
TIE = 1e-9  # fraction of a loss within which the smaller floor is taken


class StandardMoments(NamedTuple):
    """Moments (k, d) of classes, in units in which all classes together have 0 and 1."""

    n: Floats  # Σw of the observed cells
    mean: Floats  # x̄; 0 where there are no rows
    scatter: Floats  # Σ(x − x̄)²/n; 1 where there are none
    variance: Floats  # σ² of the model, before it has a floor

    @classmethod
    def of(
        cls, n: Floats, shift: Floats, scatter: Floats, variance: Floats, pooled: Floats
    ) -> Self:
        """From moments in the units of the columns; those that do not vary are left out.

        Σw, means from those of all classes together, and Σ(x − x̄)²/n are (k, d); σ² of the model is
        (k, d) or (1, d), and the variances over all classes (d,).
        """
        used = pooled > 0
        n, unit, shown = n[:, used], pooled[used], n[:, used] > 0
        mean = np.where(shown, shift[:, used] / np.sqrt(unit), 0.0)
        own = np.where(shown, scatter[:, used] / unit, 1.0)
        return cls(n, mean, own, np.broadcast_to(variance[:, used] / unit, n.shape))


def best_fraction(moments: StandardMoments) -> float:
    """Return the one of `FRACTIONS` of least `expected_log_loss`, the smallest of equal ones."""
    if not moments.n.size or len(moments.n) < 2:
        return FRACTIONS[0]
    losses = [expected_log_loss(moments, fraction) for fraction in FRACTIONS]
    least = min(losses)
    return next(
        fraction
        for fraction, loss in zip(FRACTIONS, losses, strict=True)
        if loss <= least + TIE * abs(least)
    )


def expected_log_loss(moments: StandardMoments, fraction: float) -> float:
    """Return the log loss to be expected of a row that was left out, from moments alone.

    A log-likelihood of a Gaussian is linear in (x − μ)², so its mean over the rows of a class
    follows exactly from their moments. A row of class c that was left out is at

    ::

        E(x_j − μ_c,−i)² = (n/(n − 1))² s²_cj            from its own class
        E(x_j − μ_b)²    = s²_cj + (μ_cj − μ_bj)²        from class b

    By the rule of succession, one in n_cj + 1 cells is unseen in its class; it is taken to be one
    of all classes together, at E(x_j − μ_b)² = s²_j + (μ_j − μ_bj)². With v = max(σ², ε s²_j), ε
    the fraction, and ℓ_bj(q) = −½ log v_bj − q/2v_bj, the log-odds of class b against c are

    ::

        L_b = log N_b/N_c + Σ_j ℓ_bj(q_bj) − ℓ_cj(q_cj)    all cells as in class c
        L_bj                                               the same, but cell j is a surprise

    and the loss, to the first order in the probabilities of a surprise,

    ::

        Σ_c N_c/N (H_c + Σ_j (H_cj − H_c)/(n_cj + 1)),    H = log Σ_b exp L_b

    with N_c the largest n_cj. Means of log-odds stand where rows have each their own, so it is no
    estimate of the log loss to come: it weighs certainty against the cost of a surprise.
    """
    n, mean, scatter, variance = moments
    v = np.maximum(variance, fraction)
    rows = n.max(axis=1)
    prior = log(np.maximum(rows, np.finfo(np.float64).tiny))
    left_out = np.where(n > 1, (n / np.maximum(n - 1, 1)) ** 2, 1.0)
    scale, surprise = -0.5 * log(v), 1.0 + mean**2
    loss = 0.0
    for c in np.flatnonzero(rows > 0).tolist():
        distance = scatter[c] + (mean[c] - mean) ** 2
        distance[c] = left_out[c] * scatter[c]
        usual, other = scale - distance / (2 * v), scale - surprise / (2 * v)
        usual, other = usual - usual[c], other - other[c]
        total = row_sums(usual) + (prior - prior[c])
        odds = np.vstack([total, (total[:, None] - usual + other).T])
        h = log_sum_exp(odds)
        surprised = row_sums(((h[1:] - h[0]) / (n[c] + 1))[None])[0]
        loss += rows[c] * float(h[0] + surprised)
    return loss / float(rows.sum())
