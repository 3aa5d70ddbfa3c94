"""Some rows of a table, by their places: what a fold learns from, wherever the table is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.part_size import PartSize
from suffice.data.part_view import PartView
from suffice.data.table import RecordPart, TableView

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
        Where each part of the table begins, and n.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = frame_table(pa.table({"size": [1.5, 2.5, 3.5]}))
    >>> (part,) = RowsWhere(table, np.array([True, False, True]), (0, 3)).parts({"size": None})
    >>> [batch.to_pylist() for batch in part.record_batches()], part.locate(1)
    ([[{'size': 1.5}, {'size': 3.5}]], 'row 2')
    """

    kept: NDArray[np.bool_]
    edges: Sequence[int]

    @property
    def _head(self) -> pa.RecordBatch:
        head = self.table.head()
        return head.filter(pa.array(self.kept[: head.num_rows]))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        """Return the parts, each without the rows that are left out."""
        parts = zip(self.table.parts(types), pairwise(self.edges), strict=True)
        return [_PartWhere(part, self.kept[start:stop]) for part, (start, stop) in parts]


@dataclass(frozen=True)
class _PartWhere(PartView):
    kept: NDArray[np.bool_]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in self.inside.record_batches():
            yield batch.filter(pa.array(self.kept[first : first + batch.num_rows]))
            first += batch.num_rows

    def locate(self, row: int) -> str:
        return self.inside.locate(int(np.flatnonzero(self.kept)[row]))

    def part_size(self) -> PartSize:
        return PartSize(int(self.kept.sum()))
