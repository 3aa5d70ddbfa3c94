"""Tables cut down: without some of their columns or rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.source import PartView, RecordPart
from suffice.data.table import Shown, TableView, leading
from suffice.errors import ParameterError


def left_out(unknown: Sequence[str]) -> str:
    """Say that columns which a model does not know are not read.

    Examples
    --------
    >>> left_out(["id", "note"])
    "left out, as the model does not know them: 'id', 'note'"
    """
    listed = ", ".join(map(repr, unknown))
    return f"left out, as the model does not know {'it' if len(unknown) == 1 else 'them'}: {listed}"


T = TypeVar("T")


@dataclass(frozen=True)
class WithoutColumns(TableView):
    """A table without some of its columns; a model fitted to it goes on ignoring them.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = frame_table(pa.table({"id": [7, 8], "size": [1.5, 2.5]}))
    >>> WithoutColumns(table, ("id",)).names
    ('size',)
    """

    left_out: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that stay."""
        return tuple(name for name in self.table.names if name not in self.left_out)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns left out."""
        return (*self.table.ignored, *self.left_out)

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head().select(list(self.names))

    @cached_property
    def shown(self) -> Shown:
        schema, rows, empty = self.table.shown
        chosen = pa.schema([schema.field(name) for name in self.names], schema.metadata)
        return Shown(chosen, rows, empty.intersection(self.names))

    def of_first_cells(
        self,
        names: Sequence[str],
        say: Callable[[str, pa.Array[Any]], T],
        besides: Mapping[Any, Sequence[str]] = MappingProxyType({}),
    ) -> dict[str, T]:
        """Return what a function says of first cells, which are those of the whole table."""
        return self.table.of_first_cells(names, say, besides)


@dataclass(frozen=True)
class CleanedTable(TableView):
    """A table of which it is said what strings stand for; a model goes on reading them so.

    Parameters
    ----------
    missing : tuple of str
        Strings that stand for a missing cell, besides null and NaN.
    label_suffix : str
        Taken off the end of every label that has it.
    label_map : mapping of str to str
        New names of labels, applied after the suffix is taken off.
    """

    missing: Sequence[str] = ()
    label_suffix: str = ""
    label_map: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        listed = isinstance(self.missing, Sequence) and not isinstance(self.missing, str)
        if not (listed and all(isinstance(token, str) for token in self.missing)):
            raise ParameterError(
                f"missing={self.missing!r}",
                "it must be a sequence of strings",
                "write a list or tuple",
            )
        if not isinstance(self.label_suffix, str):
            raise ParameterError(f"label_suffix={self.label_suffix!r}", "it is a string")
        if not isinstance(self.label_map, Mapping | None):
            raise ParameterError(f"label_map={self.label_map!r}", "it maps labels to new names")

    @property
    def cleaning(self) -> Mapping[str, Any]:
        return {
            "missing": tuple(self.missing),
            "label_suffix": self.label_suffix,
            "label_map": dict(self.label_map or {}),
        }


@dataclass(frozen=True)
class WithoutCells(TableView):
    """A table that has some columns in name only: every cell of them is missing.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = WithoutCells(frame_table(pa.table({"id": [7], "size": [1.5]})), ("id",))
    >>> [b.to_pylist() for b in table.parts({"id": None, "size": None})[0].record_batches()]
    [[{'id': None, 'size': 1.5}]]
    """

    empty: tuple[str, ...]

    @property
    def _head(self) -> pa.RecordBatch:
        return _emptied(self.table.head(), self.names, dict.fromkeys(self.empty, pa.null()))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        """Return the parts, without reading the empty columns."""
        empty = {name: kind or pa.null() for name, kind in types.items() if name in self.empty}
        read = {name: kind for name, kind in types.items() if name not in empty}
        # Without any other column, one still tells how many rows there are.
        spare = next(name for name in self.names if name not in self.empty)
        read = read or {spare: pa.string() if self.table.guesses else None}
        return [_EmptiedPart(part, tuple(types), empty) for part in self.table.parts(read)]


@dataclass(frozen=True)
class WithColumns(WithoutCells):
    """A table with further columns that are there in name only.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = WithColumns(frame_table(pa.table({"size": [1.5]})), ("id",))
    >>> [b.to_pylist() for b in table.parts({"id": None, "size": None})[0].record_batches()]
    [[{'id': None, 'size': 1.5}]]
    """

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, the further ones last."""
        return *self.table.names, *self.empty


@dataclass(frozen=True)
class _EmptiedPart(PartView):
    names: tuple[str, ...]
    empty: Mapping[str, pa.DataType]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.inside.record_batches():
            yield _emptied(batch, self.names, self.empty)


def _emptied(
    batch: pa.RecordBatch, names: Sequence[str], empty: Mapping[str, pa.DataType]
) -> pa.RecordBatch:
    columns = [
        pa.nulls(batch.num_rows, empty[name]) if name in empty else batch.column(name)
        for name in names
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(names))


@dataclass(frozen=True)
class FirstRows(TableView):
    """The first rows of a table.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> first = FirstRows(frame_table(pa.table({"size": [1.5, 2.5]})), 1)
    >>> [batch.to_pylist() for batch in first.parts({"size": None})[0].record_batches()]
    [[{'size': 1.5}]]
    """

    rows: int

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head().slice(0, self.rows)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        """Return one part that ends after the last of these rows."""
        return [_FirstPart(tuple(self.table.parts(types)), self.rows)]


@dataclass(frozen=True)
class _FirstPart(RecordPart):
    parts: tuple[RecordPart, ...]
    limit: int

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        batches = chain.from_iterable(part.record_batches() for part in self.parts)
        return leading(batches, self.limit)

    def locate(self, row: int) -> str:
        return self.parts[0].locate(row)


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

    @property
    def rows(self) -> int:
        return int(self.kept.sum())
