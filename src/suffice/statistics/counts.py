"""Counts: how often every class showed every category, token or event, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.block import CodedBlock, RealBlock, SparseBlock
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["CountAccumulator", "Counts", "EventAccumulator", "Events", "nonnegative"]

NOISE = 2.0**-90  # what rounding may leave of a sum whose rows are all taken away


def nonnegative(difference: DoubleDouble, before: DoubleDouble, what: str) -> DoubleDouble:
    """Check that a difference of weights is one, and clear what rounding left of empty sums.

    Raises
    ------
    ForgetError
        If more was taken away than there was.
    """
    noise = NOISE * before.hi
    if (difference.hi < -noise).any():
        raise ForgetError(
            f"{what}: fewer rows than are to be forgotten",
            "only rows that were learnt can be forgotten",
        )
    kept = difference.hi > noise
    return DoubleDouble(np.where(kept, difference.hi, 0.0), np.where(kept, difference.lo, 0.0))


def offsets_of(vocabularies: tuple[Vocabulary, ...]) -> NDArray[np.intp]:
    """Where the categories of each column start among all M, (d + 1,)."""
    return np.concatenate([[0], np.cumsum([len(v) for v in vocabularies])]).astype(np.intp)


@dataclass(frozen=True, eq=False)
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

    vocabularies: tuple[Vocabulary, ...]
    count: DoubleDouble

    @cached_property
    def offsets(self) -> NDArray[np.intp]:
        """Where the categories of each column start, (d + 1,)."""
        return offsets_of(self.vocabularies)

    def column(self, j: int) -> NDArray[np.float64]:
        """Counts (k, mⱼ) of column j."""
        return self.count.value[:, self.offsets[j] : self.offsets[j + 1]]

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
        rest = nonnegative(before - other._spread(vocabularies), before, "categories")
        return replace(self, vocabularies=vocabularies, count=rest).pruned()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.vocabularies == other.vocabularies and self.count == other.count

    __hash__ = None  # type: ignore[assignment]

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return replace(self, count=self.count.scatter(index, (k, self.count.shape[1])))

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        return replace(self, count=self.count[index])

    def sorted(self) -> Self:
        """Put the values of open vocabularies in order and drop those that no row shows."""
        ordered = (v if v.closed else Vocabulary.of(v.values) for v in self.vocabularies)
        vocabularies = tuple(ordered)
        return replace(self, vocabularies=vocabularies, count=self._spread(vocabularies)).pruned()

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


@dataclass(frozen=True, eq=False)
class Events(Counts):
    """Class-wise sums of event counts (tokens of a text, columns of a count table).

    One vocabulary, M events; ``count`` holds Σw·x.

    Parameters
    ----------
    documents : DoubleDouble (k,)
        Σw of the rows that were observed at all.
    """

    documents: DoubleDouble

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed rows, (k, 1)."""
        return self.documents.value[:, None]

    def __add__(self, other: Self) -> Self:
        return replace(super().__add__(other), documents=self.documents + other.documents)

    def __sub__(self, other: Self) -> Self:
        documents = nonnegative(self.documents - other.documents, self.documents, "rows")
        return replace(super().__sub__(other), documents=documents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        return super().__eq__(other) and self.documents == other.documents

    __hash__ = None

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return replace(super().place(index, k), documents=self.documents.scatter(index, (k,)))

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        return replace(super().take(index), documents=self.documents[index])


def grown(sums: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The same sums with room for k classes."""
    if k <= len(sums):
        return sums
    return np.concatenate([sums, np.zeros((k - len(sums), *sums.shape[1:]))])


class CountAccumulator:
    """Builds `Counts` of coded columns.

    Rows are added into one table while the vocabularies of the batches stay the same. A batch may
    bring vocabularies of its own, unsorted and with unused values; then the table so far is folded
    into the sum by value, so that codes never travel between batches.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._vocabularies: tuple[Vocabulary, ...] | None = None
        self._table: NDArray[np.float64] = np.zeros((0, 2, 0))
        self._sum: Counts | None = None

    def add(
        self, block: CodedBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block."""
        table = self._open(block.vocabularies, k)
        offsets = offsets_of(block.vocabularies)
        kernels.counts.add_codes(block.codes, offsets, codes, weights, table)

    def statistic(self) -> Counts:
        """Freeze what was added; without any block, the vocabularies are empty."""
        self._fold()
        nothing = (Vocabulary(()),) * self._d
        return self._sum or self._freeze(nothing, DoubleDouble.zeros((0, 0)))

    def _open(self, vocabularies: tuple[Vocabulary, ...], k: int) -> NDArray[np.float64]:
        """Return the table (k, 2, M) of these vocabularies to add to."""
        if vocabularies != self._vocabularies:
            self._fold()
            self._vocabularies = vocabularies
            self._table = np.zeros((k, 2, int(offsets_of(vocabularies)[-1])))
        self._table = grown(self._table, k)
        return self._table

    def _fold(self) -> None:
        if self._vocabularies is None:
            return
        part = self._freeze(self._vocabularies, DoubleDouble.from_pairs(self._table)).sorted()
        if self._sum is not None:
            known = np.arange(self._sum.count.shape[0])
            part = self._sum.place(known, part.count.shape[0]) + part
        self._vocabularies, self._sum = None, part

    def _freeze(self, vocabularies: tuple[Vocabulary, ...], count: DoubleDouble) -> Counts:
        return Counts(vocabularies, count)


class EventAccumulator(CountAccumulator):
    """Builds `Events` from sparse token counts or from a dense table of d counts.

    Parameters
    ----------
    presence : bool
        Count in how many rows an event occurs, not how often it occurs.
    """

    def __init__(self, presence: bool = False) -> None:
        super().__init__(1)
        self._presence = presence
        self._documents: NDArray[np.float64] = np.zeros((0, 2))

    def add(  # type: ignore[override]
        self,
        block: RealBlock | SparseBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block; its counts were checked to be finite and not negative."""
        if isinstance(block, SparseBlock):
            present = block.present
            table = self._open((block.vocabulary,), k)
            data = (block.data != 0).astype(np.float64) if self._presence else block.data
            kernels.counts.add_sparse_events(
                data, block.indices, block.indptr, codes, weights, table
            )
        else:
            present = ~np.isnan(block.values).all(axis=1)
            columns = Vocabulary(tuple(range(block.values.shape[1])), closed=True)
            table = self._open((columns,), k)
            kernels.counts.add_events(block.values, codes, weights, table)
        self._documents = grown(self._documents, k)
        kernels.counts.add_rows(np.where(present, codes, -1), weights, self._documents)

    def _freeze(self, vocabularies: tuple[Vocabulary, ...], count: DoubleDouble) -> Events:
        documents = DoubleDouble.from_pairs(self._documents)
        self._documents = np.zeros_like(self._documents)
        return Events(vocabularies, count, documents)
