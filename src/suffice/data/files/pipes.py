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
from typing import Any

import pyarrow as pa

from suffice.data.files.listing import ListedFile, require_content
from suffice.data.files.spool import TemporaryFolder, first_line, keeping
from suffice.data.source import PartView
from suffice.data.table import TableView
from suffice.data.version import readable
from suffice.errors import ParameterError, ReadError

STANDARD_INPUT = "/dev/stdin"
_DESCRIPTORS = (STANDARD_INPUT, "/dev/fd/", "/proc/self/fd/")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def is_read_once(path: Path) -> bool:
    """Tell pipes, devices and open descriptors from files.

    Examples
    --------
    >>> import os
    >>> is_read_once(Path(os.devnull)), is_read_once(Path("not there"))
    (True, False)
    """
    is_file = path.is_file() and not str(path).startswith(_DESCRIPTORS)
    return path.exists() and not (is_file or path.is_dir())


def with_copies(
    listed: Sequence[ListedFile],
) -> tuple[list[ListedFile], tuple[TemporaryFolder, ...]]:
    """Replace what can be read only once by copies, and return the folders where they are."""
    files, folders = [], []
    for file in listed:
        if is_read_once(file.path):
            folders.append(TemporaryFolder())
            file = replace(file, path=_copy(file.path, folders[-1]))
        files.append(file)
    return files, tuple(folders)


def _copy(path: Path, folder: TemporaryFolder) -> Path:
    """Copy a stream to a file whose name says what it was."""
    standard = str(path) == STANDARD_INPUT
    copy = folder.path / ("standard input" if standard else f"pipe {path.name}")
    with (
        readable(path),
        open(0 if standard else path, "rb", closefd=not standard) as stream,
        keeping(folder),
        copy.open("wb") as file,
    ):
        shutil.copyfileobj(stream, file)
    require_content(copy)
    return copy


def with_local_copies(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> tuple[Any, tuple[TemporaryFolder, ...]]:
    """Replace addresses by copies of the files that they name, and return the folders of these.

    A glob in an address stands for all that it matches, where the server can list files.
    """
    listed = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not any(_is_address(item) for item in listed):
        return path, ()
    folder = TemporaryFolder()
    files = [_fetched(str(item), folder) if _is_address(item) else [item] for item in listed]
    return [file for some in files for file in some], (folder,)


def _is_address(item: Any) -> bool:
    return isinstance(item, str) and _ADDRESS.match(item) is not None


def _fetched(address: str, folder: TemporaryFolder) -> list[Path]:
    """Copy what an address names by fsspec."""
    copies = []
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
    return copies


@dataclass(frozen=True)
class CopiedTable(TableView):
    """A table of files in temporary folders, which stay as long as it or one of its parts does."""

    folders: tuple[TemporaryFolder, ...]

    def parts(self, types: Mapping[str, pa.DataType | None]) -> Sequence[CopiedPart]:
        """Return the parts, reading these columns only."""
        return [CopiedPart(part, self.folders) for part in self.table.parts(types)]


@dataclass(frozen=True)
class CopiedPart(PartView):
    """A part of a table of copies."""

    folders: tuple[TemporaryFolder, ...]

    @property
    def file(self) -> None:
        """None: another process that goes on later will not find the copy."""
