"""What a sum is of, in one short text: equal texts, equal sums."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from suffice.data.files.version import FileVersion

__all__ = ["checksum"]

PLAIN_TYPES = (type(None), bool, int, float, complex, str, bytes)
NAMED_TYPES = (type, FunctionType, BuiltinFunctionType)


def checksum(*values: Any) -> str:
    """Return a SHA-256 of what values hold; copies have that of the original.

    A file that a value names stands for its content: by its path, its size and the times of its
    last change, and where the value knows its version, by its end.

    Parameters
    ----------
    *values : object
        Functions, dataclasses, arrays, collections; anything that can be pickled.

    Examples
    --------
    >>> same = [checksum({"a": np.array([1.5, 2.0])}) for _ in range(2)]
    >>> same[0] == same[1], checksum({"a": np.array([1.5, 2.5])}) == same[0]
    (True, False)
    """
    return _Reader().of(values).hex()


class _Reader:
    """Reads values down to their bytes."""

    def __init__(self) -> None:
        # The values themselves are kept, or another might take the place of one in memory.
        self._seen: dict[int, tuple[Any, bytes]] = {}

    def of(self, value: Any) -> bytes:
        """The digest of a value; parts that values share, such as a layout, are read once."""
        if isinstance(value, PLAIN_TYPES):
            return _digest(type(value).__name__, repr(value).encode())
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._read(value)
        return self._seen[id(value)][1]

    def _read(self, value: Any) -> bytes:
        name = _name(type(value))
        if isinstance(value, np.ndarray) and value.dtype != object:
            return _digest(f"{name} {value.dtype.str} {value.shape}", np.ascontiguousarray(value))
        if isinstance(value, PurePath):
            return self._all(name, (str(value), *_state(value)))
        if isinstance(value, FileVersion):
            return self._all(name, value.lasting)
        if isinstance(value, NAMED_TYPES):
            return _digest("named", _name(value).encode())
        if is_dataclass(value):
            return self._all(name, (getattr(value, field.name) for field in fields(value)))
        if isinstance(value, Mapping):
            return self._all(name, (part for pair in value.items() for part in pair))
        if isinstance(value, Set):
            return _digest(name, *sorted(map(self.of, value)))
        if isinstance(value, list | tuple):
            return self._all(name, value)
        return self._all(name, _reduced(value))

    def _all(self, name: str, parts: Iterable[Any]) -> bytes:
        return _digest(name, *map(self.of, parts))


def _digest(name: str, *parts: Any) -> bytes:
    digest = hashlib.sha256(name.encode())
    for part in parts:
        digest.update(b"|")
        digest.update(part)
    return digest.digest()


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _state(path: PurePath) -> tuple[int, ...]:
    """Size and times of the last change of a file; nothing of one that is not on this machine."""
    try:
        state = os.stat(path)
    except OSError:
        return ()
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _reduced(value: Any) -> tuple[Any, ...]:
    """What pickle would write of a value: how to make it, and what goes in."""
    reduced = value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return (reduced,)
    made, items = reduced[:3], reduced[3:5]
    return (*made, *(list(part or ()) for part in items))
