"""A search inside a cross-validation: sums of rows outside an outer and an inner fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model_selection.folds import FoldSums, Opened, row_groups
from suffice.model_selection.pairs import Folds
from suffice.model_selection.rows import Rows
from suffice.model_selection.rows_at import rows_at
from suffice.model_selection.scikit_learn import folds_of
from suffice.sums.base import tree_sum

__all__ = ["Nested", "inner_folds"]

MOST_GROUPS = 1_024  # of rows that lie in the same training sets; their sums are kept at a time


def inner_folds(estimator: Any, table: Rows, folds: Folds, cv: Any) -> list[Folds]:
    """Places of the rows that a search learns from and is judged on, in every outer training set.

    Examples
    --------
    >>> from suffice import LinearRegression
    >>> table = Rows.of(np.zeros((4, 1)), np.arange(4.0), None)
    >>> (inner,) = inner_folds(LinearRegression(), table, [(np.array([0, 2, 3]), np.array([1]))], 3)
    >>> [test.tolist() for _, test in inner]
    [[0], [2], [3]]
    """
    found: list[Folds] = []
    for train, _ in folds:
        y = rows_at(table.truth, train)
        within = folds_of(estimator, None, y, None, cv, len(train))
        found.append([(train[learnt], train[tested]) for learnt, tested in within])
    return found


@dataclass
class Nested:
    """Sums over the training sets of all inner folds, and of the outer folds.

    ::

        S(outside outer fold f and inner fold h) = Σ_{h' ≠ h} S(inner fold h' of f)

    The rows are read once where they fall into 1,024 groups or fewer that lie in the same training
    sets; else once for every outer fold.

    Parameters
    ----------
    folds : Folds
        The outer ones.
    inner : list of Folds
        Those of each.
    n : int
        Number of rows.
    """

    folds: Folds
    inner: Sequence[Folds]
    n: int
    _known: list[tuple[Any, list[list[Any]]]] = field(default_factory=list)

    def sums(self, opened: Opened, f: int) -> list[Any]:
        """The statistics of the inner training sets of an outer fold, and that of all of these."""
        for known, sums in self._known:
            if known == opened.shared:
                return sums[f]
        self._known.append((opened.shared, self._summed(opened)))
        return self._known[-1][1][f]

    def _summed(self, opened: Opened) -> list[list[Any]]:
        sets = [
            [*(learnt for learnt, _ in inner), train]
            for inner, (train, _) in zip(self.inner, self.folds, strict=True)
        ]
        found = row_groups([rows for of_fold in sets for rows in of_fold], self.n, MOST_GROUPS)
        if found is None:
            return [list(FoldSums.of(opened, of_fold, self.n).statistics) for of_fold in sets]
        group, times = found
        sums = opened.sums_by_group(group)
        edges = pairwise(accumulate(map(len, sets), initial=0))
        return [_of_sets(sums, times[start:stop]) for start, stop in edges]


def _of_sets(sums: Sequence[Any], times: NDArray[np.intp]) -> list[Any]:
    """Sums over sets, each of which has every group so many times, (s, g).

    Groups that all sets have equally often are added once.
    """
    patterns, place = np.unique(times, axis=1, return_inverse=True)
    used = np.flatnonzero(patterns.any(axis=0))
    parts = {
        p: tree_sum([sums[g] for g in np.flatnonzero(place.ravel() == p).tolist()])
        for p in used.tolist()
    }
    return [
        tree_sum([part for p, part in parts.items() for _ in range(often[p])])
        for often in patterns.tolist()
    ]
