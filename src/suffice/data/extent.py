"""How large a split is and where it is kept, as far as that can be told without reading it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from suffice.data.arrays import ArraySplit
from suffice.data.beside import BesideSplit
from suffice.data.copied import CopiedSplit
from suffice.data.csv import CsvSplit
from suffice.data.file_version import FileVersion, require_version
from suffice.data.files import IpcFileSplit, IpcStreamSplit, ParquetSplit
from suffice.data.frames import FrameSplit
from suffice.data.partitions import FolderSplit
from suffice.data.spool import SpooledSplit
from suffice.data.tables import TableSplit
from suffice.errors import ReadError

__all__ = ["Extent", "extent", "file_of"]


@dataclass(frozen=True)
class Extent:
    """Rows of a split, and bytes where it is stored; None for what is not known."""

    rows: int | None = None
    bytes: int | None = None


@singledispatch
def extent(split: Any) -> Extent:
    """Tell how large a split is; a kind of split registers what it knows.

    Examples
    --------
    >>> from suffice.data.frames import frame_table
    >>> (split,) = frame_table(pa.table({"x": [1.0, 2.0]})).splits({"x": None})
    >>> extent(split), extent("another kind")
    (Extent(rows=2, bytes=16), Extent(rows=None, bytes=None))
    """
    return Extent()


@extent.register
def _(split: TableSplit) -> Extent:
    return extent(split.part)


@extent.register
def _(split: FolderSplit | SpooledSplit | CopiedSplit) -> Extent:
    return extent(split.split)


@extent.register
def _(split: BesideSplit) -> Extent:
    return extent(split.features)


@extent.register
def _(split: ArraySplit) -> Extent:
    x, rows = split.source.x, split.count()
    whole = x.nbytes if hasattr(x, "nbytes") else x.data.nbytes + x.indices.nbytes
    return Extent(rows, whole * rows // max(1, x.shape[0]))


@extent.register
def _(split: FrameSplit) -> Extent:
    return Extent(split.rows.num_rows, split.rows.nbytes)


@extent.register(ParquetSplit)
@extent.register(IpcFileSplit)
@extent.register(IpcStreamSplit)
@extent.register(CsvSplit)
def _(split: Any) -> Extent:
    # Who reads a file says better what is wrong with it.
    with suppress(OSError, pa.ArrowException, ReadError):
        return _of_file(split)
    return Extent()


@singledispatch
def _of_file(split: Any) -> Extent:
    path = file_of(split)
    return Extent() if path is None else Extent(None, path.stat().st_size)


@_of_file.register
def _(split: ParquetSplit) -> Extent:
    rows, size = _row_groups(split.path, split.version)
    return Extent(rows[split.part], size * rows[split.part] // max(1, sum(rows)))


@_of_file.register
def _(split: IpcFileSplit) -> Extent:
    return Extent(None, split.path.stat().st_size // _record_batches(split.path, split.version))


@lru_cache(maxsize=1)
def _row_groups(path: Path, version: FileVersion | None) -> tuple[list[int], int]:
    """The rows of every row group of a version of a file, and its size."""
    require_version(path, version)
    stored = pq.read_metadata(path)
    rows = [stored.row_group(part).num_rows for part in range(stored.num_row_groups)]
    return rows, path.stat().st_size


@lru_cache(maxsize=1)
def _record_batches(path: Path, version: FileVersion | None) -> int:
    require_version(path, version)
    with pa.memory_map(str(path)) as file:
        return int(ipc.open_file(file).num_record_batches)


@singledispatch
def file_of(split: Any) -> Path | None:
    """Tell which file a split is a part of; None for rows that only this process has.

    Examples
    --------
    >>> print(file_of(ParquetSplit(Path("a.parquet"), 0, ())), file_of("another kind"))
    a.parquet None
    """
    return None


@file_of.register
def _(split: TableSplit) -> Path | None:
    return file_of(split.part)


@file_of.register
def _(split: FolderSplit) -> Path | None:
    return file_of(split.split)


@file_of.register(ParquetSplit)
@file_of.register(IpcFileSplit)
@file_of.register(IpcStreamSplit)
def _(split: Any) -> Path | None:
    path: Path = split.path
    return path


@file_of.register
def _(split: CsvSplit) -> Path | None:
    return split.file.path
