"""Tables in memory, and streams: pandas, polars, pyarrow and anything that speaks Arrow."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.ipc as ipc

from suffice.data.table import BATCH_ROWS, RecordSplit, first_rows, require_columns
from suffice.errors import SchemaError

__all__ = ["FrameSplit", "FrameTable", "frame_table"]


@dataclass(frozen=True)
class FrameSplit:
    """Consecutive rows of a table in memory; ``first`` is the number of rows before them."""

    rows: pa.Table
    first: int

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, at most 65,536 at a time."""
        yield from self.rows.to_batches(max_chunksize=BATCH_ROWS)

    def locate(self, row: int) -> str:
        """Return ``row i``, counted from 0 as in pandas and NumPy."""
        return f"row {self.first + row}"


@dataclass(frozen=True)
class FrameTable:
    """An Arrow table in memory, or memory-mapped.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    split_rows : int
        Rows in one split.
    """

    table: pa.Table
    split_rows: int = 4 * BATCH_ROWS

    guesses: ClassVar[bool] = False

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(self.table.column_names)

    def renamed(self, names: Mapping[str, str]) -> FrameTable:
        """The same rows under other column names."""
        columns = [names.get(name, name) for name in self.names]
        return FrameTable(self.table.rename_columns(columns))

    def head(self) -> pa.RecordBatch:
        """Return the first 65,536 rows."""
        return first_rows(self.table.slice(0, BATCH_ROWS).to_batches(), self.table.schema)

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordSplit]:
        """Return slices of the columns asked for, in the types they have."""
        require_columns(types, self.names, "the table")
        rows = self.table.select(list(types))
        starts = range(0, max(rows.num_rows, 1), self.split_rows)
        return [FrameSplit(rows.slice(start, self.split_rows), start) for start in starts]


def frame_table(data: Any) -> FrameTable:
    """Take anything with ``__arrow_c_stream__`` (or a narwhals-supported lazy frame) as a table.

    What can be read only once, or would run a query again, is spooled to a temporary Arrow file:
    a second pass then sees the same rows.

    Raises
    ------
    SchemaError
        If columns share a name, or a column mixes types.
    """
    try:
        table = data if isinstance(data, pa.Table) else _read(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(
            f"the table cannot be read: {': '.join(map(str, reversed(error.args)))}",
            "a column holds values of one type",
            "convert the column named above",
        ) from error
    _require_distinct(table.column_names)
    return FrameTable(table)


def _require_distinct(names: Sequence[str]) -> None:
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SchemaError(
            f"column {min(repeated)!r} is there twice", "column names differ", "rename one of them"
        )


def _read(data: Any) -> pa.Table:
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if type(data).__module__.partition(".")[0] == "pandas":
        return _from_pandas(data)
    if not hasattr(data, "__arrow_c_stream__"):
        import narwhals.stable.v2 as nw

        try:
            frame = nw.from_native(data)
        except TypeError:
            raise _no_table(data) from None
        table: pa.Table = frame.lazy().collect("pyarrow").to_native()
        return table
    if hasattr(data, "__len__") and not isinstance(data, pa.RecordBatchReader):
        return pa.table(data)
    return _spooled(pa.RecordBatchReader.from_stream(data))


def _no_table(data: Any) -> SchemaError:
    return SchemaError(
        f"a {type(data).__name__} is no table",
        "a table is an array, a sparse matrix, a data frame, or the path of a file",
        "convert it",
    )


def _from_pandas(frame: Any) -> pa.Table:
    if frame.ndim != 2:
        raise _no_table(frame)
    names = [str(name) for name in frame.columns]
    _require_distinct(names)
    return pa.Table.from_pandas(frame.set_axis(names, axis=1), preserve_index=False)


def _spooled(reader: pa.RecordBatchReader) -> pa.Table:
    with (
        tempfile.NamedTemporaryFile(suffix=".arrow", delete=False) as file,
        ipc.new_stream(file.name, reader.schema) as writer,
    ):
        for batch in reader:
            writer.write_batch(batch)
    # The mapping keeps the rows reachable after the name is gone.
    source = pa.memory_map(file.name)
    os.unlink(file.name)
    return ipc.open_stream(source).read_all()
