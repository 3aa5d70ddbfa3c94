"""Probabilities from counts, under a Dirichlet prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.options import Alpha

__all__ = ["dirichlet", "dirichlet_columns", "prior_counts", "pseudo_counts"]


def pseudo_counts(alpha: Alpha, events: int) -> float | NDArray[np.float64]:
    """α as a number, or as an array (events,).

    Raises
    ------
    ParameterError
        If there are more or fewer than events.
    """
    if not isinstance(alpha, tuple):
        return float(alpha)
    if len(alpha) != events:
        raise ParameterError(
            f"alpha has {len(alpha)} numbers for {events} columns",
            "alpha is one number, or one for every column",
        )
    return np.array(alpha)


def prior_counts(
    alpha: float | NDArray[np.float64], estimation: str
) -> float | NDArray[np.float64]:
    """What the prior adds to every count: 0 (``mle``), α − 1 (``map``) or α (``bayes``)."""
    return {"mle": 0.0 * alpha, "map": alpha - 1.0, "bayes": alpha}[estimation]


def dirichlet(
    count: NDArray[np.float64], alpha: float | NDArray[np.float64], estimation: str, m: int
) -> NDArray[np.float64]:
    """Probabilities of categories from their counts N under a Dirichlet(α) prior.

    ::

        mle    N_v / N              maximum likelihood
        map    (N_v + α − 1) / (N + m(α − 1))    mode of the posterior, α ≥ 1
        bayes  (N_v + α) / (N + mα)              its mean: Laplace's rule for α = 1

    Parameters
    ----------
    count : ndarray (k, ..., v)
        N_v for every class. Categories of the m that are not among the v have count 0.
    alpha : float, or ndarray that broadcasts to ``count``
        Pseudo-counts: all alike, or of each category.
    estimation : {"mle", "map", "bayes"}
    m : int
        Number of categories that share the probability.

    Returns
    -------
    ndarray (k, ..., v)
        A class without any count gets the probabilities of all classes together, and where there
        is no count at all, 1/m each.

    Source: Murphy, Machine Learning: A Probabilistic Perspective (2012), eqs. 3.41 and 3.47.

    Examples
    --------
    >>> dirichlet(np.array([[3.0, 0.0]]), 1.0, "bayes", 2)
    array([[0.8, 0.2]])
    """
    pseudo = np.asarray(prior_counts(alpha, estimation))
    weight = m * pseudo  # categories without a count weigh too
    if pseudo.ndim:
        weight = np.broadcast_to(pseudo, count.shape[1:]).sum(axis=-1, keepdims=True)

    def proportions(count: NDArray[np.float64]) -> NDArray[np.float64]:
        total = count.sum(axis=-1, keepdims=True) + weight
        fractions = np.asarray(count + pseudo)
        with np.errstate(invalid="ignore"):
            fractions /= total
        return fractions

    fractions = proportions(count)
    empty = count.sum(axis=-1, keepdims=True) == 0
    if empty.any():
        pooled = proportions(count.sum(axis=0))
        pooled = np.where(np.isnan(pooled), 1 / max(m, 1), pooled)
        np.copyto(fractions, pooled, where=empty)
    return fractions


def dirichlet_columns(
    columns: NDArray[np.intp],
    counts: NDArray[np.float64],
    alpha: NDArray[np.float64],
    estimation: str,
    sizes: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Probabilities of the values of columns with v values each, and of one that no row showed.

    Parameters
    ----------
    columns : ndarray of int (c,)
        Which of the d columns they are.
    counts : ndarray (k, c, v)
        See `dirichlet`.
    alpha : ndarray (d,)
        Pseudo-count of every value of a column.
    estimation : {"mle", "map", "bayes"}
    sizes : ndarray of int (d,)
        How many values share the probability in each column.

    Returns
    -------
    ndarray (k, c, v + 1)

    Examples
    --------
    >>> ones, both = np.ones((1, 2, 1)), np.array([0, 1])
    >>> dirichlet_columns(both, ones, np.array([1.0, 3.0]), "bayes", np.array([2, 2]))
    array([[[0.66666667, 0.33333333],
            [0.57142857, 0.42857143]]])
    """
    k, c, v = counts.shape
    wide = np.zeros((k, c, v + 1))
    wide[..., :-1] = counts
    options = list(zip(sizes[columns].tolist(), alpha[columns].tolist(), strict=True))
    if options.count(options[0]) == c:
        m, pseudo = options[0]
        return dirichlet(wide, pseudo, estimation, m)
    alike: dict[tuple[int, float], list[int]] = {}  # they are found together
    for i, option in enumerate(options):
        alike.setdefault(option, []).append(i)
    for (m, pseudo), places in alike.items():
        wide[:, places] = dirichlet(wide[:, places], pseudo, estimation, m)
    return wide
