"""Rows of a sample as a model file holds them, where they are to be kept: one table, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Index, Shape, Within, rule
from suffice.statistics.batch import Batch
from suffice.statistics.block import Block, CodedBlock, RealBlock, converted
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.row_hash import batch_hashes, name_hashes
from suffice.statistics.row_sample import LAST, RowSample, SampledRows
from suffice.statistics.sparse_block import SparseBlock
from suffice.statistics.vocabulary import FALSE_TRUE, Vocabulary

__all__ = ["KEPT", "KeptCategories", "KeptEvents", "KeptMixed", "KeptNumbers", "KeptRows"]

NUMBERS, CATEGORIES = ("real", "count", "whole"), ("binary", "outcome", "category")


class KeptCells(Protocol):
    """The cells of the columns of one family."""

    def block(self) -> Block:
        """The same as a block."""
        ...

    def is_of(self, encoding: str, rows: int, columns: int) -> bool:
        """Whether they are the cells of so many rows and columns that are read in this way."""
        ...


@dataclass(frozen=True, eq=False)
class KeptNumbers:
    """Numbers; NaN is a missing cell.

    Parameters
    ----------
    values : ndarray (n, d)
    """

    values: Annotated[NDArray[np.float64], Shape("n", "d")]

    @rule("a number is finite, or missing")
    def _is_finite(self) -> bool:
        return not np.isinf(self.values).any()

    def block(self) -> RealBlock:
        """The same as a block."""
        return RealBlock(self.values)

    def is_of(self, encoding: str, rows: int, columns: int) -> bool:
        """Whether they are the cells of so many rows and columns that are read in this way."""
        return encoding in NUMBERS and self.values.shape == (rows, columns)


@dataclass(frozen=True, eq=False)
class KeptCategories:
    """Categories; the code −1 is a missing cell.

    Parameters
    ----------
    codes : ndarray of int (n, d)
    vocabularies : tuple of d Vocabulary
    """

    codes: Annotated[NDArray[np.int64], Shape("n", "d")]
    vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]

    @rule("a code stands for a value of its column, or is -1")
    def _has_values(self) -> bool:
        sizes = np.array(list(map(len, self.vocabularies)), np.int64)
        return bool(((self.codes >= -1) & (self.codes < sizes)).all())

    def block(self) -> CodedBlock:
        """The same as a block."""
        return CodedBlock(self.codes.astype(np.intp), self.vocabularies)

    def is_of(self, encoding: str, rows: int, columns: int) -> bool:
        """Whether they are the cells of so many rows and columns that are read in this way."""
        closed = encoding in ("binary", "outcome")
        alike = all(v == FALSE_TRUE if closed else not v.closed for v in self.vocabularies)
        return encoding in CATEGORIES and alike and self.codes.shape == (rows, columns)


@dataclass(frozen=True, eq=False)
class KeptMixed:
    """Numbers and categories that one family models together.

    Parameters
    ----------
    numbers : KeptNumbers (n, a)
    categories : KeptCategories (n, d − a)
    is_number : ndarray of bool (d,)
    """

    numbers: KeptNumbers
    categories: KeptCategories
    is_number: Annotated[NDArray[np.bool_], Shape("d")]

    def block(self) -> MixedBlock:
        """The same as a block."""
        return MixedBlock(self.numbers.block(), self.categories.block(), self.is_number)

    def is_of(self, encoding: str, rows: int, columns: int) -> bool:
        """Whether they are the cells of so many rows and columns that are read in this way."""
        a = int(self.is_number.sum())
        whole = encoding == "mixed" and len(self.is_number) == columns
        numbers = self.numbers.is_of("real", rows, a)
        return whole and numbers and self.categories.is_of("category", rows, columns - a)


@dataclass(frozen=True, eq=False)
class KeptEvents:
    """Words, or the columns of a sparse matrix, with their counts, row by row.

    Parameters
    ----------
    data : ndarray (m,)
        Counts; NaN where one is missing.
    indices : ndarray of int (m,)
        Places of the words, in the order of the text: a row adds its words in this order.
    starts : ndarray of int (n + 1,)
        Where the words of every row start.
    words : Vocabulary, optional
        None where the columns of a matrix are numbered.
    width : int
        How many words or columns there are.
    present : ndarray of bool (n,)
        Whether the row was observed.
    """

    data: Annotated[NDArray[np.float64], Shape("m")]
    indices: Annotated[NDArray[np.int64], Shape("m"), Index("width")]
    starts: Annotated[NDArray[np.int64], Shape("s"), NONNEGATIVE]
    words: Vocabulary | None
    width: Annotated[int, NONNEGATIVE]
    present: Annotated[NDArray[np.bool_], Shape("n")]

    @rule("every row has distinct words")
    def _is_distinct(self) -> bool:
        starts, m = self.starts, len(self.indices)
        if len(starts) != len(self.present) + 1 or starts[0] != 0 or starts[-1] != m:
            return False
        sizes = np.diff(starts)
        if (sizes < 0).any():
            return False
        place = np.repeat(np.arange(len(sizes)), sizes), self.indices
        row, word = (own[np.lexsort(place[::-1])] for own in place)
        return not ((row[1:] == row[:-1]) & (word[1:] == word[:-1])).any()

    @rule("words have a place each, and are open")
    def _has_words(self) -> bool:
        words = self.words
        return words is None or (len(words) == self.width and not words.closed)

    @rule("a count is finite, or missing")
    def _is_finite(self) -> bool:
        return not np.isinf(self.data).any()

    def block(self) -> SparseBlock:
        """The same as a block."""
        words = self.words
        if words is None:
            words = Vocabulary(tuple(range(self.width)), closed=True)
        places = self.indices.astype(np.int32), self.starts.astype(np.int32)
        return SparseBlock(self.data, *places, words, self.present)

    def is_of(self, encoding: str, rows: int, columns: int) -> bool:
        """Whether they are the cells of so many rows and columns that are read in this way."""
        wide = self.width == columns if self.words is None else columns == 1
        return encoding in ("events", "sparse") and wide and len(self.present) == rows


Cells = KeptNumbers | KeptCategories | KeptMixed | KeptEvents
KEPT = KeptNumbers, KeptCategories, KeptMixed, KeptEvents


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows of a sample in the order of their hashes: equal samples have equal files.

    Parameters
    ----------
    size : int
        How many distinct rows the sample may have.
    cut : int
        Rows of larger hashes are not in it.
    hashes : ndarray of uint64 (n,)
    weights : ndarray (n,)
        Σw of all rows that equal each.
    classes : Vocabulary
        The labels of these rows.
    codes : ndarray of int (n,)
        The label of each.
    cells : tuple
        Those of every family.
    read : int
        How many rows the sample was chosen from, copies included.
    """

    size: Annotated[int, POSITIVE]
    cut: Annotated[int, Within(0, 2**64 - 1)]
    hashes: Annotated[NDArray[np.uint64], Shape("n")]
    weights: Annotated[NDArray[np.float64], Shape("n"), POSITIVE, FINITE]
    classes: Annotated[Vocabulary, Shape("k")]
    codes: Annotated[NDArray[np.int64], Shape("n"), Index("k")]
    cells: tuple[Cells, ...]
    read: Annotated[int, NONNEGATIVE] = field(default=0, metadata={"later": True})

    @rule("rows are at most so many, and in the order of distinct hashes up to the cut")
    def _is_sorted(self) -> bool:
        ascending = bool((self.hashes[1:] > self.hashes[:-1]).all())
        within = not len(self.hashes) or int(self.hashes[-1]) <= self.cut
        return ascending and within and len(self.hashes) <= self.size and self.cut <= int(LAST)

    @classmethod
    def of(cls, sample: RowSample, blocks: int) -> Self:
        """The rows of a sample whose batches have so many blocks."""
        pieces = sample.pieces
        hashes = _joined([piece.hashes for piece in pieces], np.uint64)
        order = np.argsort(hashes)
        known = [piece.batch.classes for piece in pieces]
        codes, classes = _recoded([piece.batch.codes for piece in pieces], known)
        cells = (_cells([piece.batch.blocks[b] for piece in pieces], order) for b in range(blocks))
        return cls(
            sample.size,
            int(sample.cut),
            hashes[order],
            _joined([piece.batch.weights for piece in pieces], np.float64)[order],
            classes,
            codes[order],
            tuple(cells) if pieces else (),
            sample.read,
        )

    def are_of(self, encodings: Sequence[tuple[str, int]]) -> bool:
        """Whether there are cells of columns that are read so: (encoding, columns) by family."""
        n = len(self.hashes)
        if not n:
            return not self.cells
        return len(self.cells) == len(encodings) and all(
            own.is_of(encoding, n, d)
            for own, (encoding, d) in zip(self.cells, encodings, strict=True)
        )

    def has_hashes_of(self, names: Sequence[Sequence[Any]]) -> bool:
        """Whether the hashes are those of the rows, whose columns have these names, by family."""
        of_names = name_hashes(names)
        return all(
            np.array_equal(batch_hashes(batch, of_names), hashes)
            for batch, hashes in self.sample.pieces
        )

    @property
    def sample(self) -> RowSample:
        """The sample."""
        cut, n = np.uint64(self.cut), len(self.hashes)
        if not n:
            return RowSample(self.size, cut, (), self.read)
        blocks = tuple(own.block() for own in self.cells)
        batch = Batch(n, blocks, self.codes.astype(np.intp), self.classes, self.weights)
        return RowSample(self.size, cut, (SampledRows(batch, self.hashes),), self.read)


def _joined(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)


def _recoded(
    codes: Sequence[NDArray[Any]], vocabularies: Sequence[Vocabulary]
) -> tuple[NDArray[np.int64], Vocabulary]:
    """Codes into one vocabulary, of the values that are shown; a closed one stays whole."""
    if vocabularies and vocabularies[0].closed:
        return _joined(codes, np.int64), vocabularies[0]
    shown = [np.unique(own[own >= 0]) for own in codes]
    pairs = list(zip(vocabularies, shown, strict=True))
    known = Vocabulary.of(words.values[code] for words, own in pairs for code in own.tolist())
    found = []
    for (words, own), given in zip(pairs, codes, strict=True):
        place = np.full(len(words) + 1, -1, np.int64)  # the last serves the code −1
        place[own] = known.index([words.values[code] for code in own.tolist()], -1)
        found.append(place[given])
    return _joined(found, np.int64), known


def _cells(blocks: Sequence[Any], order: NDArray[np.intp]) -> Cells:
    """The cells of some blocks, row upon row, in another order."""
    first = blocks[0]
    if isinstance(first, RealBlock):
        values = [np.asarray(converted(block.values), np.float64) for block in blocks]
        return KeptNumbers(np.concatenate(values)[order])
    if isinstance(first, SparseBlock):
        return _events(blocks, order)
    if isinstance(first, MixedBlock):
        numbers = _cells([block.numbers for block in blocks], order)
        categories = _cells([block.categories for block in blocks], order)
        assert isinstance(numbers, KeptNumbers)
        assert isinstance(categories, KeptCategories)
        return KeptMixed(numbers, categories, first.is_number)
    coded = [block.coded() for block in blocks]
    columns = [
        _recoded([own.codes[:, j] for own in coded], [own.vocabularies[j] for own in coded])
        for j in range(first.width)
    ]
    codes = np.stack([own for own, _ in columns], axis=1) if columns else np.zeros((len(order), 0))
    return KeptCategories(codes[order].astype(np.int64), tuple(words for _, words in columns))


def _events(blocks: Sequence[SparseBlock], order: NDArray[np.intp]) -> KeptEvents:
    from scipy.sparse import csr_array

    whole = [block.merged() for block in blocks]
    places, words = _recoded(
        [block.indices for block in whole], [block.vocabulary for block in whole]
    )
    counts = [np.asarray(block.data, np.float64) for block in whole]
    sizes = _joined([np.diff(block.indptr) for block in whole], np.int64)
    starts = np.append(0, np.cumsum(sizes))
    shape = len(sizes), max(1, len(words))
    table = csr_array((_joined(counts, np.float64), places, starts), shape=shape)[order]
    present = _joined([block.present for block in whole], np.bool_)[order]
    return KeptEvents(
        table.data,
        table.indices.astype(np.int64),
        table.indptr.astype(np.int64),
        None if words.closed else words,
        len(words),
        present,
    )
