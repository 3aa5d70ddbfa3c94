"""Counts: how often every class showed every category, token or event, exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.rules import NONNEGATIVE, Shape, rule
from suffice.sums.block import CodedBlock, IntegerBlock, tiles
from suffice.sums.divergence import Divergences, of_fractions
from suffice.sums.statistic import described
from suffice.sums.vocabulary import Vocabulary

__all__ = [
    "WIDEST",
    "ClassCounts",
    "CountAccumulator",
    "Counts",
    "nonnegative",
]

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


class ClassCounts(ABC):
    """Class-wise weights side by side, whatever each of them is the weight of.

    Parameters
    ----------
    count : DoubleDouble (k, M)
        Σw of the rows of each class.
    """

    count: DoubleDouble

    __repr__ = described

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of columns."""

    @property
    @abstractmethod
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.count.shape[0]

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether values differ by too little to be squared, (d,): counts are not squared."""
        return np.zeros(self.d, np.bool_)

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return self._of(self.count.scaled(factor)).pruned()

    def canonical(self) -> Self:
        """Counts have one form only."""
        return self

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        return self._of(self.count.sum(axis=0)[None])

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return self._of(self.count.scatter(index, (k, self.count.shape[1])))

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        if np.array_equal(index, np.arange(self.k)):
            return self
        return self._of(self.count[index])

    def pruned(self) -> Self:
        """Drop what no row shows, where what there is to show is not given."""
        return self

    def _of(self, count: DoubleDouble) -> Self:
        found: Self = replace(cast(Any, self), count=count)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Counts(ClassCounts):
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

    @rule("there is a count for each value of each column")
    def _is_wide(self) -> bool:
        return sum(map(len, self.vocabularies)) == self.count.shape[1]

    @rule("a value of an open vocabulary has a count")
    def _is_shown(self) -> bool:
        sizes = np.array([len(v) for v in self.vocabularies], np.intp)
        closed = np.repeat(np.array([v.closed for v in self.vocabularies], bool), sizes)
        return bool((closed | self.count.hi.any(axis=0)).all())

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.vocabularies)

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.vocabularies == other.vocabularies and self.count == other.count

    __hash__ = None  # type: ignore[assignment]

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class are from another table's, (k, d)."""
        vocabularies = self._union(other)
        mine, theirs = self.over(vocabularies), other.over(vocabularies)
        columns = range(len(vocabularies))
        return Divergences.side_by_side(
            [of_fractions(mine.column(j), theirs.column(j)) for j in columns]
        )

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


FIRST_LOOK = 1_024  # rows that suggest the range of whole numbers
WIDEST = 262_144  # places in a table of whole numbers; what is wider is looked up


@dataclass(frozen=True, eq=False)
class CodeRange:
    """The codes low[j], ..., low[j] + size[j] − 1 of every column, side by side in a table.

    ``vocabularies`` tells what they stand for: code −1 is a missing cell, 0 the first value. Where
    it is None, a code is itself the value, a whole number.
    """

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    vocabularies: tuple[Vocabulary, ...] | None = None

    @classmethod
    def of(cls, vocabularies: tuple[Vocabulary, ...]) -> CodeRange:
        """The codes of vocabularies, and −1."""
        size = np.array([len(v) + 1 for v in vocabularies], np.int64)
        return cls(np.full(len(size), -1), size, vocabularies)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where every column starts, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.size)])

    @classmethod
    def spanning(cls, values: NDArray[Any], known: CodeRange | None = None) -> CodeRange | None:
        """The range of whole numbers (n, d), and of those known; None if it is too wide."""
        low, high = values.min(axis=0).astype(np.int64), values.max(axis=0).astype(np.int64)
        if known is not None:
            low, high = np.minimum(low, known.low), np.maximum(high, known.low + known.size - 1)
        if (high.astype(np.float64) - low + 1).sum() > WIDEST:
            return None
        return cls(low, high - low + 1)

    def counts(self, table: DoubleDouble) -> Counts:
        """What a table (k, M) over this range has counted."""
        if self.vocabularies is not None:
            kept = np.setdiff1d(np.arange(table.shape[1]), self.offsets[:-1])
            return Counts(self.vocabularies, table[:, kept]).sorted()
        shown = np.any(table.hi > 0, axis=0)
        columns = [np.flatnonzero(shown[a:b]) for a, b in pairwise(self.offsets)]
        vocabularies = tuple(
            Vocabulary(tuple((low + codes).tolist()))
            for low, codes in zip(self.low, columns, strict=True)
        )
        return Counts(vocabularies, table[:, shown])


class CountAccumulator:
    """Builds `Counts` of d columns of categories.

    Rows are added into one table while the codes keep their meaning. A batch may bring
    vocabularies of its own, unsorted and with unused values, or whole numbers beyond the range so
    far; then the table is folded into the sum by value, so that codes never travel.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._k = 0
        self._range: CodeRange | None = None
        self._tally: NDArray[np.int64] = np.zeros((0, 0), np.int64)  # rows of weight one, (k, M)
        self._table: NDArray[np.float64] = np.zeros((0, 2, 0))  # the others, (k, 2, M)
        self._sum: Counts | None = None

    def add(
        self,
        block: CodedBlock | IntegerBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block."""
        self._k = max(k, self._k)
        if isinstance(block, IntegerBlock):
            self._add_integers(block.values, codes, weights)
            return
        if self._range is None or self._range.vocabularies != block.vocabularies:
            self._open(CodeRange.of(block.vocabularies))
        binary = block.codes.dtype == np.int8 and not weights.size
        stored = binary or block.codes.dtype == np.int32
        for start, values in tiles(block.codes, block.codes.dtype if stored else np.int64):
            rows = slice(start, start + len(values))
            if binary:
                kernels.counts.add_binary(values, codes[rows], self._grown_tally())
            else:
                self._count(values, codes[rows], weights[rows])

    def statistic(self) -> Counts:
        """Freeze what was added; without any block, the vocabularies are empty."""
        self._fold()
        nothing = Counts((Vocabulary(()),) * self._d, DoubleDouble.zeros((self._k, 0)))
        return self._sum or nothing

    def _add_integers(
        self, values: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        """Count whole numbers directly, widening the range whenever one is beyond it."""
        if not len(values):
            return
        if self._range is None or self._range.vocabularies is not None:
            self._open(CodeRange.spanning(values[:FIRST_LOOK]))
        for start, part in tiles(values, np.int64):
            done = 0
            while self._range is not None and self._range.vocabularies is None:
                rows = slice(start + done, start + len(part))
                stopped = self._count(part[done:], codes[rows], weights[rows])
                if stopped < 0:
                    break
                done += stopped
                self._open(CodeRange.spanning(part[done:], self._range))
            else:
                rows = slice(start + done, start + len(part))
                self.add(IntegerBlock(part[done:]).coded(), codes[rows], weights[rows], self._k)

    def _count(
        self, values: NDArray[Any], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> int:
        """Run the kernel; return −1, or the first row that has a code beyond the range."""
        assert self._range is not None
        bounds = self._range.low, self._range.size, self._range.offsets
        if weights.size:
            args = codes, weights, self._grown_table()
            return int(kernels.counts.add_weighted_codes(values, *bounds, *args))
        return int(kernels.counts.add_codes(values, *bounds, codes, self._grown_tally()))

    def _grown_tally(self) -> NDArray[np.int64]:
        assert self._range is not None
        if not self._tally.size:
            self._tally = np.zeros((0, int(self._range.offsets[-1])), np.int64)
        self._tally = grown(self._tally, self._k)
        return self._tally

    def _grown_table(self) -> NDArray[np.float64]:
        assert self._range is not None
        if not self._table.size:
            self._table = np.zeros((0, 2, int(self._range.offsets[-1])))
        self._table = grown(self._table, self._k)
        return self._table

    def _open(self, codes: CodeRange | None) -> None:
        self._fold()
        self._range = codes

    def _fold(self) -> None:
        """Add what was counted to the sum, by value."""
        if self._range is None:
            return
        tally, pairs = self._grown_tally(), self._grown_table()
        part = self._range.counts(DoubleDouble.from_table(pairs) + DoubleDouble.of(tally))
        if self._sum is not None:
            known = np.arange(self._sum.count.shape[0])
            part = self._sum.place(known, part.count.shape[0]) + part
        self._range, self._sum = None, part
        self._tally, self._table = np.zeros((0, 0), np.int64), np.zeros((0, 2, 0))
