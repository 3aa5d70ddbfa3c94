"""The Gaussian: real numbers, p(x | c) = N(x; μ_c, σ²_c) for every column on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.counts.identifiers import alike, row_numbers_of
from suffice.families.family import NO_COLUMNS, Family
from suffice.families.left_out.rows import LearntRows, no_closed_form
from suffice.families.options import (
    Estimation,
    Identifiers,
    VarianceFloor,
    check_boolean,
    check_nonnegative,
    check_positive,
    check_variance_floor,
    check_words,
    is_finite,
)
from suffice.families.univariate.parameters import FAR, GaussianParameters, StudentParameters
from suffice.numerics.error_free import quick_two_sum
from suffice.numerics.variance_floor import StandardMoments, best_fraction
from suffice.sums.base import Accumulator
from suffice.sums.block import Encoding, RealBlock
from suffice.sums.moments import Moments, MomentsAccumulator, MomentsLeftOut

__all__ = ["Gaussian"]


CERTAIN = 2.0**-100  # the least fraction that a variance has of that over all classes
CELLS = 16_384  # that are worked on at a time where rows are left out: they stay in the cache
LEAST_VARIANCE = 2.0**-1000  # and the least variance: the inverse of a smaller one may overflow


@dataclass(frozen=True)
class Gaussian(Family):
    """Normal distribution of every column in every class.

    ::

        mle    μ = x̄,  σ² = Σ(x − x̄)² / (n − ddof)
        map    the mode of the posterior: μ = m,  σ² = b / (a + 3/2)
        bayes  the posterior predictive, Student-t with 2a degrees of freedom,
               location m and scale² b(κ + 1)/(aκ)

    with the Normal-inverse-gamma posterior

    ::

        κ = κ₀ + n    m = (κ₀m₀ + Σx)/κ    a = a₀ + n/2
        b = b₀ + ½(Σ(x − x̄)² + κ₀n(x̄ − m₀)²/κ)

    With ``shared=True`` the classes have one variance in common, and their log-ratios under
    ``mle`` and ``map`` are linear in x. Its sums, n included, then run over the rows of all
    classes, and with the k classes that show the column

    ::

        mle    σ² = Σ_c Σ(x − x̄_c)² / (n − k ddof)
        map    σ² = b / (a + 1 + k/2)

    Parameters
    ----------
    estimation : {"bayes", "mle", "map"}
        How parameters follow from the sums.
    ddof : int
        0 for maximum likelihood, 1 for the unbiased variance (``mle`` only).
    variance_floor : float or "loo"
        Smallest variance under ``mle``, as a fraction of the variance of that column over all
        classes, and at least 2⁻¹⁰⁰ of it: a class that shows one value only is certain of that
        value, and impossible elsewhere. It depends on no other column, so rescaling a column
        changes nothing. With ``"loo"`` one fraction for all columns of a block, from 1e-9 to 0.1
        in powers of ten, by the leave-one-out log loss to be expected from the moments
        (`suffice.numerics.variance_floor.expected_log_loss`).
    mean0, kappa0, a0, b0 : float, optional
        Prior m₀, κ₀, a₀, b₀. By default m₀ is the mean of the column over all classes and b₀ is
        a₀ times its variance: the prior weighs as much as κ₀ = 1 row at the mean and 2a₀ = 2 rows
        of that variance, whatever the units.
    shared : bool
        One variance for all classes, as in linear discriminant analysis.
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they have one distribution for all
        classes.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007),
    section 3, eqs. 86-89 and 110; Hastie, Tibshirani, Friedman, The Elements of Statistical
    Learning, 2nd ed. (2009), section 18.2, for the shared variance of independent columns.

    Examples
    --------
    >>> print(Gaussian(estimation="mle", ddof=1))
    Gaussian(estimation='mle', ddof=1)
    """

    estimation: Estimation = "bayes"
    ddof: int = 0
    variance_floor: VarianceFloor = 1e-9
    mean0: float | None = None
    kappa0: float = 1.0
    a0: float = 1.0
    b0: float | None = None
    shared: bool = False
    identifiers: Identifiers = field(  # sums do not depend on it, so models of both go together
        default="keep", compare=False
    )

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_words(estimation=self.estimation, identifiers=self.identifiers)
        check_positive(kappa0=self.kappa0, a0=self.a0, b0=self.b0)
        check_nonnegative(ddof=self.ddof)
        check_boolean(shared=self.shared)
        check_variance_floor(variance_floor=self.variance_floor)
        if self.mean0 is not None and not is_finite(self.mean0):
            raise ParameterError(f"mean0={self.mean0!r}", "mean0 is a finite number, or None")

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAccumulator(d)

    def advice(self, statistic: Moments) -> Iterator[tuple[int, str]]:
        """Constants."""
        rows = statistic.one_class
        for j in np.flatnonzero(((rows.total > 1) & (rows.scatter == 0)).any(axis=0)).tolist():
            yield j, f"has one value only, {rows.mean[0, j]:g}: it tells nothing"

    def estimate(self, statistic: Moments) -> GaussianParameters | StudentParameters:
        """Parameters from exact moments."""
        found, left_out = self.by_class(statistic), self.left_out(statistic)
        if not len(left_out):
            return found
        return alike(found, self.by_class(statistic.one_class), left_out)

    def leave_one_out(self, statistic: Moments) -> GaussianLeftOut:
        """Log-likelihoods of rows by the moments of all others.

        Raises
        ------
        ParameterError
            If the floor is chosen from the moments.
        """
        if self.estimation == "mle" and self.variance_floor == "loo":
            raise no_closed_form(self, "every row left out might choose another floor")
        return GaussianLeftOut(self, statistic)

    def left_out(self, statistic: Moments) -> NDArray[np.intp]:
        """Numbers of rows, if these are to be ignored."""
        if self.identifiers == "keep":
            return NO_COLUMNS
        return np.flatnonzero(row_numbers_of(statistic))

    def by_class(self, statistic: Any) -> GaussianParameters | StudentParameters:
        """Parameters of every class, from moments of any shape (k, ...); no column is left out."""
        return (
            self._maximum_likelihood(statistic)
            if self.estimation == "mle"
            else self._posterior(statistic)
        )

    def _maximum_likelihood(self, moments: Moments) -> GaussianParameters:
        n, pooled, variance = moments.total, moments.one_class, self._variance(moments)
        mean = np.where(n > 0, moments.mean, pooled.mean)
        mean_lo = np.where(n > 0, moments.mean_lo, pooled.mean_lo)
        return GaussianParameters(mean, mean_lo, np.maximum(variance, self.least_variance(moments)))

    def _variance(self, moments: Moments) -> NDArray[np.float64]:
        """σ² of maximum likelihood, before it has a floor, (k, d) or (1, d)."""
        n = moments.total
        freedom = self._joined(np.where(n > 0, n - self.ddof, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = self._joined(moments.scatter) / freedom if self._divides else moments.variance
            return np.where(freedom > 0, spread, moments.one_class.variance)

    @property
    def _divides(self) -> bool:
        """Whether variances are not those of the sums: of all classes together, or with a ddof."""
        return self.shared or self.ddof != 0

    def least_variance(self, moments: Moments) -> NDArray[np.float64]:
        """The floor of each column, (1, d); 0 only where all classes together show no spread."""
        overall = moments.one_class.variance
        floor = np.maximum(max(self.fraction(moments), CERTAIN) * overall, LEAST_VARIANCE)
        return np.where(overall > 0, floor, 0.0)

    def fraction(self, moments: Moments) -> float:
        """The smallest variance as a fraction of that over all classes, chosen if so asked."""
        if self.variance_floor != "loo":
            return self.variance_floor
        pooled = moments.one_class
        shift = (moments.mean - pooled.mean) + (moments.mean_lo - pooled.mean_lo)
        spread = moments.variance, self._variance(moments)
        return best_fraction(StandardMoments.of(moments.total, shift, *spread, pooled.variance[0]))

    def _posterior(self, moments: Moments) -> GaussianParameters | StudentParameters:
        n, pooled = moments.total, moments.one_class
        overall = pooled.variance
        mean0, lo0 = (pooled.mean, pooled.mean_lo) if self.mean0 is None else (self.mean0, 0.0)
        b0 = self.a0 * overall if self.b0 is None else self.b0
        kappa = self.kappa0 + n
        shift = (moments.mean - mean0) + (moments.mean_lo - lo0)
        moved = np.where(n > 0, moments.mean_lo - self.kappa0 / kappa * shift, lo0)
        mean, mean_lo = quick_two_sum(np.where(n > 0, moments.mean, mean0), moved)
        a = self.a0 + self._joined(n) / 2
        scatter = moments.scatter + self.kappa0 * n / kappa * np.where(n > 0, shift, 0) ** 2
        b = b0 + self._joined(scatter) / 2
        mean_lo = np.where(mean**2 > FAR**2 * b / a, mean_lo, 0.0)
        if self.estimation == "map":
            means = (n > 0).sum(axis=0, keepdims=True) if self.shared else 1
            return GaussianParameters(mean, mean_lo, b / (a + (1 + means / 2)))
        return StudentParameters(mean, mean_lo, b * (kappa + 1) / (a * kappa), 2 * a)

    def _joined(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums (k, d), or (1, d) over all classes if these share their variance."""
        return sums.sum(axis=0, keepdims=True) if self.shared else sums


@dataclass(frozen=True)
class GaussianLeftOut:
    """Gaussian columns by the moments of all rows but one: total minus row, in blocks of rows.

    Parameters
    ----------
    family : Gaussian
    moments : Moments
        Of all rows.
    """

    family: Gaussian
    moments: Moments

    def add_log_likelihood(
        self, block: RealBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add Σⱼ log p(xⱼ | c) by the moments without the row, (n, k)."""
        k, d = self.moments.total.shape
        weights = rows.by_class(k)
        step = max(CELLS // max(k * d, 1), 1)
        for start in range(0, len(out), step):
            part = slice(start, start + step)
            x = np.asarray(block.values[part], np.float64)
            left = MomentsLeftOut.of(self.moments, x, weights[part])
            cells = self.family.by_class(left).log_densities(x)
            if self.family.identifiers == "ignore" and (numbers := row_numbers_of(left)).any():
                alike_cells = self.family.by_class(left.one_class).log_densities(x)
                cells = np.where(numbers, alike_cells, cells)
            cells[:, np.isnan(x)] = 0.0
            out[part] += cells.sum(axis=2).T
            out[part][left.doubtful] = np.nan
