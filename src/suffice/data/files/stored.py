"""Tables in files that store their schema: Parquet, Arrow IPC, and what is parsed whole.

One part per row group or record batch, so that memory does not grow with the file; files that are
parsed whole (`suffice.data.files.parsed`) have one. Delimited text is read by
`suffice.data.text.table`.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

from suffice.data.doubles import doubles
from suffice.data.files.temporary import KeptPart, TemporaryFolder
from suffice.data.schema import called, is_text
from suffice.data.source import RecordPart
from suffice.data.table import About, Table, first_rows
from suffice.data.version import FileVersion, readable, version_of
from suffice.errors import ReadError, SchemaError
from suffice.numerics.in_print import listed
from suffice.sums.batch import BATCH_ROWS
from suffice.sums.block import BadCell

PLAIN = {b"suffice.text": b""}  # of a column that is read with a dictionary, and has none
_REMARKS = b"suffice.remarks"
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # as pandas calls it


# Parts -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredPart(RecordPart):
    """A part of a file that stores its schema."""

    path: Path
    number: int  # which row group or record batch
    types: tuple[tuple[str, pa.DataType], ...]  # the columns to read, and their types in the table
    version: FileVersion | None = None  # the only version of the file that may be read
    kind: str = ""  # of the format, in an error
    rows: int | None = None
    nbytes: int | None = None
    before: int = 0  # rows of the table before those of the file

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        done = 0
        with readable(self.path, self.version, self.kind):
            for batch in self._stored():
                batch.validate(full=True)
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS)
                    yield self._widened(part, done)
                    done += part.num_rows

    def locate(self, row: int) -> str:
        return f"row {self.before + self._rows_before() + row + 1} of {self.path.name}"

    @abstractmethod
    def _stored(self) -> Iterator[pa.RecordBatch]:
        """Yield the columns of the part as the file stores them."""

    def _rows_before(self) -> int:
        """Number of rows of the file before the part; 0 of a part that is the file."""
        return 0

    def _widened(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        """Return cells in the types of the table: a part of spooled rows may have narrower ones."""
        columns = []
        for (name, kind), cells in zip(self.types, batch.columns, strict=True):
            if pa.types.is_integer(cells.type) and pa.types.is_floating(kind):
                try:
                    cells = pa.array(doubles(cells), kind, from_pandas=True)
                except BadCell as bad:
                    where = f"{self.locate(done + bad.row)}, column {name!r}: {bad.value}"
                    raise ReadError(where, bad.rule, bad.next_step) from None
            columns.append(cells.cast(kind))
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    @property
    def file(self) -> Path:
        return self.path


# Tables -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredFormat:
    """A format that describes itself, known by the first bytes of a file, or else by its suffix."""

    kind: str  # its name
    beginning: bytes  # a regular expression
    suffixes: tuple[str, ...]
    part: Callable[..., StoredPart]  # reads a part of a file
    # Returns the schema of a file and the rows of its parts, None where these must be read for it.
    inspect: Callable[[Path], tuple[pa.Schema, Sequence[int | None]]]

    def begins(self, start: bytes) -> bool:
        """Return whether a file that starts with these bytes has this format."""
        return re.match(self.beginning, start, re.IGNORECASE | re.DOTALL) is not None

    def read(self, path: Path) -> tuple[pa.Schema, list[StoredPart]]:
        """Return the schema of a file and its parts, which read no column yet."""
        with readable(path, kind=self.kind):
            version = version_of(path)
            schema, rows = self.inspect(path)
            nbytes = _shares(rows, path.stat().st_size)
        twice = next((name for name, times in Counter(schema.names).items() if times > 1), None)
        if twice is not None:
            raise ReadError(
                f"{path.name} has two columns named {twice!r}",
                "column names must be unique",
                "rename one of them",
            )
        sizes = enumerate(zip(rows, nbytes, strict=True))
        return schema, [self.part(path, i, (), version, self.kind, *size) for i, size in sizes]


def _shares(rows: Sequence[int | None], size: int) -> list[int]:
    parts = [1 if number is None else number for number in rows]
    total = max(1, sum(parts))
    return [size * part // total for part in parts]


@dataclass(frozen=True, eq=False)
class StoredTable(Table):
    """Files of one self-describing format, or rows that were read once and are kept in some."""

    schema: pa.Schema  # a part may store narrower types
    kept: tuple[StoredPart, ...]
    where: str  # the name of the first file, or where the rows came from
    folder: TemporaryFolder | None = None  # of the files, if they are temporary
    index: tuple[str, ...] = ()  # columns that are left out

    @classmethod
    def of(cls, paths: Sequence[Path], format: StoredFormat) -> StoredTable:
        schema, parts = format.read(paths[0])
        for path in paths[1:]:
            other, more = format.read(path)
            _require_same(schema, other, paths[0], path)
            parts += more
        index = tuple(name for name in schema.names if _UNNAMED_INDEX.fullmatch(name))
        for name in index:
            schema = schema.remove(schema.get_field_index(name))
        return cls(schema, tuple(parts), paths[0].name, None, index)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def strings(self) -> Sequence[str]:
        return [one.name for one in self.schema if is_text(one.type) or one.metadata == PLAIN]

    @property
    def about(self) -> About:
        said = json.loads((self.schema.metadata or {}).get(_REMARKS, b"[]"))
        said += [f"{name!r}, the unnamed index of a frame, is left out" for name in self.index]
        remarks = tuple(f"{self.where}: {remark}" for remark in said)
        return About(remarks=remarks, losses=remarks[len(remarks) - len(self.index) :])

    @property
    def _head(self) -> pa.RecordBatch:
        parts = self.parts(dict.fromkeys(self.names))
        batches = chain.from_iterable(part.record_batches() for part in parts)
        return _owned(first_rows(batches, self.schema))

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[RecordPart]:
        asked = tuple((name, self.schema.field(name).type) for name in types)
        parts = [replace(part, types=asked) for part in self.kept]
        return parts if self.folder is None else [KeptPart(one, (self.folder,)) for one in parts]

    def mapped(self) -> pa.Table:
        """Return the rows as a table in memory that the operating system reads when needed."""
        parts = self.parts(dict.fromkeys(self.names))
        return pa.Table.from_batches(
            chain.from_iterable(part.record_batches() for part in parts), self.schema
        )


def with_remarks(table: pa.Table, remarks: Sequence[str]) -> pa.Table:
    """Return a table with sentences on what of its file is not read as it stands."""
    return table.replace_schema_metadata({_REMARKS: json.dumps(remarks)}) if remarks else table


def _owned(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch that keeps no others alive: a part of larger columns is copied."""
    if batch.get_total_buffer_size() <= 2 * batch.nbytes:
        return batch
    return batch.take(pa.array(np.arange(batch.num_rows)))


def _require_same(one: pa.Schema, other: pa.Schema, first: Path, second: Path) -> None:
    if one.names != other.names:
        raise SchemaError(
            f"the columns of {first} are {listed(map(repr, one.names))}, "
            f"those of {second} are {listed(map(repr, other.names))}",
            "files of one table must have the same columns in the same order",
            "read them apart",
        )
    for name in one.names:
        types = one.field(name).type, other.field(name).type
        if types[0] != types[1]:
            described = tuple(map(called, types))
            if described[0] == described[1]:  # one kind in two widths
                described = tuple(map(str, types))
            raise SchemaError(
                f"column {name!r} is {described[0]} in {first} and {described[1]} in {second}",
                "files of one table must have the same column types",
                "write one of them again with the other's types",
            )


# Arrow IPC ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IpcFilePart(StoredPart):
    """One record batch of an Arrow IPC file, memory-mapped."""

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(self.path)) as file:
            batch = ipc.open_file(file).get_batch(self.number)
            yield batch.select([name for name, _ in self.types])

    def _rows_before(self) -> int:
        with pa.memory_map(str(self.path)) as file:
            reader = ipc.open_file(file)
            return sum(reader.get_batch(i).num_rows for i in range(self.number))


@dataclass(frozen=True)
class IpcStreamPart(StoredPart):
    """A whole Arrow IPC stream, which can only be read from its beginning."""

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(self.path), "rb") as file, ipc.open_stream(file) as reader:
            for whole in reader:
                yield whole.select([name for name, _ in self.types])


def _inspect_ipc_file(path: Path) -> tuple[pa.Schema, list[None]]:
    with pa.memory_map(str(path)) as file:
        reader = ipc.open_file(file)
        return reader.schema, [None] * reader.num_record_batches


def _inspect_ipc_stream(path: Path) -> tuple[pa.Schema, list[None]]:
    with pa.OSFile(str(path), "rb") as file, ipc.open_stream(file) as reader:
        return reader.schema, [None]


IPC_FILE = StoredFormat(
    "Arrow IPC file",
    rb"(?-i:ARROW1)\0\0",
    (".arrow", ".feather", ".ipc"),
    IpcFilePart,
    _inspect_ipc_file,
)
IPC_STREAM = StoredFormat(
    "Arrow IPC stream",
    rb"\xff{4}.{2}\0\0",
    (".arrows",),
    IpcStreamPart,
    _inspect_ipc_stream,
)
