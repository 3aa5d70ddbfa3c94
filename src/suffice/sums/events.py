"""Counts of events, such as words: Σw x_v by class, over a vocabulary that grows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import Shape, rule
from suffice.sums.block import IntegerBlock, RealBlock, SparseBlock, tiles
from suffice.sums.counts import FORGOTTEN_NOISE, CountAccumulator, Counts, grown, nonnegative
from suffice.sums.divergence import Divergences, of_fractions
from suffice.sums.statistic import described
from suffice.sums.vocabulary import Vocabulary

__all__ = ["EventAccumulator", "Events"]


@dataclass(frozen=True, eq=False, repr=False)
class Events(Counts):
    """Class-wise sums of event counts (tokens of a text, columns of a count table).

    One vocabulary, M events; ``count`` holds Σw·x.

    Parameters
    ----------
    documents : DoubleDouble (k,)
        Σw of the rows that were observed at all.
    missing : Counts
        Σw of the rows among them in which an event is missing, over the events of which there
        are such rows; of presence only, for a missing count adds nothing to Σw·x.
    """

    documents: Annotated[DoubleDouble, Shape("k"), WEIGHT]
    missing: Counts

    __repr__ = described

    @rule("there is one vocabulary of events; if it is closed, they are numbered from 0 on")
    def _has_events(self) -> bool:
        numbered = (v.values == tuple(range(len(v))) for v in self.vocabularies if v.closed)
        return len(self.vocabularies) == 1 and all(numbered)

    @rule("missing are counts of events of the same classes, of no more rows than there are")
    def _has_missing(self) -> bool:
        missing, (known,) = self.missing, self.vocabularies
        if type(missing) is not Counts or (missing.k, missing.d) != (self.k, 1):
            return False
        if not missing.count.shape[1]:
            return True
        among = missing.vocabularies[0].codes.keys() <= known.codes.keys()
        return among and bool((self.total >= -FORGOTTEN_NOISE * self.documents.hi[:, None]).all())

    @property
    def d(self) -> int:
        """Number of columns: the words of a text are of one."""
        (events,) = self.vocabularies
        return len(events) if events.closed else 1

    @property
    def ones(self) -> NDArray[np.float64]:
        """Σw of the rows that show each event, (k, M), where rows are counted."""
        return self.count.value

    @property
    def events(self) -> Vocabulary | None:
        """The words of a text, or the columns of a count table."""
        return self.vocabularies[0]

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed rows, (k, 1); where cells are missing, of each event, (k, M)."""
        documents = self.documents[:, None]
        if not self.missing.count.shape[1]:
            return documents.value
        return (documents - self.missing.over(self.vocabularies).count).value

    def __add__(self, other: Self) -> Self:
        documents, missing = self.documents + other.documents, self.missing + other.missing
        return replace(super().__add__(other), documents=documents, missing=missing)

    def __sub__(self, other: Self) -> Self:
        try:
            documents = nonnegative(self.documents - other.documents, self.documents)
            missing = self.missing - other.missing
        except ForgetError as error:
            error.column = 0 if self.d == 1 else None  # it was that of a class, or of some events
            raise
        return replace(super().__sub__(other), documents=documents, missing=missing)

    @staticmethod
    def _column_at(place: int, vocabularies: tuple[Vocabulary, ...]) -> int:
        """The column that a count is of: a text, or the column of that number."""
        return place if vocabularies[0].closed else 0

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        documents, missing = self.documents.scaled(factor), self.missing.scaled(factor)
        return replace(super().scaled(factor), documents=documents, missing=missing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        same = self.documents == other.documents and self.missing == other.missing
        return super().__eq__(other) and same

    __hash__ = None

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        documents, missing = self.documents.sum(axis=0)[None], self.missing.one_class
        return replace(super().one_class, documents=documents, missing=missing)

    def divergences(self, other: Self) -> Divergences:
        """How far the events of a text, or each column of counts among all, are apart, (k, d).

        Without a test: the events of one row depend on each other.
        """
        (events,) = self.vocabularies
        if not events.closed:
            return super().divergences(other).untested()
        sides = (side.count.value for side in (self, other))
        return of_fractions(
            *(np.stack([x, x.sum(axis=1, keepdims=True) - x], axis=-1) for x in sides)
        ).untested()

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        documents, missing = self.documents.scatter(index, (k,)), self.missing.place(index, k)
        return replace(super().place(index, k), documents=documents, missing=missing)

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        documents, missing = self.documents[index], self.missing.take(index).pruned()
        return replace(super().take(index), documents=documents, missing=missing)


class EventAccumulator:
    """Builds `Events` from sparse token counts or from a dense table of counts.

    Parameters
    ----------
    presence : bool
        Count in how many rows an event occurs, not how often it occurs.
    """

    def __init__(self, presence: bool = False) -> None:
        self._presence = presence
        self._vocabulary: Vocabulary | None = None
        self._count = DoubleDouble.zeros((0, 0))  # nothing else holds it: kernels add to it
        self._documents: NDArray[np.float64] = np.zeros((0, 2))
        self._missing = CountAccumulator(1)
        self._sum: Events | None = None

    def add(
        self,
        block: RealBlock | SparseBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block; its counts were checked to be finite and not negative."""
        if isinstance(block, SparseBlock):
            if not block.whole and (self._presence or np.isnan(block.data.min(initial=0))):
                block = block.merged()  # counts add up as they are stored, occurrences do not
            sums = self._open(block.vocabulary, k)
            data = block.outcomes if self._presence else block.data
            present = codes if block.present.all() else np.where(block.present, codes, -1)
            cells = data, block.indices, block.indptr
            kernels.counts.add_sparse_events(*cells, codes, weights, sums.hi, sums.lo)
            if self._presence and (missing := np.isnan(data)).any():
                # Only a matrix has such cells, and its events are its columns.
                row = np.repeat(np.arange(block.rows), np.diff(block.indptr))[missing]
                columns = IntegerBlock(block.indices[missing][:, None])
                self._missing.add(columns, codes[row], weights[row] if weights.size else weights, k)
        else:
            sums = self._open(Vocabulary(tuple(range(block.values.shape[1])), closed=True), k)
            present = codes.copy()
            for start, x in tiles(block.values, np.float64):
                rows = slice(start, start + len(x))
                kernels.counts.add_events(x, codes[rows], weights[rows], sums.hi, sums.lo)
                present[rows][np.isnan(x).all(axis=1)] = -1
        kernels.counts.add_rows(present, weights, self._documents, np.zeros((1, 2)))

    def statistic(self) -> Events:
        """Freeze what was added; without any block, the vocabulary is empty."""
        self._fold()
        k = len(self._documents)
        nothing = Counts((Vocabulary(()),), DoubleDouble.zeros((k, 0)))
        return self._sum or Events(
            nothing.vocabularies, nothing.count, DoubleDouble.zeros(k), nothing
        )

    def _open(self, vocabulary: Vocabulary, k: int) -> DoubleDouble:
        """Return the sums (k, M) of a vocabulary to add to."""
        if vocabulary != self._vocabulary:
            self._fold()
            self._vocabulary = vocabulary
            self._count = DoubleDouble.zeros((k, len(vocabulary)))
        self._count = DoubleDouble(grown(self._count.hi, k), grown(self._count.lo, k))
        self._documents = grown(self._documents, k)
        return self._count

    def _fold(self) -> None:
        """Add the table to the sum by value: codes never travel between batches."""
        if self._vocabulary is None:
            return
        count = DoubleDouble.from_sums(self._count.hi, self._count.lo)
        documents = DoubleDouble.from_table(self._documents[:, :, None])[:, 0]
        missing = self._missing.statistic()
        missing = missing.place(np.arange(len(missing.count.hi)), len(count.hi))
        part = Events((self._vocabulary,), count, documents, missing).sorted()
        if self._sum is not None:
            known = np.arange(self._sum.count.shape[0])
            part = self._sum.place(known, part.count.shape[0]) + part
        self._vocabulary, self._sum = None, part
        self._documents = np.zeros_like(self._documents)
        self._missing = CountAccumulator(1)
