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
    rows = np.flatnonzero(codes >= 0)
    first = np.full(codes.max(initial=-1) + 1, len(codes))
    first[codes[rows[::-1]]] = rows[::-1]
    shown = np.flatnonzero(first < len(codes))
    place = np.zeros(len(first), np.min_scalar_type(len(shown)))
    place[shown[np.argsort(first[shown])]] = np.arange(len(shown))
    y = place[codes[rows]]  # classes as scikit-learn counts them: in the order of their first rows
    size = np.bincount(y)
    if k > size.max(initial=0):
        raise ParameterError(
            f"{k} folds, and no class has more than {size.max(initial=0)} rows",
            "every fold has a row of some class",
            "ask for fewer folds",
        )
    if k > size.min():
        warn(f"the rarest class has {size.min()} rows, fewer than the {k} folds.")
    edges = np.cumsum(size)
    shares = np.array([_share(edges, fold, k) for fold in range(k)])  # (k, classes)
    fold = np.full(len(codes), -1)
    in_order = np.argsort(y, kind="stable")
    fold[rows[in_order]] = np.repeat(np.tile(np.arange(k), len(size)), shares.T.ravel())
    return fold


def _share(edges: NDArray[np.intp], place: int, k: int) -> NDArray[np.intp]:
    """How many of the rows place, place + k, ... of the sorted labels are of each class."""
    before = np.maximum(edges - place + k - 1, 0) // k
    return np.diff(before, prepend=0)
