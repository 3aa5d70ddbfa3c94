"""A sample of rows that depends on what they contain alone: those of the smallest hashes.

It is the same whatever the order of the rows, how they were cut into batches, and who read them.
It is no statistic: rows that were not kept are not in it. The hash of a row is

::

    h(row) = Σ_j h(name of j, value of j)  mod 2⁶⁴

the same whatever its place and storage. Equal numbers have one hash, −0 is 0, and a missing cell
adds nothing; a text is its words.

Source of the mixing function: G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
number generators (OOPSLA 2014), figure 16, with the constants of D. Stafford's variant 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats
from suffice.sums.batch import Batch
from suffice.sums.block import (
    CodedBlock,
    IntegerBlock,
    MixedBlock,
    RealBlock,
    SparseBlock,
    converted,
)
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.vocabulary import NUMBERS, Vocabulary, hash_of_text

Hashes = NDArray[np.uint64]

LAST = np.uint64(2**64 - 1)
ALIKE = 0.1  # expected pairs of rows that chance makes equal, below which equal rows are copies
WHOLE = 1e-9  # relative: how near to whole multiples weights have to be
MOST_COPIES = 10.0  # of an average row: weights with a finer common measure are no counts
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
RANKED = 128  # columns at a time
PARTS = 2.0**20  # of a count of words that are told apart


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
        total: Floats = np.zeros(len(distinct))
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
        return sum(piece.batch.rows for piece in self.pieces)

    @property
    def weight(self) -> float:
        """Σw of all rows that they stand for, in units of one row."""
        return float(sum(piece.batch.weights.sum() for piece in self.pieces)) / self.unit

    def first(self, size: int) -> RowSample:
        return replace(RowSample.of(size, self.pieces, self.cut, self.read), unit=self.unit)

    @property
    def weights(self) -> Floats:
        """Σw of all rows that equal each distinct one, (n,), ascending."""
        return np.sort(np.concatenate([np.zeros(0), *(p.batch.weights for p in self.pieces)]))

    @cached_property
    def tells_apart(self) -> bool:
        """Return whether equal rows are copies of one row: hardly any are equal by chance.

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
        rest = RowSample.of(self.size, (*self.pieces, *gone), cut, read)
        pieces = [SampledRows(batch.pruned(), hashes) for batch, hashes in rest.pieces]
        return replace(rest, pieces=tuple(pieces))

    def scaled(self, factor: float) -> RowSample:
        lighter = [
            SampledRows(replace(batch, weights=batch.weights * factor), hashes)
            for batch, hashes in self.pieces
        ]
        return RowSample.of(self.size, lighter, self.cut, self.read)


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(ByClass):
    """Sums over rows, and a sample of these rows that goes along with them.

    Only memory holds the sample: see `plain`.
    """

    sample: RowSample = field(compare=False)

    @classmethod
    def with_sample(cls, sums: ByClass, sample: RowSample) -> Sampled:
        return cls(sums.classes, sums.weight, sums.unlabelled, sums.blocks, sample)

    def __eq__(self, other: object) -> bool:
        """Return whether the sums are equal; a model that was loaded has no sample."""
        return self.plain == (other.plain if isinstance(other, Sampled) else other)

    @property
    def plain(self) -> ByClass:
        """The sums alone, as a file has them."""
        return ByClass(self.classes, self.weight, self.unlabelled, self.blocks)

    def __add__(self, other: ByClass) -> Any:  # sums with some rows without a sample have none
        sums = self.plain + other
        return self.with_sample(sums, self.sample + other.sample) if _sampled(other) else sums

    def __sub__(self, other: ByClass) -> Any:
        rest = self.plain - other
        return self.with_sample(rest, self.sample - other.sample) if _sampled(other) else rest

    def scaled(self, factor: float) -> Self:
        return replace(super().scaled(factor), sample=self.sample.scaled(factor))

    @property
    def row_weight(self) -> float:
        """Weight of one row, so that a row leaves with all its weight, copies included.

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


def _sampled(sums: ByClass) -> TypeGuard[Sampled]:
    return isinstance(sums, Sampled)


class SampledAccumulator:
    """Builds `Sampled` from batches whose blocks have columns of the given names."""

    def __init__(self, sums: ByClassAccumulator, names: Sequence[Sequence[Any]], size: int) -> None:
        self._sums, self._names = sums, name_hashes(names)
        self._sample = RowSample(size, LAST, ())
        self._waiting: list[SampledRows] = []

    def add(self, batch: Batch) -> None:
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
        size, most = self._sample.size, 2 * self._sample.size  # hashes, of which some are equal
        if len(hashes) > size:
            least = np.partition(hashes, most)[:most] if len(hashes) > most else hashes
            least = np.unique(least)
            if len(least) >= size:
                self._sample = replace(self._sample, cut=min(self._sample.cut, least[size - 1]))

    def _choose(self) -> None:
        pieces, self._waiting = (*self._sample.pieces, *self._waiting), []
        size, cut, read = self._sample.size, self._sample.cut, self._sample.read
        self._sample = RowSample.of(size, pieces, cut, read)

    def statistic(self) -> Sampled:
        self._choose()
        return Sampled.with_sample(self._sums.statistic(), self._sample)


def _common_measure(weights: Floats) -> float:
    """The largest number that all weights are whole multiples of, by Euclid's algorithm."""
    measure = float(weights.min())
    while True:
        rest = np.abs(weights - measure * np.rint(weights / measure))
        rest = rest[rest > WHOLE * weights]
        if not len(rest):
            return float(weights.sum() / np.rint(weights / measure).sum())
        measure = float(rest.min())


# -- hashes of rows


def mixed(x: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of x."""
    x = (x ^ (x >> SHIFTS[0])) * FACTORS[0]
    x = (x ^ (x >> SHIFTS[1])) * FACTORS[1]
    return x ^ (x >> SHIFTS[2])


def name_hashes(names: Sequence[Sequence[Any]]) -> tuple[Hashes, ...]:
    return tuple([np.array([*map(hash_of_text, own)], np.uint64) for own in names])


def batch_hashes(batch: Batch, names: Sequence[Hashes]) -> Hashes:
    """The hash of every row and its label, (n,), from those of the names of columns, by block.

    Examples
    --------
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> x, labels = np.array([[1.0, 2.0], [-0.0, np.nan]]), Vocabulary(("no", "yes"))
    >>> one = Batch(2, (RealBlock(x),), np.array([0, 1]), labels)
    >>> columns = RealBlock(x[:, [0]].astype("f4")), RealBlock(x[:, [1]])
    >>> other = Batch(2, columns, np.array([0, 1]), labels)
    >>> together, apart = name_hashes([["a", "b"]]), name_hashes([["a"], ["b"]])
    >>> (batch_hashes(one, together) == batch_hashes(other, apart)).all()
    np.True_
    """
    of_labels = mixed(batch.classes.hashes + np.uint64(1))  # the last: of no label
    total = of_labels[batch.codes] if batch.codes.size else np.repeat(of_labels[-1:], batch.rows)
    for block, columns in zip(batch.blocks, names, strict=True):
        total = total + _of_block(block, columns)
    return np.asarray(total, np.uint64)


def column_hashes(batches: Sequence[Batch]) -> Iterator[Hashes]:
    """The hashes of the cells of every column of all batches, (n,); of words, those of all."""
    for b, first in enumerate(batches[0].blocks if batches else ()):
        blocks: list[Any] = [batch.blocks[b] for batch in batches]
        unnamed = np.zeros(1, np.uint64)
        if isinstance(first, SparseBlock):
            yield np.concatenate([_of_words(block, np.uint64(0)) for block in blocks])
            continue
        for j in range(first.width):
            yield np.concatenate([_of_block(block.column(j), unnamed) for block in blocks])


def rank_hashes(batches: Sequence[Batch]) -> list[Hashes]:
    """The hashes of the rows of all batches, in which numbers are their ranks among these rows.

    Numbers in another unit, or counted from elsewhere, have the same ranks. Names of columns are
    left out, so that an array and a frame of the same cells have the same hashes.

    Examples
    --------
    >>> celsius = Batch(3, (RealBlock(np.array([[20.0], [-5.0], [20.0]])),))
    >>> fahrenheit = Batch(3, (RealBlock(np.array([[68.0], [23.0], [68.0]])),))
    >>> one, other = (rank_hashes([rows])[0] for rows in (celsius, fahrenheit))
    >>> (one == other).all(), one[0] == one[2], one[0] == one[1]
    (np.True_, np.True_, np.False_)
    """
    if not batches:
        return []
    unnamed = [np.zeros(block.width, np.uint64) for block in batches[0].blocks]
    columns = [_ranked([batch.blocks[b] for batch in batches]) for b in range(len(unnamed))]
    rows = zip(batches, zip(*columns, strict=True), strict=True)
    return [batch_hashes(replace(batch, blocks=blocks), unnamed) for batch, blocks in rows]


def _ranked(blocks: Sequence[Any]) -> list[Any]:
    """Return the columns of all batches, their numbers replaced by ranks."""
    if blocks and isinstance(blocks[0], RealBlock):
        return [RealBlock(ranks) for ranks in _ranks([block.values for block in blocks])]
    if blocks and isinstance(blocks[0], MixedBlock):
        numbers = _ranked([block.numbers for block in blocks])
        categories = _ranked([block.categories for block in blocks])
        return list(map(MixedBlock, numbers, categories, [block.is_number for block in blocks]))
    if blocks and isinstance(blocks[0], CodedBlock | IntegerBlock):
        coded = [block.coded() for block in blocks]
        columns = zip(*[block.vocabularies for block in coded], strict=True)
        of_numbers = np.array(list(map(_all_numbers, columns)), np.bool_)
        if of_numbers.any():
            return _ranked([_numbers_apart(block, of_numbers) for block in coded])
    return list(blocks)


def _all_numbers(vocabularies: Sequence[Vocabulary]) -> bool:
    """Return whether the categories of a column are numbers, as another reader would say."""
    return all(isinstance(value, NUMBERS) for one in vocabularies for value in one.values)


def _numbers_apart(block: CodedBlock, of_numbers: Bools) -> MixedBlock:
    """Return the columns; categories that are numbers are numbers."""
    known = [block.vocabularies[j].values for j in np.flatnonzero(of_numbers)]
    tables = [np.array([*map(float, values), np.nan]) for values in known]
    codes = block.codes[:, of_numbers].T
    values = [table[code] for table, code in zip(tables, codes, strict=True)]
    others = [block.vocabularies[j] for j in np.flatnonzero(~of_numbers)]
    categories = CodedBlock(block.codes[:, ~of_numbers], tuple(others))
    return MixedBlock(RealBlock(np.column_stack(values)), categories, of_numbers)


def _ranks(parts: Sequence[NDArray[Any]]) -> list[Floats]:
    """The ranks of numbers in every column of all parts, equal ones alike; NaN stays."""
    values = np.concatenate([np.asarray(converted(part), np.float64) for part in parts])
    for first in range(0, values.shape[1] if len(values) else 0, RANKED):
        own = values[:, first : first + RANKED]
        columns = np.ascontiguousarray(own.T)
        order = np.argsort(columns, axis=1)
        ascending = np.take_along_axis(columns, order, axis=1)
        ranks = np.zeros_like(columns)
        np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=ranks[:, 1:])
        np.put_along_axis(columns, order, np.where(np.isnan(ascending), np.nan, ranks), axis=1)
        own[:] = columns.T
    return np.split(values, np.cumsum([len(part) for part in parts])[:-1])


def _of_block(block: Any, names: Hashes) -> Hashes:
    """The sums of the hashes of the cells of every row, (n,)."""
    if isinstance(block, SparseBlock):
        return _of_words(block, names[0] if not block.vocabulary.closed else hash_of_text(""))
    if isinstance(block, MixedBlock):
        numbers = _of_block(block.numbers, names[block.is_number])
        return numbers + _of_block(block.categories, names[~block.is_number])
    total = np.zeros(block.rows, np.uint64)
    if isinstance(block, CodedBlock):
        for j, vocabulary in enumerate(block.vocabularies):
            table = mixed(vocabulary.hashes + names[j])
            total += np.append(table[:-1], np.uint64(0))[block.codes[:, j]]
    else:
        assert isinstance(block, RealBlock | IntegerBlock)
        kernels.bins.hash(np.asarray(block.values, np.float64), names, total)
    return total


def _of_words(block: SparseBlock, name: np.uint64) -> Hashes:
    """Σ count · h(word), so that parts of a count add up to it."""
    table = mixed(block.vocabulary.hashes + name)
    counts = np.nan_to_num(np.asarray(block.data, np.float64) * PARTS).astype(np.int64)
    terms = table[block.indices] * counts.view(np.uint64)
    upto = np.zeros(len(terms) + 1, np.uint64)
    np.cumsum(terms, out=upto[1:])
    return np.asarray(upto[block.indptr[1:]] - upto[block.indptr[:-1]])
