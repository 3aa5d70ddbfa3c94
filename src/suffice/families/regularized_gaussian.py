"""The regularised Gaussian: covariances between one for each class, one for all, and none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import Family
from suffice.families.multivariate.expected import expected_sums
from suffice.families.multivariate.mixed import MixedParameters, of_terms
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.families.multivariate.regularized import RegularizedSums
from suffice.families.multivariate.structure import most_likely
from suffice.families.multivariate.sums import _Sums
from suffice.families.options import check_nonnegative
from suffice.phrases import Option
from suffice.statistics.block import Encoding
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.indicator_comoments import (
    IndicatorComoments,
    IndicatorComomentsAccumulator,
)
from suffice.statistics.statistic import Accumulator

__all__ = ["RegularizedGaussian"]

DOUBLE_NOISE = 2.0**-44  # noise of sums that are only of doubles


@dataclass(frozen=True)
class RegularizedGaussian(Family):
    """Normal distribution of several columns together, p(x | c) = N(x; x̄_c, Σ_c).

    With n_c rows of class c, n in all, and S_c = Σ(x − x̄_c)(x − x̄_c)ᵀ over the rows of class c:

    ::

        M_c = [(1 − λ)S_c + λ Σ_c S_c + ν₀D] / [(1 − λ)n_c + λn + ν₀]
        Σ_c = (1 − γ)M_c + γ v_c D    v_c = Σ_j (M_c)_jj / D_jj / d

    where D is the diagonal of the variances within classes, so that the unit of a column changes
    nothing. ν₀D is the prior of an inverse Wishart distribution that weighs as much as ν₀ rows;
    means have a flat one.

    Missing cells are filled, by expectation-maximisation, as if all classes had one covariance.

    Parameters
    ----------
    pooling : float
        λ, from 0 to 1: from a covariance for each class to one for all.
    shrinkage : float
        γ, from 0 to 1: from full covariances to none, and the same relative variance in every
        column.
    prior_rows : float
        ν₀, 0 or more. Above 0, no covariance is singular.
    variance_floor : float
        In no direction is the variance less than this fraction of that over all classes.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: J. H. Friedman, Regularized discriminant analysis, JASA 84 (1989), eqs. 16 and 18, with
    columns in units of D; K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution
    (2007), section 9, for the prior.

    Examples
    --------
    >>> print(RegularizedGaussian(pooling=0.3, shrinkage=0.1))
    RegularizedGaussian(pooling=0.3, shrinkage=0.1)
    """

    pooling: float = 0.0
    shrinkage: float = 0.0
    prior_rows: float = 1.0
    variance_floor: float = 1e-9

    encodings: ClassVar[tuple[Encoding, ...]] = ("real", "mixed")
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        given = {"pooling": self.pooling, "shrinkage": self.shrinkage}
        check_nonnegative(**given, prior_rows=self.prior_rows, variance_floor=self.variance_floor)
        for name, value in given.items():
            if value > 1:
                raise ParameterError(Option.of(name, value), f"{name} is a number from 0 to 1")

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        if encoding == "mixed":
            return IndicatorComomentsAccumulator(ComomentsAccumulator, d)
        return ComomentsAccumulator(d)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        """Whether a statistic is one of those that it accumulates of d columns."""
        if not super().takes(statistic, encoding, d):
            return False
        known = self.accumulator(encoding, 0).statistic()
        same = type(getattr(statistic, "moments", None)) is type(getattr(known, "moments", None))
        return same and not statistic.columns.pooled

    def is_shown_by(self, statistic: GroupedRows | IndicatorComoments) -> bool:
        """Whether there are groups of rows."""
        return len(statistic.columns.code) > 0

    def estimate(
        self, statistic: GroupedRows | IndicatorComoments
    ) -> MultivariateGaussianParameters | MixedParameters:
        """Parameters from exact co-moments."""
        found = self.regularized(statistic)
        course = found.sums.course
        rounded = found.sums.filled or course.log_likelihood
        noise = DOUBLE_NOISE if rounded else 0.0
        factored = found.factored(self.pooling, self.shrinkage, self.variance_floor, noise)
        parameters = MultivariateGaussianParameters(factored, course)
        if isinstance(statistic, IndicatorComoments):
            return MixedParameters(parameters, statistic.terms.without_first()[0])
        return parameters

    def regularized(self, statistic: GroupedRows | IndicatorComoments) -> RegularizedSums:
        """What covariances of every degree of regularisation follow from."""
        rows, filled = statistic.columns, False
        if isinstance(statistic, IndicatorComoments):
            found = of_terms(statistic)
            rows, filled = found.rows, found.filled
        sums = _Sums.of(rows) if rows.complete else expected_sums(rows, _one_covariance, False)
        return RegularizedSums(replace(sums, filled=filled), self.prior_rows)


def _one_covariance(
    of_cells: _Sums,
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    scatter: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (k, d), and for every class the covariance within classes, (k, d, d)."""
    together, rows = scatter.sum(axis=0, keepdims=True), np.array([n.sum()])
    covariance = most_likely(together, rows, of_cells.prior_variance, "full")
    return mean, np.repeat(covariance, len(n), axis=0)
