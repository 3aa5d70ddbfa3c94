"""How the rows of a table are divided: what every fold learns from, and what it is judged on."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.model_selection.folds import row_groups
from suffice.model_selection.pairs import pairs_of
from suffice.model_selection.stratified import consecutive, stratified

__all__ = ["FOLDS", "ByContent", "Division", "EqualRowsTogether", "InOrder", "divided"]

FOLDS = 5  # as in scikit-learn
MOST_FOLDS = 64


@dataclass(frozen=True)
class Division:
    """Groups of rows, of which every fold learns some and is judged on others.

    Parameters
    ----------
    group : ndarray of int (n,)
        −1 for rows that no fold has.
    learnt, tested : ndarray of int (f, g)
        How often a fold has a group.
    """

    group: NDArray[np.intp]
    learnt: NDArray[np.intp]
    tested: NDArray[np.intp]

    @classmethod
    def into(cls, fold: NDArray[np.intp]) -> Division:
        """Each row is judged in its own fold and learnt in all others.

        Examples
        --------
        >>> Division.into(np.array([0, 1, 1])).learnt
        array([[0, 1],
               [1, 0]])
        """
        mine = np.eye(int(fold.max()) + 1, dtype=np.intp)
        return cls(fold, 1 - mine, mine)

    @classmethod
    def of(cls, folds: Any, n: int) -> Division:
        """Any pairs of places of rows to learn from and to be judged on.

        Raises
        ------
        ParameterError
            If they cut the rows into more than 64 groups.
        """
        pairs = [rows for pair in folds for rows in pair]
        if (found := row_groups(pairs, n)) is None:
            raise ParameterError(
                "the splitter cuts the rows of a file into more than 64 groups",
                "the sums of every group are kept",
                "ask for fewer parts, or for folds that do not overlap",
            )
        group, times = found
        return cls(group, times[::2], times[1::2])

    @property
    def folds(self) -> int:
        """f."""
        return len(self.learnt)

    def often(self, times: NDArray[np.intp]) -> NDArray[np.intp]:
        """How often a fold has every row, (n,), by how often it has every group."""
        return np.append(times, 0)[self.group]


@dataclass(frozen=True)
class ByContent:
    """Folds by a hash of what a row says, for rows whose order means nothing.

    A row is in the same fold wherever it stands, and equal rows are in one fold.

    Parameters
    ----------
    n_folds : int
        2 to 64.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.model_selection import evaluate_folds
    >>> import pyarrow as pa
    >>> size = [i / 10 for i in range(30)]
    >>> rows = pa.table({"size": size, "kind": ["apple"] * 15 + ["plum"] * 15})
    >>> len(evaluate_folds(NaiveBayes.textbook(), rows, "kind", cv=ByContent(3)).folds)
    3
    """

    n_folds: int = FOLDS


@dataclass(frozen=True)
class InOrder:
    """Folds that are stretches of the table, one after the other: scikit-learn's ``KFold``.

    Parameters
    ----------
    n_folds : int
        2 to 64; the first n mod n_folds of them are longer by one row.
    """

    n_folds: int = FOLDS


class EqualRowsTogether:
    """A splitter whose groups are hashes of rows, so that it can keep equal rows in one fold."""


def divided(
    cv: Any,
    n: int,
    codes: NDArray[np.intp] | None = None,
    groups: NDArray[np.intp] | None = None,
    hashes: NDArray[np.uint64] | None = None,
    random: np.random.Generator | None = None,
) -> Division:
    """Divide n rows into folds.

    Parameters
    ----------
    cv : int, ByContent, InOrder, splitter or iterable of pairs, optional
        A number of folds is stratified by labels where there are labels, and keeps groups together
        where there are groups: then there are at most as many folds as groups.
    codes : ndarray of int (n,), optional
        Labels; −1 where there is none, and then the row is in no fold.
    groups : ndarray of int (n,), optional
    hashes : ndarray of uint64 (n,), optional
        For folds by content, and for a splitter that keeps equal rows together.
    random : numpy.random.Generator, optional
        Puts the rows, or the groups, in random order first, for a number of folds.

    Raises
    ------
    ParameterError
        If ``cv`` is none of these, or there are too few rows, or too many folds.
    DataError
        If no row has a label.

    Examples
    --------
    >>> divided(2, 5).group
    array([0, 0, 0, 1, 1])
    >>> divided(2, 5, codes=np.array([0, 0, 1, -1, 1])).group
    array([ 0,  1,  0, -1,  1])
    """
    cv = FOLDS if cv is None else cv
    _check_one_way(cv, groups is not None, random is not None)
    known = np.arange(n) if codes is None else np.flatnonzero(codes >= 0)
    if not len(known):
        raise DataError("no row has a label", "folds are made of rows with labels")
    if isinstance(cv, ByContent):
        if hashes is None:
            raise ParameterError("cv is a hash", "the rows of a table are hashed", "give a table")
        fold = (hashes[known] % np.uint64(_checked(cv.n_folds))).astype(np.intp)
    elif isinstance(cv, InOrder):
        fold = consecutive(len(known), _checked(cv.n_folds))
    elif not isinstance(cv, Integral):
        alike = hashes if isinstance(cv, EqualRowsTogether) else groups
        return _by_splitter(cv, n, known, codes, alike)
    elif groups is not None:
        fold = _grouped(groups[known], _checked(int(cv)), random)
    else:
        order = np.arange(len(known)) if random is None else random.permutation(len(known))
        k, fold = _checked(int(cv)), np.empty(len(known), np.intp)
        fold[order] = consecutive(n, k) if codes is None else stratified(codes[known[order]], k)
    if empty := set(range(int(fold.max()) + 1)) - set(np.unique(fold).tolist()):
        raise ParameterError(
            f"fold {min(empty)} has no row", "every fold has one at least", "ask for fewer folds"
        )
    whole = np.full(n, -1)
    whole[known] = fold
    return Division.into(whole)


def _checked(k: int) -> int:
    if not 2 <= k <= MOST_FOLDS:
        raise ParameterError(f"{k} folds", f"there are 2 to {MOST_FOLDS} folds")
    return k


def _check_one_way(cv: Any, grouped: bool, random: bool) -> None:
    """Refuse groups or a random order where folds are made in another way."""
    if grouped and isinstance(cv, ByContent | InOrder):
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


def _grouped(
    groups: NDArray[np.intp], k: int, random: np.random.Generator | None
) -> NDArray[np.intp]:
    """The folds of scikit-learn's GroupKFold, at most as many as groups; or groups at random."""
    from suffice.model_selection.scikit_learn import group_folds

    present, place = np.unique(groups, return_inverse=True)
    k = min(k, len(present))
    if k < 2:
        raise ParameterError("there is one group", "a fold is judged by rows of other groups")
    if random is not None:
        return consecutive(len(present), k)[random.permutation(len(present))][place]
    fold = np.empty(len(groups), np.intp)
    for f, (_, test) in enumerate(group_folds(groups, k)):
        fold[test] = f
    return fold


def _by_splitter(
    cv: Any,
    n: int,
    known: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    groups: NDArray[Any] | None,
) -> Division:
    """The folds of a splitter of scikit-learn, which sees the rows with labels; or pairs."""
    labels = None if codes is None else codes[known]
    pairs = pairs_of(cv, len(known), labels, None if groups is None else groups[known])
    found = Division.of(pairs, len(known))
    whole = np.full(n, -1)
    whole[known] = found.group
    return Division(whole, found.learnt, found.tested)
