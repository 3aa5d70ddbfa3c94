"""A part around another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from suffice.data.part_size import PartSize, file_of, part_size
from suffice.data.table import RecordPart

__all__ = ["PartView"]


@dataclass(frozen=True)
class PartView:
    """A part around another, which is like that one where it says nothing else."""

    inside: RecordPart

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.inside.record_batches()

    def locate(self, row: int) -> str:
        """Say where row `row` stands."""
        return self.inside.locate(row)

    def part_size(self) -> PartSize:
        """That of the part inside."""
        return part_size(self.inside)

    @property
    def source_file(self) -> Path | None:
        """The file of the part inside."""
        return file_of(self.inside)
