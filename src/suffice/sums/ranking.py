"""How scores order rows of one class against all others: the areas below ROC and precision-recall.

A statistic like any other: the weight of either side at every score is an exact sum over rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.elementary import log1p
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible

__all__ = [
    "CELLS",
    "EXACT_SCORES",
    "Area",
    "Counted",
    "Ranking",
    "RankingAccumulator",
    "cell_of",
    "sides_of",
]

EXACT_SCORES = 2**20
"""Different scores beyond which they are rounded to `CELL`.

Each takes 10 bytes of whole weights up to 255, or else 24, and 40 where sums need a second double.
"""
CELL = 2.0**-9  # of log-odds: a ratio of odds of 1.002
LARGEST = 2.0**6  # log-odds beyond it, odds of 10²⁷, share a cell
CELLS = round(2 * LARGEST / CELL) + 1
MOST_PARTS = 512  # that wait to be sorted together
MOST_OF_A_BYTE = 255
SUMMED = 2**16  # scores whose weights are added at a time


def sides_of(truth: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (n, 2) of rows of the class, and of the others."""
    return np.stack([np.where(truth, weights, 0.0), np.where(truth, 0.0, weights)], axis=1)


def _different(parts: Iterable[Counted]) -> NDArray[np.float64]:
    """The different scores of parts, ascending: sorting them without their weights is quick."""
    ordered: NDArray[np.float64] = np.concatenate([part.scores for part in parts])
    interruptible(np.ndarray.sort, ordered)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def cell_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """The place of the cell of each score, from 0 on, (n,)."""
    near = np.rint(np.clip(scores, -LARGEST, LARGEST) / CELL)
    return np.asarray(near.astype(np.intp) + CELLS // 2)


class Area(NamedTuple):
    """An area, and bounds of it that are equal where every score is known."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Counted:
    """Weight of the rows of a class, and of all others, at every score.

    Parameters
    ----------
    scores : ndarray (m,)
        Different scores, ascending.
    high : ndarray of float64 or uint8 (m, 2)
        Σw of the rows of the class, and of the others, rounded; bytes where these say it.
    low : ndarray (m, 2), or (0, 2) where the rounding left nothing
        What it left.
    rounded : bool
        Whether scores are centres of cells.
    """

    scores: NDArray[np.float64]
    high: NDArray[np.float64] | NDArray[np.uint8]
    low: NDArray[np.float64]
    rounded: bool = False

    @classmethod
    def of_sums(
        cls, scores: NDArray[np.float64], weight: DoubleDouble, rounded: bool = False
    ) -> Counted:
        """Of sums (m, 2), those that are not zero."""
        shown = (weight.value != 0).any(axis=1)
        if not shown.all():
            scores, weight = scores[shown], weight[shown]
        high, low = weight.hi, weight.lo if weight.lo.any() else np.zeros((0, 2))
        if len(low) or high.min(initial=0) < 0 or high.max(initial=0) > MOST_OF_A_BYTE:
            return cls(scores, high, low, rounded)
        whole = high.astype(np.uint8)
        return cls(scores, whole if (whole == high).all() else high, low, rounded)

    @classmethod
    def of(cls, scores: NDArray[np.float64], sides: NDArray[np.float64]) -> Counted:
        """Of scores (n,), some of which may be equal, with weights (n, 2)."""
        different, at = interruptible(np.unique, scores, return_inverse=True)
        sums = DoubleDouble.zeros((len(different), 2))
        kernels.counts.add_events(sides, at, np.zeros(0), sums.hi, sums.lo)
        return cls.of_sums(different, DoubleDouble.from_sums(sums.hi, sums.lo))

    @classmethod
    def together(cls, parts: Sequence[Counted], different: NDArray[np.float64]) -> Counted:
        """The sum of parts whose different scores are known; some are added after the others."""
        found = [cls.of_sums(different[:0], DoubleDouble.zeros((0, 2)))]
        for first in range(0, len(different), SUMMED):
            some = different[first : first + SUMMED]
            sums = DoubleDouble.zeros((len(some), 2))
            for part in parts:
                own = part.between(some[0], some[-1])
                own.add_to(sums, some.searchsorted(own.scores))
            found.append(cls.of_sums(some, DoubleDouble.from_sums(sums.hi, sums.lo)))
        pairs = any(len(one.low) for one in found)
        return cls(
            np.concatenate([one.scores for one in found]),
            np.concatenate([one.high for one in found]),
            np.concatenate([one.weight.lo for one in found]) if pairs else np.zeros((0, 2)),
        )

    def between(self, least: float, most: float) -> Counted:
        """The scores from one to another, with these."""
        ends = self.scores.searchsorted(least, "left"), self.scores.searchsorted(most, "right")
        rows = slice(*ends)
        return Counted(self.scores[rows], self.high[rows], self.low[rows], self.rounded)

    @property
    def sides(self) -> Iterator[NDArray[np.float64]]:
        """Weights (m, 2) that add up to those of the scores."""
        yield self.high.astype(np.float64, copy=False)
        if len(self.low):
            yield self.low

    @property
    def weight(self) -> DoubleDouble:
        """Σw of the rows of the class, and of the others, (m, 2)."""
        high = self.high.astype(np.float64, copy=False)
        return DoubleDouble(high, self.low if len(self.low) else np.zeros_like(high))

    def add_to(self, sums: DoubleDouble, places: NDArray[np.intp]) -> None:
        """Add the weights to sums (·, 2), each at its place."""
        for side in self.sides:
            kernels.counts.add_events(side, places, np.zeros(0), sums.hi, sums.lo)

    def negative(self) -> Counted:
        """The same weights below zero."""
        return self.of_sums(self.scores, self.weight * -1, self.rounded)


@dataclass(frozen=True, eq=False)
class Ranking:
    """How the scores of rows order those of a class and all others.

    The higher a score, the more a row looks like one of the class. −∞ and ∞ are scores too. Parts
    are sorted together when an area is asked for, or when they take too much memory.

    Parameters
    ----------
    parts : tuple of Counted
        Their sum is meant.

    Source: T. Fawcett, An introduction to ROC analysis (2006), sections 7 and 8; J. Davis and
    M. Goadrich, The relationship between precision-recall and ROC curves (2006).

    Examples
    --------
    >>> found = Ranking.of(np.array([-1.0, 0.5, 2.0]), np.array([False, True, True]), np.ones(3))
    >>> found.roc_area.value, found.average_precision.value
    (1.0, 1.0)
    """

    parts: tuple[Counted, ...] = ()

    @classmethod
    def of(
        cls, scores: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> Ranking:
        """Of n rows: their scores (n,), whether they are of the class (n,), and weights (n,)."""
        return cls((Counted.of(scores, sides_of(truth, weights)),))._bounded()

    @classmethod
    def of_cells(cls, cells: DoubleDouble) -> Ranking:
        """Of the sums (cells, 2) of rows in every cell."""
        scores = np.arange(-(CELLS // 2), CELLS // 2 + 1, dtype=np.float64) * CELL
        weight = DoubleDouble.from_sums(cells.hi, cells.lo)
        return cls((Counted.of_sums(scores, weight, rounded=True),))

    @cached_property
    def _whole(self) -> Counted:
        """The sum of the parts.

        Scores are rounded to multiples of 2⁻⁹ from −64 to 64 where there are more than 2²⁰: then
        an area is known up to the pairs of rows that share a cell.
        """
        if len(self.parts) == 1 and len(self.parts[0].scores) <= EXACT_SCORES:
            return self.parts[0]
        exact = not any(part.rounded for part in self.parts)
        if exact and len(different := _different(self.parts)) <= EXACT_SCORES:
            return Counted.together(self.parts, different)
        cells = DoubleDouble.zeros((CELLS, 2))
        for part in self.parts:
            part.add_to(cells, cell_of(part.scores))
        return Ranking.of_cells(cells).parts[0]

    def _bounded(self) -> Ranking:
        """The same, sorted where it takes too much memory as it is.

        At least as many scores wait then as were sorted before, so that none is sorted often.
        """
        sizes = [len(part.scores) for part in self.parts]
        large = sum(sizes) > EXACT_SCORES
        waiting = sum(sizes[1:]) >= sizes[0] or len(sizes) == 1
        return self._sorted() if (large and waiting) or len(sizes) > MOST_PARTS else self

    def _sorted(self) -> Ranking:
        return Ranking((self._whole,))

    @classmethod
    def empty(cls) -> Ranking:
        """Of no row."""
        return cls((Counted.of_sums(np.zeros(0), DoubleDouble.zeros((0, 2))),))

    @property
    def scores(self) -> NDArray[np.float64]:
        """Different scores, ascending, (m,)."""
        return self._whole.scores

    @property
    def weight(self) -> DoubleDouble:
        """Σw of the rows of the class, and of the others, at each score, (m, 2)."""
        return self._whole.weight

    @property
    def rounded(self) -> bool:
        """Whether scores were rounded."""
        return self._whole.rounded

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ranking)
            and self.rounded == other.rounded
            and np.array_equal(self.scores, other.scores)
            and self.weight == other.weight
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Ranking) -> Ranking:
        return Ranking((*self.parts, *other.parts))._bounded()

    def __sub__(self, other: Ranking) -> Ranking:
        return Ranking((*self.parts, *(part.negative() for part in other.parts)))._sorted()

    @property
    def roc_area(self) -> Area:
        """P(s > s') + P(s = s')/2 for a row of the class, s, and one of the others, s'.

        The area below the ROC curve; NaN where one side has no row.
        """
        positive, negative = self.weight.value.T
        pairs = positive.sum() * negative.sum()
        if not pairs:
            return Area(*[float("nan")] * 3)
        below = np.cumsum(negative) - negative
        lower = float((positive * below).sum() / pairs)
        tied = float((positive * negative).sum() / pairs)
        return self._area(lower + tied / 2, lower, lower + tied)

    @property
    def average_precision(self) -> Area:
        """Σ_t (R_t − R_{t−1}) P_t over falling thresholds t, with recall R and precision P.

        The area below the curve of precision against recall, in steps; NaN without a row of the
        class.
        """
        positive, negative = self.weight.value[::-1].T
        total = positive.sum()
        if not total:
            return Area(*[float("nan")] * 3)
        found, wrong = np.cumsum(positive), np.cumsum(negative)
        value = float(_steps(positive, found, wrong) / total)
        # Within a cell the rows of the class come first at best; last at worst, where the step of
        # one row is not above the integral of t/(t + wrong) from one count to the next.
        upper = float(_steps(positive, found, wrong - negative) / total)
        least = positive - wrong * log1p(
            np.divide(positive, found - positive + wrong, out=np.zeros_like(found), where=wrong > 0)
        )
        return self._area(value, float(least.sum() / total), upper)

    def _area(self, value: float, lower: float, upper: float) -> Area:
        return Area(value, lower, upper) if self.rounded else Area(value, value, value)


def _steps(
    positive: NDArray[np.float64], found: NDArray[np.float64], wrong: NDArray[np.float64]
) -> float:
    """Σ positive · found/(found + wrong), where there is a row of the class."""
    at = positive > 0
    return float((positive[at] * found[at] / (found + wrong)[at]).sum())


class RankingAccumulator:
    """The sum of `Ranking.of` over batches.

    Once scores have to be rounded, rows are counted in a table of all cells.

    Examples
    --------
    >>> rows = RankingAccumulator()
    >>> rows.add(np.array([0.5, 2.0]), np.array([False, True]), np.ones(2))
    >>> rows.add(np.array([-1.0]), np.array([False]), np.ones(1))
    >>> rows.ranking().roc_area.value
    1.0
    """

    def __init__(self) -> None:
        self._found = Ranking.empty()
        self._cells: DoubleDouble | None = None  # (cells, 2)

    def add(
        self, scores: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> None:
        """Add n rows; see `Ranking.of`."""
        if self._cells is not None:
            at, sums = cell_of(scores), self._cells
            kernels.counts.add_events(sides_of(truth, weights), at, np.zeros(0), sums.hi, sums.lo)
            return
        self._found += Ranking.of(scores, truth, weights)
        if self._found.parts[0].rounded:
            self._cells = DoubleDouble.zeros((CELLS, 2))

    def ranking(self) -> Ranking:
        """The sum of all rows added."""
        if self._cells is None:
            return self._found
        return self._found + Ranking.of_cells(self._cells)
