"""How far a file has been read, for who shows progress.

Parts of most tables are small, and a part that is done says enough. A file of text is one part
whatever its size, so its reader tells how many bytes it has taken.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["MeteredFile", "MeteredGzip", "reporting_bytes"]

_hear: ContextVar[Callable[[int], None] | None] = ContextVar("hear", default=None)


@contextmanager
def reporting_bytes(hear: Callable[[int], None]) -> Iterator[None]:
    """Tell a function of the bytes that are read in this thread.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> sizes = []
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.csv"
    ...     _ = path.write_text("x,y")
    ...     with reporting_bytes(sizes.append), io.BufferedReader(MeteredFile(path)) as file:
    ...         _ = file.read(100)
    >>> sum(sizes)
    3
    """
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


class MeteredFile(io.FileIO):
    """A file, open for reading, that tells how much is read of it."""

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        count = super().readinto(buffer) or 0
        hear = _hear.get()
        if hear is not None:
            hear(count)
        return count


class MeteredGzip(gzip.GzipFile):
    """A compressed file that tells how much is read of it, before it is decompressed."""

    def __init__(self, path: Any) -> None:
        self._stored = io.BufferedReader(MeteredFile(path))
        super().__init__(fileobj=self._stored, mode="rb")

    def close(self) -> None:
        """Close both files."""
        super().close()
        self._stored.close()
