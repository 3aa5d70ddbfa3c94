"""Where rows come from: a source knows its columns and yields splits; a split yields batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout, Stored
from suffice.errors import DataError
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell

__all__ = ["Source", "Split", "refusal"]


class Split(Protocol):
    """A small, ordered, re-iterable, picklable part of a source."""

    def batches(self) -> Iterator[Batch]:
        """Yield the rows in order, at most 65,536 at a time; at least one batch, maybe empty."""
        ...

    def count(self) -> int:
        """Return the number of rows; a split of a file is read for it."""
        ...

    def locate(self, row: int) -> str:
        """Say where row ``row`` of this split stands, for error messages."""
        ...


class Source(Protocol):
    """A table of some kind."""

    @property
    def label(self) -> str | None:
        """The column of labels, where the table has one."""
        ...

    @property
    def weight(self) -> str | None:
        """The column of weights, where the table has one."""
        ...

    def label_stored(self) -> Stored:
        """What the label is stored as."""
        ...

    def columns(self) -> Sequence[Column]:
        """The columns other than label and weight, each with the kind that its values suggest."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Source:
        """Return the rows at these places, in that order; only of a table in memory."""
        ...

    def splits(self, layout: Layout, workers: int) -> Sequence[Split]:
        """Return the parts, to be read by so many workers."""
        ...


def refusal(split: Split, layout: Layout, first: int, bad: BadCell) -> DataError:
    """Turn a bad cell into a sentence that names its column and its row.

    Parameters
    ----------
    first : int
        Row of the split at which the batch of the bad cell starts.
    """
    column = bad.column
    if isinstance(column, int):
        names = layout.blocks[bad.block].columns
        column = names[column] if column < len(names) else names[0]
    where = f"column {column!r}, " if column is not None else ""
    return DataError(f"{where}{split.locate(first + bad.row)}: {bad.value!r}", bad.rule)
