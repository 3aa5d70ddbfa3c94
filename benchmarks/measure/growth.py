"""How time grows with rows, columns, classes and categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks import rows
from benchmarks.measure.task import Method
from benchmarks.measure.timing import medians
from benchmarks.rows import Rows

__all__ = ["GROWTHS", "Growing", "Growth", "grow"]

POINT_ROWS = 100_000


@dataclass(frozen=True)
class Growing:
    """A size that grows while the others stay."""

    size: str
    model: str
    values: tuple[int, ...]
    make: Callable[[int, int], Rows]  # from the number of rows and the value


@dataclass(frozen=True)
class Growth:
    """Seconds at every value, and the slopes of straight lines through their logarithms."""

    size: str
    what: str
    values: tuple[int, ...]
    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def slopes(self) -> tuple[float, float]:
        return _slope(self.values, self.ours), _slope(self.values, self.theirs)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | dict(zip(("our_slope", "their_slope"), self.slopes, strict=True))


GROWTHS = (
    Growing(
        "n",
        "GaussianNB",
        (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278),
        lambda n, value: rows.normal(max(value * n // POINT_ROWS, 100)),
    ),
    Growing(
        "d", "GaussianNB", (4, 8, 16, 32, 64, 128, 256), lambda n, value: rows.normal(n, d=value)
    ),
    Growing("k", "GaussianNB", (2, 4, 8, 16, 32, 64), lambda n, value: rows.normal(n, k=value)),
    Growing(
        "m", "CategoricalNB", (2, 4, 8, 16, 32, 64, 128), lambda n, value: rows.codes(n, m=value)
    ),
)


def grow(growing: Growing, method: str, n: int = POINT_ROWS) -> Growth:
    """Time a method of both libraries at every value."""
    work, points = Method(growing.model, method), []
    for value in growing.values:
        given = growing.make(n, value)
        calls = {"ours": work.call("suffice", given), "theirs": work.call("sklearn", given)}
        points.append(medians(calls))
    return Growth(
        growing.size,
        str(work),
        growing.values,
        tuple(point["ours"] for point in points),
        tuple(point["theirs"] for point in points),
    )


def _slope(values: Sequence[int], seconds: Sequence[float]) -> float:
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
