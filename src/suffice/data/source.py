"""Sources of rows: a source knows its columns and yields parts; a part yields batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.encode import (
    Seen,
    encode,
    events,
    held_counts,
    laid_out,
    of_numbers,
    stored_cells,
)
from suffice.data.python_cells import is_missing, require_label_values, warn_of_alike
from suffice.data.schema import (
    BOOLEAN,
    BlockLayout,
    Column,
    Layout,
    Stored,
    UniformColumns,
    number_kind,
    require_columns,
)
from suffice.errors import DataError
from suffice.numerics import kernels
from suffice.sums.batch import BATCH_ROWS, NO_CLASSES, NO_CODES, NO_WEIGHTS, Batch
from suffice.sums.block import BadCell, Block, KeyBlock, RealBlock
from suffice.sums.keys import key_cells
from suffice.sums.vocabulary import Vocabulary

R = TypeVar("R")
FIRST_LOOK = 64  # rows that say of most columns that they hold more than two values
PART_ROWS = 16_384  # fewer rows are not worth a thread of their own
MOST_ROWS = 524_288  # of a table of numbers: a thread that is held up leaves the rest to others
STORED = ("events", "sparse")  # encodings that read a sparse matrix as it is stored
MANY_COLUMNS, MOST_SHOWN = 100, 0.1  # that count events, and share of cells that are not 0
DENSE_CELLS = 4_194_304  # cells of a sparse matrix laid out at a time, 32 MB


class Source(ABC):
    """Rows that a model reads, with what only some of them have: a label, a weight, an engine."""

    label: str | None = None
    """The column of labels, where rows have one."""
    weight: str | None = None
    """The column of weights, where rows have one."""

    @property
    def engine(self) -> str | None:
        """The engine that the rows live in, if there is one."""
        return None

    @abstractmethod
    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The columns other than label and weight, each with the kind that its values suggest.

        All, or those of the given names.
        """

    @abstractmethod
    def parts(self, layout: Layout, workers: int) -> Sequence[Part]:
        """Return the parts, to be read by so many workers."""


class Part(ABC):
    """A piece of a table that one worker reads, again and again in the same order."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Yield the rows, at most 65,536 at a time; at least one batch, maybe empty."""

    @abstractmethod
    def locate(self, row: int) -> str:
        """Say where row ``row`` of this part (from 0) stands, for error messages."""

    @property
    def rows(self) -> int | None:
        """Number of rows, where it is known before they are read."""
        return None

    @property
    def nbytes(self) -> int | None:
        """Bytes where the rows are stored, as far as that is known."""
        return None

    @property
    def file(self) -> Path | None:
        """The file that the part belongs to; None for rows that only this process has."""
        return None

    def count(self) -> int:
        """Return the number of rows, which are read for it where it is not known."""
        return sum(batch.rows for batch in self.batches()) if self.rows is None else self.rows


@dataclass(frozen=True, kw_only=True)
class RecordPart(Part):
    """A part whose rows are Arrow columns.

    Parameters
    ----------
    layout : Layout, optional
        How the columns are encoded; without it, the rows can be had as records only.
    """

    layout: Layout | None = None

    @abstractmethod
    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, at most 65,536 at a time, in the columns and types asked for."""

    def batches(self) -> Iterator[Batch]:
        layout, first, is_empty = self.layout, 0, True
        seen: Seen = {}
        assert layout is not None
        for records in self.record_batches():
            try:
                yield encode(records, layout, seen)
            except BadCell as bad:
                raise refusal(self, layout, first, bad) from None
            first, is_empty = first + records.num_rows, False
        if is_empty:
            names = [*layout.names, layout.label, layout.weight]
            nothing = {name: pa.nulls(0) for name in names if name is not None}
            yield encode(pa.record_batch(nothing), layout)

    def count(self) -> int:
        if self.rows is not None:
            return self.rows
        return sum(records.num_rows for records in self.record_batches())


@dataclass(frozen=True)
class PartView(RecordPart):
    """A part around another, which is like that one where it says nothing else."""

    inside: RecordPart

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        return self.inside.record_batches()

    def locate(self, row: int) -> str:
        return self.inside.locate(row)

    @property
    def rows(self) -> int | None:
        return self.inside.rows

    @property
    def nbytes(self) -> int | None:
        return self.inside.nbytes

    @property
    def file(self) -> Path | None:
        return self.inside.file


class PartThrough:
    """A part whose batches go through a function as they are read; all else is that of the part."""

    def __init__(self, part: Any, function: Callable[[Batch], Batch]) -> None:
        self._part, self._function = part, function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def batches(self) -> Iterator[Batch]:
        return map(self._function, self._part.batches())


@dataclass(frozen=True)
class RowsOf(Part):
    """Some rows of a batch as a part."""

    part: Part
    first: int  # row of the part where the batch begins
    places: NDArray[np.intp]  # of the rows in the batch
    batch: Batch  # these rows

    def batches(self) -> Iterator[Batch]:
        yield self.batch

    def locate(self, row: int) -> str:
        return self.part.locate(self.first + int(self.places[row]))


def refusal(part: Part, layout: Layout, first: int, bad: BadCell) -> DataError:
    """Name the column and row of a bad cell, whose batch starts at row ``first`` of the part."""
    column = bad.column
    if isinstance(column, int):
        names = layout.blocks[bad.block].columns
        column = names[column] if column < len(names) else names[0]
    where = f"column {column!r}, " if column is not None else ""
    fact = f"{where}{part.locate(first + bad.row)}: {bad.value!r}"
    return DataError(fact, bad.rule, bad.next_step)


def all_batches(source: Source, layout: Layout) -> Iterator[Batch]:
    """Yield the batches of a table, in order."""
    for part in source.parts(layout, 1):
        yield from each_batch(part, layout, lambda batch: batch)


def each_batch(
    part: Part, layout: Layout, function: Callable[[Batch], R], rows: int = BATCH_ROWS
) -> Iterator[R]:
    """Apply a function to every batch of a part, cut into so many rows; name bad cells."""
    first = 0
    for batch in part.batches():
        for piece in batch.pieces(rows) if batch.rows > rows else (batch,):
            try:
                yield function(piece)
            except BadCell as bad:
                raise refusal(part, layout, first, bad) from None
            first += piece.rows
        del batch, piece  # the next takes its memory


# Arrays ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labels:
    """Class labels of all rows."""

    classes: Vocabulary  # their distinct values
    codes: NDArray[np.intp]  # (n,) of these; −1 = missing

    @classmethod
    def of(cls, values: NDArray[Any]) -> Labels:
        """Find the distinct ones of values (n,), without sorting all.

        None, NaN, NaT and pandas.NA are missing.
        """
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if values.dtype.kind in "biu" and len(values):
            kind, numbers = (bool, values.view("u1")) if values.dtype == bool else (int, values)
            low = numbers.min()
            width = int(numbers.max()) - int(low) + 1
            if width <= BATCH_ROWS:
                seen = np.zeros(width, np.bool_)
                kernels.counts.mark(numbers, low, seen)
                steps = np.flatnonzero(seen)
                classes = Vocabulary(tuple(map(kind, map(int(low).__add__, steps.tolist()))))
                is_read = values.dtype == np.intp and values.flags.carray
                if is_read and low == 0 and len(steps) == width:
                    return cls(classes, values)
                table, codes = np.full(width, -1, np.intp), np.empty(len(values), np.intp)
                table[steps] = np.arange(len(steps))
                kernels.counts.look_up(numbers, low, table, codes)
                return cls(classes, codes)
        cells = values.tolist()
        if values.dtype == object:
            require_label_values(cells)
        classes = Vocabulary.of(cell for cell in dict.fromkeys(cells) if not is_missing(cell))
        if values.dtype.kind in "OUT":
            warn_of_alike(classes.values)
        return cls(classes, classes.index(cells, -1))


@dataclass(frozen=True)
class ArraySource(Source):
    """A matrix of numbers with one label, one weight or targets for every row."""

    x: Any  # (n, d) of bool, int or float, or a SciPy CSR matrix; NaN = missing
    names: Sequence[str]
    labels: Labels | None = None
    weights: NDArray[np.float64] | None = None  # (n,), 0 or from 1e-100 to 1e100
    targets: NDArray[Any] | None = None  # (n, t), the last block of a layout; NaN = missing
    engine = None

    def shown_labels(self) -> tuple[Any, ...]:
        return () if self.labels is None else self.labels.classes.values

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
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
        """Return whether columns are many and hold whole numbers, most of the first ones 0."""
        (n, d), rows = self.x.shape, min(self.x.shape[0], BATCH_ROWS)
        if d < MANY_COLUMNS:
            return False
        if isinstance(self.x, np.ndarray):
            cells, first = self.x, self.x[:rows]
        else:
            whole = self.x
            if not whole.has_canonical_format:
                whole = stored_cells(whole, slice(0, n)).merged()
            cells, first = whole.data, whole.data[: whole.indptr[rows]]
        few = np.count_nonzero(first) <= MOST_SHOWN * rows * d
        return bool(few and _are_whole(first) and _are_whole(cells))

    def parts(self, layout: Layout, workers: int) -> Sequence[ArrayPart]:
        n = self.x.shape[0]
        parts = max(1, min(workers, n // PART_ROWS))
        if not isinstance(self.x, np.ndarray):
            _require_cells_within(self.x)
        elif workers > 1:
            parts *= max(1, -(-n // (parts * MOST_ROWS)))
        edges = [n * i // parts for i in range(parts + 1)]
        return list(map(partial(ArrayPart, self, layout), edges, edges[1:]))


def _require_cells_within(x: Any) -> None:
    """Refuse a CSR matrix with cells outside its shape: compiled loops would follow them there."""
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
class ArrayPart(Part):
    """Rows ``first`` to ``stop`` of an array source, before which there were ``before`` others."""

    source: ArraySource
    layout: Layout
    first: int
    stop: int
    before: int = 0

    def __reduce__(self) -> tuple[type[ArrayPart], tuple[Any, ...]]:
        # A part that travels takes its own rows with it, and no others.
        source, rows = self.source, slice(self.first, self.stop)
        labels, weights, targets = source.labels, source.weights, source.targets
        own = replace(
            source,
            x=source.x[rows],
            labels=None if labels is None else replace(labels, codes=labels.codes[rows]),
            weights=None if weights is None else weights[rows],
            targets=None if targets is None else targets[rows],
        )
        return ArrayPart, (own, self.layout, 0, self.rows, self.before + self.first)

    def locate(self, row: int) -> str:
        return f"row {self.before + self.first + row}"

    @property
    def rows(self) -> int:
        return self.stop - self.first

    @property
    def nbytes(self) -> int:
        x = self.source.x
        whole: int = x.nbytes if hasattr(x, "nbytes") else x.data.nbytes + x.indices.nbytes
        return int(whole * self.rows // max(1, x.shape[0]))

    def batches(self) -> Iterator[Batch]:
        source, layouts, step = self.source, self.layout.blocks, BATCH_ROWS
        x, names = source.x, source.names
        if source.targets is not None:
            layouts = layouts[:-1]
        dense = isinstance(x, np.ndarray)
        if not (dense or all(layout.encoding in STORED for layout in layouts)):
            step = max(1, min(step, DENSE_CELLS // max(1, len(names))))
        for start in range(self.first, max(self.stop, self.first + 1), step):
            rows = slice(start, min(start + step, self.stop))
            blocks: list[Block] = []
            try:
                for layout in layouts:
                    whole = layout.columns is names or len(layout.columns) == x.shape[1]
                    if dense and whole and layout.encoding == "real":
                        blocks.append(RealBlock(x[rows]))
                    else:
                        blocks.append(self._block(rows, layout, whole))
            except BadCell as bad:
                bad.block = len(blocks)
                raise refusal(self, self.layout, start - self.first, bad) from None
            if source.targets is not None:
                blocks.append(RealBlock(source.targets[rows]))
            yield Batch(
                rows.stop - rows.start,
                tuple(blocks),
                NO_CODES if source.labels is None else source.labels.codes[rows],
                NO_CLASSES if source.labels is None else source.labels.classes,
                NO_WEIGHTS if source.weights is None else source.weights[rows],
            )

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.source.names)}

    def _block(self, rows: slice, layout: BlockLayout, whole: bool) -> Any:
        """Cells of some columns, of a sparse matrix, or that are more than numbers."""
        x = self.source.x
        if not whole:
            x = x[rows][:, [self._position[name] for name in layout.columns]]
            rows = slice(0, x.shape[0])
        if layout.encoding == "events":
            return events(x, rows, self.layout.threshold)
        if layout.encoding == "sparse" and not isinstance(x, np.ndarray):
            return held_counts(stored_cells(x, rows).merged())
        x = x[rows]
        if layout.encoding == "key":
            cells = x if isinstance(x, np.ndarray) else laid_out(x)
            return KeyBlock(tuple(map(key_cells, layout.columns, map(pa.array, cells.T))))
        return of_numbers(x if isinstance(x, np.ndarray) else laid_out(x), layout, self.layout)
