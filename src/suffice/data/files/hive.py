"""Tables in folders whose names are columns: ``year=2026/month=1/part.parquet``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.files.listing import ListedFile
from suffice.data.split_size import file_of
from suffice.data.split_view import SplitView
from suffice.data.table import Table, TableView, first_rows, require_columns
from suffice.data.type_names import held
from suffice.errors import SchemaError

__all__ = ["FolderColumns", "FolderSplit", "with_folders"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def with_folders(table: Table, files: Sequence[ListedFile]) -> FolderColumns | Table:
    """Add to a table of files the columns that their folders name.

    A column that the files store themselves is read from them. The others come after those of
    the files, as dictionaries: whole numbers if all of their values are, else strings. The rule
    in ``schema.py`` makes them categories.

    Raises
    ------
    SchemaError
        If two files lie under folders that name different columns.
    """
    for file in files[1:]:
        _require_same(files[0], file)
    names = [name for name, _ in files[0].folders if name not in table.names]
    if not names:
        return table
    kinds = {name: _kind([dict(file.folders)[name] for file in files]) for name in names}
    return FolderColumns(table, {file.path: _values(file, kinds) for file in files})


def _kind(values: Sequence[str | None]) -> pa.DataType:
    """Whole numbers where every value is one, else strings."""
    whole = all(value is None or _WHOLE.fullmatch(value) for value in values)
    return pa.int64() if whole else pa.string()


def _values(file: ListedFile, kinds: Mapping[str, pa.DataType]) -> dict[str, pa.Array[Any]]:
    said = dict(file.folders)
    return {
        name: pa.array([said[name]], pa.string()).cast(kind).dictionary_encode()
        for name, kind in kinds.items()
    }


def _require_same(one: ListedFile, other: ListedFile) -> None:
    names = [[name for name, _ in file.folders] for file in (one, other)]
    if sorted(names[0]) != sorted(names[1]):
        said = [" and ".join(f"{name}=" for name in found) or "no column" for found in names]
        raise SchemaError(
            f"the folders of {one.path} name {said[0]}, those of {other.path} {said[1]}",
            "the files of one table have the same columns",
            "read them apart",
        )


@dataclass(frozen=True)
class FolderColumns(TableView):
    """A table of files with the columns that their folders name."""

    values: Mapping[Path | None, Mapping[str, pa.Array[Any]]]  # what each file's folders say

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the files, then those of the folders."""
        return (*self.table.names, *next(iter(self.values.values())))

    @property
    def _head(self) -> pa.RecordBatch:
        named = next(iter(self.values.values()))
        splits = self.splits(dict.fromkeys(named))
        schema = pa.schema([(name, value.type) for name, value in named.items()])
        said = first_rows(chain.from_iterable(s.record_batches() for s in splits), schema)
        head = self.table.head()
        return pa.RecordBatch.from_arrays([*head.columns, *said.columns], names=list(self.names))

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[FolderSplit]:
        """Return the parts of the files, reading these columns only."""
        require_columns(types, self.names, "the table")
        stored = {name: kind for name, kind in types.items() if name in self.table.names}
        # Without a column of its own, a file still says how many rows it has. Its first column is
        # read as text where types are guessed, so that no cell is refused.
        read = stored or {self.table.names[0]: pa.string() if self.table.guesses else None}
        splits = []
        for split in self.table.splits(read):
            said = self.values[file_of(split)].items()
            cells = {name: _cast(name, value, types[name]) for name, value in said if name in types}
            splits.append(FolderSplit(split, tuple(types), cells))
        return splits


def _cast(name: str, value: pa.Array[Any], kind: pa.DataType | None) -> pa.Array[Any]:
    if kind is None:
        return value
    plain = value.cast(value.type.value_type)
    try:
        return plain.cast(kind)
    except pa.ArrowInvalid:
        raise SchemaError(
            f"a folder is named {name}={plain[0].as_py()}",
            f"column {name!r} is read as {held(kind)}",
            "rename the folder",
        ) from None


def _repeated(value: pa.Array[Any], rows: int) -> pa.Array[Any]:
    return value.take(pa.repeat(0, rows))


@dataclass(frozen=True)
class FolderSplit(SplitView):
    """A part of a file with the columns that its folders name, in the order asked for."""

    names: tuple[str, ...]
    values: Mapping[str, pa.Array[Any]]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        for batch in self.split.record_batches():
            said = {name: _repeated(cell, batch.num_rows) for name, cell in self.values.items()}
            columns = [said[name] if name in said else batch.column(name) for name in self.names]
            yield pa.RecordBatch.from_arrays(columns, names=list(self.names))
