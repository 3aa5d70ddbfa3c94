"""Ranks of the rows of one class against all others: the areas below ROC and precision-recall.

Sums like any other: the weight of either side at every score is an exact sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from suffice.numerics.arrays import Bools, Floats
from suffice.numerics.elementary import log1p
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.rules import Shape
from suffice.sums.base import Sums, TreeSum

EXACT_SCORES = 2**20
"""Different scores beyond which they are rounded to `CELL`; each takes 40 bytes."""
CELL = 2.0**-9  # of log-odds: a ratio of odds of 1.002
LARGEST = 2.0**6  # log-odds beyond it, odds of 10²⁷, share a cell
LAST_LEVEL = 62  # of a sum that no other one reaches


class Area(NamedTuple):
    """An area, and bounds of it that are equal where every score is known."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Ranking(Sums):
    """Weight of the rows of a class, and of all others, at every score.

    The higher a score, the more a row looks like one of the class. −∞ and ∞ are scores too. Scores
    are rounded to multiples of 2⁻⁹ from −64 to 64 where there are more than 2²⁰: then an area is
    known up to the pairs of rows that share a cell.

    Parameters
    ----------
    scores : ndarray (m,)
        Different scores, ascending.
    weight : DoubleDouble (m, 2)
        Σw of the rows of the class, and of the others.
    rounded : bool
        Whether scores are centres of cells.

    Source: T. Fawcett, An introduction to ROC analysis (2006), sections 7 and 8; J. Davis and
    M. Goadrich, The relationship between precision-recall and ROC curves (2006).

    Examples
    --------
    >>> found = Ranking.of(np.array([-1.0, 0.5, 2.0]), np.array([False, True, True]), np.ones(3))
    >>> found.roc_area.value, found.average_precision.value
    (1.0, 1.0)
    """

    scores: Floats
    weight: Annotated[DoubleDouble, Shape("m", 2), WEIGHT]
    rounded: bool = False

    @classmethod
    def empty(cls) -> Self:
        return cls(np.zeros(0), DoubleDouble.zeros((0, 2)))

    @classmethod
    def of(cls, scores: Floats, truth: Bools, weights: Floats) -> Self:
        """Rank n rows: their scores (n,), whether they are of the class (n,), and weights (n,)."""
        sides = np.stack([np.where(truth, weights, 0.0), np.where(truth, 0.0, weights)], axis=1)
        different, at = interruptible(np.unique, scores, return_inverse=True)
        found = cls(different, DoubleDouble.by_place(len(different), (sides, at))).pruned()
        return found if len(found.scores) <= EXACT_SCORES else found.in_cells()

    def in_cells(self) -> Self:
        if self.rounded:
            return self
        near = np.rint(np.clip(self.scores, -LARGEST, LARGEST) / CELL)
        cells, at = np.unique(near, return_inverse=True)
        weight = DoubleDouble.by_place(len(cells), (self.weight.hi, at), (self.weight.lo, at))
        return replace(self, scores=cells * CELL, weight=weight, rounded=True)

    def pruned(self) -> Self:
        shown = (self.weight.value != 0).any(axis=1)
        return replace(self, scores=self.scores[shown], weight=self.weight[shown])

    def aligned(self, other: Self) -> tuple[Self, Self]:
        """Return both over the scores of either, in cells where these are too many."""
        scores = interruptible(np.union1d, self.scores, other.scores)
        few = self.rounded or len(scores) <= EXACT_SCORES
        if self.rounded != other.rounded or not few:
            return self.in_cells().aligned(other.in_cells())
        return self._over(scores), other._over(scores)

    def _over(self, scores: Floats) -> Self:
        at = np.searchsorted(scores, self.scores)
        return replace(self, scores=scores, weight=self.weight.scatter(at, (len(scores), 2)))

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


def _steps(positive: Floats, found: Floats, wrong: Floats) -> float:
    """Σ positive · found/(found + wrong), where there is a row of the class."""
    at = positive > 0
    return float((positive[at] * found[at] / (found + wrong)[at]).sum())


class RankingAccumulator:
    """The sum of `Ranking.of` over batches, pairwise, so that no score is sorted often.

    Examples
    --------
    >>> rows = RankingAccumulator()
    >>> rows.add(np.array([0.5, 2.0]), np.array([False, True]), np.ones(2))
    >>> rows.add(np.array([-1.0]), np.array([False]), np.ones(1))
    >>> rows.ranking().roc_area.value
    1.0
    """

    def __init__(self) -> None:
        self._sum = TreeSum[Ranking]()

    def add(self, scores: Floats, truth: Bools, weights: Floats) -> None:
        rows, stack = Ranking.of(scores, truth, weights), self._sum.stack
        rounded = any(found.rounded for _, found in stack)
        self._sum.add(rows.in_cells() if rounded else rows)
        if not rounded and sum(len(found.scores) for _, found in self._sum.stack) > EXACT_SCORES:
            # Merged now, they may be too many, and all that follow are rounded at once.
            self._sum = TreeSum([(LAST_LEVEL, self._sum.total())], self._sum.done)

    def ranking(self) -> Ranking:
        return self._sum.total() if self._sum.done else Ranking.empty()
