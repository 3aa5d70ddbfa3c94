"""Missing cells under a joint Gaussian of all columns: sums to expect, and cells to expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.families import MultivariateGaussian
from suffice.families.multivariate.factored import fill
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.models.design.normal_equations import ROUNDED, NormalEquations
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["JointGaussian"]


@dataclass(frozen=True, eq=False)
class JointGaussian:
    """N(z; μ, Σ) of columns and targets together, z = (x, y), by expectation-maximisation.

    Parameters
    ----------
    parameters : MultivariateGaussianParameters
        μ and Σ.
    rows : DoubleDouble ()
        Weight of the rows that show anything.

    Source: R. J. A. Little and D. B. Rubin, Statistical Analysis with Missing Data, 3rd ed.
    (2019), section 11.4.
    """

    parameters: MultivariateGaussianParameters
    rows: DoubleDouble

    @classmethod
    def of(cls, statistic: GroupedRows) -> Self:
        """Fit the Gaussian to rows of one class."""
        family = MultivariateGaussian(estimation="mle", variance_floor=0.0)
        parameters = cast(MultivariateGaussianParameters, family.estimate(statistic))
        return cls(parameters, statistic.group_weight.sum(axis=0))

    def equations(self, p: int, intercept: bool) -> NormalEquations:
        """The sums that the rows are expected to have."""
        mean = DoubleDouble(self.parameters.factored.mean[0], self.parameters.factored.mean_lo[0])
        covariance = DoubleDouble.of(self.parameters.covariance[0])
        return NormalEquations.about(self.rows, mean, covariance * self.rows, p, intercept, ROUNDED)

    def fill(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows (n, p) with E[x_m | x_o] in the place of missing cells x_m.

        ::

            μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)
        """
        p = x.shape[1]
        return fill(x, self.parameters.mean[0, :p], self.parameters.covariance[0, :p, :p])

    def remarks(self, names: Sequence[str]) -> Iterator[str]:
        """Say if the estimates were still changing."""
        return self.parameters.course.remarks(names)
