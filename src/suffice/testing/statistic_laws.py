"""The laws of a statistic: a commutative group, up to the last bit after rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from suffice.models.model_file import TYPES
from suffice.persist import read_model, write_model
from suffice.testing.comparing import frozen, require

__all__ = ["check_statistic"]


def check_statistic(parts: Sequence[Any], *, types: Mapping[str, type] = TYPES) -> None:
    """Check that statistics of the same columns form a group, and can be saved.

    ::

        a + b = b + a      (a + b) + c = a + (b + c)      a + empty = a
        (a + b) − b = a    a − empty = a                  empty = a − a

    Class-wise statistics also keep their classes: ``place`` and ``take`` undo each other and go
    with +.

    Parameters
    ----------
    parts : sequence of Statistic
        At least one; class-wise statistics over the same k classes. Sums carry 106 bits, so values
        should not differ by more than a factor of 2²⁵ in size.
    types : mapping of str to type
        What a model file may hold.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice.statistics.moments import Moments
    >>> check_statistic([Moments.empty(k=2, d=3)])
    """
    before = frozen(parts)
    for i, a in enumerate(parts):
        _check_group(a, parts[i - 1], parts[(i - 2) % len(parts)])
        _check_file(a, types)
        if hasattr(a, "place"):
            _check_classes(a, parts[i - 1])
    require(frozen(parts) == before, "no operation writes to its inputs")


def _check_group(a: Any, b: Any, c: Any) -> None:
    empty = a - a
    require(a + b == b + a, "a + b = b + a")
    require((a + b) + c == a + (b + c), "(a + b) + c = a + (b + c)")
    require((a + b) - b == a, "(a + b) - b = a")
    require((a + b + c) - (b + c) == a, "(a + b + c) - (b + c) = a")
    require(a + empty == a and empty + a == a and a - empty == a, "a + empty = a")
    require(b - b + a == a, "(b - b) + a = a")
    require(empty + empty == empty, "empty + empty = empty")


def _check_classes(a: Any, b: Any) -> None:
    k = len(a.total)
    order = np.arange(k)[::-1]
    wide, index = 2 * k + 1, 2 * order + 1
    others = np.setdiff1d(np.arange(wide), index)
    placed = a.place(index, wide)
    require(placed.take(index) == a, "a.place(index, k).take(index) = a")
    require(not placed.take(others).total.any(), "a.place(index, k) is empty elsewhere")
    require(a.take(order).take(order) == a, "a.take(backwards).take(backwards) = a")
    require((a + b).place(index, wide) == placed + b.place(index, wide), "place goes with +")
    require((a + b).take(order) == a.take(order) + b.take(order), "take goes with +")


def _check_file(a: Any, types: Mapping[str, type]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "statistic"
        write_model(path, "statistic", a, types=types)
        _, read = read_model(path, types=types)
    require(frozen(read) == frozen(a) and read == a, "a file gives back every bit")
