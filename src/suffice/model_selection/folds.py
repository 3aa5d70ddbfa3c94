"""Folds: places of the rows to fit, and of those to be judged, as scikit-learn divides them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.models.grouped_sums import MOST_GROUPS

FOLDS = 5  # as in scikit-learn

Folds = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
"""Places of training rows, and of test rows."""


@dataclass(frozen=True, eq=False)
class Partition(Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]):
    """Folds that are groups: each is judged once, by the model of all others.

    ``fold`` is the number of the fold of every row (n,), −1 for rows that no fold has.
    """

    fold: NDArray[np.intp]
    folds: int

    @classmethod
    def found_in(cls, pairs: Folds, n: int) -> Partition | None:
        """Return the groups that n rows are divided into by pairs; None if these overlap."""
        fold = np.full(n, -1)
        for f, (train, test) in enumerate(pairs):
            learnt = np.zeros(n, np.bool_)
            learnt[train] = True
            if len(train) + len(test) != n or learnt.sum() != len(train):
                return None
            fold[test] = f
        whole = sum(len(test) for _, test in pairs) == n and bool((fold >= 0).all())
        return cls(fold, len(pairs)) if whole else None

    def __len__(self) -> int:
        return self.folds

    def __getitem__(self, f: Any) -> Any:
        if f >= self.folds:
            raise IndexError(f)
        mine = self.fold == f
        return np.flatnonzero(~mine & (self.fold >= 0)), np.flatnonzero(mine)


@dataclass(frozen=True)
class InOrder:
    """Folds that are stretches of the table: scikit-learn's ``KFold``."""

    n_folds: int = FOLDS


def is_leave_one_out(cv: Any) -> bool:
    """Return whether ``cv`` is "loo", or scikit-learn's ``LeaveOneOut()``."""
    return (isinstance(cv, str) and cv == "loo") or type(cv).__name__ == "LeaveOneOut"


def divided(
    cv: Any,
    n: int,
    codes: NDArray[np.intp] | None = None,
    groups: NDArray[Any] | None = None,
    random: np.random.Generator | None = None,
    targets: Any = None,
) -> Folds:
    """Divide n rows into folds.

    A number of folds is stratified by labels where there are labels, and keeps groups together
    where there are groups: then there are at most as many folds as groups. ``random`` puts rows, or
    groups, in random order first. A splitter is shown ``targets`` where there are no labels. Rows
    of code −1 are in no fold.
    """
    known = np.arange(n)
    if codes is not None and (codes < 0).any():
        known = np.flatnonzero(codes >= 0)
        codes, groups = codes[known], None if groups is None else groups[known]
    rows = len(known)
    if not rows:
        raise DataError("no row has a label", "folds are made of rows with labels")
    cv = FOLDS if cv is None else cv
    _check_one_way(cv, groups is not None, random is not None)
    if isinstance(cv, InOrder):
        cv, codes = cv.n_folds, None
    if is_leave_one_out(cv):
        if rows < 2:
            raise DataError(
                "there are fewer than two rows with a label",
                "a row is judged by the model of the others",
            )
        fold = np.arange(rows)
    elif not isinstance(cv, Integral):
        pairs = _pairs_of(cv, rows, targets if codes is None else codes, groups)
        found = Partition.found_in(pairs, rows)
        if found is None:
            return [(known[train], known[test]) for train, test in pairs]
        fold = found.fold
    elif (k := int(cv)) < 2:
        raise ParameterError(f"{k} folds", "there are two or more")
    elif groups is not None:
        fold = _grouped(groups, k, random)
    else:
        order, fold = random.permutation(rows) if random else slice(None), np.empty(rows, np.intp)
        fold[order] = consecutive(rows, k) if codes is None else stratified(codes[order], k)
    whole = np.full(n, -1)
    whole[known] = fold
    return Partition(whole, int(fold.max()) + 1)


def _check_one_way(cv: Any, grouped: bool, random: bool) -> None:
    """Refuse groups or a random order where folds are made in another way."""
    if grouped and (isinstance(cv, InOrder) or is_leave_one_out(cv)):
        raise ParameterError(
            f"groups and cv={cv!r}",
            "such folds may divide a group",
            "give a number of folds, which keeps groups together, or leave the groups out",
        )
    if random and not isinstance(cv, Integral):
        raise ParameterError(
            f"shuffle=True and cv={cv!r}",
            "rows are put in random order for a number of folds",
            "give a number of folds, or leave shuffle out",
        )


def _grouped(groups: NDArray[Any], k: int, random: np.random.Generator | None) -> NDArray[np.intp]:
    """Deal groups to folds as scikit-learn's GroupKFold does, or at random."""
    present, place = np.unique(groups, return_inverse=True)
    k = min(k, len(present))
    if k < 2:
        raise ParameterError("there is one group", "a fold is judged by rows of other groups")
    if random is not None:
        return consecutive(len(present), k)[random.permutation(len(present))][place]
    size = np.bincount(place)
    rows, of_group = np.zeros(k, np.intp), np.empty(len(size), np.intp)
    for g in np.argsort(size)[::-1].tolist():  # the largest first, to the fold of fewest rows
        of_group[g] = rows.argmin()
        rows[of_group[g]] += size[g]
    return of_group[place]


def _pairs_of(cv: Any, n: int, y: Any, groups: Any) -> Folds:
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(
            f"cv={cv!r}", "it is a number of folds, a splitter, or pairs of places of rows"
        )
    columns = np.empty((n, 0))  # splitters look at the number of rows only
    found = cv.split(columns, y, groups) if hasattr(cv, "split") else cv
    folds = [(_places(train, n), _places(test, n)) for train, test in found]
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
                "let every split divide the rows: no row is in its training set and its test set",
            )
    if groups is not None:
        _warn_of_divided_groups(cv, folds, np.unique(groups, return_inverse=True))
    return folds


def _warn_of_divided_groups(cv: Any, folds: Folds, groups: Any) -> None:
    names, codes = groups
    for f, (train, test) in enumerate(folds):
        both = np.intersect1d(codes[train], codes[test])
        if len(both):
            warn(
                f"group {names[both[0]]!s} is in the training set and the test set of fold {f}: "
                f"{type(cv).__name__} does not keep groups together; GroupKFold does."
            )
            return


def _places(rows: Any, n: int) -> NDArray[np.intp]:
    """Return places of rows, given as places or as a mask."""
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


def consecutive(n: int, k: int) -> NDArray[np.intp]:
    """Return the fold of each of n rows: k stretches; the first n mod k are longer by one."""
    if k > n:
        raise ParameterError(f"{k} folds for {n} rows", "every fold has a row at least")
    return np.repeat(np.arange(k), [n // k + (fold < n % k) for fold in range(k)])


def stratified(codes: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Return the fold of each row (n,); every fold has nearly the same share of every class.

    Row i of the sorted labels goes to fold i mod k: that says how many rows of a class a fold has.
    The rows of a class fill the folds in their order.
    """
    size = np.bincount(codes)
    if k > size.max(initial=0):
        raise ParameterError(
            f"{k} folds, and no class has more than {size.max(initial=0)} rows",
            "every fold has a row of some class",
            "ask for fewer folds",
        )
    if k > (rarest := size[size > 0].min()):
        warn(f"the rarest class has {rarest} rows, fewer than the {k} folds.")
    by_class = np.argsort(codes.astype(np.min_scalar_type(len(size))), kind="stable")
    first = by_class[np.minimum(np.cumsum(size) - size, len(codes) - 1)]
    seen = np.argsort(np.where(size, first, len(codes)), kind="stable")  # as they are first seen
    ends = np.empty(len(size), np.intp)
    ends[seen] = np.cumsum(size[seen])  # of each class among the labels in that order
    before = (np.stack([ends - size, ends])[..., None] - np.arange(k) + k - 1) // k
    rows = np.maximum(before[1], 0) - np.maximum(before[0], 0)  # of each class and fold
    dealt = np.repeat(np.tile(np.arange(k, dtype=np.min_scalar_type(k)), len(size)), rows.ravel())
    fold = np.empty_like(dealt)
    fold[by_class] = dealt
    return fold.astype(np.intp)


def row_groups(
    folds: Sequence[NDArray[np.intp]], n: int, most: int = MOST_GROUPS
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Join rows that lie in the same sets, equally often, into groups; None if these are too many.

    Returned are the group of every row (n,), −1 for rows in no set, and how often each set has each
    group, (f, g).
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


def held_out_share(
    n: int,
    share: float,
    keys: NDArray[np.intp] | None = None,
    together: bool = False,
    seed: int | None = None,
) -> NDArray[np.bool_]:
    """Return which of n rows are test data, (n,).

    ``keys`` (n,) are classes, each of which is divided in this share; if ``together``, they are
    groups, taken in random order until there are enough rows. Without a seed of that order, the
    last rows are test data.
    """
    if seed is None:
        return np.arange(n) >= n - round(share * n)
    random, found = np.random.default_rng(seed), np.zeros(n, np.bool_)
    if together and keys is not None:
        order = random.permutation(int(keys.max(initial=-1)) + 1)
        before = np.append(0, np.cumsum(np.bincount(keys)[order]))[:-1]
        chosen = order[before + 0.5 < share * n]
        return np.isin(keys, chosen)
    order = random.permutation(n)
    if keys is not None:
        order = order[np.argsort(keys[order], kind="stable")]
    upto = np.floor(np.arange(n + 1) * share + 0.5)
    found[order[np.diff(upto) > 0]] = True
    return found
