"""Which version of a file was listed, so that a later reading notices another one."""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from suffice.errors import ReadError

__all__ = ["FileVersion", "readable", "require_version", "version_of"]

END_BYTES = 1 << 12
LONGEST_END = 1 << 26
FOOTERS = ((b"PAR1", 8), (b"ARROW1", 10))  # what ends a file, and the bytes with the length before
COARSEST_CLOCK = 2_000_000_000  # nanoseconds: no file system notes its times in longer steps


@dataclass(frozen=True)
class FileVersion:
    """What tells a file from any that takes its place."""

    size: int  # bytes
    # When its content was last changed, in nanoseconds, as far as programs tell: they may set this
    # time as they like.
    changed: int
    # When its content, its times, its rights or its links were last changed, in nanoseconds, which
    # the system alone notes. On Windows, when it was made.
    status_changed: int
    end: str  # a digest of its end: of the whole footer, where it is a Parquet or an Arrow file
    machine: str  # where this was found out: on others, the file may be a copy
    inode: int  # the place of the file there, 0 where there are none
    settled: bool  # whether its status was changed so long before that a later change would show

    @property
    def lasting(self) -> tuple[int, int, int, str]:
        """What stays the same as long as the file does, whoever asks for it."""
        return self.size, self.changed, self.status_changed, self.end


def version_of(path: Path) -> FileVersion | None:
    """Return the version of a file as it is now; None for pipes and devices, which have none.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return None
    age = time.time_ns() - status.st_ctime_ns
    return FileVersion(
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        _end(path),
        platform.node(),
        status.st_ino,
        settled=os.name == "posix" and age > COARSEST_CLOCK,
    )


def _end(path: Path) -> str:
    """A digest of the last bytes of a file: its footer, and 4,096 bytes at least."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        end = file.read()
        for mark, after in FOOTERS:
            if end.endswith(mark):
                footer = after + int.from_bytes(end[-after : 4 - after], "little")
                file.seek(max(0, size - min(max(footer, END_BYTES), LONGEST_END)))
                end = file.read()
    return hashlib.sha256(end).hexdigest()


def require_version(path: Path, version: FileVersion | None) -> None:
    """Refuse a file that is not the version that was listed; None accepts every version.

    Raises
    ------
    ReadError
        If the file has changed, or is gone.
    OSError
        If it is there and cannot be looked at.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.txt"
    ...     _ = path.write_text("one")
    ...     version = version_of(path)
    ...     _ = path.write_text("one two")
    ...     require_version(path, version)
    Traceback (most recent call last):
        ...
    suffice.errors.ReadError: a.txt has changed since it was listed: it had 3 bytes and has 7; ...
    """
    try:
        how = None if version is None else _change(path, version)
    except FileNotFoundError:
        raise ReadError(
            f"{path} has gone since it was listed",
            "every pass and every worker must find it there",
            "begin again, with a file that stays where it is",
        ) from None
    if how is not None:
        raise ReadError(
            f"{path.name} has changed since it was listed: {how}",
            "every pass must read the same rows",
            "begin again, with a file that stays as it is",
        )


def _change(path: Path, version: FileVersion) -> str | None:
    """What shows that a file is not the version that was listed."""
    now = path.stat()
    here = platform.node() == version.machine
    if now.st_size != version.size:
        return f"it had {version.size:,} bytes and has {now.st_size:,}"
    if now.st_mtime_ns != version.changed:
        return "it was written again"
    if here and now.st_ctime_ns != version.status_changed:
        return "it was written and its time set back, or its rights or links are others"
    if here and version.settled and now.st_ino == version.inode:
        return None
    if _end(path) != version.end:
        return "another file of its size and time took its place"
    return None


@contextmanager
def readable(path: Path, version: FileVersion | None = None, kind: str = "") -> Iterator[None]:
    """Turn whatever goes wrong with a file into a ReadError, above all that it has changed.

    Parameters
    ----------
    path : pathlib.Path
    version : FileVersion, optional
        The only one that may be read.
    kind : str
        The format that the file has to have, if it is not text.
    """
    try:
        require_version(path, version)
        yield
        require_version(path, version)
    except (OSError, EOFError, UnicodeError, zlib.error, pa.ArrowException) as error:
        with suppress(OSError):
            require_version(path, version)
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise ReadError(
            f"{path.name} cannot be read{kind and f' as {kind}'}: {reason}",
            "",
            f"check the file or {'write it' if kind else 'copy it'} again",
        ) from error
