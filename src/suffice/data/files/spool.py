"""Rows that can be read only once are written to temporary files, and read from those."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc

from suffice.data.doubles import doubles
from suffice.data.files.parquet import ParquetPart
from suffice.data.files.stored import PLAIN, IpcFilePart, StoredPart
from suffice.data.schema import is_text, require_columns
from suffice.data.source import PartView
from suffice.data.table import Table, first_rows
from suffice.data.version import version_of
from suffice.errors import ReadError, SufficeError, first_line
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.block import BadCell


class TemporaryFolder:
    """A temporary folder, removed when nothing refers to it any more, at the latest at exit.

    A folder travels to other processes as its path: only the process that made it removes it.
    """

    path: Path

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="suffice-"))
        self._removed = weakref.finalize(self, _remove, self.path, os.getpid())

    def remove(self) -> None:
        self._removed()

    def __deepcopy__(self, memo: Any) -> TemporaryFolder:
        return self

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return _lent, (self.path,)


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child ends with the finalizers of its parent
        shutil.rmtree(path, ignore_errors=True)


def _lent(path: Path) -> TemporaryFolder:
    folder = TemporaryFolder.__new__(TemporaryFolder)
    folder.path = path
    return folder


@contextmanager
def keeping(folder: TemporaryFolder) -> Iterator[None]:
    """Keep what a block writes to a folder only if it ends well."""
    try:
        yield
    except BaseException as error:
        folder.remove()
        if not isinstance(error, OSError):
            raise
        raise ReadError(
            f"the rows cannot be kept in {folder.path.parent}: {error}",
            "what can be read only once is written to a temporary file first",
            "make room, or set TMPDIR to a folder with more",
        ) from error


_PART_ROWS = 4 * BATCH_ROWS
_PART_BYTES = 1 << 26


@dataclass(frozen=True)
class KeptPart(PartView):
    """A part of files in temporary folders, which stay as long as it does."""

    folders: tuple[TemporaryFolder, ...]

    @property
    def file(self) -> None:
        """None: another process that goes on later will not find the file."""


@dataclass(frozen=True)
class SpooledPart(KeptPart):
    """Consecutive rows in a temporary file."""

    inside: StoredPart  # the part of the file
    schema: pa.Schema  # the types of the columns in the whole table; a part may store narrower ones
    first: int  # rows of the table before this part
    origin: str  # where the rows came from, for error messages

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        if not self.inside.path.exists():
            raise ReadError(
                f"{self.inside.path}, where the rows of {self.origin} are kept, is not there",
                "workers on other machines read the same temporary folder",
                "set TMPDIR to a folder that all of them see, or write the rows to files yourself",
            )
        done = 0
        for batch in self.inside.record_batches():
            yield batch if batch.schema == self.schema else self._widened(batch, done)
            done += batch.num_rows

    def _widened(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        """A batch in the types of the whole table: above the first fraction, numbers are whole."""
        columns = []
        for field, column in zip(self.schema, batch.columns, strict=True):
            try:
                if pa.types.is_integer(column.type) and pa.types.is_floating(field.type):
                    absent = column.is_null().to_numpy(zero_copy_only=False)
                    columns.append(pa.array(doubles(column), mask=absent))
                else:
                    columns.append(column.cast(field.type))
            except BadCell as bad:
                where = f"{self.locate(done + bad.row)}, column {field.name!r}: {bad.value}"
                raise ReadError(where, bad.rule, bad.next_step) from None
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def locate(self, row: int) -> str:
        return f"row {self.first + row + 1} of {self.origin}"


@dataclass(frozen=True)
class SpooledTable(Table):
    """Rows that were read once and are kept in temporary files."""

    schema: pa.Schema
    kept: tuple[SpooledPart, ...]  # with all columns

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def strings(self) -> Sequence[str]:
        return [one.name for one in self.schema if is_text(one.type) or one.metadata == PLAIN]

    @property
    def _head(self) -> pa.RecordBatch:
        return first_rows(_batches(self.kept), self.schema)

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[SpooledPart]:
        require_columns(types, self.names, "the table")
        schema = pa.schema([self.schema.field(name) for name in types])
        asked = tuple((name, None) for name in types)
        return [
            replace(part, inside=replace(part.inside, types=asked), schema=schema)
            for part in self.kept
        ]

    def mapped(self) -> pa.Table:
        """Return the rows as a table in memory that the operating system reads when needed."""
        if any(isinstance(part.inside, ParquetPart) for part in self.kept):
            return spool(_batches(self.kept), self.schema, "the table").mapped()
        return pa.Table.from_batches(_batches(self.kept), self.schema)


def _batches(parts: Iterable[SpooledPart]) -> Iterator[pa.RecordBatch]:
    return chain.from_iterable(part.record_batches() for part in parts)


def spooled(
    schema: pa.Schema,
    parts: Iterable[StoredPart],
    origin: str,
    folder: TemporaryFolder,
) -> SpooledTable:
    """Make a table of parts of files that were just written, which know their numbers of rows."""
    schema = pa.schema(list(schema))
    asked = tuple((name, None) for name in schema.names)
    pieces, first = [], 0
    for part in parts:
        whole = replace(part, types=asked, version=version_of(part.path))
        pieces.append(SpooledPart(whole, (folder,), schema, first, origin))
        first += part.rows or 0
    return SpooledTable(schema, tuple(pieces))


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


def spool(batches: Iterable[pa.RecordBatch], schema: pa.Schema, origin: str) -> SpooledTable:
    """Write rows to a temporary folder, in parts of at most 262,144 rows.

    Types may widen from one batch to the next, such as from nothing to strings. The schema says
    what the columns are where no batch says more; the origin is for error messages.
    """
    folder, written = TemporaryFolder(), []
    with keeping(folder):
        for number, part in enumerate(_parts(batches)):
            path = folder.path / f"{number:06}.arrow"
            with ipc.new_file(str(path), part.schema) as writer:
                writer.write_table(part)
            size = path.stat().st_size
            written.append(IpcFilePart(path, 0, (), rows=part.num_rows, nbytes=size))
            schema = _widest(schema, part.schema)
        return spooled(schema, written, origin, folder)


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
