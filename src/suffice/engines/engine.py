"""What an engine is: map a kernel over splits and add the statistics in split order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from suffice.data.source import Split
from suffice.statistics.statistic import Statistic, tree_sum

__all__ = ["Engine", "EngineView", "Kernel"]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")

Kernel = Callable[[Split, Any], Any]
"""A module-level function (split, params) → result; it is shipped to workers by name."""


@runtime_checkable
class Engine(Protocol):
    """Runs kernels over splits, anywhere.

    An engine holds settings only: it can be copied, compared and sent elsewhere.
    """

    @property
    def workers(self) -> int:
        """How many splits are worked on at a time."""
        ...

    @property
    def in_process(self) -> bool:
        """Whether kernels see the memory of the caller."""
        return False

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; a bounded number of results waits."""
        ...

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        return tree_sum(self.map(kernel, params, splits))


@dataclass(frozen=True)
class EngineView(Engine):
    """An engine around another, which works where that one does."""

    engine: Engine

    @property
    def workers(self) -> int:
        """How many splits are worked on at a time."""
        return self.engine.workers

    @property
    def in_process(self) -> bool:
        """Whether kernels see the memory of the caller."""
        return self.engine.in_process
