"""What every statistic can do, and how many of them are added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Accumulator", "ClasswiseStatistic", "Statistic", "tree_sum"]


class Statistic(Protocol):
    """Frozen exact sums over rows: a commutative group up to the last bit after rounding.

    Laws: a + b = b + a; (a + b) + c = a + (b + c); a + empty = a; (a + b) − b = a; a row of
    weight 2 equals the row twice; no operation writes to its inputs.
    """

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...


class ClasswiseStatistic(Statistic, Protocol):
    """A statistic with one slice for each of k classes."""

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        ...

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        ...

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        ...


class Accumulator(Protocol):
    """The mutable builder of a class-wise statistic inside one worker."""

    def add(
        self, block: Any, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block: class codes (n,), −1 to leave a row out; weights (n,) or ()."""
        ...

    def statistic(self) -> Any:
        """Freeze what was added."""
        ...


S = TypeVar("S", bound=Statistic)


def tree_sum(statistics: Iterable[S]) -> S:
    """Add statistics pairwise, as a binary counter does, so that few are alive at a time.

    Parameters
    ----------
    statistics : iterable of Statistic
        At least one.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> tree_sum([1, 2, 3, 4, 5])
    15
    """
    stack: list[tuple[int, S]] = []
    for statistic in statistics:
        level, total = 0, statistic
        while stack and stack[-1][0] == level:
            level, total = level + 1, stack.pop()[1] + total
        stack.append((level, total))
    if not stack:
        raise ValueError("tree_sum needs at least one statistic")
    total = stack.pop()[1]
    while stack:
        total = stack.pop()[1] + total
    return total
