"""What scikit-learn keeps better: how rows are divided, and what a score is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state

from suffice.errors import warn
from suffice.model_selection.division import FOLDS
from suffice.model_selection.folds import Partition
from suffice.model_selection.pairs import Folds, pairs_of
from suffice.model_selection.rows import require_labels
from suffice.model_selection.stratified import consecutive, stratified

__all__ = [
    "Scorer",
    "folds_of",
    "group_folds",
    "is_leave_one_out",
    "items_at",
    "scorer_of",
    "shuffled",
]

Scorer = Callable[[Any, Any, Any], Any]


def folds_of(estimator: Any, X: Any, y: Any, groups: Any, cv: Any, n: int) -> Folds:
    """The rows to learn from and those to score on, fold by fold, as scikit-learn divides them.

    Raises
    ------
    ParameterError
        If a splitter names rows that are not there, or none.
    DataError
        If a row that a classifier is judged on has no label.
    ValueError
        As scikit-learn has it, such as for more folds than rows.
    """
    if is_classifier(estimator):
        require_labels(y)
    if is_leave_one_out(cv) and n > 1:
        return Partition(np.arange(n), n)
    numbered = _numbered_folds(estimator, y, cv)
    if numbered is not None and (partition := _partition(*numbered, n, y)) is not None:
        if groups is not None:
            warn(
                f"groups are given, and {numbered[0]} folds do not keep them together; "
                f"cv=GroupKFold({numbered[0]}) does."
            )
        return partition
    return pairs_of(check_cv(cv, y, classifier=is_classifier(estimator)), n, y, groups)


def is_leave_one_out(cv: Any) -> bool:
    """Whether every row is a fold."""
    return isinstance(cv, LeaveOneOut) or (isinstance(cv, str) and cv == "loo")


def _numbered_folds(estimator: Any, y: Any, cv: Any) -> tuple[int, bool] | None:
    """How many folds a number of them, or scikit-learn's splitter for it, stands for.

    Returns
    -------
    k : int
    stratified : bool
        Whether every fold has nearly the same share of every class.

    None for what divides the rows in another way.
    """
    classifies = is_classifier(estimator)
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"
    if (cv is None or type(cv) is int) and (plain or not classifies):
        return (FOLDS if cv is None else cv), classifies  # no look at every label
    if isinstance(cv, Iterator):
        return None  # pairs, which can be asked for only once
    splitter = check_cv(cv, y, classifier=classifies)
    if type(splitter) not in (KFold, StratifiedKFold) or splitter.shuffle:
        return None
    return splitter.n_splits, type(splitter) is StratifiedKFold


def _partition(k: int, by_class: bool, n: int, y: Any) -> Partition | None:
    """The folds of scikit-learn's own splitters for a number of folds, where it has no objection.

    They are the same as its own, which are found one by one.
    """
    if not by_class:
        return Partition(consecutive(n, k), k) if 2 <= k <= n else None
    codes = _codes(np.asarray(y).reshape(-1))
    size = np.bincount(codes)
    few = k < 2 or len(codes) != n or size[size > 0].min(initial=n) < k
    return None if few else Partition(stratified(codes, k), k)


def _codes(y: NDArray[Any]) -> NDArray[np.intp]:
    """Small numbers that are as different as the labels."""
    if y.dtype.kind in "biu" and len(y) and 0 <= int(y.min()) <= int(y.max()) <= len(y):
        return y.astype(np.intp, copy=False)
    return np.unique(y, return_inverse=True)[1]


def group_folds(groups: NDArray[np.intp], k: int) -> Folds:
    """k folds that keep groups (n,) together, of nearly the same size."""
    return pairs_of(GroupKFold(k), len(groups), None, groups)


def shuffled(folds: Folds, random_state: Any) -> Folds:
    """The folds, with the rows to learn from in random order."""
    rng = check_random_state(random_state)
    return [(rng.permutation(train), test) for train, test in folds]


def items_at(table: Any, places: NDArray[np.intp]) -> Any:
    """What stands at these places of an array, a frame or a list."""
    return _safe_indexing(table, places)


def scorer_of(estimator: Any, scoring: Any, raises: bool) -> Scorer:
    """What scores a model on rows: a number, or numbers by name.

    Raises
    ------
    ValueError
        As scikit-learn has it, if there is no score of this name.
    """
    if scoring is None or callable(scoring) or isinstance(scoring, str):
        scorer: Scorer = check_scoring(estimator, scoring)
    else:
        scorer = check_scoring(estimator, scoring, raise_exc=raises)
    return scorer
