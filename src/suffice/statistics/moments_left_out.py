"""Moments of all rows but one, for each of many rows at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.error_free import two_sum
from suffice.statistics.moments import Moments

__all__ = ["FEWEST_DIGITS", "MomentsLeftOut"]

FEWEST_DIGITS = 2.0**-20  # of a scatter have to be left: 10 decimal digits remain, and more
ABSENT = 2.0**-40  # fraction of a weight that rounding may leave of nothing


@dataclass(frozen=True, eq=False)
class MomentsLeftOut:
    """The moments of a class without a row x of weight w, for n rows and s classes.

    ::

        W' = W − w    x̄' = x̄ − w(x − x̄)/W'    S' = S − w(x − x̄)² W/W'

    It has what an estimate reads of `Moments`, for every row: arrays (s, n, d).

    Parameters
    ----------
    total, mean, mean_lo, scatter : ndarray (s, n, d)
    doubtful : ndarray of bool (n,)
        Rows without which less than 2⁻²⁰ of some scatter is left: so many digits cancel.
    pooled : MomentsLeftOut, optional
        Of all classes together; None where these are.

    Source: T. F. Chan, G. H. Golub and R. J. LeVeque, Algorithms for computing the sample variance,
    The American Statistician 37 (1983), eq. 1.5, solved for the sums without a row.
    """

    total: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]
    scatter: NDArray[np.float64]
    doubtful: NDArray[np.bool_]
    pooled: MomentsLeftOut | None = None

    @classmethod
    def of(
        cls, moments: Moments, x: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> MomentsLeftOut:
        """Take every row out of its class.

        Parameters
        ----------
        moments : Moments
            Of all rows, k classes and d columns.
        x : ndarray (n, d)
            NaN where a cell is missing.
        weights : ndarray (n, k)
            What each row weighs in each class: w in its own, 0 in the others.
        """
        shown = ~np.isnan(x)
        pooled = _without(moments.one_class, x, (weights.sum(axis=1)[:, None] * shown)[None])
        return _without(moments, x, weights.T[:, :, None] * shown, pooled)

    @property
    def one_class(self) -> MomentsLeftOut:
        """The same rows as if they were of one class, (1, n, d)."""
        return self if self.pooled is None else self.pooled

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """S'/W', (s, n, d); 0 where nothing is left."""
        return np.divide(
            self.scatter, self.total, out=np.zeros_like(self.scatter), where=self.total > 0
        )


def _without(
    moments: Moments,
    x: NDArray[np.float64],
    weights: NDArray[np.float64],
    pooled: MomentsLeftOut | None = None,
) -> MomentsLeftOut:
    """Take rows (n, d), of weights (k, n, d), out of moments of k classes."""
    total, mean, low, scatter = (
        part[:, None] for part in (moments.total, moments.mean, moments.mean_lo, moments.scatter)
    )
    left = total - weights
    left = np.where(left > ABSENT * total, left, 0.0)
    e = np.where(weights > 0, (x - mean) - low, 0.0)
    some = left > 0
    inverse = np.divide(1.0, left, out=np.zeros_like(left), where=some)
    taken = weights * e
    rest = np.where(some, scatter - taken * e * (total * inverse), 0.0)
    few = some & (weights > 0) & (rest < FEWEST_DIGITS * scatter)
    doubtful: NDArray[np.bool_] = np.asarray(few.any(axis=(0, 2)))
    if pooled is not None:
        doubtful |= pooled.doubtful
    new, new_low = two_sum(np.where(some, mean, 0.0), np.where(some, low - taken * inverse, 0.0))
    return MomentsLeftOut(left, new, new_low, np.maximum(rest, 0.0), doubtful, pooled)
