"""Sources of rows: a source knows its columns and yields parts; a part yields batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from suffice.data.encode import encode
from suffice.data.schema import Column, Layout
from suffice.errors import DataError
from suffice.sums.batch import BATCH_ROWS, Batch
from suffice.sums.block import BadCell

R = TypeVar("R")


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

    def records(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; a batch without rows where there are none."""
        found = self.record_batches()
        first = next(found, None)
        if first is None:
            layout = self.layout
            assert layout is not None
            names = [*layout.names, layout.label, layout.weight]
            first = pa.record_batch({name: pa.nulls(0) for name in names if name is not None})
        return chain([first], found)

    def batches(self) -> Iterator[Batch]:
        """Yield encoded batches."""
        layout, first = self.layout, 0
        assert layout is not None
        for records in self.records():
            try:
                yield encode(records, layout)
            except BadCell as bad:
                raise refusal(self, layout, first, bad) from None
            first += records.num_rows

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
