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
from functools import cached_property, lru_cache
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.arrays import Floats
from suffice.numerics.exact import DoubleDouble
from suffice.sums.batch import WEIGHT_ROUNDING, Batch
from suffice.sums.block import (
    CodedBlock,
    IntegerBlock,
    MixedBlock,
    RealBlock,
    SparseBlock,
)
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.vocabulary import NUMBERS, hash_of

Hashes = NDArray[np.uint64]
C = TypeVar("C", bound=ByClass)

LAST = np.uint64(2**64 - 1)
ALIKE = 0.1  # expected pairs of rows that chance makes equal, below which equal rows are copies
WHOLE = 1e-9  # relative: how near to whole multiples weights have to be
MOST_COPIES = 10.0  # of an average row: weights with a finer common measure are no counts
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
RANKED = 2**15  # cells at a time: they stay in the cache
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
PARTS = 2.0**20  # of a count of words that are told apart


@dataclass(frozen=True)
class RowSample:
    """The rows of the smallest hashes, each once with the weight of all that equal it.

    Parameters
    ----------
    size : int
        How many distinct rows there are at most.
    cut : int
        Rows of larger hashes are not in it.
    batch : Batch
        The rows by ascending hash, every one with a label and a weight above 0.
    hashes : ndarray of uint64 (n,)
    rest : ndarray (n,)
        What the weights have been rounded down by: more than the sums have of a row could not leave
        them.
    read : int
        How many rows were chosen from, copies included.
    unit : float
        What one row weighs where the rows leave sums: see `Sampled.row_weight`.
    """

    size: int
    cut: np.uint64
    batch: Batch
    hashes: Hashes
    rest: Floats
    read: int = 0
    unit: float = 1.0

    @classmethod
    def of(cls, samples: Sequence[RowSample]) -> RowSample:
        """Choose from samples, or from rows, of which all up to the cuts are there.

        Examples
        --------
        >>> from suffice.sums.block import RealBlock
        >>> x = RealBlock(np.array([[1.0], [2.0], [1.0]]))
        >>> batch = Batch(3, (x,), np.zeros(3, np.intp), weights=np.ones(3))
        >>> rows = RowSample(2, LAST, batch, np.array([7, 9, 7], np.uint64), np.zeros(3))
        >>> RowSample.of([rows]).batch.weights
        array([2., 1.])
        """
        size, cut = min(one.size for one in samples), min(one.cut for one in samples)
        hashes = np.concatenate([one.hashes for one in samples])
        distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
        weights = np.concatenate([one.batch.weights for one in samples])
        rests = np.concatenate([one.rest for one in samples])
        exact = DoubleDouble.by_place(
            len(distinct), (weights[:, None], place), (rests[:, None], place)
        )[:, 0]
        total = np.where(exact.lo < 0, np.nextafter(exact.hi, 0.0), exact.hi)
        rest = (exact.hi - total) + exact.lo
        if len(distinct) > size:
            cut = min(cut, distinct[size - 1])
        shown = total > WEIGHT_ROUNDING * np.bincount(place, np.abs(weights), len(distinct))
        kept = np.flatnonzero((distinct <= cut) & shown)
        rows = Batch.joined([one.batch for one in samples]).take(first[kept])
        batch, read = replace(rows, weights=total[kept]), sum(one.read for one in samples)
        return cls(size, cut, batch, distinct[kept], rest[kept], read)

    @property
    def weight(self) -> float:
        """Σw of all rows that they stand for, in units of one row."""
        return float(self.batch.weights.sum()) / self.unit

    @cached_property
    def tells_apart(self) -> bool:
        """Return whether equal rows are copies of one row: hardly any are equal by chance.

        Were columns independent, as many pairs of N distinct rows would be expected to be equal,
        for each row, as

        ::

            N Π_j Σ_v n_jv (n_jv − 1) / (n (n − 1))

        with n_jv the number of the n distinct rows of the sample that show the value v of column j.
        """
        n = self.batch.rows
        pairs = n / ((float(self.cut) + 1.0) / 2.0**64)
        for hashes in cell_hashes(self.batch):
            shown = np.unique(hashes, return_counts=True)[1].astype(np.float64)
            pairs *= float((shown * (shown - 1)).sum()) / max(1.0, n * (n - 1.0))
            if pairs < ALIKE:
                return True
        return False

    def __add__(self, other: RowSample) -> RowSample:
        return RowSample.of([self, other])

    def __sub__(self, other: RowSample) -> RowSample:
        read = -min(self.read, other.read)
        left = RowSample.of([self, replace(other._times(-1.0), size=self.size, read=read)])
        return replace(left, batch=left.batch.pruned())

    def scaled(self, factor: float) -> RowSample:
        return RowSample.of([self._times(factor)])

    def _times(self, factor: float) -> RowSample:
        weights = DoubleDouble(self.batch.weights, self.rest).scaled(factor)
        return replace(self, batch=replace(self.batch, weights=weights.hi), rest=weights.lo)


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(ByClass):
    """Sums over rows, and a sample of these rows that goes along with them.

    Only memory holds the sample: see `plain`.
    """

    sample: RowSample = field(compare=False)

    def __eq__(self, other: object) -> bool:
        """Return whether the sums are equal; a model that was loaded has no sample."""
        return self.plain == (other.plain if isinstance(other, Sampled) else other)

    @property
    def plain(self) -> ByClass:
        """The sums alone, as a file has them."""
        return ByClass(self.classes, self.weight, self.unlabelled, self.blocks)

    def __add__(self, other: ByClass) -> Any:
        if not isinstance(other, Sampled):
            return self.plain + other  # with rows without a sample, sums have none
        return replace(super().__add__(other), sample=self.sample + other.sample)

    def __sub__(self, other: ByClass) -> Any:
        if not isinstance(other, Sampled):
            return self.plain - other
        return replace(super().__sub__(other), sample=self.sample - other.sample)

    def scaled(self, factor: float) -> Self:
        return replace(super().scaled(factor), sample=self.sample.scaled(factor))

    @property
    def stands_for_all(self) -> bool:
        """Return whether the sample is still one of all rows: forgetting may have emptied it."""
        sample = self.sample
        return sample.batch.rows >= sample.size / 2 or sample.weight >= self.rows * (1 - WHOLE)

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
        weights = np.sort(self.sample.batch.weights)
        if not len(weights):
            return 1.0
        if self.sample.tells_apart:
            upto = np.cumsum(weights)
            return float(weights[np.searchsorted(upto, upto[-1] / 2 * (1 - WHOLE))])
        mean, counted = self.rows / max(1, self.sample.read), _common_measure(weights)
        return counted if counted * MOST_COPIES >= mean else mean


def in_rows(sums: C, row_weight: float) -> C:
    """Return the same sums, in which one row weighs 1."""
    if row_weight == 1:
        return sums
    if not isinstance(sums, Sampled):
        return sums.scaled(1 / row_weight)
    sample = replace(sums.sample, unit=row_weight)
    return replace(ByClass.scaled(sums, 1 / row_weight), sample=sample)


class SampledAccumulator:
    """Builds `Sampled` from batches whose blocks have columns of the given names."""

    def __init__(self, sums: ByClassAccumulator, names: Sequence[Sequence[Any]], size: int) -> None:
        self._sums, self._names = sums, names
        none = Batch(0, ()), np.zeros(0, np.uint64), np.zeros(0)
        self._samples = [RowSample(size, LAST, *none)]

    def add(self, batch: Batch) -> None:
        self._sums.add(batch)
        known = batch.codes >= 0
        if batch.weights.size:
            known &= batch.weights > 0
        sample, hashes = self._samples[-1], batch_hashes(batch, self._names)
        rows = np.flatnonzero(known & (hashes <= sample.cut))
        ascending, cut = np.sort(hashes[rows]), sample.cut  # np.unique takes 20 times as long
        distinct = ascending[np.append(True, ascending[1:] != ascending[:-1])[: len(rows)]]
        if len(distinct) > sample.size:  # so that fewer rows are copied
            cut = distinct[sample.size - 1]
            rows = rows[hashes[rows] <= cut]
        chosen = batch.take(rows)
        if not batch.weights.size:
            chosen = replace(chosen, weights=np.ones(len(rows)))
        rest, read = np.zeros(len(rows)), int(known.sum())
        self._samples.append(RowSample(sample.size, cut, chosen, hashes[rows], rest, read))
        if sum(len(one.hashes) for one in self._samples[1:]) > sample.size:
            self._samples = [RowSample.of(self._samples)]

    def statistic(self) -> Sampled:
        sums, sample = self._sums.statistic(), RowSample.of(self._samples)
        return Sampled(sums.classes, sums.weight, sums.unlabelled, sums.blocks, sample)


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


@lru_cache(maxsize=32)
def _of_names(columns: Sequence[Any]) -> Hashes:
    return np.array([*map(hash_of, columns)], np.uint64)


def batch_hashes(batch: Batch, names: Sequence[Sequence[Any]]) -> Hashes:
    """The hash of every row and its label, (n,), whose columns have these names, by block.

    Columns of a sparse matrix are numbered, and need none.

    Examples
    --------
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> x, labels = np.array([[1.0, 2.0], [-0.0, np.nan]]), Vocabulary(("no", "yes"))
    >>> one = Batch(2, (RealBlock(x),), np.array([0, 1]), labels)
    >>> columns = RealBlock(x[:, [0]].astype("f4")), RealBlock(x[:, [1]])
    >>> other = Batch(2, columns, np.array([0, 1]), labels)
    >>> (batch_hashes(one, [("a", "b")]) == batch_hashes(other, [("a",), ("b",)])).all()
    np.True_
    """
    total = _of_labels(batch)
    for block, columns in zip(batch.blocks, names, strict=True):
        numbered = isinstance(block, SparseBlock) and block.vocabulary.closed
        total = total + _of_block(block, _of_names(("",) if numbered else columns))
    return total


def rank_hashes(batch: Batch) -> Hashes:
    """The hash of every row and its label, (n,), in which numbers are their ranks in the batch.

    Numbers in another unit, or counted from elsewhere, have the same ranks. Names of columns are
    left out, so that an array and a frame of the same cells have the same hashes.

    Examples
    --------
    >>> celsius = Batch(3, (RealBlock(np.array([[20.0], [-5.0], [20.0]])),))
    >>> fahrenheit = Batch(3, (RealBlock(np.array([[68.0], [23.0], [68.0]])),))
    >>> one, other = rank_hashes(celsius), rank_hashes(fahrenheit)
    >>> (one == other).all(), one[0] == one[2], one[0] == one[1]
    (np.True_, np.True_, np.False_)
    """
    return sum(cell_hashes(batch), _of_labels(batch))


def cell_hashes(batch: Batch) -> Iterator[Hashes]:
    """Yield the hashes of the cells of each column, (n,), 0 of missing ones; texts are one column.

    Numbers are their ranks among these rows, also those that are categories.
    """
    for block in batch.blocks:
        if isinstance(block, SparseBlock):
            yield _of_words(block, hash_of("") if block.vocabulary.closed else np.uint64(0))
        elif isinstance(block, CodedBlock):
            for codes, vocabulary in zip(block.codes.T, block.vocabularies, strict=True):
                if all(isinstance(value, NUMBERS) for value in vocabulary.values):
                    numbers = np.array([*map(float, vocabulary.values), np.nan])[codes]
                    yield from _of_ranks(numbers[:, None])
                else:
                    yield np.append(mixed(vocabulary.hashes[:-1]), np.uint64(0))[codes]
        else:
            assert isinstance(block, RealBlock | IntegerBlock)
            step = max(1, RANKED // max(1, block.rows))
            for first in range(0, block.width, step):
                yield from _of_ranks(block.values[:, first : first + step])


def _of_ranks(x: NDArray[Any]) -> Hashes:
    """The hashes of the ranks of numbers (n, d) in their columns, equal ones alike, (d, n)."""
    columns = np.array(x.T, np.float64, order="C")
    order = np.argsort(columns, axis=1)
    ascending = np.take_along_axis(columns, order, axis=1)
    ranks, upto = np.zeros_like(columns), np.zeros_like(columns)
    np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=upto[:, 1:])
    np.put_along_axis(ranks, order, upto, axis=1)
    return np.where(np.isnan(columns), np.uint64(0), mixed(ranks.view(np.uint64)))


def _of_labels(batch: Batch) -> Hashes:
    """The hashes of the labels of all rows, (n,)."""
    hashes = mixed(batch.classes.hashes + np.uint64(1))  # the last: of no label
    return hashes[batch.codes] if batch.codes.size else np.repeat(hashes[-1:], batch.rows)


def _of_block(block: Any, names: Hashes) -> Hashes:
    """The sums of the hashes of the cells of every row, (n,)."""
    if isinstance(block, SparseBlock):
        return _of_words(block, names[0])
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
