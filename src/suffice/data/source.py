"""Where rows come from: a source knows its columns and yields parts; a part yields batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout
from suffice.errors import DataError
from suffice.sums.batch import BATCH_ROWS, Batch
from suffice.sums.block import BadCell

__all__ = ["InEngine", "InParts", "Part", "Source", "all_batches", "each_batch", "refusal"]

R = TypeVar("R")


class Part(Protocol):
    """A small, ordered, re-iterable, picklable part of a source."""

    def batches(self) -> Iterator[Batch]:
        """Yield the rows in order, at most 65,536 at a time; at least one batch, maybe empty."""
        ...

    def count(self) -> int:
        """Return the number of rows; a part of a file is read for it."""
        ...

    def locate(self, row: int) -> str:
        """Say where row ``row`` of this part stands, for error messages."""
        ...


class InEngine(Protocol):
    """Rows that may live in an engine."""

    @property
    def engine(self) -> str | None:
        """The engine that the rows live in, if there is one."""
        ...


class InParts(InEngine, Protocol):
    """Rows that are read part by part."""

    def parts(self, layout: Layout, workers: int) -> Sequence[Part]:
        """Return the parts, to be read by so many workers."""
        ...


class Source(InParts, Protocol):
    """A table of some kind."""

    @property
    def label(self) -> str | None:
        """The column of labels, where the table has one."""
        ...

    @property
    def weight(self) -> str | None:
        """The column of weights, where the table has one."""
        ...

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that are left out, which a model goes on to ignore."""
        ...

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The columns other than label and weight, each with the kind that its values suggest.

        All, or those of the given names.
        """
        ...

    def take(self, rows: NDArray[np.intp]) -> Source:
        """Return the rows at these places, in that order; only of a table in memory."""
        ...


def refusal(part: Part, layout: Layout, first: int, bad: BadCell) -> DataError:
    """Turn a bad cell into a sentence that names its column and its row.

    Parameters
    ----------
    first : int
        Row of the part at which the batch of the bad cell starts.
    """
    column = bad.column
    if isinstance(column, int):
        names = layout.blocks[bad.block].columns
        column = names[column] if column < len(names) else names[0]
    where = f"column {column!r}, " if column is not None else ""
    fact = f"{where}{part.locate(first + bad.row)}: {bad.value!r}"
    return DataError(fact, bad.rule, bad.next_step)


def all_batches(part: Part, layout: Layout) -> list[Batch]:
    """Kernel: the batches of a part, as they are."""
    return list(each_batch(part, layout, lambda batch: batch))


def each_batch(
    part: Part, layout: Layout, function: Callable[[Batch], R], rows: int = BATCH_ROWS
) -> Iterator[R]:
    """Apply a function to every batch of a part, cut into so many rows; a bad cell is a sentence.

    Raises
    ------
    DataError
        Naming the column and row of the cell.
    """
    first = 0
    for batch in part.batches():
        for piece in batch.pieces(rows) if batch.rows > rows else (batch,):
            try:
                yield function(piece)
            except BadCell as bad:
                raise refusal(part, layout, first, bad) from None
            first += piece.rows
        del batch, piece  # the next takes its memory
