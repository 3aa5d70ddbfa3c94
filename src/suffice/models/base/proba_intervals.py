"""Intervals of P(c | x) for parameters estimated from finitely many rows.

The scores s_c = log P(x, c) have a mean and a covariance under the posterior of the parameters.
Each class is compared with the rest:

::

    L_c = s_c − log Σ_{e ≠ c} exp s_e        P(c | x) = 1/(1 + exp(−L_c))
    Var L_c = gᵀ Cov(s) g,    g_c = 1,  g_e = −P(e | x)/(1 − P(c | x))

the second by the first-order rule. L_c is taken as normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.answers import Predictions
from suffice.models.base.options import check_level
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import log_normalise
from suffice.sums.batch import Batch

Ends = Callable[[Batch], NDArray[np.float64]]


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """L_c = log P(c | x)/(1 − P(c | x)) of scores (..., k).

    Examples
    --------
    >>> log_odds(np.log([[1.0, 1.0, 2.0]])).round(12) + 0.0
    array([[-1.09861229, -1.09861229,  0.        ]])
    """
    rest = np.empty_like(scores)
    for c in range(scores.shape[-1]):
        rest[..., c] = np.logaddexp.reduce(np.delete(scores, c, axis=-1), axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(scores - rest)


def from_moments(
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float,
) -> NDArray[np.float64]:
    """Ends of the intervals, (n, k, 2), from the moments of the scores.

    Parameters
    ----------
    mean, variance : ndarray (n, k)
        Where a variance is infinite, all classes of the row have the interval (0, 1).
    covariance : ndarray (n, k, k)
        Added to the diagonal of variances.
    level : float

    Examples
    --------
    >>> mean, variance = np.zeros((1, 2)), np.array([[0.5, 0.5]])
    >>> from_moments(mean, variance, np.zeros((1, 2, 2)), 0.95).round(3)
    array([[[0.123, 0.877],
            [0.123, 0.877]]])
    """
    from scipy.special import ndtri

    n, k = mean.shape
    open_rows = np.asarray(np.isinf(variance).any(axis=1))
    variance = np.where(open_rows[:, None], 0.0, variance)
    middle = log_odds(mean)
    p = exp(log_normalise(mean, np.zeros(k))[0])
    spread = np.empty((n, k))
    for c in range(k):
        rest = np.delete(p, c, axis=1)
        total = rest.sum(axis=1, keepdims=True)
        share = rest / np.where(total > 0, total, 1.0)
        gradient = np.insert(-share, c, 1.0, axis=1)
        spread[:, c] = (gradient**2 * variance).sum(axis=1)
        spread[:, c] += np.einsum("na,nab,nb->n", gradient, covariance, gradient)
    reach = ndtri((1 + level) / 2) * np.sqrt(np.maximum(spread, 0.0))
    ends = np.stack([1.0 / (1.0 + exp(-t)) for t in (middle - reach, middle + reach)], axis=-1)
    ends[open_rows] = 0.0, 1.0
    return np.asarray(ends)


def check_interval(interval: str, level: float) -> None:
    """Refuse an interval that is not one of a probability."""
    if interval != "confidence":
        raise ParameterError(
            f"interval={interval!r}",
            "the answers are classes: an interval is one of their probabilities",
            "use 'confidence'",
        )
    check_level(level)


def beside(
    answer: Callable[[Batch], Predictions], ends: Ends, labels: tuple[Any, ...], batch: Batch
) -> Predictions:
    """Predict a batch, with the ends of the intervals."""
    found, of_rows = answer(batch), ends(batch)
    more = {
        f"P({label}) {name}": of_rows[:, c, end]
        for c, label in enumerate(labels)
        for end, name in enumerate(("lower", "upper"))
    }
    return replace(found, more={**found.more, **more})
