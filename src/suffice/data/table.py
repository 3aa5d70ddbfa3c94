"""Readers of tables: the schema of some rows up front, and parts to read all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.source import PartView, RecordPart
from suffice.data.text_format import TextFormat
from suffice.errors import ParameterError, SchemaError
from suffice.sums.batch import BATCH_ROWS

T = TypeVar("T")
KEPT = 64_000_000  # bytes of first rows that a table keeps; more are read again when asked for


class Shown(NamedTuple):
    """The types of all columns, the number of first rows, and the columns without a value there."""

    schema: pa.Schema
    rows: int  # BATCH_ROWS, or all
    empty: frozenset[str]


class Table(ABC):
    """Rows under named columns; what only some kinds of table have is empty for all others."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def guesses(self) -> bool:
        """Return whether the first rows tell the types, so that later cells may not fit them."""
        return False

    @property
    def engine(self) -> str | None:
        return None

    @property
    def format(self) -> TextFormat | None:
        """The format of the text, if the rows are text."""
        return None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return findings about the format of files, and the options that say otherwise."""
        return ()

    @property
    def losses(self) -> tuple[str, ...]:
        """Remarks on rows, fields and cells left out."""
        return ()

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns left out, which a model goes on to ignore."""
        return ()

    @property
    def cleaning(self) -> Mapping[str, Any]:
        """Return fields of a `Layout` on strings, by name, where they are given."""
        return {}

    def head(self) -> pa.RecordBatch:
        """Return the first ``BATCH_ROWS`` rows, all columns, in stored or inferred types.

        Up to 64 MB of them are kept for the next call; more are read again, so ask `shown` and
        `of_first_cells` where these say enough.

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
        columns = zip(head.schema.names, head.columns, strict=True)
        empty = (name for name, cells in columns if cells.null_count == head.num_rows)
        vars(self)["shown"] = Shown(head.schema, head.num_rows, frozenset(empty))
        if head.nbytes <= KEPT:
            vars(self)["_kept"] = head
        return head

    @property
    @abstractmethod
    def _head(self) -> pa.RecordBatch:
        """The first rows, read anew."""

    def _first(self, names: Sequence[str]) -> pa.RecordBatch:
        """The first rows of some columns, read anew."""
        return self._head.select(list(names))

    @cached_property
    def shown(self) -> Shown:
        """Return a summary of the first rows; their cells are not kept for it."""
        self.head()
        found: Shown = vars(self)["shown"]
        return found

    def of_first_cells(
        self, names: Sequence[str], say: Callable[[str, pa.Array[Any]], T]
    ) -> dict[str, T]:
        """Return what a function says of the first cells of columns; it is asked once of each."""
        known: dict[Any, T] = vars(self).setdefault("_said", {})
        asked = [name for name in names if (say, name) not in known]
        if asked:
            too_many = "shown" in vars(self) and "_kept" not in vars(self)
            first = self._first(asked) if too_many else self.head()
            known |= {(say, name): say(name, first.column(name)) for name in asked}
        return {name: known[say, name] for name in names}

    def coded(self, names: Collection[str]) -> Table:
        """Allow codes for strings of these columns, which are read in less time."""
        return self

    def known_as(self, known: TextFormat) -> Table:
        """Return a table whose text is read as a model's files were."""
        return self

    def labelled(self, name: str) -> Table:
        """Return a table with the labels of a column as they are spelled."""
        return self

    def doubt(self, name: str) -> str | None:
        """Say that a column of text would hold numbers or dates but for a few cells."""
        return None

    @abstractmethod
    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        """Return the parts, reading these columns only.

        Parameters
        ----------
        types : mapping of str to pyarrow.DataType or None
            The type of each column to read; None keeps the one that `head` shows.

        Raises
        ------
        ParameterError
            If no column is asked for.
        SchemaError
            If a column is not there.
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
    def guesses(self) -> bool:
        return self.table.guesses

    @property
    def engine(self) -> str | None:
        return self.table.engine

    @property
    def format(self) -> TextFormat | None:
        return self.table.format

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.table.remarks

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.table.ignored

    @property
    def cleaning(self) -> Mapping[str, Any]:
        return self.table.cleaning

    def coded(self, names: Collection[str]) -> Table:
        return replace(self, table=self.table.coded(names))

    def known_as(self, known: TextFormat) -> Table:
        return replace(self, table=self.table.known_as(known))

    def labelled(self, name: str) -> Table:
        return replace(self, table=self.table.labelled(name))

    def doubt(self, name: str) -> str | None:
        return self.table.doubt(name)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        return self.table.parts(types)


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
        return tuple(name for name in self.table.names if name not in self.left_out)

    @property
    def ignored(self) -> tuple[str, ...]:
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
        self, names: Sequence[str], say: Callable[[str, pa.Array[Any]], T]
    ) -> dict[str, T]:
        return self.table.of_first_cells(names, say)


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
    def cleaning(self) -> Mapping[str, Any]:
        return {
            "missing": tuple(self.missing),
            "label_suffix": self.label_suffix,
            "label_map": dict(self.label_map or {}),
        }


@dataclass(frozen=True)
class WithColumns(TableView):
    """A table with further columns, the last ones, in name only: every cell of them is missing.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = WithColumns(frame_table(pa.table({"size": [1.5]})), ("id",))
    >>> [b.to_pylist() for b in table.parts({"id": None, "size": None})[0].record_batches()]
    [[{'id': None, 'size': 1.5}]]
    """

    empty: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return *self.table.names, *self.empty

    @property
    def _head(self) -> pa.RecordBatch:
        return _emptied(self.table.head(), self.names, dict.fromkeys(self.empty, pa.null()))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        empty = {name: kind or pa.null() for name, kind in types.items() if name in self.empty}
        read = {name: kind for name, kind in types.items() if name not in empty}
        # Without any other column, one still tells how many rows there are.
        read = read or {self.table.names[0]: pa.string() if self.table.guesses else None}
        return [_EmptiedPart(part, tuple(types), empty) for part in self.table.parts(read)]


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


# Checks and first rows ---------------------------------------------------------------------------


def leading(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield so many rows at most; no batch is read beyond them.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2]})
    >>> [part.num_rows for part in leading([batch, batch, batch], 3)]
    [2, 1]
    """
    for batch in batches:
        yield batch.slice(0, rows)
        rows -= batch.num_rows
        if rows <= 0:
            return


def first_rows(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Gather the first ``BATCH_ROWS`` rows of batches of one schema into a batch, maybe empty.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2]})
    >>> first_rows([batch, batch], batch.schema).num_rows
    4
    """
    table = pa.Table.from_batches(leading(batches, BATCH_ROWS), schema).combine_chunks()
    empty = pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
    return next(iter(table.to_batches()), empty)


def first_promoted(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Gather the first ``BATCH_ROWS`` rows of batches whose types differ, in a type for all.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
    schema : pyarrow.Schema
        The columns, in the types of a table without rows.

    Examples
    --------
    >>> nothing, something = pa.record_batch({"x": pa.nulls(1)}), pa.record_batch({"x": ["a"]})
    >>> first_promoted([nothing, something], nothing.schema).to_pylist()
    [{'x': None}, {'x': 'a'}]
    """
    tables = [pa.Table.from_batches([batch]) for batch in leading(batches, BATCH_ROWS)]
    try:
        table = pa.concat_tables(tables or [schema.empty_table()], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(
            f"the first rows have no type for all: {str(error).splitlines()[0]}",
            "a column holds values of one type",
            "convert it",
        ) from error
    return first_rows(table.to_batches(), table.schema)


def first_refused(column: pa.Array[Any], cast: Callable[[pa.Array[Any]], object]) -> int:
    """Find the first row that a cast refuses with ``pyarrow.ArrowInvalid``, by halving.

    Examples
    --------
    >>> first_refused(pa.array(["1", "2", "x", "y"]), lambda part: part.cast(pa.int64()))
    2
    """
    accepted, refused = 0, len(column)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        try:
            cast(column.slice(accepted, middle - accepted))
        except pa.ArrowInvalid:
            refused = middle
        else:
            accepted = middle
    return accepted


def free_name(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has.

    Examples
    --------
    >>> free_name("label", ["size", "label"])
    'label_'
    """
    while name in names:
        name += "_"
    return name


def require_distinct(names: Sequence[str]) -> None:
    """Refuse columns that share a name.

    Examples
    --------
    >>> require_distinct(["age", "sex"])
    """
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise SchemaError(
            f"column {min(repeated)!r} is there twice", "column names differ", "rename one of them"
        )
