"""Parquet files: one part per row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from suffice.data.files.stored import PLAIN, StoredFormat, StoredPart
from suffice.data.schema import is_text
from suffice.sums.batch import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BUFFER_BYTES = 1 << 18
WHOLE_ROWS = 4 * BATCH_ROWS  # of a row group whose columns are read whole
_WHOLE_BYTES = 1 << 22  # of a column of strings that is


@dataclass(frozen=True)
class ParquetPart(StoredPart):
    """One row group of a Parquet file; its strings come dictionary-encoded."""

    def _stored(self) -> Iterator[pa.RecordBatch]:
        plain = {
            name
            for name, target in self.types
            if target is not None and not pa.types.is_dictionary(target)
        }
        with open_parquet(self.path, plain) as file:
            names = [name for name, _ in self.types]
            try:
                if self._is_read_whole(file, names):
                    yield from self._whole(file, names).to_batches(BATCH_ROWS)
                    return
                rows, parts = BATCH_ROWS, [self.number]
                yield from file.iter_batches(rows, parts, names, use_threads=False)
            except (pa.ArrowException, OSError) as error:
                column = next((name for name in names if self._is_damaged(file, name)), None)
                where = "" if column is None else f", column {column!r}"
                raise pa.ArrowInvalid(f"row group {self.number + 1}{where}: {error}") from error

    def _is_read_whole(self, file: pq.ParquetFile, names: Sequence[str]) -> bool:
        """Return whether whole columns take less memory than the pages a batch reader holds.

        Of each column it holds two pages and a dictionary, 1 MB each, and these twice.
        """
        group = file.metadata.row_group(self.number)
        if group.num_rows > WHOLE_ROWS:
            return False
        kinds = {name: file.schema_arrow.field(name).type for name in names}
        # Of other types, the size of a cell is not known.
        if not all(pa.types.is_primitive(k) or pa.types.is_dictionary(k) for k in kinds.values()):
            return False
        texts = {name for name, kind in kinds.items() if pa.types.is_dictionary(kind)}
        columns = map(group.column, range(group.num_columns)) if texts else ()
        sizes = (one.total_uncompressed_size for one in columns if one.path_in_schema in texts)
        return all(int(size) <= _WHOLE_BYTES for size in sizes)

    def _whole(self, file: pq.ParquetFile, names: Sequence[str]) -> pa.Table:
        rows = file.metadata.row_group(self.number).num_rows
        memory = ColumnMemory(rows, [file.schema_arrow.field(name).type for name in names])
        columns = [
            memory.moved(file.read_row_group(self.number, [name], use_threads=False).column(name))
            for name in names
        ]
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


def open_parquet(path: Path, plain: Iterable[str] = ()) -> pq.ParquetFile:
    """Open a Parquet file with its strings dictionary-encoded, but for the columns in `plain`.

    A page whose bytes do not have the checksum written with it cannot be read.
    """
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    encoded = [f.name for f in schema if is_text(f.type) and f.name not in plain]
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


ALIGNED = 64  # bytes: where columns begin


class ColumnMemory:
    """One block of memory for columns of so many rows.

    Parameters
    ----------
    rows : int
    types : iterable of pyarrow.DataType
        Of the columns; there is room for those whose cells are whole bytes.
    """

    def __init__(self, rows: int, types: Iterable[pa.DataType]) -> None:
        sizes = [rows * _cell_bytes(kind) for kind in types]
        self._block = np.empty(sum(-(-size // ALIGNED) * ALIGNED for size in sizes), np.uint8)
        self._used = 0

    def moved(self, column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
        """Copy cells to this memory; return them as they are where there is no room."""
        cell = _cell_bytes(column.type)
        if not cell or column.num_chunks != 1:
            return column
        cells, size, first = column.chunk(0), cell * len(column), self._used
        bits, data = cells.buffers()
        if cells.offset or data is None or first + size > len(self._block):
            return column
        place = self._block[first : first + size]
        place[:] = np.frombuffer(data, np.uint8, size)
        self._used += -(-size // ALIGNED) * ALIGNED
        found = [bits, pa.py_buffer(place)]
        return pa.chunked_array(
            [pa.Array.from_buffers(column.type, len(cells), found, cells.null_count)]
        )


def _cell_bytes(kind: pa.DataType) -> int:
    """Bytes of a cell; 0 of what is no number of whole bytes."""
    bits = kind.bit_width if pa.types.is_primitive(kind) else 0
    return 0 if bits % 8 else bits // 8
