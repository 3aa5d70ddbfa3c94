"""Parquet files: one split per row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from suffice.data.files.stored import StoredFormat, StoredSplit
from suffice.data.table import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["PARQUET", "ParquetSplit", "open_parquet"]

_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True)
class ParquetSplit(StoredSplit):
    """One row group of a Parquet file; its strings come dictionary-encoded."""

    kind = "Parquet"

    def _stored(self) -> Iterator[pa.RecordBatch]:
        plain = {name for name, target in self.types if _wants_plain(target)}
        with open_parquet(self.path, plain) as file:
            names = [name for name, _ in self.types]
            try:
                yield from file.iter_batches(BATCH_ROWS, [self.part], names, use_threads=False)
            except (pa.ArrowException, OSError) as error:
                column = next((name for name in names if self._is_damaged(file, name)), None)
                where = "" if column is None else f", column {column!r}"
                raise pa.ArrowInvalid(f"row group {self.part + 1}{where}: {error}") from error

    def _is_damaged(self, file: pq.ParquetFile, name: str) -> bool:
        """Whether a column cannot be read even alone."""
        try:
            file.read_row_group(self.part, [name], use_threads=False)
        except (pa.ArrowException, OSError):
            return True
        return False

    def _rows_before(self) -> int:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            return sum(file.metadata.row_group(i).num_rows for i in range(self.part))


def _wants_plain(target: pa.DataType | None) -> bool:
    return target is not None and not pa.types.is_dictionary(target)


def open_parquet(path: Path, plain: Iterable[str] = ()) -> pq.ParquetFile:
    """Open a Parquet file with its strings dictionary-encoded, but for the columns in `plain`.

    A page whose bytes do not have the checksum written with it cannot be read.
    """
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    encoded = [f.name for f in schema if _is_text(f.type) and f.name not in plain]
    return pq.ParquetFile(
        path,
        read_dictionary=encoded,
        pre_buffer=False,
        buffer_size=_BUFFER_BYTES,
        page_checksum_verification=True,
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _inspect_parquet(path: Path) -> tuple[pa.Schema, list[int]]:
    with open_parquet(path) as file:
        groups = range(file.num_row_groups)
        return file.schema_arrow, [file.metadata.row_group(part).num_rows for part in groups]


PARQUET = StoredFormat(ParquetSplit, _inspect_parquet)
