"""A hash of what a row says, as its blocks hold it: the same whatever its place and storage.

::

    h(row) = Σ_j h(name of j, value of j)  mod 2⁶⁴

Equal numbers have one hash, −0 is 0, and a missing cell adds nothing; a text is its words.

Source of the mixing function: G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
number generators (OOPSLA 2014), figure 16, with the constants of D. Stafford's variant 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.sums.batch import Batch
from suffice.sums.block import (
    CodedBlock,
    IntegerBlock,
    MixedBlock,
    RealBlock,
    SparseBlock,
    converted,
)
from suffice.sums.vocabulary import Vocabulary

__all__ = [
    "Hashes",
    "batch_hashes",
    "column_hashes",
    "hash_of_text",
    "mixed",
    "name_hashes",
    "rank_hashes",
]

Hashes = NDArray[np.uint64]

NUMBERS = bool | int | float | np.number
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
PARTS = 2.0**20  # of a count of words that are told apart


def mixed(x: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of x."""
    x = (x ^ (x >> SHIFTS[0])) * FACTORS[0]
    x = (x ^ (x >> SHIFTS[1])) * FACTORS[1]
    return x ^ (x >> SHIFTS[2])


def hash_of_text(value: Any) -> np.uint64:
    """The hash of bytes, or of how a value is written."""
    content = value if isinstance(value, bytes) else str(value).encode()
    return np.uint64(int.from_bytes(blake2b(content, digest_size=8).digest(), "little"))


def name_hashes(names: Sequence[Sequence[Any]]) -> tuple[Hashes, ...]:
    """The hashes of the names of the columns of each block."""
    return tuple([np.array([*map(hash_of_text, own)], np.uint64) for own in names])


def batch_hashes(batch: Batch, names: Sequence[Hashes]) -> Hashes:
    """The hash of every row and its label, (n,).

    Parameters
    ----------
    batch : Batch
    names : sequence of ndarray
        Hashes of the names of the columns of each block.

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
    of_labels = mixed(_of_values(batch.classes.values) + np.uint64(1))  # the last: of no label
    total = of_labels[batch.codes] if batch.codes.size else np.repeat(of_labels[-1:], batch.rows)
    for block, columns in zip(batch.blocks, names, strict=True):
        total = total + _of_block(block, columns)
    return np.asarray(total, np.uint64)


def column_hashes(batches: Sequence[Batch]) -> Iterator[Hashes]:
    """The hashes of the cells of every column of all batches, (n,); of words, those of all."""
    for b, first in enumerate(batches[0].blocks if batches else ()):
        blocks: list[Any] = [batch.blocks[b] for batch in batches]
        unnamed = np.zeros(first.width, np.uint64)
        if isinstance(first, SparseBlock):
            yield np.concatenate([_of_words(block, np.uint64(0)) for block in blocks])
            continue
        for j in range(first.width):
            own = np.arange(first.width) == j
            yield np.concatenate([_of_block(block.showing(own), unnamed) for block in blocks])


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
    """The same columns of all batches, their numbers replaced by ranks."""
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
    """Whether the categories of a column are numbers, as another reader would say."""
    return all(isinstance(value, NUMBERS) for one in vocabularies for value in one.values)


def _numbers_apart(block: CodedBlock, of_numbers: NDArray[np.bool_]) -> MixedBlock:
    """The same columns; categories that are numbers are numbers."""
    known = [block.vocabularies[j].values for j in np.flatnonzero(of_numbers)]
    tables = [np.array([*map(float, values), np.nan]) for values in known]
    codes = block.codes[:, of_numbers].T
    values = [table[code] for table, code in zip(tables, codes, strict=True)]
    others = [block.vocabularies[j] for j in np.flatnonzero(~of_numbers)]
    categories = CodedBlock(block.codes[:, ~of_numbers], tuple(others))
    return MixedBlock(RealBlock(np.column_stack(values)), categories, of_numbers)


def _ranks(parts: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """The ranks of numbers in every column of all parts, equal ones alike; NaN stays."""
    values = np.concatenate([np.asarray(converted(part), np.float64) for part in parts])
    if len(values):
        columns = np.ascontiguousarray(values.T)
        order = np.argsort(columns, axis=1)
        ascending = np.take_along_axis(columns, order, axis=1)
        ranks = np.zeros_like(columns)
        np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=ranks[:, 1:])
        np.put_along_axis(columns, order, np.where(np.isnan(ascending), np.nan, ranks), axis=1)
        values = np.ascontiguousarray(columns.T)
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
            table = mixed(_of_values(vocabulary.values) + names[j])
            total += np.append(table[:-1], np.uint64(0))[block.codes[:, j]]
    else:
        assert isinstance(block, RealBlock | IntegerBlock)
        kernels.bins.hash(np.asarray(block.values, np.float64), names, total)
    return total


def _of_words(block: SparseBlock, name: np.uint64) -> Hashes:
    """Σ count · h(word), so that parts of a count add up to it."""
    table = mixed(_of_values(block.vocabulary.values) + name)
    counts = np.nan_to_num(np.asarray(block.data, np.float64) * PARTS).astype(np.int64)
    terms = table[block.indices] * counts.view(np.uint64)
    upto = np.zeros(len(terms) + 1, np.uint64)
    np.cumsum(terms, out=upto[1:])
    return np.asarray(upto[block.indptr[1:]] - upto[block.indptr[:-1]])


def _of_values(values: Sequence[Any]) -> Hashes:
    """The hash of each value, and one more entry for the code −1."""
    return np.array([*map(_of_value, values), 0], np.uint64)


def _of_value(value: Any) -> np.uint64:
    if not isinstance(value, NUMBERS):
        return hash_of_text(value)
    try:
        return np.float64(float(value) + 0.0).view(np.uint64)
    except OverflowError:  # a whole number that no double is near
        return hash_of_text(hex(int(value)))
