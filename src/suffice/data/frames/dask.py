"""Dask DataFrames: one part per partition, computed where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import Any

import pandas as pd
import pyarrow as pa
from dask.local import get_sync
from dask.optimization import cull

from suffice.data.source import RecordPart
from suffice.data.table import About, Table, first_rows
from suffice.errors import SchemaError, first_line
from suffice.sums.batch import BATCH_ROWS


@dataclass(frozen=True, eq=False)
class DaskPartition(RecordPart):
    """One partition of a Dask DataFrame: the tasks that make it, and those of no other."""

    tasks: Mapping[Any, Any]  # a Dask graph; none where the rows have been made
    key: Any  # what the graph calls the partition
    number: int  # from 0
    types: Mapping[str, pa.DataType | None]  # the columns to read; None where the cells tell
    frame: pd.DataFrame | None = None

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, which are computed in this thread if they have not been made."""
        frame = self.frame
        if frame is None:
            tasks = {k: one.result() if _is_future(one) else one for k, one in self.tasks.items()}
            frame = get_sync(tasks, self.key)
        cells = {str(label): series for label, series in frame.items()}
        columns = {name: self._column(cells[name], name) for name in self.types}
        yield from pa.table(columns).to_batches(max_chunksize=BATCH_ROWS)

    def _column(self, cells: pd.Series[Any], name: str) -> Any:
        try:
            return pa.Array.from_pandas(cells, type=self.types[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise SchemaError(
                f"column {name!r}, partition {self.number}: {first_line(error)}",
                "a column holds values of one type, the one of its first rows",
                "convert it",
            ) from error

    def locate(self, row: int) -> str:
        return f"row {row} of partition {self.number}"


def _is_future(task: Any) -> bool:
    """Tell what the workers of a cluster keep of a persisted frame.

    To the workers Dask brings what it stands for.
    """
    return type(task).__module__ == "distributed.client"


@dataclass(frozen=True, eq=False)
class DaskTable(Table):
    """A Dask DataFrame.

    With a client of Dask distributed, its workers compute the partitions; without one, the threads
    of this process do. Every pass computes them again, and a frame whose rows move between
    partitions (by a shuffle, merge or sort) moves them again for every partition: ``persist()`` it
    first. The order of the rows is that of ``frame.compute()``.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    """

    frame: Any

    @property
    def about(self) -> About:
        try:
            import_module("distributed").default_client()
        except (ModuleNotFoundError, ValueError):
            return About()
        return About(engine="dask")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.frame.columns))

    @property
    def _head(self) -> pa.RecordBatch:
        parts = self._parts(dict.fromkeys(self.names))
        schema = pa.Schema.from_pandas(self._columns(self.names)._meta, preserve_index=False)
        return first_rows(chain.from_iterable(part.record_batches() for part in parts), schema)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[DaskPartition]:
        shown = {name: self.shown.schema.field(name).type for name in types}
        return self._parts({name: _shared(kind) for name, kind in shown.items()})

    def _parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[DaskPartition]:
        frame = self._columns(types).optimize()
        graph, keys = dict(frame.__dask_graph__()), frame.__dask_keys__()
        return [
            DaskPartition(cull(graph, [key])[0], key, number, types)
            for number, key in enumerate(keys)
        ]

    def _columns(self, names: Mapping[str, Any] | Sequence[str]) -> Any:
        return self.frame[[label for label in self.frame.columns if str(label) in names]]


def _shared(kind: pa.DataType) -> pa.DataType | None:
    """The type that later partitions share: not of a column without values, nor a dictionary."""
    return None if pa.types.is_null(kind) or pa.types.is_dictionary(kind) else kind
