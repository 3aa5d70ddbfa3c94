"""Arrow IPC files, one split per record batch, and streams, one split each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from suffice.data.files.stored import StoredFormat, StoredSplit

__all__ = []


@dataclass(frozen=True)
class IpcFileSplit(StoredSplit):
    """One record batch of an Arrow IPC file, memory-mapped."""

    kind = "Arrow IPC file"

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(self.path)) as file:
            batch = ipc.open_file(file).get_batch(self.part)
            yield batch.select([name for name, _ in self.types])

    def _rows_before(self) -> int:
        with pa.memory_map(str(self.path)) as file:
            reader = ipc.open_file(file)
            return sum(reader.get_batch(i).num_rows for i in range(self.part))


@dataclass(frozen=True)
class IpcStreamSplit(StoredSplit):
    """A whole Arrow IPC stream, which can only be read from its beginning."""

    kind = "Arrow IPC stream"

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(self.path), "rb") as file, ipc.open_stream(file) as reader:
            for whole in reader:
                yield whole.select([name for name, _ in self.types])

    def _rows_before(self) -> int:
        return 0


def _inspect_ipc_file(path: Path) -> tuple[pa.Schema, list[None]]:
    with pa.memory_map(str(path)) as file:
        reader = ipc.open_file(file)
        return reader.schema, [None] * reader.num_record_batches


def _inspect_ipc_stream(path: Path) -> tuple[pa.Schema, list[None]]:
    with pa.OSFile(str(path), "rb") as file, ipc.open_stream(file) as reader:
        return reader.schema, [None]


IPC_FILE = StoredFormat(IpcFileSplit, _inspect_ipc_file)
IPC_STREAM = StoredFormat(IpcStreamSplit, _inspect_ipc_stream)
