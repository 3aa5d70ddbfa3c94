"""Pipes, and files with an address such as ``s3://``: they are copied, and read from the copies.

The first rows tell what the columns are, and every pass reads all rows from the beginning. A worker
process cannot read this process's pipes, so a pipe is first copied to a temporary file.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import pyarrow as pa

from suffice.data.files.listing import ListedFile, expanded
from suffice.data.files.temporary import KeptPart, TemporaryFolder, keeping
from suffice.data.table import TableView
from suffice.data.version import readable
from suffice.errors import ParameterError, ReadError, first_line

STANDARD_INPUT = "/dev/stdin"
_DESCRIPTORS = (STANDARD_INPUT, "/dev/fd/", "/proc/self/fd/")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def is_read_once(path: Path) -> bool:
    """Tell pipes, devices and open descriptors from files."""
    is_file = path.is_file() and not str(path).startswith(_DESCRIPTORS)
    return path.exists() and not (is_file or path.is_dir())


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


@dataclass(frozen=True)
class CopiedTable(TableView):
    """A table of files in temporary folders, which stay as long as it or one of its parts does."""

    folders: tuple[TemporaryFolder, ...]

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[KeptPart]:
        return [KeptPart(part, self.folders) for part in self.table.parts(types)]
