"""A sample of rows that depends on what they say alone: those of the smallest hashes.

It is the same whatever the order of the rows, how they were cut into batches, and who read them.
It is no statistic: rows that were not kept are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.row_hash import Hashes, batch_hashes, column_hashes, name_hashes

__all__ = ["RowSample", "Sampled", "SampledAccumulator", "SampledRows"]

LAST = np.uint64(2**64 - 1)
ALIKE = 0.1  # expected pairs of rows that chance makes equal, below which equal rows are copies
WHOLE = 1e-9  # relative: how near to whole multiples weights have to be
MOST_COPIES = 10.0  # of an average row: weights with a finer common measure are no counts


class SampledRows(NamedTuple):
    """Distinct rows of one batch, and their hashes (n,)."""

    batch: Batch
    hashes: Hashes


@dataclass(frozen=True)
class RowSample:
    """The rows of the smallest hashes, each once with the weight of all that equal it.

    Parameters
    ----------
    size : int
        How many distinct rows there are at most.
    cut : int
        Rows of larger hashes are not in it.
    pieces : tuple of SampledRows
        The rows, every one with a label and a weight above 0.
    read : int
        How many rows were chosen from, copies included.
    unit : float
        What one row weighs where the rows leave sums: see `Sampled.row_weight`.
    """

    size: int
    cut: np.uint64
    pieces: tuple[SampledRows, ...]
    read: int = 0
    unit: float = 1.0

    @classmethod
    def of(
        cls, size: int, pieces: Sequence[SampledRows], cut: np.uint64 = LAST, read: int = 0
    ) -> RowSample:
        """Choose from rows, of which all up to the cut are there.

        Examples
        --------
        >>> from suffice.sums.block import RealBlock
        >>> x = RealBlock(np.array([[1.0], [2.0], [1.0]]))
        >>> batch = Batch(3, (x,), np.zeros(3, np.intp), weights=np.ones(3))
        >>> sample = RowSample.of(2, [SampledRows(batch, np.array([7, 9, 7], np.uint64))])
        >>> sample.pieces[0].batch.weights
        array([2., 1.])
        """
        hashes = np.concatenate([np.zeros(0, np.uint64), *(piece.hashes for piece in pieces)])
        weights = np.concatenate([np.zeros(0), *(piece.batch.weights for piece in pieces)])
        distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        total: NDArray[np.float64] = np.zeros(len(distinct))
        np.add.at(total, place, weights)
        if len(distinct) > size:
            cut = min(cut, distinct[size - 1])
        is_first = np.zeros(len(hashes), np.bool_)
        is_first[first] = True
        kept = is_first & (hashes <= cut) & (total > 0)[place]
        chosen, start = [], 0
        for batch, own in pieces:
            rows = slice(start, start + batch.rows)
            start = rows.stop
            left = np.flatnonzero(kept[rows])
            if len(left):
                weighted = replace(batch.take(left), weights=total[place[rows]][left])
                chosen.append(SampledRows(weighted, own[left]))
        return cls(size, cut, tuple(chosen), read)

    @property
    def rows(self) -> int:
        """How many distinct rows there are."""
        return sum(piece.batch.rows for piece in self.pieces)

    @property
    def weight(self) -> float:
        """Σw of all rows that they stand for, in units of one row."""
        return float(sum(piece.batch.weights.sum() for piece in self.pieces)) / self.unit

    def first(self, size: int) -> RowSample:
        """At most so many of the rows."""
        return replace(RowSample.of(size, self.pieces, self.cut, self.read), unit=self.unit)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Σw of all rows that equal each distinct one, (n,), ascending."""
        return np.sort(np.concatenate([np.zeros(0), *(p.batch.weights for p in self.pieces)]))

    @cached_property
    def tells_apart(self) -> bool:
        """Whether equal rows are copies of one row: hardly any are equal by chance.

        Were columns independent, as many pairs of N distinct rows would be expected to be equal,
        for each row, as

        ::

            N Π_j Σ_v n_jv (n_jv − 1) / (n (n − 1))

        with n_jv the number of the n distinct rows of the sample that show the value v of column j.
        """
        n = self.rows
        pairs = n / ((float(self.cut) + 1.0) / 2.0**64)
        for hashes in column_hashes([piece.batch for piece in self.pieces]):
            shown = np.unique(hashes, return_counts=True)[1].astype(np.float64)
            pairs *= float((shown * (shown - 1)).sum()) / max(1.0, n * (n - 1.0))
            if pairs < ALIKE:
                return True
        return False

    def __add__(self, other: RowSample) -> RowSample:
        size, cut = min(self.size, other.size), min(self.cut, other.cut)
        return RowSample.of(size, self.pieces + other.pieces, cut, self.read + other.read)

    def __sub__(self, other: RowSample) -> RowSample:
        gone = [
            SampledRows(replace(batch, weights=-batch.weights), hashes)
            for batch, hashes in other.pieces
        ]
        cut, read = min(self.cut, other.cut), max(0, self.read - other.read)
        return RowSample.of(self.size, (*self.pieces, *gone), cut, read)

    def scaled(self, factor: float) -> RowSample:
        """The same rows with their weights multiplied by a factor."""
        lighter = [
            SampledRows(replace(batch, weights=batch.weights * factor), hashes)
            for batch, hashes in self.pieces
        ]
        return RowSample.of(self.size, lighter, self.cut, self.read)


@dataclass(frozen=True, repr=False)
class Sampled(ByClass):
    """Sums over rows, and a sample of these rows that goes along with them.

    Only memory holds the sample: see `plain`.
    """

    sample: RowSample = field(compare=False)

    @classmethod
    def with_sample(cls, sums: ByClass, sample: RowSample) -> Sampled:
        """Put the two together."""
        return cls(sums.classes, sums.weight, sums.unlabelled, sums.blocks, sample)

    def __eq__(self, other: object) -> bool:
        """Whether the sums are equal; a model that was loaded has no sample."""
        return self.plain == (other.plain if isinstance(other, Sampled) else other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def plain(self) -> ByClass:
        """The sums alone, as a file has them."""
        return ByClass(self.classes, self.weight, self.unlabelled, self.blocks)

    def __add__(self, other: ByClass) -> ByClass:
        sums = self.plain + other
        if not isinstance(other, Sampled):
            return sums  # the sample would be one of some rows only
        return self.with_sample(sums, self.sample + other.sample)

    def __sub__(self, other: ByClass) -> ByClass:
        rest = self.plain - other
        if not isinstance(other, Sampled):
            return rest
        return self.with_sample(rest, self.sample - other.sample)

    def scaled(self, factor: float) -> Sampled:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return self.with_sample(self.plain.scaled(factor), self.sample.scaled(factor))

    @property
    def row_weight(self) -> float:
        """What one row weighs, so that a row leaves with all its weight, copies included.

        Twice as much where all weights are doubled, or all rows are there twice. Where equal rows
        are copies, half of the weight is that of distinct rows that weigh no more than this. Else
        it is the number that the weights of distinct rows are whole multiples of, or where they are
        none, Σw/n of n rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> x, y = {"a": list("nnyyny"), "b": list("nnnyyn")}, list("nnyyyn")
        >>> sums = [NaiveBayes().fit(x, y, [w] * 6).statistic_ for w in (1.0, 100.0, 0.25)]
        >>> [one.row_weight for one in sums], (sums[0] + sums[0]).row_weight
        ([1.0, 100.0, 0.25], 2.0)
        """
        weights = self.sample.weights
        if not len(weights):
            return 1.0
        if self.sample.tells_apart:
            upto = np.cumsum(weights)
            return float(weights[np.searchsorted(upto, upto[-1] / 2 * (1 - WHOLE))])
        mean, counted = self.rows / max(1, self.sample.read), _common_measure(weights)
        return counted if counted * MOST_COPIES >= mean else mean

    def canonical(self) -> Sampled:
        """The same sums in the form that a file has."""
        return self.with_sample(self.plain.canonical(), self.sample)


class SampledAccumulator:
    """Builds `Sampled` from batches.

    Parameters
    ----------
    sums : ByClassAccumulator
    names : sequence of sequences
        Names of the columns of each block.
    size : int
        Of the sample.
    """

    def __init__(self, sums: ByClassAccumulator, names: Sequence[Sequence[Any]], size: int) -> None:
        self._sums, self._names = sums, name_hashes(names)
        self._sample = RowSample(size, LAST, ())
        self._waiting: list[SampledRows] = []

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch.

        Raises
        ------
        BadCell, DataError
            As `ByClassAccumulator.add` does.
        """
        self._sums.add(batch)
        hashes = batch_hashes(batch, self._names)
        known = batch.codes >= 0
        if batch.weights.size:
            known &= batch.weights > 0
        self._sample = replace(self._sample, read=self._sample.read + int(known.sum()))
        rows = np.flatnonzero(known & (hashes <= self._sample.cut))
        self._lower(hashes[rows])
        rows = rows[hashes[rows] <= self._sample.cut]
        chosen = batch.take(rows)
        if not batch.weights.size:
            chosen = replace(chosen, weights=np.ones(len(rows)))
        self._waiting.append(SampledRows(chosen, hashes[rows]))
        if sum(piece.batch.rows for piece in self._waiting) > self._sample.size:
            self._choose()

    def _lower(self, hashes: Hashes) -> None:
        """Lower the cut to what the hashes of a batch tell, so that fewer rows are copied."""
        size = self._sample.size
        if len(hashes) > 4 * size:
            least = np.unique(np.partition(hashes, 2 * size)[: 2 * size])
            if len(least) >= size:
                self._sample = replace(self._sample, cut=min(self._sample.cut, least[size - 1]))

    def _choose(self) -> None:
        pieces, self._waiting = (*self._sample.pieces, *self._waiting), []
        size, cut, read = self._sample.size, self._sample.cut, self._sample.read
        self._sample = RowSample.of(size, pieces, cut, read)

    def statistic(self) -> Sampled:
        """Freeze what was added."""
        self._choose()
        return Sampled.with_sample(self._sums.statistic(), self._sample)


def _common_measure(weights: NDArray[np.float64]) -> float:
    """The largest number that all weights are whole multiples of, by Euclid's algorithm."""
    measure = float(weights.min())
    while True:
        rest = np.abs(weights - measure * np.rint(weights / measure))
        rest = rest[rest > WHOLE * weights]
        if not len(rest):
            return float(weights.sum() / np.rint(weights / measure).sum())
        measure = float(rest.min())
