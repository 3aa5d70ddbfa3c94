"""What every statistic can do, and how many of them are added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.sums.divergence import Divergences

__all__ = [
    "Accumulator",
    "ClasswiseStatistic",
    "FadingStatistic",
    "Statistic",
    "TreeSum",
    "described",
    "tree_sum",
]


class Statistic(Protocol):
    """Frozen exact sums over rows: a commutative group up to the last bit after rounding.

    Laws: a + b = b + a; (a + b) + c = a + (b + c); a + empty = a; (a + b) − b = a; a row of
    weight 2 equals the row twice; no operation writes to its inputs.
    """

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...


class FadingStatistic(Statistic, Protocol):
    """A statistic that a model keeps: its rows can lose weight."""

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor, 0 or more."""
        ...

    def canonical(self) -> Self:
        """The same sums in the form that a file has, in which no row leaves what is not its sum.

        Twice is once, and a difference has this form. Where sums have one form only, the statistic
        itself.
        """
        ...


class ClasswiseStatistic(FadingStatistic, Protocol):
    """A statistic of d columns with one slice for each of k classes."""

    @property
    def k(self) -> int:
        """Number of classes."""
        ...

    @property
    def d(self) -> int:
        """Number of columns."""
        ...

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        ...

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column differ by too little to be squared, (d,).

        False where they are not squared.
        """
        ...

    @property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        ...

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class are from another table's, (k, d)."""
        ...

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        ...

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order."""
        ...


def described(statistic: ClasswiseStatistic) -> str:
    """A statistic in one line: its kind and size, none of its numbers.

    Examples
    --------
    >>> from suffice.sums.moments import Moments
    >>> described(Moments.empty(3, 4))
    'Moments(3 classes, 4 columns)'
    """
    kind, k, d = type(statistic).__name__, statistic.k, statistic.d
    return f"{kind}({k} class{'es' * (k != 1)}, {d} column{'s' * (d != 1)})"


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


class TreeSum(Generic[S]):
    """A sum in the making, added pairwise as a binary counter does, so that few terms are alive.

    A term is in it, and counted, or it is not: an exception may come at any moment, that of Ctrl-C
    too, and what is summed so far is whole.

    Parameters
    ----------
    stack : iterable of (int, Statistic)
        Of a sum that was begun before: it goes on as if it had never stopped.
    done : int
        How many terms are in it.

    Examples
    --------
    >>> begun = TreeSum()
    >>> for term in [1, 2, 3]:
    ...     begun.add(term)
    >>> begun.stack, TreeSum(begun.stack, begun.done).total()
    ([(1, 3), (0, 3)], 6)
    """

    def __init__(self, stack: Iterable[tuple[int, S]] = (), done: int = 0) -> None:
        self._state = list(stack), done

    @property
    def stack(self) -> list[tuple[int, S]]:
        """Sums of 2^level neighbours, the largest ones first."""
        return self._state[0]

    @property
    def done(self) -> int:
        """How many terms are in the sum."""
        return self._state[1]

    def add(self, statistic: S) -> None:
        """Add one term."""
        before, done = self._state
        stack, (level, total) = before.copy(), (0, statistic)
        while stack and stack[-1][0] == level:
            level, total = level + 1, stack.pop()[1] + total
        stack.append((level, total))
        self._state = stack, done + 1

    def total(self) -> S:
        """Return the sum of all terms.

        Raises
        ------
        ValueError
            If there is none.
        """
        stack, _ = self._state
        if not stack:
            raise ValueError("tree_sum needs at least one statistic")
        *rest, (_, total) = stack
        for _, statistic in reversed(rest):
            total = statistic + total
        return total


def tree_sum(statistics: Iterable[S]) -> S:
    """Add statistics as `TreeSum` does.

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
    terms = iter(statistics)
    first, second = next(terms, None), next(terms, None)
    if first is None:
        raise ValueError("tree_sum needs at least one statistic")
    if second is None:
        return first
    sum_ = TreeSum[S]([(1, first + second)], 2)
    for statistic in terms:
        sum_.add(statistic)
    return sum_.total()
