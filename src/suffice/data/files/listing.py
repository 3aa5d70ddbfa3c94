"""The files that a path, a folder or a glob names, and what the names of their folders say.

A folder stands for all files in it and below it, except those whose own name, or whose folder's
name, begins with ``.`` or ``_``: engines keep their notes there. A folder called ``year=2026``
says that the column ``year`` holds 2026 in every row below it (Hive's layout); it counts where
it is part of the path as it was given, or below that. Models, sums, plans and keys in a folder
or among the files of a glob are left out.

The first rows tell what the columns are, and every pass reads all rows from the beginning: what
can be read only once, and what has an address such as ``s3://``, is copied to a temporary file.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pyarrow as pa

from suffice.data.files.temporary import KeptPart, TemporaryFolder, keeping
from suffice.data.table import Table, TableView, WithColumns
from suffice.data.version import readable
from suffice.errors import ParameterError, ReadError, SchemaError, first_line, warn
from suffice.numerics.in_print import listed
from suffice.persist import is_no_table

NO_TABLE = "a model, sums, a plan or a key"
_MISSING = "__HIVE_DEFAULT_PARTITION__"
STANDARD_INPUT = "/dev/stdin"
_DESCRIPTORS = (STANDARD_INPUT, "/dev/fd/", "/proc/self/fd/")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


@dataclass(frozen=True)
class ListedFile:
    """A file, and the values that its folders give to columns, None = missing."""

    path: Path
    folders: tuple[tuple[str, str | None], ...] = ()

    @classmethod
    def of(cls, path: str) -> ListedFile:
        """Read what the folders of a path say, in their order; the innermost has the last word."""
        file = Path(path)
        pairs = [part.split("=", 1) for part in file.parent.parts if "=" in part[1:]]
        said = {unquote(name): unquote(value) for name, value in pairs}
        values = ((name, None if value == _MISSING else value) for name, value in said.items())
        return cls(file.absolute(), tuple(values))


def local_files(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> tuple[list[ListedFile], tuple[TemporaryFolder, ...]]:
    """List the files of a table, and the folders with copies of those that are no local files.

    A glob in an address stands for all that it matches, where the server can list files.
    """
    files, folders = [], []
    for given in [path] if isinstance(path, str | os.PathLike) else path:
        item = os.fspath(given)
        paths = expanded(item) if (is_address := _ADDRESS.match(item)) is None else []
        if is_address:
            folders.append(TemporaryFolder())
            paths = _fetched(item, folders[-1])
        for file in map(ListedFile.of, paths):
            if is_read_once(file.path):
                folders.append(TemporaryFolder())
                file = replace(file, path=_copy(file.path, folders[-1]))
            files.append(file)
    if not files:
        raise ReadError("the list of files is empty", "a table needs at least one", "name a file")
    return files, tuple(folders)


def _copy(path: Path, folder: TemporaryFolder) -> Path:
    standard = str(path) == STANDARD_INPUT
    copy = folder.path / ("standard input" if standard else f"pipe {path.name}")
    with (
        readable(path),
        open(0 if standard else path, "rb", closefd=not standard) as stream,
        keeping(folder),
        copy.open("wb") as file,
    ):
        shutil.copyfileobj(stream, file)
    return copy


def _fetched(address: str, folder: TemporaryFolder) -> list[str]:
    copies: list[Path] = []
    try:
        import fsspec

        for file in fsspec.open_files(address, "rb"):
            # A table has files of one name in different folders.
            copy = folder.path / str(len(list(folder.path.iterdir())))
            copy.mkdir()
            copies.append(copy / (PurePosixPath(file.path).name or "file"))
            with file as stream, copies[-1].open("wb") as target:
                shutil.copyfileobj(stream, target)
    except ImportError as error:
        raise ParameterError(
            f"{address!r} is an address",
            f"a library that reads it is not installed: {first_line(error)}",
            "pip install 'suffice[remote]', and what fsspec needs for this kind of address",
        ) from None
    except Exception as error:  # every kind of server has errors of its own
        reason = first_line(error)
        raise ReadError(f"{address} cannot be read: {reason}", "", "check the address") from error
    if not copies:
        raise ReadError(f"no file matches {address!r}", "", "check the address")
    return list(map(str, copies))


def is_read_once(path: Path) -> bool:
    """Tell pipes, devices and open descriptors from files."""
    is_file = path.is_file() and not str(path).startswith(_DESCRIPTORS)
    return path.exists() and not (is_file or path.is_dir())


def expanded(path: str) -> list[str]:
    """Return the files that a path stands for, those of a folder or glob sorted by name.

    A file whose own name looks like a glob wins.
    """
    matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not matches:
        pattern = glob.has_magic(path)
        raise ReadError(
            f"no file matches {path!r}" if pattern else f"{path!r} does not exist",
            "",
            f"check the path; the working directory is {os.getcwd()}",
        )
    if os.path.isfile(path):
        return [path]
    # What a pattern matches among folders is reached through the pattern, or not meant.
    files = [match for match in matches if not os.path.isdir(match)]
    files = files or [file for match in matches for file in _below(match)]
    tables = [file for file in files if not _is_no_table(file)]
    if not tables:
        raise ReadError(f"{path!r} holds {NO_TABLE}, and no table", "", "check the path")
    if others := [os.path.basename(file) for file in files if file not in tables]:
        warn(f"{path}: {listed(others)} left out, as {NO_TABLE} is no table.")
    return tables


def _is_no_table(file: str) -> bool:
    if os.path.isfile(file):  # not a pipe, which is read once
        with suppress(OSError), open(file, "rb") as opened:
            return is_no_table(opened.read(64))
    return False


def _below(folder: str) -> list[str]:
    found = sorted(_walk(folder))
    if not found:
        raise ReadError(
            f"{folder!r} is a folder without files",
            "names that begin with '.' or '_' do not count",
            "check the path",
        )
    return found


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if _counts(name) and not _circles(parent, name)]
        yield from (os.path.join(parent, name) for name in names if _counts(name))


def _circles(parent: str, name: str) -> bool:
    return Path(os.path.realpath(parent)).is_relative_to(
        os.path.realpath(os.path.join(parent, name))
    )


def _counts(name: str) -> bool:
    return not name.startswith((".", "_"))


_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def with_folders(table: Table, files: Sequence[ListedFile]) -> Table:
    """Add to a table of files the columns that their folders name.

    A column that the files store themselves is read from them. The others come after those of
    the files, as dictionaries: whole numbers if all of their values are, else strings. The rule
    in ``schema.py`` makes them categories.
    """
    for file in files[1:]:
        _require_same(files[0], file)
    added: dict[str, pa.DataType] = {}
    for name, _ in files[0].folders:
        if name not in table.names:
            values = [dict(file.folders)[name] for file in files]
            whole = all(value is None or _WHOLE.fullmatch(value) for value in values)
            added[name] = pa.dictionary(pa.int32(), pa.int64() if whole else pa.string())
    if not added:
        return table
    return WithColumns(table, added, {file.path: dict(file.folders) for file in files})


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
class CopiedTable(TableView):
    """A table of files in temporary folders, which stay as long as it or one of its parts does."""

    folders: tuple[TemporaryFolder, ...]

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[KeptPart]:
        return [KeptPart(part, self.folders) for part in self.table.parts(types)]
