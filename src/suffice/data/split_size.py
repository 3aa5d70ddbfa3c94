"""How large a split is, and which file it is a part of, where a split knows this unread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["UNKNOWN", "SplitSize", "file_of", "split_size"]


@dataclass(frozen=True)
class SplitSize:
    """Rows of a split, and bytes where it is stored; None for what is not known."""

    rows: int | None = None
    bytes: int | None = None


UNKNOWN = SplitSize()


@runtime_checkable
class Measured(Protocol):
    """A split that knows its size."""

    def split_size(self) -> SplitSize:
        """Rows and bytes, as far as they are known without reading the split."""
        ...


@runtime_checkable
class InFile(Protocol):
    """A split that may be a part of a file."""

    @property
    def source_file(self) -> Path | None:
        """The file; None for rows that only this process has."""
        ...


def split_size(split: object) -> SplitSize:
    """Tell how large a split is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice.data.frames.memory import frame_table
    >>> (split,) = frame_table(pa.table({"x": [1.0, 2.0]})).splits({"x": None})
    >>> split_size(split), split_size("another kind")
    (SplitSize(rows=2, bytes=16), SplitSize(rows=None, bytes=None))
    """
    return split.split_size() if isinstance(split, Measured) else UNKNOWN


def file_of(split: object) -> Path | None:
    """Tell which file a split is a part of; None for rows that only this process has.

    Examples
    --------
    >>> from suffice.data.files.parquet import ParquetSplit
    >>> print(file_of(ParquetSplit(Path("a.parquet"), 0, ())), file_of("another kind"))
    a.parquet None
    """
    return split.source_file if isinstance(split, InFile) else None
