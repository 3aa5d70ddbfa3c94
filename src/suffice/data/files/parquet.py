"""Parquet files: one part per row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from suffice.data.files.stored import PLAIN, StoredFormat, StoredPart
from suffice.data.schema import is_text
from suffice.sums.batch import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BUFFER_BYTES = 1 << 18
WHOLE_ROWS = 4 * BATCH_ROWS  # of a row group whose columns are read whole


@dataclass(frozen=True)
class ParquetPart(StoredPart):
    """One row group of a Parquet file; its strings come dictionary-encoded."""

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with open_parquet(self.path) as file:
            names = [name for name, _ in self.types]
            try:
                if file.metadata.row_group(self.number).num_rows <= WHOLE_ROWS:
                    yield from self._whole(file, names).to_batches(BATCH_ROWS)
                    return
                rows, parts = BATCH_ROWS, [self.number]
                yield from file.iter_batches(rows, parts, names, use_threads=False)
            except (pa.ArrowException, OSError) as error:
                column = next((name for name in names if self._is_damaged(file, name)), None)
                where = "" if column is None else f", column {column!r}"
                raise pa.ArrowInvalid(f"row group {self.number + 1}{where}: {error}") from error

    def _whole(self, file: pq.ParquetFile, names: Sequence[str]) -> pa.Table:
        """Read column after column: a reader of batches holds two pages of each, and more."""
        groups = (file.read_row_group(self.number, [name], use_threads=False) for name in names)
        columns = [group.column(name) for group, name in zip(groups, names, strict=True)]
        return pa.table(columns, names=list(names))

    def _is_damaged(self, file: pq.ParquetFile, name: str) -> bool:
        try:
            file.read_row_group(self.number, [name], use_threads=False)
        except (pa.ArrowException, OSError):
            return True
        return False

    def _rows_before(self) -> int:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            return sum(file.metadata.row_group(i).num_rows for i in range(self.number))


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file with its strings dictionary-encoded.

    A page whose bytes do not have the checksum written with it cannot be read.
    """
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    encoded = [field.name for field in schema if is_text(field.type)]
    return pq.ParquetFile(
        path,
        read_dictionary=encoded,
        pre_buffer=False,
        buffer_size=_BUFFER_BYTES,
        page_checksum_verification=True,
    )


def _inspect_parquet(path: Path) -> tuple[pa.Schema, list[int]]:
    import pyarrow.parquet as pq

    stored = pq.read_schema(path)
    with open_parquet(path) as file:
        rows = [file.metadata.row_group(part).num_rows for part in range(file.num_row_groups)]
        fields = [
            read.with_metadata(PLAIN if is_text(kind) else None)
            for read, kind in zip(file.schema_arrow, stored.types, strict=True)
        ]
        return pa.schema(fields), rows


PARQUET = StoredFormat(
    "Parquet", rb"(?-i:PAR1)", (".parquet", ".pq"), ParquetPart, _inspect_parquet
)
