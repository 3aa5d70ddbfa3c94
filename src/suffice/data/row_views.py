"""Some rows of a table, by their places: what a fold learns from, wherever the table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.split_size import SplitSize
from suffice.data.split_view import SplitView
from suffice.data.table import RecordSplit, TableView

__all__ = ["RowsWhere"]


@dataclass(frozen=True)
class RowsWhere(TableView):
    """The rows of a table that are kept; what columns are, the first ones of these say.

    Parameters
    ----------
    table : Table
    kept : ndarray of bool (n,)
        Row by row.
    edges : sequence of int
        Where each split of the table begins, and n.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = frame_table(pa.table({"size": [1.5, 2.5, 3.5]}))
    >>> (split,) = RowsWhere(table, np.array([True, False, True]), (0, 3)).splits({"size": None})
    >>> [batch.to_pylist() for batch in split.record_batches()], split.locate(1)
    ([[{'size': 1.5}, {'size': 3.5}]], 'row 2')
    """

    kept: NDArray[np.bool_]
    edges: Sequence[int]

    @property
    def _head(self) -> pa.RecordBatch:
        head = self.table.head()
        return head.filter(pa.array(self.kept[: head.num_rows]))

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordSplit]:
        """Return the parts, each without the rows that are left out."""
        parts = zip(self.table.splits(types), pairwise(self.edges), strict=True)
        return [_SplitWhere(split, self.kept[start:stop]) for split, (start, stop) in parts]


@dataclass(frozen=True)
class _SplitWhere(SplitView):
    kept: NDArray[np.bool_]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in self.split.record_batches():
            yield batch.filter(pa.array(self.kept[first : first + batch.num_rows]))
            first += batch.num_rows

    def locate(self, row: int) -> str:
        return self.split.locate(int(np.flatnonzero(self.kept)[row]))

    def split_size(self) -> SplitSize:
        return SplitSize(int(self.kept.sum()))
