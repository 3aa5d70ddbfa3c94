"""Versions of listed files, so that a later reading notices another one."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path

import pyarrow as pa

from suffice.errors import ReadError, first_line


@dataclass(frozen=True)
class FileVersion:
    """Size and time of a file, which tell it from one that takes its place."""

    size: int  # bytes
    changed: int  # when its content was last changed, in nanoseconds


def version_of(path: Path) -> FileVersion | None:
    """Return the version of a file as it is now; None for pipes and devices, which have none."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileVersion(status.st_size, status.st_mtime_ns)


def require_version(path: Path, version: FileVersion | None) -> None:
    """Refuse a file that is not the version that was listed; None accepts every version."""
    if version is None:
        return
    try:
        now = version_of(path)
    except FileNotFoundError:
        raise ReadError(
            f"{path} has gone since it was listed",
            "every pass and every worker must find it there",
            "begin again, with a file that stays where it is",
        ) from None
    if now == version:
        return
    how = "it was written again"
    if now is not None and now.size != version.size:
        how = f"it had {version.size:,} bytes and has {now.size:,}"
    raise ReadError(
        f"{path.name} has changed since it was listed: {how}",
        "every pass must read the same rows",
        "begin again, with a file that stays as it is",
    )


def no_content(path: Path) -> ReadError:
    """Return the error of an empty file."""
    return ReadError(
        f"{path.name} is empty",
        "a table has at least a header or one row",
        "check how it was written",
    )


@contextmanager
def readable(path: Path, version: FileVersion | None = None, kind: str = "") -> Iterator[None]:
    """Turn whatever goes wrong with a file into a ReadError, above all that it has changed.

    Of a file that is not text, ``kind`` is the format that it has to have.
    """
    try:
        require_version(path, version)
        yield
        require_version(path, version)
    except (OSError, EOFError, UnicodeError, zlib.error, LZMAError, pa.ArrowException) as error:
        with suppress(OSError):
            require_version(path, version)
        raise ReadError(
            f"{path.name} cannot be read{kind and f' as {kind}'}: {first_line(error)}",
            "",
            f"check the file or {'write it' if kind else 'copy it'} again",
        ) from error
