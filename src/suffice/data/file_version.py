"""Which version of a file was listed, so that a later reading notices another one."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from suffice.errors import ReadError

__all__ = ["FileVersion", "require_version", "version_of"]


@dataclass(frozen=True)
class FileVersion:
    """The size of a file in bytes, and when it was last changed, in nanoseconds."""

    size: int
    changed: int


def version_of(path: Path) -> FileVersion | None:
    """Return the version of a file as it is now; None for pipes and devices, which have none.

    Raises
    ------
    OSError
        If there is no such file.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileVersion(status.st_size, status.st_mtime_ns)


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
        now = None if version is None else version_of(path)
    except FileNotFoundError:
        raise ReadError(
            f"{path} has gone since it was listed",
            "every pass and every worker must find it there",
            "begin again, with a file that stays where it is",
        ) from None
    if version is None or now == version:
        return
    if now is not None and now.size != version.size:
        how = f"it had {version.size:,} bytes and has {now.size:,}"
    else:
        how = "it was written again"
    raise ReadError(
        f"{path.name} has changed since it was listed: {how}",
        "every pass must read the same rows",
        "begin again, with a file that stays as it is",
    )
