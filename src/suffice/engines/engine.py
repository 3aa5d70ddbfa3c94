"""What an engine is: map a kernel over splits and add the statistics in split order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from suffice.data.source import Split
from suffice.statistics.statistic import Statistic

__all__ = ["Engine", "Kernel"]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")

Kernel = Callable[[Split, Any], Any]
"""A module-level function (split, params) → statistic; it is shipped to workers by name."""


class Engine(Protocol):
    """Runs kernels over splits, anywhere."""

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        ...
