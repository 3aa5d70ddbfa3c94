"""Tables in files: a path, a folder, a glob or a list of these, in one of four formats.

Delimited text is read by `suffice.data.csv`; Parquet and Arrow IPC store their schema and are read
here, one split per row group or record batch, so that memory does not grow with the file.
"""

from __future__ import annotations

import os
import reprlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from suffice.data.arrow_memory import frugal
from suffice.data.copied import CopiedTable, with_copies
from suffice.data.csv import CsvFormat, CsvTable
from suffice.data.file_version import FileVersion, require_version, version_of
from suffice.data.listing import list_files
from suffice.data.partitions import with_folders
from suffice.data.table import BATCH_ROWS, Table, first_refused, first_rows, require_columns
from suffice.errors import ParameterError, ReadError, SchemaError

__all__ = [
    "IpcFileSplit",
    "IpcStreamSplit",
    "ParquetSplit",
    "StoredTable",
    "open_files",
    "open_parquet",
]

_BUFFER_BYTES = 1 << 18
_PARQUET, _IPC_FILE, _IPC_STREAM, _CSV = "Parquet", "Arrow IPC file", "Arrow IPC stream", "CSV"
_FORMATS = {
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _IPC_FILE,
    ".feather": _IPC_FILE,
    ".ipc": _IPC_FILE,
    ".arrows": _IPC_STREAM,
}


def open_files(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    format: CsvFormat | None = None,
) -> Table:
    r"""Open a file, the files of a folder or glob, or a list of these, as one table.

    Parameters
    ----------
    path : path or sequence of paths
        Folders and globs are expanded in sorted order; folders named ``column=value`` add that
        column, and what can be read only once, such as a pipe, is copied to a temporary file first
        (`suffice.data.copied`). The suffix tells the format: ``.parquet``, ``.pq``;
        ``.arrow``, ``.feather``, ``.ipc`` (IPC file); ``.arrows`` (IPC stream); anything else is
        delimited text, decompressed where ``.gz`` follows.
    format : CsvFormat, optional
        How delimited text is written.

    Returns
    -------
    Table

    Raises
    ------
    ReadError
        If there is no such file, or one cannot be read, or their formats are mixed.
    SchemaError
        If the columns of two files differ.
    ParameterError
        If `format` is given for files that are not delimited text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.tsv").write_text("x\ty\n1\tno\n")
    ...     open_files(folder + "/*.tsv").names
    ('x', 'y')
    """
    listed = list_files(path)
    kind = _common_format([file.path for file in listed])
    if format is not None and kind != _CSV:
        raise ParameterError(
            f"format is given for {listed[0].path.name}",
            f"its format, {kind}, describes itself",
            "leave format out",
        )
    listed, folders = with_copies(listed)
    files = [file.path for file in listed]
    table = CsvTable(files, format) if kind == _CSV else StoredTable(files, _LISTINGS[kind])
    whole = with_folders(table, listed)
    return CopiedTable(whole, folders) if folders else whole


def _format_of(path: Path) -> str:
    name = path.name.lower()
    inner = Path(name.removesuffix(".gz")).suffix
    if name.endswith(".gz") and inner in _FORMATS:
        raise ReadError(
            f"{path.name} is compressed {_FORMATS[inner]}",
            "gzip is read for delimited text only",
            "decompress it",
        )
    return _FORMATS.get(inner, _CSV)


def _common_format(paths: Sequence[Path]) -> str:
    first = _format_of(paths[0])
    for path in paths[1:]:
        other = _format_of(path)
        if other != first:
            raise ReadError(
                f"{paths[0].name} is {first} and {path.name} is {other}",
                "files of one table must have the same format",
                "read them apart",
            )
    return first


@contextmanager
def _readable(path: Path, kind: str, version: FileVersion | None = None) -> Iterator[None]:
    """Turn whatever goes wrong with a file into a ReadError, above all that it has changed."""
    try:
        require_version(path, version)
        yield
        require_version(path, version)
    except (pa.ArrowException, OSError) as error:
        with suppress(OSError):
            require_version(path, version)
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise ReadError(
            f"{path.name} cannot be read as {kind}: {reason}",
            "",
            "check the file or write it again",
        ) from error


def _check(batch: pa.RecordBatch) -> None:
    """Refuse what damage may have left: strings that are none, codes outside their dictionary.

    As ``validate(full=True)`` does, in a quarter of the time where there are dictionaries.
    """
    for column in batch.columns:
        if not isinstance(column, pa.DictionaryArray):
            column.validate(full=True)
            continue
        column.dictionary.validate(full=True)
        if not _within(column.indices, len(column.dictionary)):
            raise pa.ArrowInvalid("a code is outside its dictionary")


def _within(indices: pa.Array[Any], places: int) -> bool:
    """Tell whether places in a dictionary are fewer than it has, but for nulls, which are none."""
    data = indices.buffers()[1]
    unsigned = np.dtype(f"u{indices.type.bit_width // 8}")  # what is below 0 is large then
    slots = np.frombuffer(data or b"", unsigned, indices.offset + len(indices))[indices.offset :]
    if slots.max(initial=0) < places:
        return True
    codes = pc.min_max(indices)
    low, high = codes["min"].as_py(), codes["max"].as_py()
    return low is None or 0 <= low <= high < places


# Splits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _StoredSplit:
    """A part of a file that stores its schema.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    part : int
        Which row group or record batch.
    types : tuple of (str, pyarrow.DataType or None)
        The columns to read, and their types; None as stored.
    version : FileVersion, optional
        The only version of the file that may be read.
    """

    path: Path
    part: int
    types: tuple[tuple[str, pa.DataType | None], ...]
    version: FileVersion | None = None

    kind: ClassVar[str]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their columns and types.

        Raises
        ------
        ReadError
            If the file is damaged or has changed, or a value does not fit the type asked for.
        """
        done = 0
        with frugal(), _readable(self.path, self.kind, self.version):
            for batch in self._stored():
                _check(batch)
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS)
                    yield self._typed(part, done)
                    done += part.num_rows

    def locate(self, row: int) -> str:
        """Name the row, counted from 1 over the whole file."""
        return f"row {self._rows_before() + row + 1} of {self.path.name}"

    @abstractmethod
    def _stored(self) -> Iterator[pa.RecordBatch]: ...

    @abstractmethod
    def _rows_before(self) -> int: ...

    def _typed(self, batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
        columns: list[pa.Array[Any]] = []
        for name, target in self.types:
            stored = batch.column(name)
            columns.append(stored if target is None else self._cast(name, stored, target, done))
        return pa.RecordBatch.from_arrays(columns, names=[name for name, _ in self.types])

    def _cast(
        self, name: str, stored: pa.Array[Any], target: pa.DataType, done: int
    ) -> pa.Array[Any]:
        rule = f"column {name!r} is read as {target}"
        try:
            return stored.cast(target)
        except pa.ArrowInvalid:
            row = first_refused(stored, lambda part: part.cast(target))
            value = reprlib.repr(stored[row].as_py())
            raise ReadError(
                f"{self.locate(done + row)}, column {name!r}: {value} is not {target}",
                rule,
                f"correct the value or read the column as {stored.type}",
            ) from None
        except pa.ArrowNotImplementedError:
            raise ReadError(
                f"{self.path.name}, column {name!r}: {stored.type} does not turn into {target}",
                rule,
                f"read the column as {stored.type}",
            ) from None


@dataclass(frozen=True)
class ParquetSplit(_StoredSplit):
    """One row group of a Parquet file; its strings come dictionary-encoded."""

    kind = _PARQUET

    def _stored(self) -> Iterator[pa.RecordBatch]:
        plain = {name for name, target in self.types if _wants_plain(target)}
        with open_parquet(self.path, plain) as file:
            names = [name for name, _ in self.types]
            yield from file.iter_batches(BATCH_ROWS, [self.part], names, use_threads=False)

    def _rows_before(self) -> int:
        with pq.ParquetFile(self.path) as file:
            return sum(file.metadata.row_group(i).num_rows for i in range(self.part))


def _wants_plain(target: pa.DataType | None) -> bool:
    return target is not None and not pa.types.is_dictionary(target)


def open_parquet(path: Path, plain: Iterable[str] = ()) -> pq.ParquetFile:
    """Open a Parquet file with its strings dictionary-encoded, but for the columns in `plain`."""
    schema = pq.read_schema(path)
    encoded = [f.name for f in schema if _is_text(f.type) and f.name not in plain]
    return pq.ParquetFile(
        path, read_dictionary=encoded, pre_buffer=False, buffer_size=_BUFFER_BYTES
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@dataclass(frozen=True)
class IpcFileSplit(_StoredSplit):
    """One record batch of an Arrow IPC file, memory-mapped."""

    kind = _IPC_FILE

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(self.path)) as file:
            batch = ipc.open_file(file).get_batch(self.part)
            yield batch.select([name for name, _ in self.types])

    def _rows_before(self) -> int:
        with pa.memory_map(str(self.path)) as file:
            reader = ipc.open_file(file)
            return sum(reader.get_batch(i).num_rows for i in range(self.part))


@dataclass(frozen=True)
class IpcStreamSplit(_StoredSplit):
    """A whole Arrow IPC stream, which can only be read from its beginning."""

    kind = _IPC_STREAM

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(self.path), "rb") as file, ipc.open_stream(file) as reader:
            for whole in reader:
                yield whole.select([name for name, _ in self.types])

    def _rows_before(self) -> int:
        return 0


# Tables -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Listing:
    """How to list what one format stores: the schema and the number of parts of a file."""

    split: type[_StoredSplit]
    inspect: Callable[[Path], tuple[pa.Schema, int]]

    def read(self, path: Path) -> tuple[pa.Schema, list[_StoredSplit]]:
        """Return the schema of a file and its parts, which read no column yet."""
        with _readable(path, self.split.kind):
            version = version_of(path)
            schema, parts = self.inspect(path)
        twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
        if twice is not None:
            raise ReadError(
                f"{path.name} has two columns named {twice!r}",
                "column names must be unique",
                "rename one of them",
            )
        return schema, [self.split(path, part, (), version) for part in range(parts)]


def _inspect_parquet(path: Path) -> tuple[pa.Schema, int]:
    with open_parquet(path) as file:
        return file.schema_arrow, file.num_row_groups


def _inspect_ipc_file(path: Path) -> tuple[pa.Schema, int]:
    with pa.memory_map(str(path)) as file:
        reader = ipc.open_file(file)
        return reader.schema, reader.num_record_batches


def _inspect_ipc_stream(path: Path) -> tuple[pa.Schema, int]:
    with pa.OSFile(str(path), "rb") as file, ipc.open_stream(file) as reader:
        return reader.schema, 1


_LISTINGS = {
    _PARQUET: _Listing(ParquetSplit, _inspect_parquet),
    _IPC_FILE: _Listing(IpcFileSplit, _inspect_ipc_file),
    _IPC_STREAM: _Listing(IpcStreamSplit, _inspect_ipc_stream),
}


class StoredTable:
    """Files of one self-describing format with the same columns.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files, in order.
    listing : _Listing
        How to list what the format stores.

    Raises
    ------
    ReadError
        If a file is damaged.
    SchemaError
        If the columns of two files differ in name, order or type.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.parquet"
    ...     pq.write_table(pa.table({"age": [39, None]}), path)
    ...     open_files(path).head().to_pylist()
    [{'age': 39}, {'age': None}]
    """

    guesses: ClassVar[bool] = False

    def __init__(self, paths: Sequence[Path], listing: _Listing) -> None:
        self._schema, self._parts = listing.read(paths[0])
        for path in paths[1:]:
            schema, parts = listing.read(path)
            _require_same(self._schema, schema, paths[0], path)
            self._parts += parts
        self._where = paths[0].name
        self.names = tuple(self._schema.names)

    def head(self) -> pa.RecordBatch:
        """Return the first ``BATCH_ROWS`` rows, all columns, in stored types.

        Returns
        -------
        pyarrow.RecordBatch

        Raises
        ------
        ReadError
            If a file is damaged.
        """
        return self._head

    @cached_property
    def _head(self) -> pa.RecordBatch:
        splits = self.splits(dict.fromkeys(self.names))
        batches = chain.from_iterable(split.record_batches() for split in splits)
        return first_rows(batches, self._schema.remove_metadata())

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[_StoredSplit]:
        """Return one split per row group or record batch, reading these columns only.

        Parameters
        ----------
        types : mapping of str to pyarrow.DataType or None
            The type of each column to read, or None as stored.

        Returns
        -------
        sequence of splits

        Raises
        ------
        ParameterError
            If no column is asked for.
        SchemaError
            If a column is not there.
        """
        require_columns(types, self.names, self._where)
        asked = tuple(types.items())
        return tuple(replace(part, types=asked) for part in self._parts)


def _require_same(one: pa.Schema, other: pa.Schema, first: Path, second: Path) -> None:
    if one.names != other.names:
        raise SchemaError(
            f"the columns of {first} are {', '.join(map(repr, one.names))}, "
            f"those of {second} are {', '.join(map(repr, other.names))}",
            "files of one table must have the same columns in the same order",
            "read them apart",
        )
    for name in one.names:
        types = one.field(name).type, other.field(name).type
        if types[0] != types[1]:
            raise SchemaError(
                f"column {name!r} is {types[0]} in {first} and {types[1]} in {second}",
                "files of one table must have the same column types",
                "write one of them again with the other's types",
            )
