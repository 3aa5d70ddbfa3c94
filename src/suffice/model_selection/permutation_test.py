"""Whether labels are told better than chance: scores of labels in random order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.model_selection.cross_validation import cross_val_score, handed_over
from suffice.model_selection.permuted_labels import PermutedLabels
from suffice.model_selection.rows import Rows
from suffice.model_selection.rows_at import rows_at
from suffice.model_selection.scikit_learn import permuted
from suffice.models.base.estimator import Estimator

__all__ = ["permutation_test_score"]


def permutation_test_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_permutations: int = 100,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
    scoring: Any = None,
    params: Mapping[str, Any] | None = None,
) -> tuple[float, NDArray[np.float64], float]:
    """Score an estimator on folds, and again with the labels in random order.

    ::

        p = (1 + #{permutations that score as high or higher}) / (1 + n_permutations)

    Parameters
    ----------
    estimator, X, y, cv, scoring, params
        As in `cross_validate`; ``scoring`` is one score. Labels are given as values.
    groups : array-like (n,), optional
        Labels change places within a group only; splitters may ask for them, too.
    n_permutations : int
    random_state : int or numpy.random.RandomState
        Seed of the orders, which are those of scikit-learn.
    n_jobs, verbose
        Taken for the sake of scikit-learn's signature.

    Returns
    -------
    score : float
        Mean over folds.
    permutation_scores : ndarray (n_permutations,)
    pvalue : float

    Raises
    ------
    ParameterError
        If there is no permutation, or labels are the name of a column.
    DataError
        As `cross_validate`.

    Notes
    -----
    Source: M. Ojala, G. C. Garriga, Permutation tests for studying classifier performance, Journal
    of Machine Learning Research 11 (2010), test 1, eq. 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> score, scores, pvalue = permutation_test_score(GaussianNB(), X, y, n_permutations=20)
    >>> round(score, 4), scores.max() < 0.6, round(pvalue, 4)
    (0.9533, np.True_, 0.0476)
    """
    if not isinstance(estimator, Estimator):
        from sklearn.model_selection import permutation_test_score as function

        handed_over(estimator, "permutation_test_score")
        found: tuple[float, NDArray[np.float64], float] = function(
            estimator,
            X,
            y,
            groups=groups,
            cv=cv,
            n_permutations=n_permutations,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            scoring=scoring,
            params=params,
        )
        return found
    if n_permutations < 1:
        raise ParameterError(
            f"n_permutations={n_permutations}", "there is one at least", "ask for 100 or more"
        )
    if isinstance(y, str):
        raise ParameterError(
            f"y={y!r} names a column", "labels change places", "pass them as values"
        )
    known = Rows.of(X, y, groups)

    def score(labels: Any) -> float:
        scores = cross_val_score(
            estimator, known.X, labels, groups=known.groups, scoring=scoring, cv=cv, params=params
        )
        return float(scores.mean())

    def fitted(order: NDArray[np.intp]) -> float:
        return score(rows_at(y, order))

    orders = permuted(known.n, known.groups, n_permutations, random_state)
    observed = score(y)
    together = PermutedLabels.of(estimator, known, cv, scoring, params)
    scored = map(fitted, orders) if together is None else together.scores(orders, fitted)
    scores = np.fromiter(scored, np.float64, n_permutations)
    return observed, scores, float((np.sum(scores >= observed) + 1) / (n_permutations + 1))
