"""Rows with few events each: what most cells of a text, or of a sparse matrix, do not show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.statistics.block import BadCell
from suffice.statistics.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["SparseBlock"]

MOST_COLUMNS = 1 << 22  # of a row that is laid out to merge its cells: 32 MB
MERGED_CELLS = 100_000  # at a time, where rows are used once: less than 2 MB
MERGED = {"float64", "float32", "int64", "int32"}  # types of cells that are merged here
WRAPPED = 2.0**62  # a sum modulo 2⁶⁴ is further than this from the sum, rounding is not


@dataclass(frozen=True, slots=True)
class SparseBlock:
    """Event counts in compressed rows: ``data``, ``indices``, ``indptr`` as in SciPy's CSR.

    ``present`` (n,) tells which rows were observed at all: an empty text is not a missing one.
    ``whole`` tells whether every cell of a row is stored once, by increasing column; otherwise a
    count is the sum of the parts that are stored.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    vocabulary: Vocabulary
    present: NDArray[np.bool_]
    whole: bool = True

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.indptr.shape[0]) - 1

    @property
    def width(self) -> int:
        """Number of columns; a text is one."""
        return len(self.vocabulary) if self.vocabulary.closed else 1

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether a row was not observed, or a count in it is missing, (n, 1)."""
        before = np.concatenate([[0], np.cumsum(np.isnan(self.data))])
        unknown = np.diff(before[self.indptr]) > 0
        return np.asarray(unknown | ~self.present)[:, None]

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
            self.whole,
        )

    def merged(self) -> SparseBlock:
        """The same rows with every cell stored once, by increasing column.

        Raises
        ------
        BadCell
            If whole numbers, the parts of a cell, add up to one that 64 bits do not hold.

        Examples
        --------
        >>> parts = np.array([1.0, 2.0, 3.0]), np.array([4, 0, 4]), np.array([0, 3])
        >>> block = SparseBlock(*parts, Vocabulary(tuple(range(5))), np.array([True]), whole=False)
        >>> block.merged().data, block.merged().indices
        (array([2., 4.]), array([0, 4], dtype=int32))
        """
        if self.whole:
            return self
        d, cells = len(self.vocabulary), len(self.data)
        columns, values = np.empty(cells, np.int32), np.empty(cells)
        starts = np.empty(self.rows + 1, np.int64)
        written = -1
        if d <= MOST_COLUMNS and self.data.dtype.name in MERGED:
            parts = self.data, self.indices, self.indptr
            written = kernels.merging.merge(*parts, d, columns, values, starts)
        if written < 0:
            return self._summed()
        places = np.int32 if written < 1 << 31 else np.int64
        indices = columns[:written].astype(places, copy=False)
        return self._with(values[:written], indices, starts.astype(places))

    def in_pieces(self) -> Iterator[tuple[slice, SparseBlock]]:
        """Yield which rows, and these merged: as many as stay in cache, unless all are whole."""
        if self.whole:
            yield slice(0, self.rows), self
            return
        step = max(1, MERGED_CELLS * self.rows // max(1, len(self.data)))
        for start in range(0, self.rows, step):
            stop = min(start + step, self.rows)
            yield slice(start, stop), self.cut(start, stop).merged()

    def _summed(self) -> SparseBlock:
        """Cells merged by SciPy, which takes any number of columns, and types of any size."""
        if self.data.dtype.kind not in "iu":
            return self._summed_as(self.data)
        wide = self.data.dtype if self.data.dtype.itemsize == 8 else np.int64
        sums, rounded = (self._summed_as(self.data.astype(t)) for t in (wide, np.float64))
        for q in np.flatnonzero(np.abs(rounded.data - sums.data) > WRAPPED)[:1].tolist():
            rule = "a sum of whole numbers has at most 64 bits"
            raise sums.bad_cell(q, int(rounded.data[q]), rule, "store the cells as doubles")
        return sums

    def _summed_as(self, data: NDArray[Any]) -> SparseBlock:
        from scipy.sparse import csr_array

        shape = self.rows, len(self.vocabulary)
        parts = csr_array((data, self.indices, self.indptr), shape=shape, copy=True)
        parts.sum_duplicates()
        return self._with(parts.data, parts.indices, parts.indptr)

    def _with(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> SparseBlock:
        return replace(self, data=data, indices=indices, indptr=indptr, whole=True)

    def bad_cell(self, q: int, value: Any, rule: str, next_step: str = "") -> BadCell:
        """The finding that the stored cell q breaks a rule."""
        row = int(np.searchsorted(self.indptr, q, side="right")) - 1
        return BadCell(row, int(self.indices[q]), value, rule, next_step)

    def take(self, rows: NDArray[np.intp]) -> SparseBlock:
        """The given rows, in that order."""
        from scipy.sparse import csr_array

        cells = self.data, self.indices, self.indptr
        taken = csr_array(cells, shape=(self.rows, len(self.vocabulary)))[rows]
        return SparseBlock(
            taken.data,
            taken.indices,
            taken.indptr,
            self.vocabulary,
            self.present[rows],
            self.whole,
        )

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Whether each stored count is positive, 1 or 0; NaN where it is missing."""
        return np.asarray(np.sign(self.data, dtype=np.float64))

    def counts(self, vocabulary: Vocabulary) -> csr_array:
        """Counts (n, m) of the tokens of a vocabulary; others, and missing counts, are left out."""
        from scipy.sparse import csr_array

        cells = np.nan_to_num(self.data), self.reindex(vocabulary), self.indptr
        with_others = csr_array(cells, shape=(self.rows, len(vocabulary) + 1))
        return with_others[:, :-1]

    def showing(self, columns: NDArray[np.bool_]) -> SparseBlock:
        """The same rows; every cell of the other columns is missing, and a text as a whole."""
        if columns.all():
            return self
        if not self.vocabulary.closed:
            none = np.zeros(self.rows, np.bool_)
            ends = np.zeros_like(self.indptr)
            return SparseBlock(self.data[:0], self.indices[:0], ends, self.vocabulary, none)
        hidden = np.flatnonzero(~columns)
        row = np.repeat(np.arange(self.rows), np.diff(self.indptr))
        kept = columns[self.indices]
        rows = np.concatenate([row[kept], np.repeat(np.arange(self.rows), len(hidden))])
        indices = np.concatenate([self.indices[kept], np.tile(hidden, self.rows)])
        data = np.concatenate([self.data[kept], np.full(len(hidden) * self.rows, np.nan)])
        order = np.lexsort([indices, rows])
        ends = np.append(0, np.cumsum(np.bincount(rows, minlength=self.rows)))
        return replace(
            self, data=data[order], indices=indices[order].astype(self.indices.dtype), indptr=ends
        )

    def column(self, j: int) -> SparseBlock:
        """A text is one column; of a sparse matrix, column j alone."""
        if not self.vocabulary.closed:
            return self
        data = np.where(self.indices == j, self.data, 0)
        return replace(self, data=data)

    def reindex(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """Token indices into another vocabulary; an unseen token gets the index m, one past."""
        if self.vocabulary == vocabulary:
            return self.indices
        place: NDArray[Any] = vocabulary.index(self.vocabulary.values, len(vocabulary))
        return np.asarray(place[self.indices])
