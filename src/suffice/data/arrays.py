"""Rows in NumPy arrays and SciPy sparse matrices, read without copying them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from suffice.data.schema import Alike, BlockLayout, Column, Layout, Stored, integer_kind
from suffice.data.source import refusal
from suffice.numerics import kernels
from suffice.numerics.exact import LARGEST
from suffice.statistics.batch import BATCH_ROWS, NO_CODES, NO_WEIGHTS, Batch
from suffice.statistics.block import (
    BadCell,
    Block,
    CodedBlock,
    IntegerBlock,
    RealBlock,
    SparseBlock,
)
from suffice.statistics.moments import TOO_LARGE
from suffice.statistics.vocabulary import FALSE_TRUE, Vocabulary

__all__ = ["ArraySource", "ArraySplit", "Labels", "events", "is_missing", "stored_cells"]

SPLIT_ROWS = 16_384  # fewer rows are not worth a thread of their own
MOST_ROWS = 131_072  # of a table of numbers: a thread that is held up leaves the rest to others
STORED = ("events", "sparse")  # encodings that read a sparse matrix as it is stored
DENSE_CELLS = 4_194_304  # cells of a sparse matrix laid out at a time, 32 MB


def is_missing(value: Any) -> bool:
    """Tell whether a cell is None, NaN, NaT or pandas.NA."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


@dataclass(frozen=True)
class Labels:
    """Class labels of all rows, encoded batch by batch so that no array of n codes is needed.

    Parameters
    ----------
    values : ndarray (n,)
        Labels; None, NaN, NaT and pandas.NA are missing.
    classes : Vocabulary
        Their distinct values.
    """

    values: NDArray[Any]
    classes: Vocabulary

    @classmethod
    def of(cls, values: NDArray[Any]) -> Labels:
        """Find the distinct labels, without sorting them."""
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        span = _span(values)
        if span is not None:
            low, width = span
            seen = np.zeros(width, np.bool_)
            kernels.counts.mark(values, low, seen)
            return cls(
                values, Vocabulary(tuple(int(low) + q for q in np.flatnonzero(seen).tolist()))
            )
        return cls(values, Vocabulary.of(v for v in values.tolist() if not is_missing(v)))

    def codes(self, rows: slice) -> NDArray[np.intp]:
        """Codes of some rows; −1 = missing."""
        values = self.values[rows]
        if self._are_codes:
            return values
        if self._table is not None:
            codes, low = np.empty(len(values), np.intp), values.dtype.type(self.classes.values[0])
            kernels.counts.look_up(values, low, self._table, codes)
            return codes
        return self.classes.index(
            (None if is_missing(value) else value for value in values.tolist()), -1
        )

    @cached_property
    def _are_codes(self) -> bool:
        """Whether the labels are 0, 1, 2, ..., laid out as codes are, and so are codes already."""
        known, alike = self.classes.values, self.values.flags.carray
        return alike and self.values.dtype == np.intp and known == tuple(range(len(known)))

    @cached_property
    def _table(self) -> NDArray[np.intp] | None:
        """Code of every integer from the smallest label to the largest, where these are few."""
        known = self.classes.values
        if self.values.dtype.kind not in "iu" or not 0 < len(known) <= BATCH_ROWS:
            return None
        above = np.array([value - known[0] for value in known])
        if above[-1] >= BATCH_ROWS:
            return None
        table = np.full(above[-1] + 1, -1, np.intp)
        table[above] = np.arange(len(known))
        return table


def _span(values: NDArray[Any]) -> tuple[Any, int] | None:
    """The smallest of integers, and how many lie from it to the largest, if few enough."""
    if values.dtype.kind not in "iu" or not len(values):
        return None
    low = values.min()
    width = int(values.max()) - int(low) + 1
    return (low, width) if width <= BATCH_ROWS else None


@dataclass(frozen=True)
class ArraySource:
    """A matrix of numbers with one label and one weight for every row.

    Parameters
    ----------
    x : ndarray (n, d) of bool, int or float; or a SciPy CSR matrix
        NaN = missing.
    names : sequence of d str
        Column names.
    labels : Labels, optional
        Class labels.
    weights : ndarray (n,), optional
        Row weights, 0 or from 1e-100 to 1e100.
    """

    x: Any
    names: Sequence[str]
    labels: Labels | None = None
    weights: NDArray[np.float64] | None = None
    label: str | None = None
    weight: str | None = None

    def label_stored(self) -> Stored:
        """The labels of an array have no column."""
        return "nothing"

    def columns(self) -> Sequence[Column]:
        """The columns, by the rule in ``schema.py``."""
        if not isinstance(self.x, np.ndarray):
            return Alike(self.names, "number", "text", "sparse counts")
        kind = self.x.dtype.kind
        if kind == "b":
            return Alike(self.names, "boolean", "binary", "boolean")
        if kind == "f":
            return Alike(self.names, "number", "real", "numbers")
        head = self.x[:BATCH_ROWS]
        return tuple(_integer_column(n, head[:, j]) for j, n in enumerate(self.names))

    def take(self, rows: NDArray[np.intp] | slice) -> ArraySource:
        """Return the rows at these places, in that order."""
        labels, weights = self.labels, self.weights
        return replace(
            self,
            x=self.x[rows],
            labels=None if labels is None else Labels(labels.values[rows], labels.classes),
            weights=None if weights is None else weights[rows],
        )

    def splits(self, layout: Layout, workers: int) -> Sequence[ArraySplit]:
        """Equal slices: one for every worker, fewer of few rows, several of many."""
        n, source = self.x.shape[0], self
        kept = any(block.encoding in STORED for block in layout.blocks)
        if kept and not isinstance(self.x, np.ndarray):
            source = replace(self, x=_each_cell_once(self.x))
        parts = max(1, min(workers, n // SPLIT_ROWS))
        if isinstance(self.x, np.ndarray):
            parts *= max(1, -(-n // (parts * MOST_ROWS)))
        bounds = [n * part // parts for part in range(parts + 1)]
        return [ArraySplit(source, layout, a, b) for a, b in pairwise(bounds)]


def _integer_column(name: str, values: NDArray[Any]) -> Column:
    if not len(values):
        return Column(name, "integer", "category", "no value in the first rows")
    distinct = np.unique(values)
    smallest, largest = int(distinct[0]), int(distinct[-1])
    return Column(name, "integer", *integer_kind(len(distinct), len(values), smallest, largest))


@dataclass(frozen=True)
class ArraySplit:
    """Rows ``first`` to ``stop`` of an array source, before which there were ``before`` others."""

    source: ArraySource
    layout: Layout
    first: int
    stop: int
    before: int = 0

    def __reduce__(self) -> tuple[type[ArraySplit], tuple[ArraySource, Layout, int, int, int]]:
        # A split that travels takes its own rows with it, and no others.
        rows = self.source.take(slice(self.first, self.stop))
        return ArraySplit, (rows, self.layout, 0, self.count(), self.before + self.first)

    def locate(self, row: int) -> str:
        """Return ``row i``, counted from 0 as in NumPy."""
        return f"row {self.before + self.first + row}"

    def count(self) -> int:
        """Return the number of rows."""
        return self.stop - self.first

    def batches(self) -> Iterator[Batch]:
        """Yield views of the rows.

        Raises
        ------
        DataError
            If a cell breaks the rule of its encoding, naming column and row.
        """
        step = BATCH_ROWS
        if self._lays_out_sparse_rows:
            step = max(1, min(step, DENSE_CELLS // max(1, self.source.x.shape[1])))
        for start in range(self.first, max(self.stop, self.first + 1), step):
            rows = slice(start, min(start + step, self.stop))
            try:
                yield self._batch(rows)
            except BadCell as bad:
                raise refusal(self, self.layout, start - self.first, bad) from None

    @property
    def _lays_out_sparse_rows(self) -> bool:
        sparse = not isinstance(self.source.x, np.ndarray)
        return sparse and any(block.encoding not in STORED for block in self.layout.blocks)

    def _batch(self, rows: slice) -> Batch:
        source = self.source
        blocks = tuple(self._block(rows, layout) for layout in self.layout.blocks)
        labels, weights = source.labels, source.weights
        return Batch(
            rows.stop - rows.start,
            blocks,
            NO_CODES if labels is None else labels.codes(rows),
            Vocabulary(()) if labels is None else labels.classes,
            NO_WEIGHTS if weights is None else weights[rows],
        )

    def _block(self, rows: slice, layout: BlockLayout) -> Block:
        x = self.source.x
        whole = len(layout.columns) == len(self.source.names)
        if whole and layout.encoding == "events":
            return events(x, rows, self.layout.threshold)
        if whole and layout.encoding == "sparse" and not isinstance(x, np.ndarray):
            return stored_cells(x, rows)
        x = x[rows]
        if len(layout.columns) < len(self.source.names):
            position = {name: j for j, name in enumerate(self.source.names)}
            x = x[:, [position[name] for name in layout.columns]]
        if layout.encoding == "events":
            return events(x, slice(0, x.shape[0]), self.layout.threshold)
        if not isinstance(x, np.ndarray):
            x = x.toarray()
        if layout.encoding == "category":
            return _categories(x)
        if layout.encoding == "binary":
            return _binaries(x, self.layout.threshold)
        if layout.encoding in ("count", "whole"):
            _check_counts(x, whole=layout.encoding == "whole")
        return RealBlock(x)


def largest_of(dtype: np.dtype[Any]) -> float:
    """The largest number of a dtype that can be squared as a double."""
    return min(LARGEST, float(np.finfo(dtype).max)) if dtype.kind == "f" else LARGEST


def _check_counts(x: NDArray[Any], whole: bool) -> None:
    if x.dtype.kind in "bu":
        return
    largest = largest_of(x.dtype)
    rules = [
        (x < 0, "a count is 0 or more"),
        (np.isinf(x), "a number must be finite"),
        (x > largest, TOO_LARGE),
    ]
    if whole:
        with np.errstate(invalid="ignore"):
            rules.append(((x != np.floor(x)) & ~np.isnan(x), "a count has no fraction"))
    for bad, rule in rules:
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            raise BadCell(row, column, x[row, column].item(), rule)


def _binaries(x: NDArray[Any], threshold: float | None) -> CodedBlock:
    vocabularies = (FALSE_TRUE,) * x.shape[1]
    if x.dtype.kind == "b" and (threshold is None or 0 <= threshold < 1):
        return CodedBlock(x.view(np.int8), vocabularies)
    missing = x != x
    if threshold is not None:
        return CodedBlock(np.where(missing, -1, x > threshold).astype(np.int8), vocabularies)
    bad = ~((x == 0) | (x == 1) | (x == -1) | missing)
    if not bad.any():
        bad = (x == 0) & (x == -1).any(axis=0)
    if bad.any():
        row, column = map(int, np.argwhere(bad)[0])
        value = x[row, column].item()
        raise BadCell(row, column, value, "a binary column holds 0 and 1, or -1 and 1")
    return CodedBlock(np.where(missing, -1, x > 0).astype(np.int8), vocabularies)


def _categories(x: NDArray[Any]) -> CodedBlock | IntegerBlock:
    if x.dtype.kind == "i" or (x.dtype.kind == "u" and x.dtype.itemsize < 8):
        return IntegerBlock(x)
    codes = np.empty(x.shape, np.intp)
    vocabularies = []
    for j in range(x.shape[1]):
        values, inverse = np.unique(x[:, j], return_inverse=True)
        if values.dtype.kind == "f" and len(values) and np.isnan(values[-1]):
            values, inverse = values[:-1], np.where(inverse == len(values) - 1, -1, inverse)
        codes[:, j] = inverse
        vocabularies.append(Vocabulary(tuple(values.tolist())))
    return CodedBlock(codes, tuple(vocabularies))


def stored_cells(x: Any, rows: slice) -> SparseBlock:
    """Rows of a CSR matrix; only their row pointers are copied."""
    indptr = x.indptr[rows.start : rows.stop + 1]
    cells = slice(indptr[0], indptr[-1])
    present = np.ones(rows.stop - rows.start, np.bool_)
    return SparseBlock(
        x.data[cells], x.indices[cells], indptr - indptr[0], _numbered(x.shape[1]), present
    )


def _each_cell_once(x: Any) -> Any:
    """A CSR matrix whose cells are not in parts, which have events and squares of their own."""
    if x.has_canonical_format:
        return x
    x = x.copy()
    x.sum_duplicates()
    return x


def events(x: Any, rows: slice, threshold: float | None) -> SparseBlock:
    """Counts in the rows of a CSR matrix. Dense rows are made sparse."""
    if isinstance(x, np.ndarray):
        return events(csr_matrix(x[rows]), slice(0, rows.stop - rows.start), threshold)
    block = stored_cells(x, rows)
    data, indices, indptr = block.data, block.indices, block.indptr
    if threshold is not None:
        return replace(block, data=np.where(data != data, np.nan, data > threshold))
    largest = largest_of(data.dtype)
    if not kernels.counts.are_counts(data, largest):
        q = int(np.flatnonzero((data < 0) | (data > largest))[0])
        row = int(np.searchsorted(indptr, q, side="right")) - 1
        rule = "a count is 0 or more, and below 1e150"
        raise BadCell(row, int(indices[q]), data[q].item(), rule)
    return replace(block, data=data)


@lru_cache(maxsize=8)
def _numbered(d: int) -> Vocabulary:
    return Vocabulary(tuple(range(d)), closed=True)
