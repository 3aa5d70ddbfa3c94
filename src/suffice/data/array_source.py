"""Rows in NumPy arrays and SciPy sparse matrices, read without copying them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_labels import Labels
from suffice.data.binary_cells import outcome_codes
from suffice.data.part_size import PartSize
from suffice.data.schema import (
    BOOLEAN,
    BlockLayout,
    Column,
    Layout,
    Stored,
    UniformColumns,
    number_kind,
)
from suffice.data.source import refusal
from suffice.data.table import require_columns
from suffice.errors import DataError
from suffice.numerics import kernels
from suffice.numerics.error_free import LARGEST
from suffice.sums.batch import BATCH_ROWS, NO_CLASSES, NO_CODES, NO_WEIGHTS, Batch
from suffice.sums.block import (
    HELD,
    BadCell,
    Block,
    CodedBlock,
    IntegerBlock,
    RealBlock,
    SparseBlock,
    require_held,
)
from suffice.sums.moments import TOO_LARGE
from suffice.sums.vocabulary import FALSE_TRUE, Vocabulary

__all__ = [
    "COUNT_RULE",
    "ArrayPart",
    "ArraySource",
    "binaries",
    "check_counts",
    "events",
    "stored_cells",
]

COUNT_RULE, FINITE_RULE = "a count is 0 or more", "a number must be finite"
FIRST_LOOK = 64  # rows that say of most columns that they hold more than two values
PART_ROWS = 16_384  # fewer rows are not worth a thread of their own
MOST_ROWS = 524_288  # of a table of numbers: a thread that is held up leaves the rest to others
STORED = ("events", "sparse")  # encodings that read a sparse matrix as it is stored
MANY_COLUMNS, MOST_SHOWN = 100, 0.1  # that count events, and share of cells that are not 0
DENSE_CELLS = 4_194_304  # cells of a sparse matrix laid out at a time, 32 MB


@dataclass(frozen=True)
class ArraySource:
    """A matrix of numbers with one label and one weight for every row."""

    x: Any  # (n, d) of bool, int or float, or a SciPy CSR matrix; NaN = missing
    names: Sequence[str]
    labels: Labels | None = None
    weights: NDArray[np.float64] | None = None  # (n,), 0 or from 1e-100 to 1e100
    label: str | None = None
    weight: str | None = None

    engine: ClassVar[None] = None  # an array lives in no engine
    ignored: ClassVar[tuple[str, ...]] = ()  # no column is left out

    def shown_labels(self) -> tuple[Any, ...]:
        """The labels that there are."""
        return () if self.labels is None else self.labels.classes.values

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The columns, or those of the given names, by the rule in ``schema.py``.

        Raises
        ------
        SchemaError
            If there is no such column.
        """
        if names:
            require_columns(names, self.names, "the array")
        names = self.names if names is None else names
        kind, sparse = self.x.dtype.kind, not isinstance(self.x, np.ndarray)
        if sparse:
            _require_cells_within(self.x)
        if kind == "b":
            return UniformColumns(names, "boolean", "binary", BOOLEAN)
        if self._holds_counts:
            return UniformColumns(names, "number", "text", "counts, most of them 0")
        stored: Stored = "number" if kind == "f" else "integer"
        lows = _lows(self.x[:BATCH_ROWS])
        if not lows:
            return UniformColumns(names, stored, *number_kind(stored, None, sparse))
        asked = set(names)
        places = [j for j, name in enumerate(self.names) if name in asked]
        return tuple(
            Column(self.names[j], stored, *number_kind(stored, lows.get(j), sparse)) for j in places
        )

    @cached_property
    def _holds_counts(self) -> bool:
        """Whether the columns count events, such as words, however the matrix is stored.

        They are many, the cells are whole numbers of 0 or more, and of the first rows few are not
        0.
        """
        (n, d), rows = self.x.shape, min(self.x.shape[0], BATCH_ROWS)
        if d < MANY_COLUMNS:
            return False
        if isinstance(self.x, np.ndarray):
            cells, first = self.x, self.x[:rows]
        else:
            whole = (
                self.x
                if self.x.has_canonical_format
                else stored_cells(self.x, slice(0, n)).merged()
            )
            cells, first = whole.data, whole.data[: whole.indptr[rows]]
        few = np.count_nonzero(first) <= MOST_SHOWN * rows * d
        return bool(few and _are_whole(first) and _are_whole(cells))

    def take(self, rows: NDArray[np.intp] | slice) -> ArraySource:
        """Return the rows at these places, in that order."""
        labels, weights = self.labels, self.weights
        return replace(
            self,
            x=self.x[rows],
            labels=None if labels is None else Labels(labels.values[rows], labels.classes),
            weights=None if weights is None else weights[rows],
        )

    def parts(self, layout: Layout, workers: int) -> Sequence[ArrayPart]:
        """Equal slices: one for every worker, fewer of few rows, several of many where they share.

        Raises
        ------
        DataError
            If a sparse matrix has cells outside its shape.
        """
        n = self.x.shape[0]
        parts = max(1, min(workers, n // PART_ROWS))
        if not isinstance(self.x, np.ndarray):
            _require_cells_within(self.x)
        elif workers > 1:
            parts *= max(1, -(-n // (parts * MOST_ROWS)))
        edges = (n * np.arange(parts + 1) // parts).tolist()
        return list(map(partial(ArrayPart, self, layout), edges, edges[1:]))


def _require_cells_within(x: Any) -> None:
    """Refuse a CSR matrix with cells outside its shape: compiled loops would follow them there.

    Raises
    ------
    DataError
        If there is such a cell.
    """
    (n, d), starts, cells = x.shape, x.indptr, min(len(x.indices), len(x.data))
    ordered = len(starts) == n + 1 and starts[0] == 0 and (np.diff(starts) >= 0).all()
    if ordered and starts[-1] <= cells and kernels.counts.are_below(x.indices, d, 0):
        return
    raise DataError(
        f"a sparse matrix of {n} rows and {d} columns has cells outside these",
        "row pointers do not decrease, and indices are below the number of columns",
        "check how it was made: X.check_format(full_check=True) names what is wrong",
    )


def _are_whole(cells: NDArray[Any]) -> bool:
    """Whether numbers are whole, 0 or more, and none is missing."""
    if cells.dtype.kind == "f" and not bool((cells == np.floor(cells)).all()):
        return False
    return bool(cells.min(initial=0) >= 0)


def _lows(x: Any) -> dict[int, float]:
    """Return 0 or −1 for every column (n, d) of which this and 1 are the only values, besides NaN.

    Few rows settle most columns.
    """
    dense = isinstance(x, np.ndarray)
    few, by_column = (x[:FIRST_LOOK], x) if dense else (x[:FIRST_LOOK].toarray(), x.tocsc())
    possible = ((few == 0) | (few == 1) | (few == -1) | (few != few)).all(axis=0)
    found: dict[int, float] = {}
    for j in np.flatnonzero(possible).tolist():
        values = by_column[:, j] if dense else by_column[:, [j]].toarray()[:, 0]
        shown = set(np.unique(values[values == values])[:3].tolist())
        if shown in ({0, 1}, {-1, 1}):
            found[j] = float(min(shown))
    return found


@dataclass(frozen=True)
class ArrayPart:
    """Rows ``first`` to ``stop`` of an array source, before which there were ``before`` others."""

    source: ArraySource
    layout: Layout
    first: int
    stop: int
    before: int = 0
    rows: int = BATCH_ROWS  # the most of a batch

    def __reduce__(self) -> tuple[type[ArrayPart], tuple[Any, ...]]:
        # A part that travels takes its own rows with it, and no others.
        rows = self.source.take(slice(self.first, self.stop))
        return ArrayPart, (rows, self.layout, 0, self.count(), self.before + self.first, self.rows)

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
        step = self.rows if isinstance(self.source.x, np.ndarray) else self._sparse_rows()
        starts = range(self.first, max(self.stop, self.first + 1), step)
        return map(partial(self._batch, step), starts)

    def _sparse_rows(self) -> int:
        """Rows of a sparse matrix in a batch: fewer where they are laid out."""
        if all(block.encoding in STORED for block in self.layout.blocks):
            return self.rows
        return max(1, min(self.rows, DENSE_CELLS // max(1, len(self.source.names))))

    def _batch(self, most: int, start: int) -> Batch:
        """The rows from ``start`` on, so many at most."""
        rows = slice(start, min(start + most, self.stop))
        blocks: list[Block] = []
        try:
            for layout in self.layout.blocks:
                blocks.append(self._block(rows, layout))  # noqa: PERF401 - counted on the way
        except BadCell as bad:
            bad.block = len(blocks)
            raise refusal(self, self.layout, start - self.first, bad) from None
        labels, weights = self.source.labels, self.source.weights
        return Batch(
            rows.stop - rows.start,
            tuple(blocks),
            NO_CODES if labels is None else labels.codes(rows),
            NO_CLASSES if labels is None else labels.classes,
            NO_WEIGHTS if weights is None else weights[rows],
        )

    def _block(self, rows: slice, layout: BlockLayout) -> Block:
        x, names = self.source.x, self.source.names
        whole = layout.columns is names or len(layout.columns) == x.shape[1]
        if whole and layout.encoding == "events":
            return events(x, rows, self.layout.threshold)
        if whole and layout.encoding == "sparse" and not isinstance(x, np.ndarray):
            return _held(stored_cells(x, rows).merged())
        x = x[rows]
        if not whole:
            position = {name: j for j, name in enumerate(names)}
            x = x[:, [position[name] for name in layout.columns]]
        if layout.encoding == "events":
            return events(x, slice(0, x.shape[0]), self.layout.threshold)
        if not isinstance(x, np.ndarray):
            x = _laid_out(x)
        if layout.encoding == "category":
            return _categories(x)
        if layout.encoding in ("binary", "outcome"):
            return binaries(x, layout, self.layout)
        if layout.encoding in ("count", "whole"):
            check_counts(x, whole=layout.encoding == "whole")
        return RealBlock(x)

    def in_batches(self, rows: int) -> ArrayPart:
        """The same in batches of so many rows at most."""
        return replace(self, rows=rows)

    def part_size(self) -> PartSize:
        """Its rows, and its fraction of the bytes of the array."""
        x, rows = self.source.x, self.count()
        whole = x.nbytes if hasattr(x, "nbytes") else x.data.nbytes + x.indices.nbytes
        return PartSize(rows, whole * rows // max(1, x.shape[0]))


def largest_of(dtype: np.dtype[Any]) -> float:
    """The largest number of a dtype that can be squared as a double."""
    return min(LARGEST, float(np.finfo(dtype).max)) if dtype.kind == "f" else LARGEST


def check_counts(x: NDArray[Any], whole: bool) -> None:
    """Refuse what is no count: below 0, infinite or too large; or, if asked, with a fraction.

    Raises
    ------
    BadCell
        For the first such cell.
    """
    if x.dtype.kind in "bu":
        return
    largest = largest_of(x.dtype)
    rules = [
        (x < 0, COUNT_RULE),
        (np.isinf(x), FINITE_RULE),
        (x > largest, TOO_LARGE),
    ]
    if whole:
        with np.errstate(invalid="ignore"):
            rules.append(((x != np.floor(x)) & ~np.isnan(x), "a count has no fraction"))
    for bad, rule in rules:
        if bad.any():
            row, column = map(int, np.argwhere(bad)[0])
            raise BadCell(row, column, x[row, column].item(), rule)


def binaries(x: NDArray[Any], layout: BlockLayout, table: Layout) -> CodedBlock:
    """Outcomes of numbers: above a threshold, or the larger of two values.

    Raises
    ------
    BadCell
        If there are but two values, and a cell is neither.
    """
    vocabularies, threshold = (FALSE_TRUE,) * x.shape[1], table.threshold
    if x.dtype.kind == "b" and (threshold is None or 0 <= threshold < 1):
        return CodedBlock(x.view(np.int8), vocabularies)
    if threshold is not None:
        missing = x != x
        above = _above(x, threshold)
        return CodedBlock(np.where(missing, -1, above).astype(np.int8), vocabularies)
    strict = layout.encoding == "binary"
    return CodedBlock(outcome_codes(x, table.lows(layout), strict), vocabularies)


def _above(x: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Whether numbers are above a threshold; whole ones are compared with a whole one."""
    whole = x.dtype.kind in "iu" and math.isfinite(threshold)
    return np.asarray(x > (math.floor(threshold) if whole else threshold))


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


def _laid_out(x: Any) -> NDArray[Any]:
    """A CSR matrix with all its cells; whole numbers that are stored in parts have room to add up.

    Raises
    ------
    BadCell
        As `SparseBlock.merged` does.
    """
    if x.dtype.kind in "iu" and not x.has_canonical_format:
        block = stored_cells(x, slice(0, x.shape[0])).merged()
        cells = block.data, block.indices, block.indptr
        return np.asarray(type(x)(cells, shape=x.shape).toarray())
    return np.asarray(x.toarray())


def stored_cells(x: Any, rows: slice) -> SparseBlock:
    """Rows of a CSR matrix as they are stored; only their row pointers are copied."""
    indptr = x.indptr[rows.start : rows.stop + 1]
    cells = slice(indptr[0], indptr[-1])
    present = np.ones(rows.stop - rows.start, np.bool_)
    return SparseBlock(
        x.data[cells],
        x.indices[cells],
        indptr - indptr[0],
        _numbered(x.shape[1]),
        present,
        whole=x.has_canonical_format,
    )


def events(x: Any, rows: slice, threshold: float | None) -> SparseBlock:
    """Counts in the rows of a CSR matrix. Dense rows are made sparse."""
    if isinstance(x, np.ndarray):
        from scipy.sparse import csr_matrix

        return events(csr_matrix(x[rows]), slice(0, rows.stop - rows.start), threshold)
    block = stored_cells(x, rows)
    if threshold is not None:
        block = block.merged()
        above = _above(block.data, threshold)
        return replace(block, data=np.where(np.isnan(block.data), np.nan, above))
    largest = HELD - 1.0 if block.data.dtype.kind in "iu" else largest_of(block.data.dtype)
    if not kernels.counts.are_counts(block.data, largest):
        block = block.merged()  # parts may be negative, and their sum no count
        data = block.data
        for q in np.flatnonzero((data < 0) | (data > largest_of(data.dtype)))[:1].tolist():
            value = data[q].item()
            rule = COUNT_RULE if value < 0 else FINITE_RULE if math.isinf(value) else TOO_LARGE
            raise block.bad_cell(q, value, rule)
        return _held(block)
    return block


def _held(block: SparseBlock) -> SparseBlock:
    """A block of whole numbers that doubles hold, or of doubles."""
    try:
        require_held(block.data[:, None])
    except BadCell as bad:
        raise block.bad_cell(bad.row, bad.value, bad.rule, bad.next_step) from None
    return block


@lru_cache(maxsize=8)
def _numbered(d: int) -> Vocabulary:
    return Vocabulary(tuple(range(d)), closed=True)
