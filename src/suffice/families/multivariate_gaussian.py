"""The multivariate Gaussian: real numbers that depend on each other, p(x | c) = N(x; μ_c, Σ_c)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import Family
from suffice.families.left_out.rows import no_closed_form
from suffice.families.multivariate.expected import expected_sums
from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.left_out import GaussiansLeftOut
from suffice.families.multivariate.mixed import MixedParameters, OfTerms, of_terms
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
    Structure,
)
from suffice.families.multivariate.scatters_left_out import ScattersLeftOut
from suffice.families.multivariate.shrunk_left_out import shrunk_left_out
from suffice.families.multivariate.structure import most_likely, shaped
from suffice.families.multivariate.sums import _Sums
from suffice.families.options import Estimation, check_estimation, check_nonnegative, check_positive
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.expectation_maximisation import LogPrior
from suffice.numerics.linalg import SHARPEST, factorise
from suffice.numerics.shrinkage import ledoit_wolf, oracle_approximating
from suffice.phrases import Option, Phrase
from suffice.statistics.block import Encoding
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.fourth_moments import FourthMoments, FourthMomentsAccumulator
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.indicator_comoments import (
    IndicatorComoments,
    IndicatorComomentsAccumulator,
)
from suffice.statistics.statistic import Accumulator

__all__ = ["MultivariateGaussian", "Shrinkage"]

DOUBLE_NOISE = 2.0**-44  # noise of sums that are only of doubles

Shrinkage = float | Literal["oas", "ledoit-wolf"]
GaussianOrStudent = MultivariateGaussianParameters | MultivariateStudentParameters


@dataclass(frozen=True)
class MultivariateGaussian(Family):
    """Normal distribution of several columns together, with their covariances.

    With n_c rows of class c, n in all, and S_c = Σ(x − x̄_c)(x − x̄_c)ᵀ over the rows of class c:

    ::

        mle    μ = x̄_c,  Σ_c = [(1 − λ)S_c + λ Σ_c S_c] / [(1 − λ)n_c + λn]
        map    the mode of the posterior: μ = m,  Σ = Ψ / (ν + d + 2)
        bayes  the posterior predictive, Student-t with ν − d + 1 degrees of freedom,
               location m and scale matrix Ψ(κ + 1) / (κ(ν − d + 1))

    where λ is ``pooling``: 0 gives every class its own covariance (quadratic discriminants), 1 all
    classes the same (linear discriminants), and Friedman's regularised discriminants lie between.
    The posterior is Normal-inverse-Wishart, of every class or of all,

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
    pooling : float
        λ, from 0 to 1; 0 or 1 for a posterior.
    structure : {"full", "diagonal", "spherical"}
        Leave covariances out, or also give all columns their mean variance (``mle`` only).
    shrinkage : float, "oas" or "ledoit-wolf"
        Share s of the diagonal in (1 − s)Σ + s diag(Σ) (``mle`` only), which depends on no unit;
        "oas" chooses s for each matrix of correlations (Chen, Wiesel, Eldar and Hero, eq. 23), and
        so does "ledoit-wolf" (Ledoit and Wolf, section 3.3), from fourth moments of complete rows.
    ddof : int
        1 for the unbiased covariance, divisor n_c − 1 or n − k (``mle`` only).
    variance_floor : float
        In no direction is the variance less than this fraction of that over all classes; with 0,
        where a class has no spread in a direction in which others have, 2⁻⁴⁰.
    kappa0, a0 : float
        Weight of the prior in rows: of its mean, and half of that of its variances.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: J. H. Friedman, Regularized discriminant analysis, JASA 84 (1989), eq. 16; K. P. Murphy,
    Conjugate Bayesian analysis of the Gaussian distribution (2007), eqs. 250-258; Y. Chen et al.,
    Shrinkage algorithms for MMSE covariance estimation, IEEE Trans. Signal Process. 58 (2010).

    Examples
    --------
    >>> print(MultivariateGaussian(estimation="mle", pooling=1))
    MultivariateGaussian(estimation='mle', pooling=1)
    """

    estimation: Estimation = "bayes"
    pooling: float = 0.0
    structure: Structure = "full"
    shrinkage: Shrinkage = 0.0
    ddof: int = 0
    variance_floor: float = 1e-9
    kappa0: float = 1.0
    a0: float = 1.0

    encodings: ClassVar[tuple[Encoding, ...]] = ("real", "mixed")
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_estimation(self.estimation, 1.0)
        check_positive(kappa0=self.kappa0, a0=self.a0)
        check_nonnegative(ddof=self.ddof, variance_floor=self.variance_floor, pooling=self.pooling)
        if self.pooling > 1:
            raise ParameterError(
                Option.of("pooling", self.pooling), "pooling is a number from 0 to 1"
            )
        if self.structure not in get_args(Structure):
            raise ParameterError(
                f"structure={self.structure!r}",
                "structure is one of 'full', 'diagonal', 'spherical'",
            )
        chosen = ("oas", "ledoit-wolf")
        if isinstance(self.shrinkage, str):
            allowed = self.shrinkage in chosen
        else:
            check_nonnegative(shrinkage=self.shrinkage)
            allowed = self.shrinkage <= 1
        if not allowed:
            raise ParameterError(
                Option.of("shrinkage", self.shrinkage),
                "shrinkage is a number from 0 to 1, 'oas' or 'ledoit-wolf'",
            )
        if self.shrinkage == "ledoit-wolf" and self.pooling not in (0, 1):
            raise ParameterError(
                Phrase(
                    Option.of("shrinkage", "ledoit-wolf"),
                    " with ",
                    Option.of("pooling", self.pooling),
                ),
                "it is chosen from the rows of one covariance",
                Phrase(
                    "pool the classes wholly (1) or not at all (0), or use ",
                    Option.of("shrinkage", "oas"),
                ),
            )
        plain = self.structure == "full" and self.shrinkage == 0 and self.pooling in (0, 1)
        if self.estimation != "mle" and not plain:
            raise ParameterError(
                Phrase(
                    Option.of("estimation", self.estimation),
                    " with structure, shrinkage or part pooling",
                ),
                "a posterior has the full covariance of each class, or of all",
                Phrase("use ", Option.of("estimation", "mle"), ", or leave these options out"),
            )

    @property
    def shared(self) -> bool:
        """Whether all classes have the same covariance."""
        return self.pooling == 1

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        if encoding == "mixed":
            return IndicatorComomentsAccumulator(partial(self._accumulator, False), d)
        return self._accumulator(self.shared, d)

    def _accumulator(self, shared: bool, d: int) -> Accumulator:
        if self.shrinkage == "ledoit-wolf":
            return FourthMomentsAccumulator(d)
        return ComomentsAccumulator(d, shared)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        """Whether a statistic is one of those that it accumulates of d columns."""
        if not super().takes(statistic, encoding, d):
            return False
        known = self.accumulator(encoding, 0).statistic()
        same = type(getattr(statistic, "moments", None)) is type(getattr(known, "moments", None))
        return same and bool(statistic.columns.pooled == known.columns.pooled)

    def is_shown_by(self, statistic: GroupedRows | FourthMoments) -> bool:
        """Whether there are groups of rows."""
        return len(statistic.columns.code) > 0

    def estimate(self, statistic: Any) -> GaussianOrStudent | MixedParameters:
        """Parameters from exact co-moments."""
        mixed = _mixed(statistic)
        sums = self._sums_of(statistic, mixed)
        if self.shrinkage == "ledoit-wolf":
            fourth = cast(FourthMoments, statistic) if mixed is None else mixed.fourth
            sums = replace(sums, fourth=fourth)
        is_mle = self.estimation == "mle"
        found = self.maximum_likelihood(sums) if is_mle else self._posterior(sums)
        return found if mixed is None else MixedParameters(found, mixed.terms)

    def sums_of(self, statistic: Any) -> _Sums:
        """The sums of rows: those expected, where cells are missing."""
        return self._sums_of(statistic, _mixed(statistic))

    def _sums_of(self, statistic: Any, mixed: OfTerms | None) -> _Sums:
        rows = statistic.columns if mixed is None else mixed.rows
        sums = _Sums.of(rows) if rows.complete else self._expected(rows)
        return replace(sums, filled=mixed is not None and mixed.filled)

    def left_out_of_diagonal(self, statistic: Any) -> tuple[NDArray[np.intp], ScattersLeftOut]:
        """The columns that vary, and their Gaussians without one row, for any shrinkage."""
        sums = self.sums_of(statistic)
        if self.shared:  # a mixed table has the scatter of each class
            sums = replace(sums, scatter=sums.scatter.sum(axis=0)[None])
        used = np.flatnonzero(sums.prior_variance.hi > 0)
        return used, shrunk_left_out(sums.of_columns(used), self.ddof, self.variance_floor)

    def leave_one_out(self, statistic: GroupedRows | FourthMoments) -> GaussiansLeftOut:
        """Log-likelihoods of rows by the co-moments of all others."""
        if isinstance(statistic, IndicatorComoments):
            raise no_closed_form(self, "values of categories come and go with rows")
        if self.estimation != "mle" or self.structure != "full" or self.shrinkage:
            raise no_closed_form(self, "without a row, more than rank one of a covariance changes")
        if self.pooling not in (0, 1):
            raise no_closed_form(self, "a row changes the covariance of every class")
        columns = statistic.columns
        if not columns.complete:
            raise no_closed_form(self, "missing cells are filled by expectation-maximisation")
        sums = _Sums.of(columns)
        return GaussiansLeftOut.of(
            self,
            self.maximum_likelihood(sums).factored,
            sums.weight,
            sums.covariance.value,
        )

    def maximum_likelihood(self, sums: _Sums) -> MultivariateGaussianParameters:
        """The parameters of most likelihood, shrunk."""
        n, pooled = sums.weight, sums.scatter.sum(axis=0)
        freedom = np.where(n > 0, n - self.ddof, 0.0)
        scatter, divisor = pooled[None], freedom.sum(keepdims=True)
        if not self.shared:
            own = 1.0 - self.pooling
            scatter = sums.scatter * own + pooled * self.pooling
            divisor = own * freedom + self.pooling * divisor
        known = divisor > 0
        covariance = scatter / np.where(known, divisor, 1.0)[:, None, None]
        covariance = DoubleDouble.where(known[:, None, None], covariance, sums.covariance)
        fractions = self._shrinkage_of(covariance.value, divisor, sums)
        least = float(fractions[known].min(initial=1.0))
        total = shaped(sums.covariance, self.structure, least)
        covariance = DoubleDouble.stack(
            shaped(covariance[m], self.structure, fractions[m]) for m in range(len(known))
        )
        factored = FactoredGaussians.of(
            sums.mean, covariance, total, self.variance_floor, self._noise(sums)
        )
        borrowed = tuple(np.flatnonzero(~known & (n > 0)).tolist())
        return MultivariateGaussianParameters(factored, sums.course, self.structure, borrowed)

    def _shrinkage_of(
        self, covariance: NDArray[np.float64], rows: NDArray[np.float64], sums: _Sums
    ) -> NDArray[np.float64]:
        """How much each matrix (s, d, d) is shrunk towards its diagonal, (s,)."""
        s = len(covariance)
        if not isinstance(self.shrinkage, str):
            return np.full(s, self.shrinkage)
        if sums.fourth is None:
            return np.array([oracle_approximating(covariance[m], rows[m]) for m in range(s)])
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        k = len(sums.weight)
        of_rows = sums.fourth.fourth(np.broadcast_to(variance, (k, variance.shape[1])))
        weight = sums.weight
        if s < k:
            of_rows, weight = of_rows.sum(keepdims=True), weight.sum(keepdims=True)
        return np.array([ledoit_wolf(covariance[m], of_rows[m], weight[m]) for m in range(s)])

    def _posterior(self, sums: _Sums) -> GaussianOrStudent:
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

    def _noise(self, sums: _Sums) -> float:
        """The fraction of a variance that is noise of the sums, besides that of the cells."""
        rounded = sums.filled or sums.course.log_likelihood
        return DOUBLE_NOISE if rounded else 0.0

    def _update(
        self, sums: _Sums
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

    def _prior_scatter(self, sums: _Sums) -> DoubleDouble:
        """Ψ₀, (d, d)."""
        return sums.prior_variance * (2 * self.a0 * np.eye(sums.mean.shape[1]))

    def _mode_divisor(self, nu: NDArray[np.float64], sums: _Sums) -> NDArray[np.float64]:
        """ν + d + 2, or ν + d + 1 + k where k means share the covariance; (s, 1, 1)."""
        return np.asarray(nu + sums.d + 1 + self._means(sums))[:, None, None]

    def _means(self, sums: _Sums) -> int:
        """How many means that rows tell of share a covariance."""
        return int(np.count_nonzero(sums.weight)) if self.shared else 1

    def _expected(self, statistic: GroupedRows) -> _Sums:
        """The sums that rows with missing cells are expected to have, at the mode."""

        def estimate(
            of_cells: _Sums,
            n: NDArray[np.float64],
            mean: NDArray[np.float64],
            scatter: NDArray[np.float64],
        ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if self.estimation == "mle":
                rows = np.array([n.sum()]) if self.shared else n
                return mean, most_likely(scatter, rows, of_cells.prior_variance, self.structure)
            sums = replace(
                of_cells,
                mean=DoubleDouble.of(mean),
                scatter=DoubleDouble.of(scatter),
                prior_mean=DoubleDouble.of(np.zeros(len(mean.T))),  # from the origin
            )
            _, mode, psi, nu = self._update(sums)
            return mode.value, (psi / self._mode_divisor(nu, sums)).value

        log_prior = None if self.estimation == "mle" else self._log_prior
        return expected_sums(statistic, estimate, self.shared, log_prior)

    def _log_prior(self, sums: _Sums) -> LogPrior:
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


def _mixed(statistic: Any) -> OfTerms | None:
    """The sums of terms that a mixed table becomes."""
    return of_terms(statistic) if isinstance(statistic, IndicatorComoments) else None
