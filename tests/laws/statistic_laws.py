"""The laws of a statistic: a commutative group, up to the last bit after rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.laws.comparing import frozen, require

from suffice.errors import ParameterError
from suffice.persist import read_model, write_model
from suffice.rules import check
from suffice.statistics.register import STATISTICS
from suffice.tree import named

__all__ = ["check_statistic"]

TYPES = named(*STATISTICS)


def check_statistic(parts: Sequence[Any], *, types: Mapping[str, type] = TYPES) -> None:
    """Check that statistics of the same columns form a group, and can be saved.

    ::

        a + b = b + a      (a + b) + c = a + (b + c)      a + empty = a
        (a + b) − b = a    a − empty = a                  empty = a − a

    Weights are scaled without rounding by powers of two, as far as numbers go:

    ::

        (a + b)/2 = a/2 + b/2    a/2 + a/2 = a    (a/2)/2 = a/4    0 · a = empty

    The form that a model keeps is the same statistic; taken twice, it is taken once; a difference
    has this form: nothing else is left of the rows taken away.

    Class-wise statistics also keep their classes: ``place`` and ``take`` undo each other and go
    with +. Whatever is made by these operations keeps the rules of its fields (`suffice.rules`).

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
        if hasattr(a, "scaled"):
            _check_scaled(a, parts[i - 1])
        if hasattr(a, "canonical"):
            _check_canonical(a, parts[i - 1])
        _check_rules(a, parts[i - 1])
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


def _check_scaled(a: Any, b: Any) -> None:
    half = a.scaled(0.5)
    require(a.scaled(1.0) == a, "1 a = a")
    require((a + b).scaled(0.5) == half + b.scaled(0.5), "(a + b)/2 = a/2 + b/2")
    require(half + half == a, "a/2 + a/2 = a")
    require(half.scaled(0.5) == a.scaled(0.25), "(a/2)/2 = a/4")
    require(a.scaled(0.0) == a - a, "0 a = empty")


def _check_canonical(a: Any, b: Any) -> None:
    kept, rest = a.canonical(), (a + b) - b
    require(kept == a, "a.canonical() = a")
    require(frozen(kept.canonical()) == frozen(kept), "a.canonical().canonical() = a.canonical()")
    require(frozen(rest.canonical()) == frozen(rest), "a difference is canonical")
    require((kept + b) - b == a, "canonical sums go on")


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
    require((a + b).one_class == a.one_class + b.one_class, "one_class goes with +")
    require(a.take(order).one_class == a.one_class, "the order of classes is nothing in one_class")
    _check_divergences(a, b)
    require((a + b).take(order) == a.take(order) + b.take(order), "take goes with +")


def _check_divergences(a: Any, b: Any) -> None:
    there, back, itself = a.divergences(b), b.divergences(a), a.divergences(a)
    same = itself.hellinger[~np.isnan(itself.hellinger)]
    require(not same.any(), "a statistic is as far as nothing from itself")
    for name in ("hellinger", "psi", "jensen_shannon", "ratio"):
        pair = getattr(there, name), getattr(back, name)
        require(np.allclose(*pair, 1e-9, 1e-9, equal_nan=True), "divergences are symmetric")
    known = there.hellinger[~np.isnan(there.hellinger)]
    require(bool(((known >= 0) & (known <= 1)).all()), "Hellinger is from 0 to 1")


def _check_rules(a: Any, b: Any) -> None:
    made = [a, a + b, a + b - b, a - a]
    if hasattr(a, "scaled"):
        made += [(a + b).scaled(0.3), (a + b).scaled(0.7) - b.scaled(0.7), a.scaled(0.0)]
    if hasattr(a, "place"):
        k = len(a.total)
        placed = a.place(np.arange(k)[::-1], k + 1)
        made += [placed, placed.take(np.arange(k)), (a + b).one_class]
    for statistic in made:
        try:
            check(statistic)
        except ParameterError as error:
            raise AssertionError(f"a statistic keeps its rules: {error}") from error


def _check_file(a: Any, types: Mapping[str, type]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "statistic"
        write_model(path, "statistic", a, types=types)
        _, read = read_model(path, types=types)
    require(frozen(read) == frozen(a) and read == a, "a file gives back every bit")
