"""Folds are a statistic: sums over groups of rows, that make up every training set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import ParameterError, warn
from suffice.models.estimator import FittedFromSums, Opened
from suffice.sums.base import tree_sum

__all__ = [
    "BLOCK",
    "FoldSums",
    "Opened",
    "Partition",
    "is_of_sums",
    "row_groups",
    "sums_without",
    "tell_of_fits",
]

MOST_GROUPS = 64  # of rows, whose sums are kept at a time
MANY_FITS = 256  # of leave-one-out, whose cost is said beforehand
BLOCK = 256  # groups that are taken from a total at a time


def is_of_sums(estimator: Any) -> bool:
    """Whether folds of an estimator follow from sums."""
    if not isinstance(estimator, FittedFromSums):
        return False
    try:
        return estimator.method().is_of_sums
    except ParameterError:  # which the fit raises again
        return False


def tell_of_fits(estimator: Any, fits: int) -> None:
    """Warn of leave-one-out that fits a model to all rows but one, again and again."""
    if fits >= MANY_FITS and not is_of_sums(estimator):
        warn(
            f"leave-one-out of {type(estimator).__name__} has no closed form, and follows from no "
            f"sums: {fits:,} models are fitted; cv=10 fits 10."
        )


@dataclass(frozen=True, eq=False)
class Partition(Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]):
    """Folds of which every row is scored in one, and learnt in all others.

    Parameters
    ----------
    fold : ndarray of int (n,)
    folds : int

    Examples
    --------
    >>> [train.tolist() for train, _ in Partition(np.array([0, 1, 0]), 2)]
    [[1], [0, 2]]
    """

    fold: NDArray[np.intp]
    folds: int

    def __len__(self) -> int:
        return self.folds

    def __getitem__(self, f: Any) -> Any:
        if f >= self.folds:
            raise IndexError(f)
        mine = self.fold == f
        return np.flatnonzero(~mine), np.flatnonzero(mine)


@dataclass(frozen=True)
class FoldSums:
    """The sums of every training set.

    ::

        S(training set f) = Σ_g [group g lies in it] S(group g)

    A group is the rows that lie in the same training sets. The terms are exact, so that the model
    is the one of a fit to these rows. Up to 64 groups are added, so no digit is lost; of more, as
    in leave-one-out, each is taken from the total.

    Parameters
    ----------
    statistics : sequence of statistics
        One for every fold.
    tested : sequence of statistics, optional
        Of the rows that are no fold's but this one's, where every row is scored in one fold.
    """

    statistics: Sequence[Any]
    tested: Sequence[Any] | None = None

    @classmethod
    def of_folds(cls, opened: Opened, folds: Sequence[Any], n: int) -> FoldSums:
        """Sum the n rows of a table for pairs of rows to learn from and others; see `of`."""
        if isinstance(folds, Partition):
            if len(folds) > MOST_GROUPS:
                return cls(list(sums_without(opened, folds.fold, len(folds))))
            return cls.of_groups(opened, folds.fold, 1 - np.eye(len(folds), dtype=np.intp), True)
        return cls.of(opened, [train for train, _ in folds], n)

    @classmethod
    def of(cls, opened: Opened, folds: Sequence[NDArray[np.intp]], n: int) -> FoldSums:
        """Sum the n rows of a table once, or once a fold where there are more than 64 groups.

        Parameters
        ----------
        opened : Opened
        folds : sequence of ndarray
            Places of the rows to learn from; one that is named twice counts twice.
        n : int
        """
        if (found := row_groups(folds, n)) is None:
            return cls([one for rows in folds for one in cls.of(opened, [rows], n).statistics])
        return cls.of_groups(opened, *found)

    @classmethod
    def of_groups(
        cls,
        opened: Opened,
        group: NDArray[np.intp],
        times: NDArray[np.intp],
        tested: bool = False,
    ) -> FoldSums:
        """Sum the rows of every group once; see `row_groups`. Each may be a fold that is tested."""
        sums = opened.sums_by_group(group)
        if len(sums) > 2 and np.array_equal(times, 1 - np.eye(len(sums), dtype=times.dtype)):
            return cls(_sums_of_others(sums), sums if tested else None)
        return cls([_sum_of_groups(sums, often) for often in times], sums if tested else None)


def sums_without(opened: Opened, group: NDArray[np.intp], groups: int) -> Iterator[Any]:
    """Yield the sums of all rows but those of a group, for each: total minus group.

    Groups are summed 256 at a time, each time in a pass over the table.

    Parameters
    ----------
    opened : Opened
    group : ndarray of int (n,)
        −1 for rows that are in no sum.
    groups : int
        Each has a row.
    """
    with fit_context(opened.learner):
        (total,) = opened.sums_by_group(np.minimum(group, 0))
        for first in range(0, groups, BLOCK):
            own = np.where((group >= first) & (group < first + BLOCK), group - first, -1)
            yield from (total - one for one in opened.sums_by_group(own))


def row_groups(
    folds: Sequence[NDArray[np.intp]], n: int, most: int = MOST_GROUPS
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Rows that lie in the same training sets, equally often, are a group.

    Parameters
    ----------
    folds : sequence of f ndarray
        Places of the rows of each training set.
    n : int
        Number of rows.
    most : int
        Groups.

    Returns
    -------
    group : ndarray of int (n,)
        −1 for rows in no training set.
    times : ndarray of int (f, g)
        How often each training set has each group.

    None if there are more groups than ``most``.

    Examples
    --------
    >>> row_groups([np.array([2, 3]), np.array([0, 1]), np.array([3, 3])], 5)
    (array([ 0,  0,  1,  2, -1]), array([[0, 1, 1],
           [1, 0, 0],
           [0, 0, 2]]))
    """
    group, times = np.zeros(n, np.intp), np.zeros((0, 1), np.intp)
    for rows in folds:
        mine = np.bincount(rows, minlength=n)
        width = int(mine.max()) + 1
        pair = group * width + mine
        shown = np.bincount(pair, minlength=times.shape[1] * width) > 0
        old, often = np.divmod(np.flatnonzero(shown), width)
        times = np.append(times[:, old], often[None], axis=0)
        group = (np.cumsum(shown) - 1)[pair]
        if len(old) > most + 1:
            return None
    absent = np.flatnonzero(~times.any(axis=0))
    if len(absent):
        gone = int(absent[0])
        times = np.delete(times, gone, axis=1)
        group = np.where(group == gone, -1, group - (group > gone))
    return (group, times) if times.shape[1] <= most else None


def _sums_of_others(sums: Sequence[Any]) -> list[Any]:
    """The sum of all groups but one, for each: of those before it and those after it."""
    before, after = list(accumulate(sums[:-1])), list(accumulate(sums[:0:-1]))[::-1]
    return [after[0], *map(add, before[:-1], after[1:]), before[-1]]


def _sum_of_groups(sums: Sequence[Any], times: NDArray[np.intp]) -> Any:
    """The sum of groups, each as often as a training set has it."""
    return tree_sum(
        [one for one, often in zip(sums, times.tolist(), strict=True) for _ in range(often)]
    )
