"""Spark DataFrames: the rows stay where they are, and kernels go there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from suffice.data.source import RecordPart
from suffice.data.table import About, Table, first_rows
from suffice.errors import EngineError, ReadError
from suffice.sums.batch import BATCH_ROWS


@dataclass(frozen=True, eq=False)
class SparkRows(RecordPart):
    """All rows of a Spark DataFrame. The Spark engine reads them in place; nothing else can."""

    frame: Any  # the columns to read, under names that Spark takes anywhere
    names: tuple[str, ...]  # their own names

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        raise _elsewhere()

    def locate(self, row: int) -> str:
        return f"row {row}"

    def __reduce__(self) -> Any:
        raise _elsewhere()


def _elsewhere() -> EngineError:
    return EngineError(
        "the rows of a Spark DataFrame are asked for outside of Spark",
        "they are read by the engine 'spark', in one go",
        "leave the engine out, or write the rows to Parquet files and read those",
    )


@dataclass(frozen=True, eq=False)
class PartitionRows(RecordPart):
    """The rows of one partition, as they arrive at a worker; they can be read once."""

    arriving: Iterable[pa.RecordBatch]
    names: tuple[str, ...]
    partition: int  # its number, from 0

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        for arrived in self.arriving:
            batch = arrived.rename_columns(list(self.names))
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield batch.slice(start, BATCH_ROWS)

    def locate(self, row: int) -> str:
        return f"row {row} of partition {self.partition}"


@dataclass(frozen=True, eq=False)
class SparkTable(Table):
    """A Spark DataFrame, classic or of Spark Connect.

    Every pass runs the query again, so ``frame.cache()`` is worth while before an iterative fit.
    The order of the rows is that of ``frame.collect()``: partition by partition.
    """

    frame: Any
    about = About(engine="spark")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def _head(self) -> pa.RecordBatch:
        try:
            table = self.frame.limit(BATCH_ROWS).toArrow()
        except Exception as error:
            raise ReadError(
                f"the Spark DataFrame cannot be read: {gist(error)}",
                "",
                "see whether frame.show() works",
            ) from error
        return first_rows(table.to_batches(), table.schema)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[SparkRows]:
        quoted = [f"`{name.replace('`', '``')}`" for name in types]
        frame = self.frame.selectExpr(*(f"{name} AS c{j}" for j, name in enumerate(quoted)))
        return [SparkRows(frame, tuple(types))]


def gist(error: BaseException) -> str:
    """Return the one line of a long error of Spark that says what happened."""
    lines = (line.rstrip() for line in str(error).splitlines())
    said = (line for line in lines if line and not line.startswith(_FRAMES))
    return next(said, type(error).__name__)


_FRAMES = (" ", "\t", "An exception was thrown from", "Traceback (most recent")
