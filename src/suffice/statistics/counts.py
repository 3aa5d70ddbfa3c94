"""Counts: how often every class showed every category, token or event, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.exact import DoubleDouble
from suffice.rules import NONNEGATIVE, Shape, rule
from suffice.statistics.divergence import Divergences, of_fractions
from suffice.statistics.statistic import described, described_in_html
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Counts", "nonnegative"]

FORGOTTEN_NOISE = 2.0**-90  # what rounding may leave of a sum whose rows are all taken away
T = TypeVar("T", bound=np.generic)


def nonnegative(difference: DoubleDouble, before: DoubleDouble) -> DoubleDouble:
    """Check that a difference of weights is one, and clear what rounding left of empty sums.

    Raises
    ------
    ForgetError
        If more was taken away than there was; ``column`` is the place of the sum.
    """
    noise = FORGOTTEN_NOISE * before.hi
    negative = difference.hi < -noise
    if negative.any():
        error = ForgetError(
            "fewer rows than are to be forgotten", "only rows that were learnt can be forgotten"
        )
        error.column = int(np.argwhere(negative)[0, -1]) if negative.ndim else None
        raise error
    kept = difference.hi > noise
    return DoubleDouble(np.where(kept, difference.hi, 0.0), np.where(kept, difference.lo, 0.0))


def offsets_of(vocabularies: tuple[Vocabulary, ...]) -> NDArray[np.intp]:
    """Where the categories of each column start among all M, (d + 1,)."""
    return np.concatenate([[0], np.cumsum([len(v) for v in vocabularies])]).astype(np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Class-wise weights of the categories of d columns, M = Σ mⱼ of them side by side.

    A value is in an open vocabulary exactly when its count is positive, so that equal rows give
    equal counts whatever was added and taken away before.

    Parameters
    ----------
    vocabularies : tuple of d Vocabulary
        The values of each column.
    count : DoubleDouble (k, M)
        Σw of the rows of each class that show each value.
    """

    vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]
    count: Annotated[DoubleDouble, Shape("k", "M"), NONNEGATIVE]

    __repr__ = described
    _repr_html_ = described_in_html

    @rule("there is a count for each value of each column")
    def _is_wide(self) -> bool:
        return sum(map(len, self.vocabularies)) == self.count.shape[1]

    @rule("a value of an open vocabulary has a count")
    def _is_shown(self) -> bool:
        sizes = np.array([len(v) for v in self.vocabularies], np.intp)
        closed = np.repeat(np.array([v.closed for v in self.vocabularies], bool), sizes)
        return bool((closed | self.count.hi.any(axis=0)).all())

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.count.shape[0]

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.vocabularies)

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether values differ by too little to be squared, (d,): counts are not squared."""
        return np.zeros(self.d, np.bool_)

    @cached_property
    def offsets(self) -> NDArray[np.intp]:
        """Where the categories of each column start, (d + 1,)."""
        return offsets_of(self.vocabularies)

    @cached_property
    def counts_from_zero(self) -> bool:
        """Whether the values of every column are 0, 1, 2 and so on, or there is none."""
        return all(vocabulary.counts_from_zero for vocabulary in self.vocabularies)

    def column(self, j: int) -> NDArray[np.float64]:
        """Counts (k, mⱼ) of column j."""
        return self.count.value[:, self.offsets[j] : self.offsets[j + 1]]

    @cached_property
    def by_size(self) -> tuple[tuple[NDArray[np.intp], NDArray[np.float64]], ...]:
        """Which columns have equally many values v, (c,), and their counts (k, c, v), by v."""
        count, sizes = self.count.value, np.diff(self.offsets)
        groups = (np.flatnonzero(sizes == v) for v in np.unique(sizes))
        return tuple(
            (columns, count[:, self.offsets[columns, None] + np.arange(sizes[columns[0]])])
            for columns in groups
        )

    @property
    def ones(self) -> NDArray[np.float64]:
        """Σw of the rows of outcome 1, (k, d), of columns of two outcomes."""
        return self.count.value[:, 1::2]

    @property
    def events(self) -> Vocabulary | None:
        """What is counted: here the values of columns, and no events."""
        return None

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        columns = range(len(self.vocabularies))
        sums = [
            self.count[:, self.offsets[j] : self.offsets[j + 1]].sum(axis=1).value for j in columns
        ]
        return np.stack(sums, axis=1) if sums else np.zeros((self.count.shape[0], 0))

    def __add__(self, other: Self) -> Self:
        vocabularies = self._union(other)
        count = self._spread(vocabularies) + other._spread(vocabularies)
        return replace(self, vocabularies=vocabularies, count=count)

    def __sub__(self, other: Self) -> Self:
        vocabularies = self._union(other)
        before = self._spread(vocabularies)
        try:
            rest = nonnegative(before - other._spread(vocabularies), before)
        except ForgetError as error:
            error.column = self._column_at(error.column or 0, vocabularies)
            raise
        return replace(self, vocabularies=vocabularies, count=rest).pruned()

    @staticmethod
    def _column_at(place: int, vocabularies: tuple[Vocabulary, ...]) -> int:
        """The column that a count is of."""
        return int(np.searchsorted(offsets_of(vocabularies), place, side="right")) - 1

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return replace(self, count=self.count.scaled(factor)).pruned()

    def canonical(self) -> Self:
        """Counts have one form only."""
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.vocabularies == other.vocabularies and self.count == other.count

    __hash__ = None  # type: ignore[assignment]

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        return replace(self, count=self.count.sum(axis=0)[None])

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class are from another table's, (k, d)."""
        vocabularies = self._union(other)
        mine, theirs = self.over(vocabularies), other.over(vocabularies)
        columns = range(len(vocabularies))
        return Divergences.side_by_side(
            [of_fractions(mine.column(j), theirs.column(j)) for j in columns]
        )

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return replace(self, count=self.count.scatter(index, (k, self.count.shape[1])))

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        if np.array_equal(index, np.arange(self.count.shape[0])):
            return self
        return replace(self, count=self.count[index])

    def sorted(self) -> Self:
        """Put the values of open vocabularies in order and drop those that no row shows."""
        ordered = (v if v.closed else Vocabulary.of(v.values) for v in self.vocabularies)
        vocabularies = tuple(ordered)
        return self.over(vocabularies).pruned()

    def over(self, vocabularies: tuple[Vocabulary, ...]) -> Self:
        """The same counts over wider vocabularies; a value that no row shows has count 0."""
        if vocabularies == self.vocabularies:
            return self
        return replace(self, vocabularies=vocabularies, count=self._spread(vocabularies))

    def pruned(self) -> Self:
        """Drop the values of open vocabularies that no row shows."""
        shown = np.any(self.count.hi > 0, axis=0)
        kept = [
            np.arange(len(v)) if v.closed else np.flatnonzero(shown[start : start + len(v)])
            for v, start in zip(self.vocabularies, self.offsets[:-1], strict=True)
        ]
        if sum(map(len, kept)) == len(shown):
            return self
        index = np.concatenate([k + o for k, o in zip(kept, self.offsets[:-1], strict=True)])
        vocabularies = (v.take(k) for v, k in zip(self.vocabularies, kept, strict=True))
        return replace(self, vocabularies=tuple(vocabularies), count=self.count[:, index])

    def _union(self, other: Counts) -> tuple[Vocabulary, ...]:
        if self.vocabularies == other.vocabularies:
            return self.vocabularies
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        return tuple(mine | theirs for mine, theirs in pairs)

    def _spread(self, vocabularies: tuple[Vocabulary, ...]) -> DoubleDouble:
        """Move the counts to where wider vocabularies have them."""
        if vocabularies == self.vocabularies:
            return self.count
        offsets = offsets_of(vocabularies)
        index = [
            wide.index(mine.values, -1) + start
            for mine, wide, start in zip(self.vocabularies, vocabularies, offsets[:-1], strict=True)
        ]
        shape = (self.count.shape[0], int(offsets[-1]))
        return self.count.scatter((slice(None), np.concatenate(index)), shape)


def grown(sums: NDArray[T], k: int) -> NDArray[T]:
    """The same sums with room for k classes."""
    if k <= len(sums):
        return sums
    more = np.zeros((k - len(sums), *sums.shape[1:]), sums.dtype)
    return np.concatenate([sums, more]) if len(sums) else more
