"""The fold of every row, as scikit-learn's KFold and StratifiedKFold have it unshuffled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, warn

__all__ = ["consecutive", "stratified"]


def consecutive(n: int, k: int) -> NDArray[np.intp]:
    """The fold of each of n rows: k stretches, of which the first n mod k are longer by one.

    Raises
    ------
    ParameterError
        If there are more folds than rows.

    Examples
    --------
    >>> consecutive(5, 2)
    array([0, 0, 0, 1, 1])
    """
    if k > n:
        raise ParameterError(f"{k} folds for {n} rows", "every fold has a row at least")
    return np.repeat(np.arange(k), [n // k + (fold < n % k) for fold in range(k)])


def stratified(codes: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """The fold of each row, so that every fold has nearly the same share of every class.

    Row i of the sorted labels goes to fold i mod k: that says how many rows of a class a fold has.
    The rows of a class fill the folds in their order.

    Parameters
    ----------
    codes : ndarray of int (n,)
        Labels; −1 where there is none, and so no fold.
    k : int
        Number of folds.

    Raises
    ------
    ParameterError
        If every class has fewer rows than there are folds.

    Examples
    --------
    >>> stratified(np.array([0, 1, 0, 1, 0, 1]), 3)
    array([0, 0, 1, 1, 2, 2])
    """
    labelled = codes >= 0
    y = codes if labelled.all() else codes[labelled]
    size = np.bincount(y)
    if k > size.max(initial=0):
        raise ParameterError(
            f"{k} folds, and no class has more than {size.max(initial=0)} rows",
            "every fold has a row of some class",
            "ask for fewer folds",
        )
    if not size.all():
        y, size = (np.cumsum(size > 0) - 1)[y], size[size > 0]  # classes of these rows
    if k > size.min():
        warn(f"the rarest class has {size.min()} rows, fewer than the {k} folds.")
    classes = np.arange(len(size))
    first = np.empty(len(size), np.intp)
    first[y[::-1]] = np.arange(len(y))[::-1]
    order = np.argsort(first)  # classes as they are first seen
    ascending = np.repeat(classes, size[order])
    rows = [np.bincount(ascending[fold::k], minlength=len(size)) for fold in range(k)]
    seen = np.argsort(order).astype(np.min_scalar_type(len(size)))[y]
    found = np.empty(len(y), np.intp)
    folds = np.tile(np.arange(k), len(size))
    found[np.argsort(seen, kind="stable")] = np.repeat(folds, np.transpose(rows).ravel())
    fold = np.full(len(codes), -1)
    fold[labelled] = found
    return fold
