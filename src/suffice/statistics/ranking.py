"""How scores order rows of one class against all others: the areas below ROC and precision-recall.

A statistic like any other: the weight of either side at every score is an exact sum over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.elementary import log1p
from suffice.numerics.exact import DoubleDouble

__all__ = ["EXACT_SCORES", "Area", "Ranking"]

EXACT_SCORES = 2**20
"""Different scores, 40 bytes each, beyond which they are rounded to `CELL`."""
CELL = 2.0**-9  # of log-odds: a ratio of odds of 1.002
LARGEST = 2.0**6  # log-odds beyond it, odds of 10²⁷, share a cell


class Area(NamedTuple):
    """An area, and bounds of it that are equal where every score is known."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """Weight of the rows of a class, and of all others, at every score.

    Parameters
    ----------
    scores : ndarray (m,)
        Different scores, ascending: the higher, the more a row looks like one of the class. −∞ and
        ∞ are scores too.
    weight : DoubleDouble (m, 2)
        Σw of the rows of the class, and of the others.
    rounded : bool
        Whether scores were rounded to multiples of 2⁻⁹ from −64 to 64, as there were more than
        2²⁰: then an area is known up to the pairs of rows that share a cell.

    Source: T. Fawcett, An introduction to ROC analysis (2006), sections 7 and 8; J. Davis and
    M. Goadrich, The relationship between precision-recall and ROC curves (2006).

    Examples
    --------
    >>> found = Ranking.of(np.array([-1.0, 0.5, 2.0]), np.array([False, True, True]), np.ones(3))
    >>> found.roc_area.value, found.average_precision.value
    (1.0, 1.0)
    """

    scores: NDArray[np.float64]
    weight: DoubleDouble
    rounded: bool = False

    @classmethod
    def empty(cls) -> Ranking:
        """Of no row."""
        return cls(np.empty(0), DoubleDouble.zeros((0, 2)))

    @classmethod
    def of(
        cls, scores: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> Ranking:
        """Of n rows: their scores (n,), whether they are of the class (n,), and weights (n,)."""
        different, at = np.unique(scores, return_inverse=True)
        sums = DoubleDouble.zeros((len(different), 2))
        sides = np.stack([truth, ~truth], axis=1).astype(float)
        kernels.counts.add_events(sides, at, weights, sums.hi, sums.lo)
        return cls(different, DoubleDouble.from_sums(sums.hi, sums.lo))._bounded()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ranking)
            and self.rounded == other.rounded
            and np.array_equal(self.scores, other.scores)
            and self.weight == other.weight
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Ranking) -> Ranking:
        return self._merged(other, 1)._bounded()

    def __sub__(self, other: Ranking) -> Ranking:
        return self._merged(other, -1)

    def _merged(self, other: Ranking, sign: int) -> Ranking:
        if self.rounded != other.rounded:
            return self._in_cells()._merged(other._in_cells(), sign)
        both = np.union1d(self.scores, other.scores)
        weight = self._at(both) + other._at(both) * sign
        left = (weight.value != 0).any(axis=1)
        return Ranking(both[left], weight[left], self.rounded)

    def _at(self, scores: NDArray[np.float64]) -> DoubleDouble:
        """The weights (m', 2) at other scores, which include those of this one."""
        hi, lo = np.zeros((len(scores), 2)), np.zeros((len(scores), 2))
        at = np.searchsorted(scores, self.scores)
        hi[at], lo[at] = self.weight.hi, self.weight.lo
        return DoubleDouble(hi, lo)

    def _bounded(self) -> Ranking:
        return self._in_cells() if len(self.scores) > EXACT_SCORES else self

    def _in_cells(self) -> Ranking:
        if self.rounded:
            return self
        cells = np.rint(np.clip(self.scores, -LARGEST, LARGEST) / CELL) * CELL
        different, at = np.unique(cells, return_inverse=True)
        sums = DoubleDouble.zeros((len(different), 2))
        for part in (self.weight.hi, self.weight.lo):
            kernels.counts.add_events(part, at, np.ones(len(at)), sums.hi, sums.lo)
        return Ranking(different, DoubleDouble.from_sums(sums.hi, sums.lo), rounded=True)

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
