"""Readers of tables: the schema of some rows up front, and parts to read all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

import pyarrow as pa

from suffice.data.source import RecordPart
from suffice.data.text_format import TextFormat
from suffice.errors import ParameterError, SchemaError, SufficeError
from suffice.phrases import meant
from suffice.sums.batch import BATCH_ROWS

T = TypeVar("T")
Say = Callable[[str, "pa.Array[Any]"], Any]
KEPT = 64_000_000  # bytes of first rows that a table keeps; more are read again when asked for


class Shown(NamedTuple):
    """The first rows of a table, without their cells.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of all columns.
    rows : int
        How many there are: ``BATCH_ROWS``, or all.
    empty : frozenset of str
        Columns without a value there.
    """

    schema: pa.Schema
    rows: int
    empty: frozenset[str]

    @classmethod
    def of(cls, head: pa.RecordBatch) -> Self:
        columns = zip(head.schema.names, head.columns, strict=True)
        empty = (name for name, cells in columns if cells.null_count == head.num_rows)
        return cls(head.schema, head.num_rows, frozenset(empty))

    @classmethod
    def together(cls, groups: Iterable[Self]) -> Self:
        """Put groups of columns of the same rows side by side."""
        schemas, rows, empty = zip(*groups, strict=True)
        return cls(pa.unify_schemas(schemas), rows[0], frozenset().union(*empty))


class Table(ABC):
    """Rows under named columns; what only some kinds of table have is empty for all others."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def guesses(self) -> bool:
        """Return whether types are inferred from the first rows: later cells may not fit."""
        return False

    @property
    def strings(self) -> Sequence[str]:
        """Columns of plain strings, of which no type says that they are more than text."""
        return ()

    @property
    def engine(self) -> str | None:
        return None

    @property
    def format(self) -> TextFormat | None:
        """Return the format of the text, if the rows are text."""
        return None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return findings about the format of files, and the options that say otherwise."""
        return ()

    @property
    def losses(self) -> tuple[str, ...]:
        """Return the remarks on rows, fields and cells left out."""
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
        vars(self)["shown"] = Shown.of(head)
        if head.nbytes <= KEPT:
            vars(self)["_kept"] = head
        return head

    @property
    @abstractmethod
    def _head(self) -> pa.RecordBatch:
        """The first rows, read anew."""

    def _first_columns(self) -> Iterator[pa.RecordBatch]:
        """The first rows, of all columns or of some after the others, so that few are in memory."""
        yield self.head()

    @cached_property
    def shown(self) -> Shown:
        """Return a summary of the first rows; their cells are not kept for it."""
        for _ in self._groups():
            pass
        found: Shown = vars(self)["shown"]
        return found

    def _groups(self) -> Iterator[pa.RecordBatch]:
        """Yield first columns, and note what they show."""
        found = []
        for group in self._first_columns():
            found.append(Shown.of(group))
            yield group
        vars(self)["shown"] = Shown.together(found)

    def of_first_cells(
        self,
        names: Sequence[str],
        say: Callable[[str, pa.Array[Any]], T],
        besides: Mapping[Say, Sequence[str]] = MappingProxyType({}),
    ) -> dict[str, T]:
        """Return what a function says of the first cells of some columns; it is asked once of each.

        Parameters
        ----------
        names : sequence of str
        say : callable
        besides : mapping of callable to sequence of str
            What will be asked later of which columns: first rows that are too many to be kept are
            read once for all of it.

        Raises
        ------
        SufficeError
            If the function raises it of one of the columns named.
        """
        known: dict[tuple[Say, str], Any] = vars(self).setdefault("_said", {})
        asked = [(say, name) for name in names]
        if "_kept" not in vars(self):
            asked += [(later, name) for later, some in besides.items() for name in some]
        if not known.keys() >= set(asked):
            for head in self._groups():
                here = head.schema.names
                answers = [question for question in asked if question[1] in here]
                known |= {(f, name): _said(f, name, head.column(name)) for f, name in answers}
        for name in names:
            if isinstance(known[say, name], SufficeError):
                raise known[say, name]
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


def _said(say: Say, name: str, cells: pa.Array[Any]) -> Any:
    try:
        return say(name, cells)
    except SufficeError as error:  # raised when it is asked for
        return error


@dataclass(frozen=True)
class TableView(Table):
    """A table around another, which is like that one where it says nothing else."""

    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

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
        """Columns left out."""
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

    @property
    def _head(self) -> pa.RecordBatch:
        return self.table.head()

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        return self.table.parts(types)


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


def require_columns(asked: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse a request for columns that a table, so called, does not have, or for none at all.

    Examples
    --------
    >>> require_columns(["age"], ["age", "sex"], "adult.csv")
    """
    asked = tuple(asked)
    if not asked:
        raise ParameterError(
            f"no column of {where} is asked for", "a table is read by columns", "name at least one"
        )
    if not set(names).issuperset(asked):
        unknown = [name for name in asked if name not in names]
        raise SchemaError(
            f"column {unknown[0]!r} is not in {where}",
            f"its columns are {', '.join(map(repr, names))}",
            meant(unknown[0], names) or "correct the name",
        )


def require_distinct(names: Sequence[str]) -> None:
    """Refuse columns that share a name.

    Examples
    --------
    >>> require_distinct(["age", "sex"])
    """
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SchemaError(
            f"column {min(repeated)!r} is there twice", "column names differ", "rename one of them"
        )
