"""Scores of models that have learnt more and more rows of every training set, from one pass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.families.options import check_boolean
from suffice.model_selection.cross_validation import (
    handed_over,
    require_one,
    sample_weight_of,
)
from suffice.model_selection.folds import FoldSums, Opened, is_of_sums
from suffice.model_selection.rows import Rows, named_scores
from suffice.model_selection.scikit_learn import folds_of, scorer_of, shuffled
from suffice.model_selection.timed import Training, timed

__all__ = ["learning_curve"]


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    train_sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: Mapping[str, Any] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Score models that learn the first rows of every training set; each row is summed once.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, params, error_score
        As in `cross_validate`; ``scoring`` is one score.
    train_sizes : array-like (S,)
        Numbers of rows, or fractions of the first training set.
    shuffle, random_state
        Put the rows of every training set in random order first, as scikit-learn does.
    return_times : bool
        Return seconds too.
    exploit_incremental_learning, n_jobs, pre_dispatch, verbose
        Taken for the sake of scikit-learn's signature: sums are always taken over.

    Returns
    -------
    train_sizes_abs : ndarray of int (S,)
        Increasing, each once.
    train_scores, test_scores : ndarray (S, folds)
    fit_times, score_times : ndarray (S, folds)
        Where asked for.

    Raises
    ------
    ParameterError
        If a size is outside its rule.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> sizes, _, scores = learning_curve(GaussianNB(), X, y, shuffle=True, random_state=0)
    >>> sizes
    array([ 12,  39,  66,  93, 120])
    >>> scores.mean(axis=1).round(3)
    array([0.793, 0.94 , 0.953, 0.947, 0.953])
    """
    if not is_of_sums(estimator):
        from sklearn.model_selection import learning_curve as function

        handed_over(estimator, "learning_curve")
        found: tuple[NDArray[Any], ...] = function(
            estimator,
            X,
            y,
            groups=groups,
            train_sizes=np.asarray(train_sizes),
            cv=cv,
            scoring=scoring,
            exploit_incremental_learning=exploit_incremental_learning,
            n_jobs=n_jobs,
            pre_dispatch=pre_dispatch,
            verbose=verbose,
            shuffle=shuffle,
            random_state=random_state,
            error_score=error_score,
            return_times=return_times,
            params=params,
        )
        return found
    check_boolean(
        exploit_incremental_learning=exploit_incremental_learning,
        shuffle=shuffle,
        return_times=return_times,
    )
    scorer = scorer_of(estimator, scoring, raises=error_score == "raise")
    table = Rows.of(X, y, groups)
    folds = folds_of(estimator, table.X, table.truth, table.groups, cv, table.n)
    sizes = _sizes(np.asarray(train_sizes), len(folds[0][0]))
    if shuffle:
        folds = shuffled(folds, random_state)
    parts = [(train[:size], test) for size in sizes for train, test in folds]
    started = perf_counter()
    opened = Opened.of(estimator, table.X, table.y, sample_weight_of(params))
    sums = FoldSums.of(opened, [rows for rows, _ in parts], table.n).statistics
    share = (perf_counter() - started) / len(parts)
    fits = [
        timed(
            partial(opened.fitted, one),
            error_score,
            share,
            Training(i % len(folds), table.truth, rows),
        )
        for i, (one, (rows, _)) in enumerate(zip(sums, parts, strict=True))
    ]
    require_one([model for model, _ in fits])
    shape = len(sizes), len(folds)
    scores, seconds = [], []
    for which in (0, 1):
        scored = [
            table.part(rows[which]).scored(model, scorer, error_score)
            for (model, _), rows in zip(fits, parts, strict=True)
        ]
        scores.append(named_scores("found", scored, error_score)["found_score"].reshape(shape))
        seconds.append(np.reshape([one.seconds for one in scored], shape))
    if not return_times:
        return np.array(sizes), *scores
    return np.array(sizes), *scores, np.reshape([s for _, s in fits], shape), seconds[1]


def _sizes(asked: NDArray[Any], most: int) -> list[int]:
    """Numbers of rows to learn from, increasing, of ``most`` that there are.

    Raises
    ------
    ParameterError
        If a size is not among them, or a fraction not above 0 and at most 1.
    """
    fraction = asked.dtype.kind == "f"
    known = asked.ndim == 1 and asked.size > 0 and asked.dtype.kind in "iuf"
    if not known or not ((asked > 0) & (asked <= (1 if fraction else most))).all():
        rule = "above 0 and at most 1" if fraction else f"1 to {most}, the rows to learn from"
        raise ParameterError(
            f"train_sizes={asked.tolist()!r}",
            f"each is a number of rows, or a fraction of them: here {rule}",
        )
    rows = np.clip((asked * most).astype(int), 1, most) if fraction else asked
    return [int(size) for size in np.unique(rows)]
