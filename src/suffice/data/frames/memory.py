"""Tables in memory, and streams: columns, pandas, polars, pyarrow, anything that speaks Arrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from suffice.data.files.spool import spool, unbroken
from suffice.data.files.stored import IPC_FILE, StoredTable
from suffice.data.files.temporary import TemporaryFolder, keeping
from suffice.data.python_cells import unmasked
from suffice.data.schema import Layout, is_text
from suffice.data.source import RecordPart
from suffice.data.table import About, Table, require_distinct
from suffice.errors import ReadError, SchemaError, first_line
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.block import HELD_STEP

FEW_STRINGS = 1_000  # in a dictionary, which is read with every batch of rows


@dataclass(frozen=True)
class FramePart(RecordPart):
    """Consecutive rows of a table in memory; ``first`` is the number of rows before them."""

    table: pa.Table
    first: int

    def __reduce__(self) -> tuple[Callable[..., FramePart], tuple[Any, ...]]:
        # A slice of an Arrow table would take the whole table with it.
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return _arrived, (sink.getvalue(), self.first, self.layout)

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)

    def locate(self, row: int) -> str:
        return f"row {self.first + row}"

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def nbytes(self) -> int:
        return int(self.table.nbytes)


def _arrived(rows: pa.Buffer, first: int, layout: Layout | None) -> FramePart:
    return FramePart(ipc.open_stream(rows).read_all(), first, layout=layout)


@dataclass(frozen=True)
class FrameTable(Table):
    """An Arrow table in memory, or memory-mapped."""

    table: pa.Table
    part_rows: int = 4 * BATCH_ROWS  # rows in one part
    about: About = About()  # noqa: RUF009 - a constant

    @property
    def strings(self) -> Sequence[str]:
        return [one.name for one in self.table.schema if is_text(one.type)]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def coded(self, names: Collection[str]) -> FrameTable:
        table = self.table
        for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            if name in names and column.type in (pa.string(), pa.large_string()):
                found = column.dictionary_encode()
                if max((len(c.dictionary) for c in found.chunks), default=0) <= FEW_STRINGS:
                    table = table.set_column(j, name, found)
        return replace(self, table=table)

    @property
    def _head(self) -> pa.RecordBatch:
        columns = [cells.combine_chunks() for cells in self.table.slice(0, BATCH_ROWS).columns]
        return pa.RecordBatch.from_arrays(columns, schema=self.table.schema)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        rows = self.table.select(list(types))
        starts = range(0, max(rows.num_rows, 1), self.part_rows)
        return [FramePart(rows.slice(start, self.part_rows), start) for start in starts]


def in_memory(table: Table) -> FrameTable | None:
    """Return a table whose rows can change places: one in memory, or one that was spooled."""
    if isinstance(table, StoredTable) and table.folder is not None:
        return FrameTable(table.mapped())
    return table if isinstance(table, FrameTable) else None


def frame_table(data: Any) -> FrameTable | StoredTable:
    """Take anything with ``__arrow_c_stream__`` (or a narwhals-supported lazy frame) as a table.

    A mapping from names to one-dimensional arrays is a table too.

    What can be read only once, or would run a query again, is spooled to temporary files: a
    second pass then sees the same rows.
    """
    try:
        table = _read(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        if "non-struct type" in str(error):  # a stream of one column, not of tables
            raise no_table(data) from None
        raise SchemaError(
            f"the table cannot be read: {': '.join(map(str, reversed(error.args)))}",
            "a column holds values of one type",
            "convert the column named above",
        ) from error
    require_distinct(table.names)
    if isinstance(table, FrameTable):
        rows = table.table
        for j, one in enumerate(rows.schema):
            if pa.types.is_run_end_encoded(one.type):
                rows = rows.set_column(j, one.name, pc.run_end_decode(rows.column(j)))
        table = table if rows is table.table else FrameTable(rows)
    return table


def _read(data: Any) -> FrameTable | StoredTable:
    if isinstance(data, pa.Table):
        return FrameTable(data)
    if isinstance(data, pa.RecordBatch):
        return FrameTable(pa.Table.from_batches([data]))
    if isinstance(data, Mapping):
        return FrameTable(_from_columns(data))
    package = type(data).__module__.partition(".")[0]
    if package == "narwhals":
        return _read(data.to_native())
    if package == "pandas":
        if data.ndim != 2:
            raise no_table(data)
        return FrameTable(_from_columns(data))
    if package == "polars" and hasattr(data, "sink_parquet") and hasattr(data, "collect"):
        return _lazy_table(data)
    if not hasattr(data, "__arrow_c_stream__"):
        return FrameTable(_collected(data))
    # What has a length is in memory, but for a relation of duckdb, which runs its query for it.
    if hasattr(data, "__len__") and package not in ("duckdb", "_duckdb"):
        return FrameTable(pa.table(data))
    try:
        reader = pa.RecordBatchReader.from_stream(data)
    except Exception as error:
        raise ReadError(
            f"the stream does not begin: {first_line(error)}", "", "correct where it comes from"
        ) from error
    require_distinct(reader.schema.names)
    return spool(unbroken(reader, "the stream"), reader.schema, "the stream")


def _collected(data: Any) -> pa.Table:
    try:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(data)
    except (ModuleNotFoundError, TypeError):
        raise no_table(data) from None
    table: pa.Table = frame.lazy().collect("pyarrow").to_native()
    return table


def no_table(data: Any) -> SchemaError:
    """Return the error of what is no table, such as a column alone."""
    return SchemaError(
        f"a {type(data).__name__} is no table",
        "a table is an array, a sparse matrix, a data frame, or the path of a file",
        "make a table of it: to_frame()" if hasattr(data, "to_frame") else "convert it",
    )


def not_text(subject: str) -> SchemaError:
    """Return the error of strings that no text is."""
    return SchemaError(
        f"{subject} a string with half of a character, which is no text (a lone surrogate)",
        "text is Unicode",
        "replace it: text.encode('utf8', 'replace').decode()",
    )


def _from_columns(data: Any) -> pa.Table:
    """Return columns by name as a table: those of a mapping, or of a frame of pandas."""
    names, columns = list(map(str, data.keys())), []
    require_distinct(names)
    for name, (_, values) in zip(names, data.items(), strict=True):
        if name.encode(errors="ignore").decode() != name:
            raise not_text(f"the name of the column {name!r} is")
        columns.append(_column(name, values))
        if len(columns[-1]) != len(columns[0]):
            raise SchemaError(
                f"column {name!r} has {len(columns[-1])} values, "
                f"column {names[0]!r} has {len(columns[0])}",
                "a column has one value for every row",
            )
    return pa.table(columns, names)


def _column(name: str, values: Any) -> Any:
    """Return a list, an array or a column of pandas as a column of Arrow."""
    if type(values).__module__.partition(".")[0] == "pandas":
        dtype: Any = getattr(values, "dtype", None)
        cells = values.astype(dtype.subtype) if hasattr(dtype, "fill_value") else values
        cells = cells.to_numpy() if dtype == np.float64 else cells
    else:
        cells = unmasked(values) if hasattr(values, "dtype") else np.asarray(values, object)
    if np.ndim(cells) != 1:
        raise SchemaError(
            f"column {name!r} is a {type(values).__name__} of {np.ndim(cells)} dimensions",
            "a column is a list, or an array of one dimension",
        )
    if cells.dtype == np.float64:  # NaN is missing as it is: nobody need write that it is null
        return pa.array(np.asarray(cells))
    try:
        column = pa.array(cells, from_pandas=True)
    except UnicodeError:
        raise not_text(f"column {name!r} holds") from None
    except OverflowError as error:
        longer = (isinstance(cell, int) and not -(2**63) <= cell < 2**63 for cell in cells)
        row = next((row for row, is_longer in enumerate(longer) if is_longer), 0)
        raise SchemaError(
            f"column {name!r}, row {row}: {np.asarray(cells)[row]}",
            "a whole number is from -2^63 to 2^63 - 1",
            HELD_STEP,
        ) from error
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        if any(isinstance(cell, complex | np.complexfloating) for cell in cells):
            raise SchemaError(
                f"column {name!r} holds complex numbers",
                "a column holds real numbers, text, true and false, dates or times",
                "give real and imaginary parts as two columns",
            ) from None
        raise _mixed(name, first_line(error)) from error
    except TypeError as error:  # instants of NumPy, one by one
        instants = np.asarray(cells.tolist())
        if instants.dtype.kind not in "mM":
            raise _mixed(name, first_line(error)) from error
        column = pa.array(instants)
    # Arrow takes Booleans among numbers with fractions for the numbers 0 and 1.
    mixable = cells.dtype == object and pa.types.is_floating(column.type)
    if mixable and {type(cell) for cell in cells} & {bool, np.bool_}:
        raise _mixed(name, "bool and float")
    return column


def _mixed(name: str, what: str) -> SchemaError:
    return SchemaError(
        f"column {name!r} mixes types: {what}", "a column holds values of one type", "convert it"
    )


def _lazy_table(frame: Any) -> StoredTable:
    """Run the query of a LazyFrame in polars' streaming engine, and keep its rows.

    The rows never are in memory together. Polars can also hand them over batch by batch
    (``collect_batches``), but then waits for a reader that may wait for polars.
    """
    import polars as pl

    folder = TemporaryFolder()
    path = folder.path / "the LazyFrame"
    with keeping(folder):
        try:
            frame.sink_ipc(path)
        except pl.exceptions.PolarsError as error:
            raise ReadError(
                f"the query of the LazyFrame fails: {first_line(error)}",
                "",
                "collect() it to see more",
            ) from error
        return replace(StoredTable.of([path], IPC_FILE), folder=folder)
