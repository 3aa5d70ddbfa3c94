"""Blocks: the columns of a batch that one family models, in the form its statistic sums over.

Shape letters: n rows, d columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.numerics import kernels
from suffice.statistics.vocabulary import Vocabulary

__all__ = [
    "BadCell",
    "Block",
    "CodedBlock",
    "Encoding",
    "IntegerBlock",
    "RealBlock",
    "SparseBlock",
    "tiles",
]

CONVERTED = 262_144  # cells converted at a time: 2 MB, few enough to stay in cache

Encoding = Literal["real", "count", "whole", "binary", "category", "events", "sparse"]
"""How cells become a block: numbers, of which ``count`` are 0 or more and ``whole`` have no
fraction, make a `RealBlock`; two values or any values a `CodedBlock`; ``events``, the words of a
text or the counts in a sparse matrix, and ``sparse``, any numbers there, a `SparseBlock`."""


class BadCell(Exception):  # noqa: N818 - it is a finding, raised as an error only with its names
    """A cell that no statistic can hold; whoever knows names and rows turns it into a sentence."""

    def __init__(self, row: int, column: int | str | None, value: Any, rule: str) -> None:
        self.row, self.column, self.value, self.rule = row, column, value, rule
        self.block = 0  # which block of the batch a column number counts in
        super().__init__(row, column, value, rule)


@dataclass(frozen=True, slots=True)
class RealBlock:
    """Numbers: ``values`` (n, d), any real dtype and memory order, NaN = missing."""

    values: NDArray[Any]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def cut(self, start: int, stop: int) -> RealBlock:
        """Rows ``start`` to ``stop``."""
        return RealBlock(self.values[start:stop])

    def column(self, j: int) -> RealBlock:
        """Column j alone."""
        return RealBlock(self.values[:, [j]])

    def upto(self, j: int) -> RealBlock:
        """The columns from 0 to j; in the others, every cell is missing."""
        return RealBlock(np.where(_upto(self.values, j), self.values, np.nan))


@dataclass(frozen=True, slots=True)
class CodedBlock:
    """Categories: ``codes`` (n, d) into one vocabulary per column, −1 = missing."""

    codes: NDArray[Any]
    vocabularies: tuple[Vocabulary, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    def cut(self, start: int, stop: int) -> CodedBlock:
        """Rows ``start`` to ``stop``."""
        return CodedBlock(self.codes[start:stop], self.vocabularies)

    def column(self, j: int) -> CodedBlock:
        """Column j alone."""
        return CodedBlock(self.codes[:, [j]], (self.vocabularies[j],))

    def upto(self, j: int) -> CodedBlock:
        """The columns from 0 to j; in the others, every cell is missing."""
        return CodedBlock(np.where(_upto(self.codes, j), self.codes, -1), self.vocabularies)

    def recode(self, vocabularies: tuple[Vocabulary, ...]) -> NDArray[Any]:
        """Codes (n, d) into other vocabularies; a value unseen there gets the code mⱼ, one past."""
        if self.vocabularies == vocabularies:
            return self.codes
        codes = np.empty(self.codes.shape, np.intp)
        for j, (mine, theirs) in enumerate(zip(self.vocabularies, vocabularies, strict=True)):
            # One past the end stays one past the end, and the last entry serves the code −1.
            table = np.append(theirs.index(mine.values, len(theirs)), [len(theirs), -1])
            codes[:, j] = table[self.codes[:, j]]
        return codes


@dataclass(frozen=True, slots=True)
class IntegerBlock:
    """Categories that are whole numbers: ``values`` (n, d) are their own codes, none missing."""

    values: NDArray[Any]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def cut(self, start: int, stop: int) -> IntegerBlock:
        """Rows ``start`` to ``stop``."""
        return IntegerBlock(self.values[start:stop])

    def column(self, j: int) -> IntegerBlock:
        """Column j alone."""
        return IntegerBlock(self.values[:, [j]])

    def upto(self, j: int) -> CodedBlock:
        """The columns from 0 to j; in the others, every cell is missing."""
        return self.coded().upto(j)

    def coded(self) -> CodedBlock:
        """The same cells as codes into vocabularies."""
        codes = np.empty(self.values.shape, np.intp)
        vocabularies = []
        for j in range(self.values.shape[1]):
            values, codes[:, j] = np.unique(self.values[:, j], return_inverse=True)
            vocabularies.append(Vocabulary(tuple(values.tolist())))
        return CodedBlock(codes, tuple(vocabularies))


@dataclass(frozen=True, slots=True)
class SparseBlock:
    """Event counts in compressed rows: ``data``, ``indices``, ``indptr`` as in SciPy's CSR.

    ``present`` (n,) tells which rows were observed at all: an empty text is not a missing one.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    vocabulary: Vocabulary
    present: NDArray[np.bool_]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.indptr.shape[0]) - 1

    def cut(self, start: int, stop: int) -> SparseBlock:
        """Rows ``start`` to ``stop``."""
        indptr = self.indptr[start : stop + 1]
        cells = slice(indptr[0], indptr[-1])
        return SparseBlock(
            self.data[cells],
            self.indices[cells],
            indptr - indptr[0],
            self.vocabulary,
            self.present[start:stop],
        )

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Whether each stored count is positive, 1 or 0; NaN where it is missing."""
        return np.asarray(np.sign(self.data, dtype=np.float64))

    def counts(self, vocabulary: Vocabulary) -> csr_array:
        """Counts (n, m) of the tokens of a vocabulary; others, and missing counts, are left out."""
        cells = np.nan_to_num(self.data), self.reindex(vocabulary), self.indptr
        with_others = csr_array(cells, shape=(self.rows, len(vocabulary) + 1))
        return with_others[:, :-1]

    def column(self, j: int) -> SparseBlock:
        """A text is one column; of a sparse matrix, column j alone."""
        if not self.vocabulary.closed:
            return self
        data = np.where(self.indices == j, self.data, 0)
        return SparseBlock(data, self.indices, self.indptr, self.vocabulary, self.present)

    def reindex(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """Token indices into another vocabulary; an unseen token gets the index m, one past."""
        if self.vocabulary == vocabulary:
            return self.indices
        place: NDArray[Any] = vocabulary.index(self.vocabulary.values, len(vocabulary))
        return np.asarray(place[self.indices])


Block = RealBlock | CodedBlock | IntegerBlock | SparseBlock


def _upto(cells: NDArray[Any], j: int) -> NDArray[np.bool_]:
    return np.arange(cells.shape[1]) <= j


def tiles(values: NDArray[Any], dtype: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Cut a matrix into row-major parts of one dtype, each with the number of its first row.

    What has this form already comes in one piece, as it is; the rest is converted part by part,
    so that no copy grows with the input.
    """
    if values.dtype == dtype and values.flags.c_contiguous:
        yield 0, values
        return
    step = max(16, CONVERTED // max(1, values.shape[1]))
    columns = values.dtype == dtype == np.float64 and values.strides[0] == values.itemsize
    for start in range(0, len(values), step):
        part = values[start : start + step]
        if columns:
            rows = np.empty(part.shape)
            kernels.columns.to_rows(part, rows)
            yield start, rows
        else:
            yield start, np.ascontiguousarray(part, dtype=dtype)
