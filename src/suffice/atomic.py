"""Files that are either complete or absent."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

PIECE = 1 << 24  # bytes written at a time: Ctrl-C is heard in between


@contextmanager
def atomic_writer(path: str | os.PathLike[str], mode: Literal["wb", "w"] = "wb") -> Iterator[Any]:
    r"""Open a file that appears under its name only when the block ends without an error.

    The block writes to a temporary file in the same directory; at the end that file is flushed
    to the disk and takes the name in one step. After an error the temporary file is gone and
    whatever stood under the name is as it was. A new file gets the permissions of any other new
    file, a replaced one keeps its own, and a symbolic link keeps pointing where it did.

    Parameters
    ----------
    path : str or os.PathLike
        The file to write.
    mode : {"wb", "w"}, default "wb"
        Bytes, or UTF-8 text whose line ends are written as given.

    Yields
    ------
    file object
        The temporary file, open for writing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     target = Path(directory) / "labels.csv"
    ...     with atomic_writer(target, "w") as file:
    ...         _ = file.write("label\nyes\n")
    ...     target.read_text()
    'label\nyes\n'
    """
    replaces = os.path.exists(path)
    if replaces:
        _check_replaceable(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".suffice-{secrets.token_hex(8)}.tmp")
    try:
        # Unlike `tempfile`, with the permissions that the umask asks for.
        content = io.BufferedWriter(_Target(temporary, path))
        text = io.TextIOWrapper(content, encoding="utf-8", newline="") if mode == "w" else None
        with text or content as file:
            yield file
            file.flush()
            with _naming(path):
                os.fsync(file.fileno())
        with _naming(path):
            if replaces:
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse what a rename would destroy although a plain write would not."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not os.path.isfile(path):
        raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


class _Target(io.FileIO):
    """A new file whose errors name the file that was asked for."""

    def __init__(self, temporary: Path, path: str | os.PathLike[str]) -> None:
        self._path = path
        with _naming(path):
            super().__init__(temporary, "xb")

    def write(self, data: Any, /) -> int:
        with _naming(self._path):
            return super().write(memoryview(data)[:PIECE])

    def close(self) -> None:
        with _naming(self._path):
            super().close()


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors name a file as the user knows it, not as a temporary one, or not at all."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from None
