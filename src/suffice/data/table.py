"""Readers of tables: the schema of some rows up front, and parts to read all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import held
from suffice.data.source import PartView, RecordPart
from suffice.data.text_format import TextFormat
from suffice.errors import ParameterError, SchemaError, first_line
from suffice.sums.batch import BATCH_ROWS

KEPT = 64_000_000  # bytes of first rows that a table keeps; more are read again when asked for


class Shown(NamedTuple):
    """The types of all columns, and the number of first rows."""

    schema: pa.Schema
    rows: int  # BATCH_ROWS, or all


class About(NamedTuple):
    """Properties that only some tables have."""

    guesses: bool = False  # the first rows tell the types, so that later cells may not fit them
    engine: str | None = None  # that the rows live in
    format: TextFormat | None = None  # of text
    remarks: tuple[str, ...] = ()  # on the format of files, with the options that say otherwise
    losses: tuple[str, ...] = ()  # those of them on rows, fields and cells left out
    doubts: Mapping[str, str] = {}  # on columns of text that hold numbers or dates but for a few
    ignored: tuple[str, ...] = ()  # columns left out, which a model goes on to ignore
    cleaning: Mapping[str, Any] = {}  # fields of a `Layout` on strings, by name


class Table(ABC):
    """Rows under named columns."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def about(self) -> About:
        """Facts about the rows besides their columns."""
        return About()

    @property
    def strings(self) -> Sequence[str]:
        """Columns of strings in a file, a query or a frame, which may spell something else."""
        return ()

    def head(self) -> pa.RecordBatch:
        """Return the first ``BATCH_ROWS`` rows, all columns, in stored or inferred types.

        Up to 64 MB of them are kept for the next call; more are read again, so ask `shown` where
        that says enough.

        Raises
        ------
        ReadError
            If one of these rows cannot be read.
        SchemaError
            If they have no type for all.
        """
        kept: pa.RecordBatch | None = vars(self).get("_kept")
        if kept is not None:
            return kept
        head = self._head
        vars(self)["shown"] = Shown(head.schema, head.num_rows)
        if head.nbytes <= KEPT:
            vars(self)["_kept"] = head
        return head

    @property
    @abstractmethod
    def _head(self) -> pa.RecordBatch:
        """The first rows, read anew."""

    @cached_property
    def shown(self) -> Shown:
        """Return a summary of the first rows; their cells are not kept for it."""
        self.head()
        found: Shown = vars(self)["shown"]
        return found

    def read_as(self, known: TextFormat | None, label: str | None) -> Table:
        """Return a table whose text is read as a model's files were, and labels as spelled."""
        return self

    @abstractmethod
    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        """Return the parts, reading these columns only.

        Parameters
        ----------
        types : mapping of str to pyarrow.DataType or None
            The columns to read and, of text, the type of each; None keeps the one that `head`
            shows, as do tables that store types.
        """


# Tables around others -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TableView(Table):
    """A table around another, which is like that one where it says nothing else."""

    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head()

    @property
    def about(self) -> About:
        return self.table.about

    def read_as(self, known: TextFormat | None, label: str | None) -> Table:
        return replace(self, table=self.table.read_as(known, label))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        return self.table.parts(types)


@dataclass(frozen=True)
class WithoutColumns(TableView):
    """A table without some of its columns; a model fitted to it goes on ignoring them."""

    left_out: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.names if name not in self.left_out)

    @property
    def about(self) -> About:
        return self.table.about._replace(ignored=(*self.table.about.ignored, *self.left_out))

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head().select(list(self.names))


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

    Raises
    ------
    ParameterError
        If one of these is something else.
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
    def about(self) -> About:
        said = {
            "missing": tuple(self.missing),
            "label_suffix": self.label_suffix,
            "label_map": dict(self.label_map or {}),
        }
        return self.table.about._replace(cleaning=said)


@dataclass(frozen=True)
class WithColumns(TableView):
    """A table with further columns, the last ones, each of one value in all rows of a file.

    Parameters
    ----------
    added : mapping of str to pyarrow.DataType
        Their names and types.
    cells : mapping of path to mapping of str to str or None
        How their values are written, by file; those of other files are missing.
    """

    added: Mapping[str, pa.DataType]
    cells: Mapping[Path | None, Mapping[str, str | None]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return *self.table.names, *self.added

    @property
    def _head(self) -> pa.RecordBatch:
        head = self.table.head()
        if self.cells:
            parts = self.parts(dict.fromkeys(self.added))
            batches = chain.from_iterable(part.record_batches() for part in parts)
            more = first_rows(batches, pa.schema(list(self.added.items()))).columns
        else:
            more = [pa.nulls(head.num_rows, kind) for kind in self.added.values()]
        return pa.RecordBatch.from_arrays([*head.columns, *more], names=list(self.names))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        read = {name: kind for name, kind in types.items() if name not in self.added}
        # Without any other column, one still tells how many rows there are. It is read as text
        # where types are guessed, so that no cell is refused.
        read = read or {self.table.names[0]: pa.string() if self.table.about.guesses else None}
        added = {name: kind for name, kind in types.items() if name in self.added}
        return [
            _WidePart(
                part,
                tuple(types),
                {name: self._cell(name, kind, part.file) for name, kind in added.items()},
            )
            for part in self.table.parts(read)
        ]

    def _cell(self, name: str, kind: pa.DataType | None, file: Path | None) -> pa.Array[Any]:
        own = self.added[name]
        if file not in self.cells:
            return pa.nulls(1, kind or own)
        written = self.cells[file][name]
        try:
            cell = pa.array([written], pa.string()).cast(kind or own.value_type)
        except pa.ArrowInvalid:
            raise SchemaError(
                f"a folder is named {name}={written}",
                f"column {name!r} is read as {held(kind or own)}",
                "rename the folder",
            ) from None
        return cell if kind else cell.dictionary_encode()


def with_missing(table: Table, names: Sequence[str]) -> Table:
    """Return a table with further columns in name only: every cell of them is missing."""
    return WithColumns(table, dict.fromkeys(names, pa.null())) if names else table


@dataclass(frozen=True)
class _WidePart(PartView):
    names: tuple[str, ...]
    cells: Mapping[str, pa.Array[Any]]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.inside.record_batches():
            rows = pa.repeat(0, batch.num_rows)
            columns = [
                self.cells[name].take(rows) if name in self.cells else batch.column(name)
                for name in self.names
            ]
            yield pa.RecordBatch.from_arrays(columns, names=list(self.names))


@dataclass(frozen=True)
class FirstRows(TableView):
    """The first rows of a table."""

    rows: int

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head().slice(0, self.rows)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        return [_FirstPart(tuple(self.table.parts(types)), self.rows)]


@dataclass(frozen=True)
class _FirstPart(RecordPart):
    parts: tuple[RecordPart, ...]
    limit: int

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        yield from leading(
            chain.from_iterable(part.record_batches() for part in self.parts), self.limit
        )

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
    """

    kept: NDArray[np.bool_]
    edges: Sequence[int]

    @property
    def _head(self) -> pa.RecordBatch:
        head = self.table.head()
        return head.filter(pa.array(self.kept[: head.num_rows]))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
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


@dataclass(frozen=True)
class KeptTable(TableView):
    """A table of files whose columns are kept in memory once they are read, by name and type."""

    columns: dict[tuple[str, pa.DataType | None], Sequence[pa.ChunkedArray[Any]]] = field(
        default_factory=dict, repr=False
    )

    def read_as(self, known: TextFormat | None, label: str | None) -> Table:
        if known is not None and replace(known, features=()) == self.about.format:
            known = None  # of a model of some of these rows
        table = self.table.read_as(known, label)
        return self if table is self.table else KeptTable(table)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        read = {name: kind for name, kind in types.items() if (name, kind) not in self.columns}
        parts = self.table.parts(read or types)
        if read:
            tables = [pa.Table.from_batches(part.record_batches()) for part in parts]
            for name, kind in read.items():
                self.columns[name, kind] = [table.column(name) for table in tables]
        kept = [self.columns[asked] for asked in types.items()]
        return [
            _KeptPart(part, pa.table(list(columns), names=list(types)))
            for part, *columns in zip(parts, *kept, strict=True)
        ]


@dataclass(frozen=True)
class _KeptPart(PartView):
    table: pa.Table

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)


# Checks and first rows ---------------------------------------------------------------------------


def leading(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield so many rows at most; no batch is read beyond them."""
    for batch in batches:
        yield batch.slice(0, rows)
        rows -= batch.num_rows
        if rows <= 0:
            return


def first_rows(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Gather the first ``BATCH_ROWS`` rows of batches into one, in types for all; maybe empty."""
    tables = [pa.Table.from_batches([batch]) for batch in leading(batches, BATCH_ROWS)]
    try:
        table = pa.concat_tables(tables or [schema.empty_table()], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(
            f"the first rows have no type for all: {first_line(error)}",
            "a column holds values of one type",
            "convert it",
        ) from error
    columns = [cells.combine_chunks() for cells in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def converted(
    batch: pa.RecordBatch,
    convert: Callable[[str, pa.Array[Any]], pa.Array[Any]],
    refusal: Callable[[str, int, Any], Exception],
) -> pa.RecordBatch:
    """Convert the columns of a batch; raise the refusal of the first cell that cannot be.

    Parameters
    ----------
    convert : callable
        Given a name and cells, returns the converted ones; raises ``pyarrow.ArrowInvalid``.
    refusal : callable
        Given a name, a row and a cell, returns the error to raise.

    Examples
    --------
    >>> batch = pa.record_batch({"x": ["1", "2", "y", "z"]})
    >>> converted(batch, lambda _, cells: cells.cast(pa.int64()), lambda *at: ValueError(at))
    Traceback (most recent call last):
        ...
    ValueError: ('x', 2, 'y')
    """
    columns = []
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        try:
            columns.append(convert(name, cells))
        except pa.ArrowInvalid:
            accepted, refused = 0, len(cells)
            while refused - accepted > 1:
                middle = (accepted + refused) // 2
                try:
                    convert(name, cells.slice(accepted, middle - accepted))
                except pa.ArrowInvalid:
                    refused = middle
                else:
                    accepted = middle
            raise refusal(name, accepted, cells[accepted].as_py()) from None
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def free_name(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has."""
    while name in names:
        name += "_"
    return name


def require_distinct(names: Sequence[str]) -> None:
    """Refuse columns that share a name."""
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise SchemaError(
            f"column {min(repeated)!r} is there twice", "column names differ", "rename one of them"
        )
