"""Ray data sets: one split per block, read where it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import pyarrow as pa
import ray

from suffice.data.table import BATCH_ROWS, Table, first_promoted, require_columns

__all__ = ["RayBlock", "RayTable"]


@dataclass(frozen=True, eq=False)
class RayBlock:
    """One block of a data set, in Ray's object store."""

    reference: Any  # to an Arrow table
    number: int  # of the block, from 0
    names: tuple[str, ...]  # the columns to read

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, at most 65,536 at a time."""
        rows: pa.Table = ray.get(self.reference)
        if rows.num_rows:  # a block without rows may be without columns
            yield from rows.select(list(self.names)).to_batches(max_chunksize=BATCH_ROWS)

    def locate(self, row: int) -> str:
        """Return ``row i of block j``, both counted from 0."""
        return f"row {row} of block {self.number}"


@dataclass(frozen=True, eq=False)
class RayTable(Table):
    """A Ray data set.

    It is run once, into Ray's object store, which spills to disk: every pass then reads the same
    rows. Their order is that of the blocks as Ray made them; a data set that was transformed keeps
    the order of its input where ``DataContext.execution_options.preserve_order`` is set.

    Parameters
    ----------
    dataset : ray.data.Dataset
    """

    dataset: Any
    engine = "ray"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return tuple(self._schema.names)

    @cached_property
    def _blocks(self) -> list[Any]:
        return list(self.dataset.to_arrow_refs())

    @cached_property
    def _schema(self) -> pa.Schema:
        # Ray forgets the columns where there are no rows.
        schemas = (ray.get(block).schema for block in self._blocks)
        return next((schema for schema in schemas if len(schema)), pa.schema([]))

    @property
    def _head(self) -> pa.RecordBatch:
        parts = self._parts(self.names)
        batches = chain.from_iterable(part.record_batches() for part in parts)
        return first_promoted(batches, self._schema)

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RayBlock]:
        """Return one part per block, in the types that are stored."""
        require_columns(types, self.names, "the Ray data set")
        return self._parts(tuple(types))

    def _parts(self, names: tuple[str, ...]) -> Sequence[RayBlock]:
        return [RayBlock(block, number, names) for number, block in enumerate(self._blocks)]
