"""The passes of a fit over its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.statistics.statistic import Statistic

__all__ = ["DataLoop"]

S = TypeVar("S", bound=Statistic)
R = TypeVar("R")


@dataclass
class DataLoop:
    """Sends kernels over all rows, and counts how often.

    Parameters
    ----------
    engine : Engine
    splits : sequence of Split
    """

    engine: Engine
    splits: Sequence[Split]
    count: int = field(default=0, init=False)

    def run(self, kernel: Callable[[Split, Any], S], params: Any) -> S:
        """The sum of what a kernel finds in every split."""
        self.count += 1
        return self.engine.run(kernel, params, self.splits)

    def map(self, kernel: Callable[[Split, Any], R], params: Any) -> list[R]:
        """What a kernel finds, one result for every split."""
        self.count += 1
        return list(self.engine.map(kernel, params, self.splits))
