"""A split around another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from suffice.data.split_size import SplitSize, file_of, split_size
from suffice.data.table import RecordSplit

__all__ = ["SplitView"]


@dataclass(frozen=True)
class SplitView:
    """A split around another, which is like that one where it says nothing else."""

    split: RecordSplit

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.split.record_batches()

    def locate(self, row: int) -> str:
        """Say where row `row` stands."""
        return self.split.locate(row)

    def split_size(self) -> SplitSize:
        """That of the split inside."""
        return split_size(self.split)

    @property
    def source_file(self) -> Path | None:
        """The file of the split inside."""
        return file_of(self.split)
