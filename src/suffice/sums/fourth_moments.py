"""Fourth moments: what Ledoit and Wolf's shrinkage needs of the rows besides their co-moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.error_free import two_product
from suffice.numerics.exact import DoubleDouble
from suffice.rules import rule
from suffice.sums.block import BadCell, RealBlock, tiles
from suffice.sums.comoments import Comoments, ComomentsAccumulator
from suffice.sums.divergence import Divergences
from suffice.sums.statistic import described

__all__ = ["FourthMoments", "FourthMomentsAccumulator"]

SQUARED_ROWS = 4_096  # rows squared at a time
LARGEST_ROOT = 1e75
TOO_LARGE = "a number must be below 1e75, or its fourth power overflows"


@dataclass(frozen=True, eq=False, repr=False)
class FourthMoments:
    """Exact co-moments of d columns x and of their squares.

    Parameters
    ----------
    moments : Comoments
        Of the 3d columns x, q and r, where q + r is the pair x².

    Examples
    --------
    >>> total = FourthMomentsAccumulator(1)
    >>> rows = RealBlock(np.array([[1.0], [2.0], [3.0], [6.0]]))
    >>> total.add(rows, np.zeros(4, np.intp), np.empty(0), 1)
    >>> total.statistic().fourth(np.array([[1.0]]))  # 16 + 1 + 0 + 81
    array([98.])
    """

    moments: Comoments

    __repr__ = described

    @rule("there are three columns for each, whose squares can be squared, of every class apart")
    def _has_squares(self) -> bool:
        near = np.abs(self.moments.mean.hi[:, : self.d]) <= 2 * LARGEST_ROOT
        return self.moments.d % 3 == 0 and not self.moments.pooled and bool(near.all())

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.moments.k

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.moments.d // 3

    @property
    def total(self) -> NDArray[np.float64]:
        """W = Σw of the observed cells, (k, d)."""
        return self.moments.total[:, : self.d]

    @cached_property
    def columns(self) -> Comoments:
        """Co-moments of the columns alone."""
        return self.moments.marginal(np.arange(self.d))

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column differ by too little to be squared."""
        return self.columns.too_small

    def fourth(self, variance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σw(Σⱼ (xⱼ − x̄ⱼ)²/σⱼ²)² over the complete rows of every class, (k,).

        (x − x̄)² = x² − 2x̄x + x̄² is linear in the columns, so its co-moments follow from theirs.
        Of their 106 bits it takes four times those of x̄/σ.

        Parameters
        ----------
        variance : ndarray (k, d)
            σ²; a column of variance 0 is left out.
        """
        m, d = self.moments, self.d
        x, q, r = (slice(i * d, (i + 1) * d) for i in range(3))
        out = np.zeros(m.k)
        complete = np.flatnonzero(m.patterns.all(axis=1))
        for g in np.flatnonzero(np.isin(m.pattern, complete) & (m.product_index >= 0)):
            scatter, c = m.scatter[m.product_index[g]], m.code[g]
            twice = m.mean[g, x] * 2.0
            crossed = (scatter[x, q] + scatter[x, r]) * twice[:, None]
            squares = scatter[q, q] + scatter[q, r] + scatter[r, q] + scatter[r, r]
            squares -= crossed + DoubleDouble(crossed.hi.T, crossed.lo.T)
            squares += scatter[x, x] * twice[:, None] * twice
            precision = np.divide(1.0, variance[c], out=np.zeros(d), where=variance[c] > 0)
            n = m.group_weight.hi[g]
            mean = (np.diagonal(scatter.hi[x, x]) / n * precision).sum()
            out[c] = (precision[:, None] * squares.value * precision).sum() + n * mean**2
        return out

    def __add__(self, other: FourthMoments) -> FourthMoments:
        if not isinstance(other, FourthMoments):
            return NotImplemented
        return FourthMoments(self.moments + other.moments)

    def __sub__(self, other: FourthMoments) -> FourthMoments:
        if not isinstance(other, FourthMoments):
            return NotImplemented
        try:
            return FourthMoments(self.moments - other.moments)
        except ForgetError as error:
            if error.column is not None:
                error.column %= self.d  # a column, or the square of one
            raise

    def scaled(self, factor: float) -> FourthMoments:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        return FourthMoments(self.moments.scaled(factor))

    def canonical(self) -> FourthMoments:
        """The same sums about pivots that means and scatters decide, and no single row."""
        return FourthMoments(self.moments.canonical())

    def marginal(self, columns: NDArray[np.intp]) -> FourthMoments:
        """The same rows in some of the columns, increasing; rows that show none are dropped."""
        thrice = np.concatenate([columns + i * self.d for i in range(3)])
        return FourthMoments(self.moments.marginal(thrice))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FourthMoments):
            return NotImplemented
        return self.moments == other.moments

    __hash__ = None  # type: ignore[assignment]

    @property
    def one_class(self) -> FourthMoments:
        """The same rows as if they were of one class."""
        return FourthMoments(self.moments.one_class)

    def divergences(self, other: FourthMoments) -> Divergences:
        """Those of the columns, (k, d)."""
        return self.columns.divergences(other.columns)

    def place(self, index: NDArray[np.intp], k: int) -> FourthMoments:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return FourthMoments(self.moments.place(index, k))

    def take(self, index: NDArray[np.intp]) -> FourthMoments:
        """Keep the classes at ``index``, in that order."""
        return FourthMoments(self.moments.take(index))


class FourthMomentsAccumulator:
    """Builds `FourthMoments` of d columns."""

    def __init__(self, d: int) -> None:
        self._moments = ComomentsAccumulator(3 * d)

    def add(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e75.
        """
        for start, part in tiles(block.values, np.float64):
            for first in range(0, max(len(part), 1), SQUARED_ROWS):
                x = part[first : first + SQUARED_ROWS]
                rows = slice(start + first, start + first + len(x))
                large = np.argwhere((np.abs(x) > LARGEST_ROOT) & (codes[rows] >= 0)[:, None])
                if len(large):
                    row, column = map(int, large[0])
                    value = float(x[row, column])
                    rule = "a number must be finite" if np.isinf(value) else TOO_LARGE
                    raise BadCell(rows.start + row, column, value, rule)
                usable = np.where(np.abs(x) <= LARGEST_ROOT, x, np.nan)
                both = RealBlock(np.hstack([x, *two_product(usable, usable)]))
                self._moments.add(both, codes[rows], weights[rows], k)

    def statistic(self) -> FourthMoments:
        """Freeze what was added."""
        return FourthMoments(self._moments.statistic())
