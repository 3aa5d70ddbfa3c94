"""A sample of rows that depends on what they say alone: those of the smallest hashes.

It is the same whatever the order of the rows, how they were cut into batches, and who read them.
It is no statistic: rows that were not kept are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.batch import Batch
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.pass_memory import NUMBER, PassMemory, PassRows
from suffice.statistics.row_hash import Hashes, batch_hashes, name_hashes

__all__ = ["RowSample", "Sampled", "SampledAccumulator", "SampledRows"]

LAST = np.uint64(2**64 - 1)


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
    """

    size: int
    cut: np.uint64
    pieces: tuple[SampledRows, ...]

    @classmethod
    def of(cls, size: int, pieces: Sequence[SampledRows], cut: np.uint64 = LAST) -> RowSample:
        """Choose from rows, of which all up to the cut are there.

        Examples
        --------
        >>> from suffice.statistics.block import RealBlock
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
        return cls(size, cut, tuple(chosen))

    @property
    def rows(self) -> int:
        """How many distinct rows there are."""
        return sum(piece.batch.rows for piece in self.pieces)

    @property
    def weight(self) -> float:
        """Σw of all rows that they stand for."""
        return float(sum(piece.batch.weights.sum() for piece in self.pieces))

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample.of(
            min(self.size, other.size), self.pieces + other.pieces, min(self.cut, other.cut)
        )

    def __sub__(self, other: RowSample) -> RowSample:
        gone = [
            SampledRows(replace(batch, weights=-batch.weights), hashes)
            for batch, hashes in other.pieces
        ]
        return RowSample.of(self.size, (*self.pieces, *gone), min(self.cut, other.cut))

    def scaled(self, factor: float) -> RowSample:
        """The same rows with their weights multiplied by a factor."""
        lighter = [
            SampledRows(replace(batch, weights=batch.weights * factor), hashes)
            for batch, hashes in self.pieces
        ]
        return RowSample.of(self.size, lighter, self.cut)


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
        rows = np.flatnonzero(hashes <= self._sample.cut)
        rows = rows[batch.codes[rows] >= 0]
        if batch.weights.size:
            rows = rows[batch.weights[rows] > 0]
        self._lower(hashes[rows])
        rows = rows[hashes[rows] <= self._sample.cut]
        chosen = batch.take(rows)
        if not batch.weights.size:
            chosen = replace(chosen, weights=np.ones(len(rows)))
        self._waiting.append(SampledRows(chosen, hashes[rows]))
        if sum(piece.batch.rows for piece in self._waiting) > self._sample.size:
            self._choose()

    def pass_memory(self, k: int, rows: PassRows) -> PassMemory:
        """Of k classes; a worker has three samples while it chooses one."""
        d = sum(map(len, self._names))
        sample = NUMBER * d * rows.of_split(self._sample.size)
        return self._sums.pass_memory(k, rows) + PassMemory(2 * sample, sample)

    def _lower(self, hashes: Hashes) -> None:
        """Lower the cut to what the hashes of a batch tell, so that fewer rows are copied."""
        size = self._sample.size
        if len(hashes) > 4 * size:
            least = np.unique(np.partition(hashes, 2 * size)[: 2 * size])
            if len(least) >= size:
                self._sample = replace(self._sample, cut=min(self._sample.cut, least[size - 1]))

    def _choose(self) -> None:
        pieces, self._waiting = (*self._sample.pieces, *self._waiting), []
        self._sample = RowSample.of(self._sample.size, pieces, self._sample.cut)

    def statistic(self) -> Sampled:
        """Freeze what was added."""
        self._choose()
        return Sampled.with_sample(self._sums.statistic(), self._sample)
