"""Files that can be read only once, such as pipes: they are copied, and read from the copies.

The first rows tell what the columns are, and every pass reads all rows from the beginning. A worker
process cannot read this process's pipes, so a pipe is first copied to a temporary file.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from suffice.data.files.listing import ListedFile, require_content
from suffice.data.files.temporary import TemporaryFolder, keeping
from suffice.data.files.version import readable
from suffice.data.split_view import SplitView
from suffice.data.table import TableView

__all__ = ["STANDARD_INPUT", "CopiedSplit", "CopiedTable", "is_read_once", "with_copies"]

STANDARD_INPUT = "/dev/stdin"
_DESCRIPTORS = (STANDARD_INPUT, "/dev/fd/", "/proc/self/fd/")


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
    """Replace what can be read only once by copies, and return the folders where they are.

    Raises
    ------
    ReadError
        If a copy cannot be made, or is empty.
    """
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


@dataclass(frozen=True)
class CopiedTable(TableView):
    """A table of files in temporary folders, which stay as long as it or one of its parts does."""

    folders: tuple[TemporaryFolder, ...]

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[CopiedSplit]:
        """Return the parts, reading these columns only."""
        return [CopiedSplit(split, self.folders) for split in self.table.splits(types)]


@dataclass(frozen=True)
class CopiedSplit(SplitView):
    """A part of a table of copies."""

    folders: tuple[TemporaryFolder, ...]

    @property
    def source_file(self) -> None:
        """None: another process that goes on later will not find the copy."""
