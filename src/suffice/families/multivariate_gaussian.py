"""The multivariate Gaussian: real numbers that depend on each other, p(x | c) = N(x; μ_c, Σ_c)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import Family
from suffice.families.left_out.rows import no_closed_form
from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.left_out import GaussiansLeftOut
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.multivariate.sums import GaussianSums, expected_sums
from suffice.families.options import (
    Estimation,
    check_estimation,
    check_nonnegative,
    check_positive,
    is_finite,
)
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.expectation_maximisation import LogPrior
from suffice.numerics.linalg import SHARPEST, factorise
from suffice.numerics.shrinkage import ledoit_wolf
from suffice.sums.base import Accumulator
from suffice.sums.block import Encoding
from suffice.sums.comoments import (
    Comoments,
    ComomentsAccumulator,
    FourthMoments,
    FourthMomentsAccumulator,
)

__all__ = ["MultivariateGaussian", "Shrinkage"]

DOUBLE_NOISE = 2.0**-44  # noise of sums that are only of doubles

Shrinkage = float | Literal["ledoit-wolf"]
GaussianOrStudent = MultivariateGaussianParameters | MultivariateStudentParameters


@dataclass(frozen=True)
class MultivariateGaussian(Family):
    """Normal distribution of several columns together, with their covariances.

    With n_c rows of class c, n in all, and S_c = Σ(x − x̄_c)(x − x̄_c)ᵀ over the rows of class c:

    ::

        mle    μ = x̄_c,  Σ_c = S_c / n_c, or pooled: Σ = Σ_c S_c / n
        map    the mode of the posterior: μ = m,  Σ = Ψ / (ν + d + 2)
        bayes  the posterior predictive, Student-t with ν − d + 1 degrees of freedom,
               location m and scale matrix Ψ(κ + 1) / (κ(ν − d + 1))

    where ``pooling`` 0 gives every class its own covariance (quadratic discriminants), 1 all
    classes the same (linear discriminants). The posterior is Normal-inverse-Wishart, of every class
    or of all,

    ::

        κ = κ₀ + n_c    m = (κ₀m₀ + Σx)/κ    ν = ν₀ + n
        Ψ = Ψ₀ + S + κ₀n_c/κ (x̄ − m₀)(x̄ − m₀)ᵀ

    with ν₀ = 2a₀ + d − 1, Ψ₀ = 2a₀ diag(variances over all classes) and m₀ the mean over all
    classes: each column alone then has the prior, and the predictive, of `Gaussian`.

    Rows with missing cells count by what they show, by expectation-maximisation; with
    ``"bayes"``, the sums expected at the mode take the place of those unknown.

    Parameters
    ----------
    estimation : {"bayes", "mle", "map"}
        How parameters follow from the sums.
    pooling : {0, 1}
        Whether all classes have the same covariance.
    shrinkage : float or "ledoit-wolf"
        Share s of the diagonal in (1 − s)Σ + s diag(Σ) (``mle`` only), which depends on no unit;
        "ledoit-wolf" chooses s for each matrix of correlations (Ledoit and Wolf, section 3.3), from
        fourth moments of complete rows.
    ddof : int
        1 for the unbiased covariance, divisor n_c − 1 or n − k (``mle`` only).
    variance_floor : float
        In no direction is the variance less than this fraction of that over all classes; with 0,
        where a class has no spread in a direction in which others have, 2⁻⁴⁰.
    max_iter : int
        Most iterations of expectation-maximisation over missing cells; with 0 they are expected
        from the mean of their class and the variance of their column alone.
    kappa0, a0 : float
        Weight of the prior in rows: of its mean, and half of that of its variances.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007),
    eqs. 250-258.

    Examples
    --------
    >>> print(MultivariateGaussian(estimation="mle", pooling=1))
    MultivariateGaussian(estimation='mle', pooling=1)
    """

    estimation: Estimation = "bayes"
    pooling: float = 0.0
    shrinkage: Shrinkage = 0.0
    ddof: int = 0
    variance_floor: float = 1e-9
    kappa0: float = 1.0
    a0: float = 1.0
    max_iter: int = 1_000

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_estimation(self.estimation, 1.0)
        check_positive(kappa0=self.kappa0, a0=self.a0)
        check_nonnegative(
            ddof=self.ddof, variance_floor=self.variance_floor, max_iter=self.max_iter
        )
        if self.pooling not in (0, 1):
            raise ParameterError(f"pooling={self.pooling!r}", "pooling is 0 or 1")
        if self.shrinkage != "ledoit-wolf" and not (
            is_finite(self.shrinkage) and 0 <= self.shrinkage <= 1
        ):
            raise ParameterError(
                f"shrinkage={self.shrinkage!r}",
                "shrinkage is a number from 0 to 1, or 'ledoit-wolf'",
            )
        if self.estimation != "mle" and self.shrinkage != 0:
            raise ParameterError(
                f"estimation={self.estimation!r} with shrinkage",
                "a posterior has the covariance of each class, or of all",
                "use estimation='mle', or leave shrinkage out",
            )

    @property
    def shared(self) -> bool:
        """Whether all classes have the same covariance."""
        return self.pooling == 1

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        if self.shrinkage == "ledoit-wolf":
            return FourthMomentsAccumulator(d)
        return ComomentsAccumulator(d, self.shared)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        """Whether a statistic is one of those that it accumulates of d columns."""
        if not super().takes(statistic, encoding, d):
            return False
        known = self.accumulator(encoding, 0).statistic()
        same = type(getattr(statistic, "moments", None)) is type(getattr(known, "moments", None))
        return same and bool(statistic.columns.pooled == known.columns.pooled)

    def is_shown_by(self, statistic: Comoments | FourthMoments) -> bool:
        """Whether there are groups of rows."""
        return len(statistic.columns.code) > 0

    def estimate(self, statistic: Comoments | FourthMoments) -> GaussianOrStudent:
        """Parameters from exact co-moments."""
        rows = statistic.columns
        sums = GaussianSums.of(rows) if rows.complete else self._expected(rows)
        if isinstance(statistic, FourthMoments):
            sums = replace(sums, fourth=statistic)
        return self.maximum_likelihood(sums) if self.estimation == "mle" else self._posterior(sums)

    def leave_one_out(self, statistic: Comoments | FourthMoments) -> GaussiansLeftOut:
        """Log-likelihoods of rows by the co-moments of all others."""
        if self.estimation != "mle" or self.shrinkage:
            raise no_closed_form(self, "without a row, more than rank one of a covariance changes")
        columns = statistic.columns
        if not columns.complete:
            raise no_closed_form(self, "missing cells are filled by expectation-maximisation")
        sums = GaussianSums.of(columns)
        return GaussiansLeftOut.of(
            self,
            self.maximum_likelihood(sums).factored,
            sums.weight,
            sums.covariance.value,
        )

    def maximum_likelihood(self, sums: GaussianSums) -> MultivariateGaussianParameters:
        """The parameters of most likelihood, shrunk."""
        n = sums.weight
        freedom = np.where(n > 0, n - self.ddof, 0.0)
        scatter, divisor = sums.scatter, freedom
        if self.shared:
            scatter, divisor = sums.scatter.sum(axis=0)[None], freedom.sum(keepdims=True)
        known = divisor > 0
        covariance = scatter / np.where(known, divisor, 1.0)[:, None, None]
        covariance = DoubleDouble.where(known[:, None, None], covariance, sums.covariance)
        fractions = self._shrinkage_of(covariance.value, sums)
        least = float(fractions[known].min(initial=1.0))
        covariance = DoubleDouble.stack(
            _shrunk(covariance[m], fractions[m]) for m in range(len(known))
        )
        factored = FactoredGaussians.of(
            sums.mean,
            covariance,
            _shrunk(sums.covariance, least),
            self.variance_floor,
            self._noise(sums),
        )
        borrowed = tuple(np.flatnonzero(~known & (n > 0)).tolist())
        return MultivariateGaussianParameters(factored, sums.course, borrowed)

    def _shrinkage_of(
        self, covariance: NDArray[np.float64], sums: GaussianSums
    ) -> NDArray[np.float64]:
        """How much each matrix (s, d, d) is shrunk towards its diagonal, (s,)."""
        s = len(covariance)
        if sums.fourth is None:
            return np.full(s, self.shrinkage)
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        k = len(sums.weight)
        of_rows = sums.fourth.fourth(np.broadcast_to(variance, (k, variance.shape[1])))
        weight = sums.weight
        if s < k:
            of_rows, weight = of_rows.sum(keepdims=True), weight.sum(keepdims=True)
        return np.array([ledoit_wolf(covariance[m], of_rows[m], weight[m]) for m in range(s)])

    def _posterior(self, sums: GaussianSums) -> GaussianOrStudent:
        k, d = len(sums.mean.hi), sums.d
        kappa, mean, psi, nu = self._update(sums)
        total, n = sums.covariance, sums.weight.sum()
        if n <= d:
            # So few rows determine columns by chance; those of the prior do not.
            total = (total * n + self._prior_scatter(sums)) / (n + 2 * self.a0)
        if self.estimation == "map":
            covariance = psi / self._mode_divisor(nu, sums)
            factored = FactoredGaussians.of(
                mean, covariance, total, self.variance_floor, self._noise(sums)
            )
            return MultivariateGaussianParameters(factored, sums.course)
        dof = nu - d + 1
        scale = psi / dof[:, None, None]
        factored = FactoredGaussians.of(mean, scale, total, self.variance_floor, self._noise(sums))
        return MultivariateStudentParameters(
            factored, np.array(np.broadcast_to(dof, k)), (kappa + 1) / kappa, sums.course
        )

    def _noise(self, sums: GaussianSums) -> float:
        """The fraction of a variance that is noise of the sums, besides that of the cells."""
        return DOUBLE_NOISE if sums.course.log_likelihood else 0.0

    def _update(
        self, sums: GaussianSums
    ) -> tuple[NDArray[np.float64], DoubleDouble, DoubleDouble, NDArray[np.float64]]:
        """κ (k,), m (k, d), Ψ (s, d, d) and ν (s,) of the posterior."""
        n, kappa, nu0 = sums.weight, self.kappa0 + sums.weight, 2 * self.a0 + sums.d - 1
        shift = sums.mean - sums.prior_mean
        mean = sums.mean - shift * (self.kappa0 / kappa)[:, None]
        moved = shift[:, :, None] * shift[:, None, :] * (self.kappa0 * n / kappa)[:, None, None]
        psi0 = self._prior_scatter(sums)
        if self.shared:
            psi = sums.scatter.sum(axis=0) + moved.sum(axis=0) + psi0
            return kappa, mean, psi[None], np.array([nu0 + n.sum()])
        return kappa, mean, sums.scatter + moved + psi0, nu0 + n

    def _prior_scatter(self, sums: GaussianSums) -> DoubleDouble:
        """Ψ₀, (d, d)."""
        return sums.prior_variance * (2 * self.a0 * np.eye(sums.mean.shape[1]))

    def _mode_divisor(self, nu: NDArray[np.float64], sums: GaussianSums) -> NDArray[np.float64]:
        """ν + d + 2, or ν + d + 1 + k where k means share the covariance; (s, 1, 1)."""
        return np.asarray(nu + sums.d + 1 + self._means(sums))[:, None, None]

    def _means(self, sums: GaussianSums) -> int:
        """How many means that rows tell of share a covariance."""
        return int(np.count_nonzero(sums.weight)) if self.shared else 1

    def _expected(self, statistic: Comoments) -> GaussianSums:
        """The sums that rows with missing cells are expected to have, at the mode."""

        def estimate(
            of_cells: GaussianSums,
            n: NDArray[np.float64],
            mean: NDArray[np.float64],
            scatter: NDArray[np.float64],
        ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if self.estimation == "mle":
                rows = n.sum(keepdims=True) if self.shared else n
                known = (rows > 0)[:, None, None]
                found = scatter / np.where(known, rows[:, None, None], 1.0)
                return mean, np.where(known, found, np.diag(of_cells.prior_variance.value))
            sums = replace(
                of_cells,
                mean=DoubleDouble.of(mean),
                scatter=DoubleDouble.of(scatter),
                prior_mean=DoubleDouble.of(np.zeros(len(mean.T))),  # from the origin
            )
            _, mode, psi, nu = self._update(sums)
            return mode.value, (psi / self._mode_divisor(nu, sums)).value

        log_prior = None if self.estimation == "mle" else self._log_prior
        return expected_sums(statistic, estimate, self.shared, log_prior, self.max_iter)

    def _log_prior(self, sums: GaussianSums) -> LogPrior:
        """Log density of the prior of means, as seen from m₀, and covariances, up to a constant."""
        variance = sums.prior_variance.value
        used = np.flatnonzero(variance > 0)
        psi0 = 2 * self.a0 * variance[used]
        power = 2 * self.a0 + 2 * sums.d + self._means(sums)

        def log_prior(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> float:
            total, means = 0.0, np.split(mean[:, used], len(covariance))
            for sigma, of_sigma in zip(covariance[:, used][:, :, used], means, strict=True):
                factor = factorise(DoubleDouble.of(sigma), SHARPEST)
                total += power * factor.log_determinant
                total += float((factor.inverse_diagonal().value * psi0).sum())
                far = factor.solve(DoubleDouble.of(of_sigma.T)).value.T * of_sigma
                total += self.kappa0 * float(far.sum())
            return -0.5 * total

        return log_prior


def _shrunk(covariance: DoubleDouble, fraction: float) -> DoubleDouble:
    """(1 − s)Σ + s diag(Σ), (d, d)."""
    return covariance * np.where(np.eye(covariance.shape[0]), 1.0, 1.0 - fraction)
