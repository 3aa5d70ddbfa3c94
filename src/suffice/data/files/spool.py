"""Rows that can be read only once are written to temporary files, and read from those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.ipc as ipc

from suffice.data.files.stored import IPC_FILE, StoredTable
from suffice.data.files.temporary import TemporaryFolder, keeping
from suffice.data.schema import is_text
from suffice.errors import ReadError, SufficeError, first_line
from suffice.sums.batch import BATCH_ROWS

_PART_ROWS = 4 * BATCH_ROWS
_PART_BYTES = 1 << 26


def unbroken(batches: Iterable[pa.RecordBatch], origin: str) -> Iterator[pa.RecordBatch]:
    """Pass batches on; rows that do not come to their end are no rows."""
    rows = 0
    try:
        for batch in batches:
            yield batch
            rows += batch.num_rows
    except SufficeError:
        raise
    except Exception as error:  # drivers and streams raise what they like
        raise ReadError(
            f"{origin} broke off after {rows:,} rows: {first_line(error)}",
            "nothing was learnt from them",
            "begin again",
        ) from error


def spool(batches: Iterable[pa.RecordBatch], schema: pa.Schema, origin: str) -> StoredTable:
    """Write rows to a temporary folder, in parts of at most 262,144 rows.

    Types may widen from one batch to the next, such as from nothing to strings. The schema says
    what the columns are where no batch says more; the origin is for error messages.
    """
    folder, parts, first = TemporaryFolder(), [], 0
    with keeping(folder):
        for number, part in enumerate(_parts(batches)):
            path = folder.path / str(number) / origin
            path.parent.mkdir()
            with ipc.new_file(str(path), part.schema) as writer:
                writer.write_table(part)
            _, (written,) = IPC_FILE.read(path)
            parts.append(replace(written, before=first, rows=part.num_rows))
            first += part.num_rows
            schema = _widest(schema, part.schema)
    return StoredTable(schema, tuple(parts), origin, folder)


def _widest(one: pa.Schema, other: pa.Schema) -> pa.Schema:
    """The types that hold the cells of both: text where numbers stand among text."""
    fields = []
    for a, b in zip(one, other, strict=True):
        if is_text(a.type) != is_text(b.type) and pa.null() not in (a.type, b.type):
            a, b = a.with_type(pa.string()), b.with_type(pa.string())
        fields.append(
            pa.unify_schemas([pa.schema([a]), pa.schema([b])], promote_options="permissive")
        )
    return pa.schema([schema.field(0) for schema in fields])


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    gathered: list[pa.RecordBatch] = []
    rows = size = 0
    for whole in batches:
        for start in range(0, whole.num_rows, _PART_ROWS):
            batch = whole.slice(start, _PART_ROWS)
            full = rows + batch.num_rows > _PART_ROWS or size + batch.nbytes > _PART_BYTES
            if gathered and (full or batch.schema != gathered[0].schema):
                yield _one_batch(gathered)
                gathered, rows, size = [], 0, 0
            gathered.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
    if gathered:
        yield _one_batch(gathered)


def _one_batch(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
