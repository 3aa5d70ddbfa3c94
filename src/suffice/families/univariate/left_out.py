"""Leave-one-out of Gaussian columns: by the moments of all rows but one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.families.counts.identifiers import row_numbers_of
from suffice.families.left_out.rows import LearntRows
from suffice.numerics.elementary import log
from suffice.numerics.logspace import scores
from suffice.statistics.block import RealBlock
from suffice.statistics.moments import Moments
from suffice.statistics.moments_left_out import FEWEST_DIGITS, MomentsLeftOut

__all__ = ["EveryClassLeftOut", "OwnClassLeftOut"]

CELLS = 65_536  # that are worked on at a time: they stay in the cache
FACTORS = 32  # whose product has one logarithm: each is from 2⁻²⁰ to 1


class Estimates(Protocol):
    """What `Gaussian` makes of moments."""

    @property
    def ddof(self) -> int:
        """What a divisor is less than the number of rows."""
        ...

    def by_class(self, moments: Any) -> Any:
        """Parameters of every class, from moments of any shape (k, ...)."""
        ...


@dataclass(frozen=True)
class EveryClassLeftOut:
    """All classes are estimated anew for every row, as it changes what they share.

    Parameters
    ----------
    family : Gaussian
    moments : Moments
        Of all rows.
    ignores : bool
        Whether numbers that count the rows say nothing of the class.
    """

    family: Estimates
    moments: Moments
    ignores: bool = False

    def add_log_likelihood(
        self, block: RealBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add Σⱼ log p(xⱼ | c) by the moments without the row."""
        k, d = self.moments.total.shape
        weights = rows.by_class(k)
        for part in _parts(len(out), k * d):
            x = np.asarray(block.values[part], np.float64)
            left = MomentsLeftOut.of(self.moments, x, weights[part])
            cells = self.family.by_class(left).log_densities(x)
            if self.ignores and (numbers := row_numbers_of(left)).any():
                alike = self.family.by_class(left.one_class).log_densities(x)
                cells = np.where(numbers, alike, cells)
            cells[:, np.isnan(x)] = 0.0
            out[part] += cells.sum(axis=2).T
            out[part][left.doubtful] = np.nan


@dataclass(frozen=True)
class OwnClassLeftOut:
    """Maximum likelihood: a row changes the estimates of its class alone, where no floor binds.

    Parameters
    ----------
    every : EveryClassLeftOut
        For rows without which a floor may bind.
    parameters : GaussianParameters
        Of all rows.
    fraction, least : float
        A floor is so large a fraction of the variance over all classes, and not below the least.
    """

    every: EveryClassLeftOut
    parameters: Any
    fraction: float
    least: float

    def add_log_likelihood(
        self, block: RealBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add Σⱼ log N(xⱼ; μ, σ²), of its class by the moments without the row."""
        all_rows = scores(len(out), out.shape[1], 0.0)
        self.parameters.add_log_likelihood(block, all_rows)
        for c in range(out.shape[1]):
            learnt = np.flatnonzero((rows.codes == c) & (rows.weights > 0))
            for part in _parts(len(learnt), block.width):
                some = learnt[part]
                of_class, bound = self._of_class(c, block.values[some], rows.weights[some])
                all_rows[some, c] = of_class
                again = some[bound]
                if len(again):
                    anew = scores(len(again), out.shape[1], 0.0)
                    self.every.add_log_likelihood(block.take(again), rows.take(again), anew)
                    all_rows[again] = anew
        out += all_rows

    def _of_class(
        self, c: int, values: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Σⱼ log N(xⱼ; μ, σ²) of rows (n, d) of a class, (n,), and where floors may bind.

        With e = x − x̄, the scatter S and W' = W − w, the variance is σ² = Sr/(W' − ddof), where
        r = 1 − we²W/(W'S), and x lies eW/W' from the mean of the others.
        """
        every, floor = self.every, self._highest_floor(weights)
        if not (self.parameters.variance > floor).all():
            return np.empty(len(values)), np.ones(len(values), np.bool_)
        of_class = every.moments
        total, mean, low, scatter = (
            sums[c] for sums in (of_class.total, of_class.mean, of_class.mean_lo, of_class.scatter)
        )
        w = weights[:1, None] if (weights == weights[:1]).all() else weights[:, None]
        left = total - w
        freedom = left - every.family.ddof
        if not (freedom > 0).all():
            return np.empty(len(values)), np.ones(len(values), np.bool_)
        x = np.asarray(values, np.float64)
        e = x - mean
        if low.any():
            e -= low
        e *= e
        rest = e * (-w * total / (left * scatter))
        rest += 1.0
        least = np.maximum(FEWEST_DIGITS, floor * freedom / scatter)
        bound = (rest <= least).any(axis=1)
        rest[bound] = 1.0
        e *= (total / left) ** 2 * freedom / scatter
        constant = log(2 * np.pi * scatter / freedom)
        if (missing := np.isnan(e)).any():
            constant = np.where(missing, 0.0, constant)
            e[missing], rest[missing] = 0.0, 1.0
        e /= rest
        terms = e.sum(axis=1) + constant.sum(axis=1)
        for start in range(0, e.shape[1], FACTORS):
            terms += log(rest[:, start : start + FACTORS].prod(axis=1))
        return -0.5 * terms, np.asarray(bound)

    def _highest_floor(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """No floor is higher, whichever of the rows is left out, (d,)."""
        pooled = self.every.moments.one_class
        left = pooled.total[0] - weights.max(initial=0.0)
        highest = np.full(len(left), np.inf)
        np.divide(self.fraction * pooled.scatter[0], left, out=highest, where=left > 0)
        return np.asarray(np.maximum(highest, self.least))


def _parts(n: int, cells: int) -> Iterator[slice]:
    """Divide n rows of so many cells each."""
    step = max(CELLS // max(cells, 1), 1)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
