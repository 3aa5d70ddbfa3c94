"""What a pass over rows takes of memory beside reading them, told before a row is read.

An accumulator tells it of its sums, and a verb of its answers; an engine whose memory is limited
asks for it (`suffice.engines.memory_limit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

__all__ = ["NUMBER", "PassMemory", "PassNeed", "PassRows", "no_need", "sum_memory"]

NUMBER = 8  # bytes of a double, or of a code


class PassRows(NamedTuple):
    """Rows of a batch, of the largest split and of all; None for what is not known unread."""

    batch: int
    split: int | None = None
    table: int | None = None
    weighted: bool = False  # whether they have weights of their own

    def of_split(self, most: int) -> int:
        """Rows of the largest split, so many at most."""
        return most if self.split is None else min(self.split, most)

    def of_table(self, most: int) -> int:
        """Rows of all, so many at most."""
        return most if self.table is None else min(self.table, most)


@dataclass(frozen=True)
class PassMemory:
    """Bytes beside what reading takes.

    Parameters
    ----------
    worker : int
        Of every worker while it reads.
    result : int
        Of what comes of a split; some results wait for their turn.
    once : int
        Whatever the workers.

    Examples
    --------
    >>> PassMemory(worker=8) + PassMemory(worker=1, once=5)
    PassMemory(worker=9, result=0, once=5)
    """

    worker: int = 0
    result: int = 0
    once: int = 0

    def __add__(self, other: PassMemory) -> PassMemory:
        return PassMemory(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: int) -> PassMemory:
        return PassMemory(*(times * part for part in astuple(self)))


NOTHING = PassMemory()
PassNeed = Callable[[PassRows], PassMemory]
"""Tells what a pass takes in batches of some size; it is asked for several sizes."""


def no_need(rows: PassRows) -> PassMemory:
    """Of a pass that takes nothing beside reading, as far as is known."""
    return NOTHING


@runtime_checkable
class Foreseeable(Protocol):
    """An accumulator that knows what its sums take."""

    def pass_memory(self, k: int, rows: PassRows) -> PassMemory:
        """Of k classes."""
        ...


def sum_memory(accumulator: Any, k: int, rows: PassRows) -> PassMemory:
    """Tell what the sums of an accumulator take; nothing where only the rows will show it.

    Examples
    --------
    >>> from suffice.statistics.moments import MomentsAccumulator
    >>> sum_memory(MomentsAccumulator(d=100), 3, PassRows(65_536))
    PassMemory(worker=16800, result=16800, once=0)
    >>> sum_memory("another kind", 3, PassRows(65_536))
    PassMemory(worker=0, result=0, once=0)
    """
    if not isinstance(accumulator, Foreseeable):
        return NOTHING
    return accumulator.pass_memory(k, rows)
