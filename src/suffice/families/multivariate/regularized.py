"""Covariances between one for each class and one for all, and between full and round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.scatters_left_out import ScattersLeftOut
from suffice.families.multivariate.sums import _Sums
from suffice.numerics.exact import DoubleDouble

__all__ = ["RegularizedSums"]

LEAST_UNIT = 1e-9  # of a column's variance over all rows, where no class has any


@dataclass(frozen=True, eq=False)
class RegularizedSums:
    """Sums of k classes and d columns, and the prior of their covariances.

    ::

        M_c = [(1 − λ)S_c + λ Σ_c S_c + ν₀D] / [(1 − λ)n_c + λn + ν₀]
        Σ_c = (1 − γ)M_c + γ v_c D    v_c = Σ_j (M_c)_jj / D_jj / d

    where D is the diagonal of the variances within classes: of a column that varies in no class, a
    small part of that over all rows.

    Parameters
    ----------
    sums : _Sums
    prior_rows : float
        ν₀.
    """

    sums: _Sums
    prior_rows: float

    @cached_property
    def unit(self) -> NDArray[np.float64]:
        """The diagonal of D, (d,); 0 of a column that has one value."""
        n = self.sums.weight.sum()
        within = np.diagonal(self.sums.scatter.sum(axis=0).value) / (n or 1.0)
        return np.maximum(within, LEAST_UNIT * self.sums.prior_variance.value)

    @property
    def used(self) -> NDArray[np.intp]:
        """Columns that vary."""
        return np.flatnonzero(self.unit > 0)

    def divisor(self, pooling: float) -> NDArray[np.float64]:
        """(1 − λ)n_c + λn + ν₀, (k,)."""
        n = self.sums.weight
        return np.asarray((1.0 - pooling) * n + pooling * n.sum() + self.prior_rows)

    def scatter(self, pooling: float) -> DoubleDouble:
        """(1 − λ)S_c + λ Σ_c S_c + ν₀D, (k, d, d)."""
        own, prior = self.sums.scatter, np.diag(self.prior_rows * self.unit)
        return own * (1.0 - pooling) + own.sum(axis=0) * pooling + DoubleDouble.of(prior)

    def covariances(self, pooling: float, shrinkage: float) -> DoubleDouble:
        """Σ_c, (k, d, d); that of all rows where a class has no row, and there is no prior."""
        divisor = self.divisor(pooling)[:, None, None]
        known = divisor > 0
        found = self.scatter(pooling) / np.where(known, divisor, 1.0)
        found = DoubleDouble.where(known, found, self.sums.covariance)
        if not shrinkage:
            return found
        used, d = self.used, len(self.unit)
        own = np.diagonal(found.value, axis1=1, axis2=2)[:, used] / self.unit[used]
        width = np.add.reduce(own, axis=1) / max(len(used), 1)
        round_ = width[:, None, None] * np.diag(self.unit) * shrinkage
        return found * (1.0 - shrinkage) + DoubleDouble.of(round_.reshape(len(width), d, d))

    def total(self, shrinkage: float) -> DoubleDouble:
        """The covariance of all rows, as regular as those of the classes, (d, d)."""
        n, unit = self.sums.weight.sum(), DoubleDouble.of(np.diag(self.unit))
        found = self.sums.covariance
        if self.prior_rows:
            found = (found * n + unit * self.prior_rows) / (n + self.prior_rows)
        return found * (1.0 - shrinkage) + unit * shrinkage

    def left_out(self, pooling: float) -> ScattersLeftOut:
        """Gaussians of the columns that vary, without one row, of any γ."""
        used, k = self.used, len(self.sums.weight)
        return ScattersLeftOut(
            self.sums.weight,
            self.sums.mean.value[:, used],
            self.scatter(pooling).value[:, used][:, :, used],
            self.divisor(pooling),
            self.unit[None, used],
            np.full(k, pooling),
            np.ones(k),
            follows=True,
        )

    def factored(
        self, pooling: float, shrinkage: float, floor: float, noise: float
    ) -> FactoredGaussians:
        """The Gaussians, factored."""
        covariances, total = self.covariances(pooling, shrinkage), self.total(shrinkage)
        return FactoredGaussians.of(self.sums.mean, covariances, total, floor, noise)
