"""Folds as pairs of places: of the rows to learn from, and of those to score on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, warn

__all__ = ["Folds", "pairs_of"]

Folds = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
"""Places of training rows, and of others."""


def pairs_of(cv: Any, n: int, y: Any, groups: Any) -> Folds:
    """The folds of a splitter or of an iterable of pairs; as scikit-learn has them.

    Raises
    ------
    ParameterError
        If ``cv`` is neither, or a fold names rows that are not there, or none, or learns a row that
        it scores.
    """
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(
            f"cv={cv!r}", "it is a number of folds, a splitter, or pairs of places of rows"
        )
    places = np.empty((n, 0))  # splitters look at the number of rows only
    found = cv.split(places, y, groups) if hasattr(cv, "split") else cv
    folds = [(_places(a, n), _places(b, n)) for a, b in found]
    if not folds:
        raise ParameterError("cv has no fold", "rows are learnt and scored in one at least")
    for f, fold in enumerate(folds):
        for rows, what in zip(fold, ("to learn from", "to score on"), strict=True):
            if not len(rows):
                raise ParameterError(f"fold {f} has no row {what}", "every fold needs both")
        learnt = np.zeros(n, np.bool_)
        learnt[fold[0]] = True
        if (both := learnt[fold[1]]).any():
            raise ParameterError(
                f"fold {f} learns row {fold[1][both.argmax()]}, and scores it too",
                "a score is of rows that were not learnt",
                "let every part divide the rows: no row is in its training set and its test set",
            )
    if groups is not None:
        _tell_of_divided_groups(cv, folds, groups)
    return folds


def _tell_of_divided_groups(cv: Any, folds: Folds, groups: Any) -> None:
    """Warn of a fold that learns rows of a group, and scores others of it."""
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    for f, (train, test) in enumerate(folds):
        both = np.intersect1d(codes[train], codes[test])
        if len(both):
            warn(
                f"group {names[both[0]]!s} is in the training set and the test set of fold {f}: "
                f"{type(cv).__name__} does not keep groups together; GroupKFold does."
            )
            return


def _places(rows: Any, n: int) -> NDArray[np.intp]:
    """Places of rows, from places or from a mask."""
    found = np.asarray(rows)
    if found.dtype == bool:
        found = np.flatnonzero(found)
    if not found.size:
        return found.astype(np.intp)
    low, high = int(found.min()), int(found.max())
    for row in (low, high):
        if not -n <= row < n:
            raise ParameterError(
                f"the splitter names row {row}", f"the table has {n} rows, from 0 on"
            )
    return found.astype(np.intp, copy=False) if low >= 0 else found.astype(np.intp) % n
