"""Temporary files and folders whose names say that nobody has them once their process was killed.

Who uses one holds a lock on it (`flock`), which the system takes back when the last process that
has it ends, in whatever way. The name says where this lock can be seen: on this file system, by the
processes of this machine since it was started. Under a name of another place there may be a lock
that is not seen here, and what has no name of this kind was never locked; both are left alone. What
has a name of this place, and belongs to this user and to no process, is removed by the next run.

Where a system has no such locks, or does not tell when it was started, names say nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from stat import S_ISDIR, S_ISREG

if sys.platform != "win32":
    import fcntl

__all__ = ["OURS", "Held", "sweep"]

OURS = "suffice-"
START = Path("/proc/sys/kernel/random/boot_id")  # drawn when Linux starts


class Held:
    """A temporary file or folder under a name by which the next run knows it.

    It is locked first and renamed then, so that nothing with such a name was ever without a lock
    while it was in use.

    Parameters
    ----------
    path : Path
        What was made just now. Its name has `OURS` in it, and a part drawn at random.

    Examples
    --------
    >>> import tempfile
    >>> held = Held(Path(tempfile.mkdtemp(prefix=OURS)))
    >>> held.path.is_dir()
    True
    >>> held.path.rmdir()
    >>> held.let_go()
    """

    path: Path

    def __init__(self, path: Path) -> None:
        self.path = path
        place = _place(path.parent)
        self._lock = _locked(path) if place is not None else None
        if self._lock is not None:
            self.path = path.with_name(path.name.replace(OURS, f"{OURS}{place}-", 1))
            path.rename(self.path)

    def let_go(self) -> None:
        """Give the lock back: what it was for is gone, or has another name."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@cache
def sweep(folder: Path) -> None:
    """Remove what killed processes have left in a folder; a process looks once.

    Examples
    --------
    >>> sweep(Path("not there"))
    """
    place = _place(folder)
    if place is None:
        return
    ours = re.compile(rf"\.?{OURS}{place}-[\w.]+")
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and _is_mine(entry.stat(follow_symlinks=False)):
                _remove_if_free(folder / entry.name)


def _remove_if_free(path: Path) -> None:
    lock = _locked(path)
    if lock is None:
        return
    try:
        state = os.fstat(lock)
        if not _is_mine(state):
            return
        if S_ISDIR(state.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        elif S_ISREG(state.st_mode):
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _is_mine(state: os.stat_result) -> bool:
    return state.st_uid == os.geteuid()


def _place(folder: Path) -> str | None:
    """Name the processes and the file system that share locks, or None where this is unknown.

    Another mount of the same files has another number of the device, and a number is not given
    again while a process holds a file there.
    """
    if sys.platform == "win32":
        return None
    try:
        there = f"{START.read_text()}{folder.stat().st_dev}"
    except OSError:
        return None
    return blake2b(there.encode(), digest_size=8).hexdigest()


def _locked(path: Path) -> int | None:
    """Lock a file or folder, never what a link leads to; None if another has it, or none can."""
    if sys.platform == "win32":
        return None
    try:
        folder = S_ISDIR(path.lstat().st_mode)
        # Files of a network are locked by who may write to them.
        access = os.O_RDONLY if folder else os.O_RDWR
        lock = os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
