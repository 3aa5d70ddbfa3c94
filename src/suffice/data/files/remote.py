"""Paths with an address, such as ``https://`` and ``s3://``: copied by fsspec, read as files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any

from suffice.data.files.temporary import TemporaryFolder, keeping
from suffice.errors import ParameterError, ReadError, SufficeError

__all__ = ["with_local_copies"]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def with_local_copies(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> tuple[Any, tuple[TemporaryFolder, ...]]:
    """Replace addresses by the files that they name, copied to temporary folders.

    Parameters
    ----------
    path : path or sequence of paths
        A glob in an address stands for all that it matches, where the server can list files.

    Raises
    ------
    ParameterError
        If fsspec, or what it needs for an address, is not installed.
    ReadError
        If a file cannot be copied.
    """
    listed = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not any(isinstance(item, str) and _ADDRESS.match(item) for item in listed):
        return path, ()
    folder = TemporaryFolder()
    files: list[Any] = []
    for item in listed:
        remote = isinstance(item, str) and _ADDRESS.match(item)
        files.extend(_copied(str(item), folder) if remote else [item])
    return files, (folder,)


def _copied(address: str, folder: TemporaryFolder) -> list[str]:
    protocol = address.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise _absent(address, "fsspec", "pip install 'suffice[remote]'") from None
    copies = []
    try:
        for number, file in enumerate(fsspec.open_files(address, "rb")):
            # A table has files of one name in different folders.
            copy = folder.path / str(number) / (PurePosixPath(file.path).name or protocol)
            with file as stream:
                _write(stream, copy, folder)
            copies.append(str(copy))
    except SufficeError:
        raise
    except ImportError as error:
        raise _absent(address, f"what reads {protocol}://", str(error)) from None
    except ValueError as error:
        raise ParameterError(f"{address!r} cannot be opened", str(error)) from None
    except Exception as error:  # every kind of server has errors of its own
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ReadError(f"{address} cannot be read: {reason}", "", "check the address") from error
    if not copies:
        raise ReadError(f"no file matches {address!r}", "", "check the address")
    return copies


def _write(stream: IO[bytes], copy: Path, folder: TemporaryFolder) -> None:
    """Copy a file; what goes wrong with the copy is no fault of the address."""
    with keeping(folder):
        copy.parent.mkdir(exist_ok=True)
        target = copy.open("wb")
    with target:
        while block := stream.read(1 << 20):
            with keeping(folder):
                target.write(block)


def _absent(address: str, what: str, step: str) -> ParameterError:
    return ParameterError(f"{address!r} is an address", f"{what} is not installed", step)
