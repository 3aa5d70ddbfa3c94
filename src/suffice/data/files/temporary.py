"""Temporary folders, which stay as long as the tables and parts that read from them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.data.source import PartView
from suffice.errors import ReadError


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


@dataclass(frozen=True)
class KeptPart(PartView):
    """A part of files in temporary folders, which stay as long as it does."""

    folders: tuple[TemporaryFolder, ...]

    @property
    def file(self) -> None:
        """None: another process that goes on later will not find the file."""
