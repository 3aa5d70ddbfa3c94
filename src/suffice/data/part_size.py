"""How large a part is, and which file it is a part of, where a part knows this unread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["UNKNOWN", "PartSize", "file_of", "part_size"]


@dataclass(frozen=True)
class PartSize:
    """Rows of a part, and bytes where it is stored; None for what is not known."""

    rows: int | None = None
    bytes: int | None = None


UNKNOWN = PartSize()


@runtime_checkable
class Measured(Protocol):
    """A part that knows its size."""

    def part_size(self) -> PartSize:
        """Rows and bytes, as far as they are known without reading the part."""
        ...


@runtime_checkable
class InFile(Protocol):
    """A part that may be a part of a file."""

    @property
    def source_file(self) -> Path | None:
        """The file; None for rows that only this process has."""
        ...


def part_size(part: object) -> PartSize:
    """Tell how large a part is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice.data.frames.memory import frame_table
    >>> (part,) = frame_table(pa.table({"x": [1.0, 2.0]})).parts({"x": None})
    >>> part_size(part), part_size("another kind")
    (PartSize(rows=2, bytes=16), PartSize(rows=None, bytes=None))
    """
    return part.part_size() if isinstance(part, Measured) else UNKNOWN


def file_of(part: object) -> Path | None:
    """Tell which file a part is a part of; None for rows that only this process has.

    Examples
    --------
    >>> from suffice.data.files.parquet import ParquetPart
    >>> print(file_of(ParquetPart(Path("a.parquet"), 0, ())), file_of("another kind"))
    a.parquet None
    """
    return part.source_file if isinstance(part, InFile) else None
