"""Numbers under many labelings: exact moments by class and fold, and scores as Gaussians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.relabelled.rows import AddScores
from suffice.families.univariate.parameters import GaussianParameters
from suffice.numerics import kernels
from suffice.numerics.error_free import LARGEST, two_product, two_sum
from suffice.statistics.block import HELD, RealBlock
from suffice.statistics.labelings import Labelings
from suffice.statistics.moments import Moments

__all__ = ["RelabelledNumbers"]

ABREAST = 8  # numbers that are added together


@dataclass(frozen=True, eq=False)
class RelabelledNumbers:
    """Complete numbers, and what their moments are summed from.

    Parameters
    ----------
    estimate : callable
        Makes parameters of `Moments` of any number of columns, each on its own.
    x : ndarray (d, n)
    pivot : ndarray (d,)
        p, near the mean of every column.
    slices : ndarray (n, m)
        High and low parts of x − p, and of (x − p)², side by side: the high parts have so few bits
        that their sums are exact.
    """

    estimate: Callable[[Moments], Any]
    x: NDArray[np.float64]
    pivot: NDArray[np.float64]
    slices: NDArray[np.float64]

    @classmethod
    def of(cls, estimate: Callable[[Moments], Any], blocks: Sequence[RealBlock]) -> Self | None:
        """The numbers of blocks; None if a cell is missing or too large.

        Source: S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation part I: faithful
        rounding, SIAM Journal on Scientific Computing 31 (2008), algorithm 3.2.
        """
        x = np.concatenate([np.asarray(block.values, np.float64) for block in blocks])
        n, d = x.shape
        whole = any(block.values.dtype.kind in "iu" for block in blocks)
        if not (np.abs(x) <= (HELD if whole else LARGEST)).all():
            return None
        pivot = x.mean(axis=0)
        v, v_lo = two_sum(x, -pivot)
        square, square_lo = two_product(v, v)
        slices = np.zeros((n, -(-4 * d // ABREAST) * ABREAST))
        cells = slices[:, : 4 * d].reshape(n, 4, d)
        for i, (hi, lo) in enumerate([(v, v_lo), (square, square_lo + 2 * v * v_lo)]):
            most = np.abs(hi).max(axis=0, initial=0.0) * (n + 2)
            coarse = np.ldexp(1.0, np.frexp(most)[1])
            cells[:, 2 * i] = (hi + coarse) - coarse
            cells[:, 2 * i + 1] = (hi - cells[:, 2 * i]) + lo
        return cls(estimate, np.ascontiguousarray(x.T), pivot, slices)

    def moments(self, labelings: Labelings) -> Moments:
        """What all folds of all labelings have learnt, their columns side by side: P · f · d."""
        k, d = labelings.k, len(self.pivot)
        models = len(labelings) * labelings.f
        learnt = labelings.learnt(labelings.sums(self.slices))[..., : 4 * d]
        parts = learnt.reshape(models, k, 4, d).transpose(1, 2, 0, 3).reshape(k, 4, -1)
        sums = np.empty_like(parts)
        sums[:, ::2], sums[:, 1::2] = two_sum(parts[:, ::2], parts[:, 1::2])
        weight = np.zeros((k, 2, models * d))
        weight[:, 0] = np.repeat(labelings.sizes.reshape(models, k).T, d, axis=1)
        return Moments(weight, np.tile(self.pivot, (k, models)), sums)

    def scores(self, labelings: Labelings) -> AddScores | None:
        """See `suffice.families.relabelled.rows.Relabelled`."""
        moments = self.moments(labelings)
        if moments.too_small.any():
            return None
        parameters = self.estimate(moments)
        assert isinstance(parameters, GaussianParameters)
        origin, (mean, root, log_scale) = parameters.terms
        if origin is not None:
            return None

        def add(first: int, out: NDArray[np.float64]) -> None:
            kernels.labelings.add_squares(
                self.x, first, labelings.folds, mean, root, log_scale, out
            )

        return add
