"""The multivariate Gaussian: real numbers that depend on each other, p(x | c) = N(x; μ_c, Σ_c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suffice.errors import ParameterError
from suffice.families.family import (
    Estimation,
    Family,
    Form,
    JointParameters,
    check_estimation,
    check_nonnegative,
    check_positive,
)
from suffice.families.gaussian import FAR
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble, quick_two_sum
from suffice.numerics.incomplete import IncompleteRows, LogPrior, expectation_maximisation
from suffice.numerics.linalg import TOLERANCE, Factor, factorise, floored, product
from suffice.numerics.logspace import scores
from suffice.statistics.block import BadCell, Encoding, RealBlock, tiles
from suffice.statistics.comoments import Comoments, ComomentsAccumulator
from suffice.statistics.fourth_moments import FourthMoments, FourthMomentsAccumulator
from suffice.statistics.moments import too_large
from suffice.statistics.statistic import Accumulator

__all__ = [
    "MultivariateGaussian",
    "MultivariateGaussianParameters",
    "MultivariateStudentParameters",
    "add_complete",
    "fill",
]

LOG_2PI = float(np.log(2 * np.pi))
ROUNDED = 2.0**-48  # noise of a matrix that was rounded to double
SHARPEST = 2.0**-100  # noise of a factorisation in double-double
PLAIN = 2.0**-44  # noise of sums in plain double precision
STEEP = 64.0  # root of a condition number from which the rows' order would show in a factor
ROWS = 16_384  # rows scored at a time
NAMED = 5  # columns named, and sentences about single ones

Structure = Literal["full", "diagonal", "spherical"]
Shrinkage = float | Literal["oas", "ledoit-wolf"]


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
        In no direction is the variance less than this share of that over all classes.
    kappa0, a0 : float
        Weight of the prior in rows: of its mean, and half of that of its variances.
    precision : {"exact", "double"}
        Add products without rounding, or in plain double precision about a value near the data.

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
    precision: Literal["exact", "double"] = "exact"

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_estimation(self.estimation, 1.0)
        check_positive(kappa0=self.kappa0, a0=self.a0)
        check_nonnegative(ddof=self.ddof, variance_floor=self.variance_floor, pooling=self.pooling)
        if self.pooling > 1:
            raise ParameterError(f"pooling={self.pooling!r}", "pooling is a number from 0 to 1")
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
                f"shrinkage={self.shrinkage!r}",
                "shrinkage is a number from 0 to 1, 'oas' or 'ledoit-wolf'",
            )
        if self.shrinkage == "ledoit-wolf" and self.pooling not in (0, 1):
            raise ParameterError(
                f"shrinkage='ledoit-wolf' with pooling={self.pooling!r}",
                "it is chosen from the rows of one covariance",
                "pool the classes wholly (1) or not at all (0), or use shrinkage='oas'",
            )
        if self.precision not in ("exact", "double"):
            raise ParameterError(
                f"precision={self.precision!r}", "precision is 'exact' or 'double'"
            )
        plain = self.structure == "full" and self.shrinkage == 0 and self.pooling in (0, 1)
        if self.estimation != "mle" and not plain:
            raise ParameterError(
                f"estimation={self.estimation!r} with structure, shrinkage or part pooling",
                "a posterior has the full covariance of each class, or of all",
                "use estimation='mle', or leave these options out",
            )

    @property
    def shared(self) -> bool:
        """Whether all classes have the same covariance."""
        return self.pooling == 1

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        exact = self.precision == "exact"
        if self.shrinkage == "ledoit-wolf":
            return FourthMomentsAccumulator(d, exact)
        return ComomentsAccumulator(d, self.shared, exact)

    def estimate(
        self, statistic: Comoments | FourthMoments
    ) -> MultivariateGaussianParameters | MultivariateStudentParameters:
        """Parameters from exact co-moments."""
        fourth = statistic if isinstance(statistic, FourthMoments) else None
        statistic = statistic.columns if isinstance(statistic, FourthMoments) else statistic
        sums = _Sums.of(statistic) if statistic.complete else self._expected(statistic)
        sums = replace(sums, fourth=fourth)
        return self._maximum_likelihood(sums) if self.estimation == "mle" else self._posterior(sums)

    def _maximum_likelihood(self, sums: _Sums) -> MultivariateGaussianParameters:
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
        shares = self._shares(covariance.value, divisor, sums)
        shaped = [self._shaped(covariance[m], shares[m]) for m in range(len(known))]
        total = self._shaped(sums.covariance, float(shares[known].min(initial=1.0)))
        covariance = DoubleDouble.stack(shaped)
        spread = Spread.of(sums.mean, covariance, total, self.variance_floor, self._noise(sums))
        return MultivariateGaussianParameters(spread, sums.course, self.structure)

    def _shares(
        self, covariance: NDArray[np.float64], rows: NDArray[np.float64], sums: _Sums
    ) -> NDArray[np.float64]:
        """How much each matrix (s, d, d) is shrunk towards its diagonal, (s,)."""
        s = len(covariance)
        if not isinstance(self.shrinkage, str):
            return np.full(s, self.shrinkage)
        if sums.fourth is None:
            return np.array([_oracle_approximating(covariance[m], rows[m]) for m in range(s)])
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        k = len(sums.weight)
        of_rows = sums.fourth.fourth(np.broadcast_to(variance, (k, variance.shape[1])))
        weight = sums.weight
        if s < k:
            of_rows, weight = of_rows.sum(keepdims=True), weight.sum(keepdims=True)
        return np.array([_ledoit_wolf(covariance[m], of_rows[m], weight[m]) for m in range(s)])

    def _shaped(self, covariance: DoubleDouble, share: float) -> DoubleDouble:
        """Shrink the covariances of one matrix (d, d), or leave them out."""
        diagonal = np.eye(covariance.shape[0])
        if self.structure == "diagonal":
            return covariance * diagonal
        if self.structure == "spherical":
            trace = (covariance * diagonal).sum(axis=0).sum(axis=0)
            return trace / float(len(diagonal)) * diagonal
        return covariance * np.where(diagonal, 1.0, 1.0 - share)

    def _posterior(
        self, sums: _Sums
    ) -> MultivariateGaussianParameters | MultivariateStudentParameters:
        k, d = len(sums.mean.hi), sums.d
        kappa, mean, psi, nu = self._update(sums)
        total, n = sums.covariance, sums.weight.sum()
        if n <= d:
            # So few rows determine columns by chance; those of the prior do not.
            total = (total * n + self._prior_scatter(sums)) / (n + 2 * self.a0)
        if self.estimation == "map":
            covariance = psi / self._mode_divisor(nu, sums)
            spread = Spread.of(mean, covariance, total, self.variance_floor, self._noise(sums))
            return MultivariateGaussianParameters(spread, sums.course)
        dof = nu - d + 1
        scale = psi / dof[:, None, None]
        spread = Spread.of(mean, scale, total, self.variance_floor, self._noise(sums))
        return MultivariateStudentParameters(
            spread, np.array(np.broadcast_to(dof, k)), (kappa + 1) / kappa, sums.course
        )

    def _noise(self, sums: _Sums) -> float:
        """The share of a variance that is noise of the sums, besides that of the cells."""
        return PLAIN if self.precision == "double" or sums.course.log_likelihood else 0.0

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

    def _expected(self, statistic: Comoments) -> _Sums:
        """The sums that rows with missing cells are expected to have, at the mode."""
        of_cells = _Sums.of_cells(statistic)
        origin, (k, d) = of_cells.prior_mean, of_cells.mean.shape
        prior_mean = np.zeros(d)  # as seen from the origin

        def estimate(
            n: NDArray[np.float64], mean: NDArray[np.float64], scatter: NDArray[np.float64]
        ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            sums = replace(
                of_cells,
                mean=DoubleDouble.of(mean),
                scatter=DoubleDouble.of(scatter),
                prior_mean=DoubleDouble.of(prior_mean),
            )
            if self.estimation != "mle":
                _, mode, psi, nu = self._update(sums)
                return mode.value, (psi / self._mode_divisor(nu, sums)).value
            rows = np.array([n.sum()]) if self.shared else n
            known = (rows > 0)[:, None, None]
            own = sums.scatter / np.where(known, rows[:, None, None], 1.0)
            covariance = DoubleDouble.where(known, own, sums.prior_variance * np.eye(d))
            shaped = (self._shaped(covariance[m], 0.0) for m in range(len(rows)))
            return mean, DoubleDouble.stack(shaped).value

        rows = IncompleteRows(
            k,
            statistic.patterns,
            statistic.pattern,
            statistic.code,
            statistic.weight.sum(axis=1),
            (statistic.mean - origin).value * statistic.patterns[statistic.pattern],
            _settled(statistic.scatter),
            statistic.home,
        )
        log_prior = None if self.estimation == "mle" else self._log_prior(of_cells)
        found = expectation_maximisation(rows, estimate, self.shared, log_prior)
        mean = DoubleDouble.of(found.mean)
        between = (found.mean.T * found.weight) @ found.mean
        centre = found.weight @ found.mean
        total = found.scatter.sum(axis=0) + between - np.outer(centre, centre) / found.weight.sum()
        return replace(
            of_cells,
            weight=found.weight,
            mean=mean + origin,
            scatter=DoubleDouble.of(found.scatter),
            covariance=DoubleDouble.of(total / found.weight.sum()),
            course=Course(found.log_likelihood, found.converged),
        )

    def _log_prior(self, sums: _Sums) -> LogPrior:
        """Log density of the prior of means, as seen from m₀, and covariances, up to a constant."""
        variance = sums.prior_variance.value
        used = np.flatnonzero(variance > 0)
        psi0 = 2 * self.a0 * np.diag(variance[used])

        def log_prior(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> float:
            sigma = covariance[:, used][:, :, used]
            _, log_determinant = np.linalg.slogdet(sigma)
            traces = np.trace(np.linalg.solve(sigma, psi0), axis1=1, axis2=2)
            means = mean[:, used, None]
            far = (means * np.linalg.solve(sigma, means)).sum(axis=(1, 2))
            power = (2 * self.a0 + 2 * sums.d + self._means(sums)) * log_determinant
            return float(-0.5 * (power.sum() + traces.sum() + self.kappa0 * far.sum()))

        return log_prior


@dataclass(frozen=True)
class Course:
    """How expectation-maximisation went: log-likelihoods, and whether they came to rest."""

    log_likelihood: tuple[float, ...] = ()
    converged: bool = True

    def remarks(self, columns: Sequence[str]) -> Iterator[str]:
        """Say if the estimates were still changing."""
        if not self.converged:
            names = _names(columns, range(len(columns)))
            yield (
                f"expectation-maximisation over the missing cells of {names} was still changing "
                f"after {len(self.log_likelihood)} iterations; its estimates are not the best; "
                "more complete rows, or fewer columns, would help"
            )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Weight (k,), mean (k, d) and scatter (k or 1, d, d) of the classes; a prior; the whole.

    A class without rows borrows the mean of all. ``prior_mean`` and ``prior_variance`` (d,) are
    those of the cells over all classes, ``covariance`` (d, d) is that of the rows.
    """

    weight: NDArray[np.float64]
    mean: DoubleDouble
    scatter: DoubleDouble
    prior_mean: DoubleDouble
    prior_variance: DoubleDouble
    covariance: DoubleDouble
    course: Course = Course()
    fourth: FourthMoments | None = None

    @property
    def d(self) -> int:
        """Number of columns with a spread; a posterior knows of no others."""
        return int(np.count_nonzero(self.prior_variance.hi > 0))

    @classmethod
    def of(cls, statistic: Comoments) -> _Sums:
        """The sums of complete rows."""
        k, d, code = statistic.k, statistic.d, statistic.code
        weight = np.zeros(k)
        weight[code] = statistic.weight.sum(axis=1)
        all_rows = statistic.one_class
        centre = all_rows.mean.sum(axis=0)
        mean = statistic.mean.scatter(code, (k, d))
        mean = DoubleDouble.where(weight[:, None] > 0, mean, centre)
        covariance = _scatter(all_rows).sum(axis=0) / max(weight.sum(), 1.0)
        variance = (covariance * np.eye(d)).sum(axis=0)
        return cls(weight, mean, _scatter(statistic), centre, variance, covariance)

    @classmethod
    def of_cells(cls, statistic: Comoments) -> _Sums:
        """Weights, and the mean and variance of the cells of every column; nothing else."""
        k, d = statistic.k, statistic.d
        shown = statistic.patterns[statistic.pattern]
        all_rows = statistic.one_class
        cells = all_rows.patterns[all_rows.pattern] * all_rows.weight.sum(axis=1)[:, None]
        n = np.maximum(cells.sum(axis=0), 1.0)
        mean = (all_rows.mean * cells).sum(axis=0) / n
        squares = (all_rows.mean - mean) * (all_rows.mean - mean) * cells
        spread = (all_rows.scatter * np.eye(d)).sum(axis=1).sum(axis=0)
        variance = (squares.sum(axis=0) + spread) / n
        weight = np.zeros(k)
        np.add.at(weight, statistic.code, statistic.weight.sum(axis=1) * shown.any(axis=1))
        nothing = DoubleDouble.zeros((k, d))
        settled = DoubleDouble.of(variance.value)
        return cls(weight, nothing, nothing, DoubleDouble.of(mean.value), settled, nothing)


def _scatter(statistic: Comoments) -> DoubleDouble:
    """The scatter of complete rows: of every class (k, d, d), or pooled (1, d, d)."""
    k = 1 if statistic.pooled else statistic.k
    index = np.zeros_like(statistic.code) if statistic.pooled else statistic.code
    stored = statistic.home >= 0
    out = DoubleDouble.zeros((k, statistic.d, statistic.d))
    out.hi[index[stored]] = statistic.scatter.hi[statistic.home[stored]]
    out.lo[index[stored]] = statistic.scatter.lo[statistic.home[stored]]
    return out


def _oracle_approximating(covariance: NDArray[np.float64], n: float) -> float:
    """The shrinkage of a matrix of correlations R towards I that loses least.

    ::

        s = [(1 − 2/d) tr R² + d²] / [(n + 1 − 2/d)(tr R² − d)]

    Source: Chen, Wiesel, Eldar and Hero (2010), eq. 23, where tr² R = d².
    """
    r = _correlations(covariance)
    d, square = len(r), float((r * r).sum())
    excess = (n + 1 - 2 / max(d, 1)) * (square - d)
    share = min(1.0, ((1 - 2 / d) * square + d * d) / excess) if excess > 0 and n > 0 else 1.0
    return _rounded_share(share if n > 0 else 0.0)


def _ledoit_wolf(covariance: NDArray[np.float64], fourth: float, n: float) -> float:
    """The shrinkage of a matrix of correlations R towards I that loses least, without a model.

    ::

        s = b² / d²    d² = tr R² − d    b² = [Σᵢ |zᵢ|⁴ / n − tr R²] / n, at most d²

    Source: O. Ledoit and M. Wolf, A well-conditioned estimator for large-dimensional covariance
    matrices, J. Multivariate Anal. 88 (2004), lemmas 3.2 to 3.5, both sides times d.
    """
    if n <= 0:
        return 0.0
    r = _correlations(covariance)
    square = float((r * r).sum())
    distance, error = square - len(r), (fourth / n - square) / n
    if error <= 0 or distance <= 0:
        return 0.0 if error <= 0 else 1.0
    return _rounded_share(min(error, distance) / distance)


def _correlations(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlations of the columns that vary."""
    sd = np.sqrt(np.diagonal(covariance))
    used = sd > 0
    return np.asarray(covariance[np.ix_(used, used)] / np.outer(sd[used], sd[used]))


def _rounded_share(share: float) -> float:
    """A share to 2⁻³⁰; bits below depend on the order of the rows."""
    return round(share * 2.0**30) * 2.0**-30


@dataclass(frozen=True, eq=False)
class Spread:
    """Centres of k classes and the matrices, s = k or 1 for all, that rows spread about them by.

    Columns that others determine in all rows, or that have one value only, say nothing: they are
    not ``used``.

    Parameters
    ----------
    mean, rest : ndarray (k, d)
        μ, and what a double cannot hold of a μ that is far from 0.
    covariance : ndarray (s, d, d)
        Σ.
    whitening : ndarray (s, d, d)
        W, lower triangular, with Σ⁻¹ = WᵀW on the columns used.
    log_determinant : ndarray (s,)
        log |Σ| of the columns used.
    rank : ndarray of int (s,)
        How many these are.
    origin, shift : ndarray (s, d) and (k, d)
        A point o near the means, and W(μ − o).
    left_out : tuple
        Columns that are not used, each with the terms (column, factor) that it is made of.
    raised : tuple
        Matrices whose variances were raised, each with the columns that others determine there.
    """

    mean: NDArray[np.float64]
    rest: NDArray[np.float64]
    covariance: NDArray[np.float64]
    whitening: NDArray[np.float64]
    log_determinant: NDArray[np.float64]
    rank: NDArray[np.intp]
    origin: NDArray[np.float64]
    shift: NDArray[np.float64]
    left_out: tuple[tuple[int, tuple[tuple[int, float], ...]], ...]
    raised: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def of(
        cls,
        mean: DoubleDouble,
        covariance: DoubleDouble,
        total: DoubleDouble,
        floor: float,
        least_noise: float = 0.0,
    ) -> Spread:
        """Factor the covariances, of which no variance is less than its share of that of all."""
        s, d, _ = covariance.shape
        noise = np.maximum(_noise(mean, total), least_noise)
        frame = factorise(total, noise)
        matrices = tuple(covariance[m] for m in range(s))
        singular = [m for m in range(s) if floor > 0 and floored(matrices[m], frame, floor)[1]]
        raised = tuple((m, factorise(covariance[m], noise).dependent) for m in singular)
        if raised:
            # The directions are found in double; bits below would depend on the order of the rows.
            covariance = DoubleDouble.of(_settled(covariance))
            frame = factorise(DoubleDouble.of(_settled(total)), np.maximum(noise, ROUNDED))
            matrices = tuple(floored(covariance[m], frame, floor)[0] for m in range(s))
        used = frame.independent
        left_out = tuple((j, tuple(frame.combination(j).items())) for j in frame.dependent)
        both = np.ix_(used, used)
        whitening, log_determinant, rank = np.zeros((s, d, d)), np.zeros(s), np.zeros(s, np.intp)
        origin = mean.value if s == len(mean.hi) else mean.value.mean(axis=0)[None]
        offset, shift = mean - DoubleDouble.of(origin), np.zeros(mean.shape)
        for m, matrix in enumerate(matrices):
            factor = _factor(matrix[both], max(SHARPEST, least_noise) if floor > 0 else noise[used])
            w, sd = factor.whitening, np.sqrt(np.diagonal(matrix.hi)[used])
            largest = np.abs(w.hi * sd).max(axis=1, initial=0.0)
            whitening[m][both] = w.settled(largest[:, None] / np.where(sd > 0, sd, 1.0))
            log_determinant[m], rank[m] = factor.log_determinant, factor.rank
            of_m = np.arange(len(mean.hi)) if s == 1 else np.array([m])
            white = product(offset[np.ix_(of_m, used)], DoubleDouble(w.hi.T, w.lo.T))
            shift[np.ix_(of_m, used)] = white.settled(1.0)
        settled = _settled(DoubleDouble.stack(matrices))
        rest = _worthwhile(mean, np.sqrt(np.diagonal(settled, axis1=1, axis2=2)))
        factors = whitening, log_determinant, rank
        return cls(mean.value, rest, settled, *factors, origin, shift, left_out, raised)

    def add_gaussian(self, x: NDArray[np.float64], log_scale: Any, out: Any) -> NDArray[np.intp]:
        """Add ``log_scale`` − ½(x − μ)ᵀΣ⁻¹(x − μ) for complete rows; return which are not.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e150.
        """
        terms = self.origin, self.whitening, self.shift, log_scale
        return add_complete(kernels.distances.add_complete, x, terms, out)

    def add_linear(self, x: NDArray[np.float64], out: Any) -> NDArray[np.intp]:
        """Add log N(x; μ, Σ) − log N(x; o, Σ), where all classes share Σ; as `add_gaussian`."""
        terms = self.origin[0], *self.linear
        return add_complete(kernels.linear.add_complete, x, terms, out)

    @cached_property
    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Σ⁻¹(μ − o), (k, d), and −½(μ − o)ᵀΣ⁻¹(μ − o), (k,), where all classes share Σ."""
        return self.shift @ self.whitening[0], -0.5 * (self.shift**2).sum(axis=1)

    def marginal(
        self, x: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Distances (n, k), log-determinants and ranks (n, s) of rows in the columns they show."""
        n, s = len(x), len(self.covariance)
        order = np.lexsort(np.packbits(np.isnan(x), axis=1).T)
        out = np.zeros((n, len(self.mean))), np.zeros((n, s)), np.zeros((n, s))
        rows = np.ascontiguousarray(x[order])
        kernels.distances.add_marginal(rows, self.mean, self.rest, self.covariance, *out)
        back = np.argsort(order)
        return out[0][back], out[1][back], out[2][back]

    def column(self, j: int) -> Spread:
        """The spread of column j alone."""
        covariance = DoubleDouble.of(self.covariance[:, [j]][:, :, [j]])
        mean = DoubleDouble(self.mean[:, [j]], self.rest[:, [j]])
        return Spread.of(mean, covariance, covariance.sum(axis=0), 0.0)

    def draw(self, codes: NDArray[np.intp], stretch: Any, rng: np.random.Generator) -> list[Any]:
        """Draw μ + stretch · Σ^½ z for every class code (n,)."""
        s, d, _ = self.covariance.shape
        # The roots of correlations: those of covariances would round small columns away.
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        unit = np.where(sd > 0, sd, 1.0)
        correlation = self.covariance / (unit[:, :, None] * unit[:, None, :])
        variances, axes = np.linalg.eigh(correlation)
        roots = unit[:, :, None] * axes * np.sqrt(np.maximum(variances, 0.0))[:, None, :]
        z = rng.standard_normal((len(codes), d)) * stretch
        of = np.zeros_like(codes) if s == 1 else codes
        x = self.mean[codes].copy()
        for m in range(s):
            x[of == m] += z[of == m] @ roots[m].T
        return list(x.T)

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        """Say which columns are left out, and where variances were raised."""
        dependent = [j for j, _ in self.left_out]
        for j, made_of in self.left_out[:NAMED]:
            terms = " + ".join(f"{value:g} × {columns[i]!r}" for i, value in made_of)
            if len(made_of) > NAMED:
                terms = f"a combination of {len(made_of)} columns before it"
            yield (
                f"column {columns[j]!r} is {terms} plus a constant in every row; it is left out"
                if terms
                else f"column {columns[j]!r} has one value only; it is left out"
            )
        if len(dependent) > NAMED:
            yield (
                f"{_names(columns, dependent[NAMED:])} are combinations of the columns before them "
                "in every row; they are left out"
            )
        for m, singular in self.raised:
            where = "the classes" if len(self.covariance) == 1 else f"class {classes[m]!r}"
            here = [j for j in singular if j not in dependent]
            which = _names(columns, here) or "some combination of columns"
            yield (
                f"within {where}, the other columns determine {which}; a variance that would be 0 "
                "is kept at a small share (variance_floor) of that over all classes; more rows, "
                "shrinkage, a shared covariance or estimation='bayes' would help"
            )


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters(JointParameters):
    """μ (k, d) and Σ (k or 1, d, d)."""

    spread: Spread
    course: Course = Course()
    structure: Structure = "full"

    @property
    def mean(self) -> NDArray[np.float64]:
        """μ, (k, d)."""
        return self.spread.mean

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Σ, (k, d, d), or (1, d, d) if all classes share it."""
        return self.spread.covariance

    @property
    def n_free(self) -> int:
        """Kd means, and of each matrix d(d + 1)/2 numbers, d of a diagonal, or 1 of a sphere."""
        s, d, _ = self.covariance.shape
        of_one = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.structure]
        return int(len(self.mean) * d + s * of_one)

    @property
    def log_scale(self) -> NDArray[np.float64]:
        """−½ log |2πΣ| of every class, (k,)."""
        spread = self.spread
        log_scale = -0.5 * (spread.rank * LOG_2PI + spread.log_determinant)
        return np.array(np.broadcast_to(log_scale, len(self.mean)))

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log N(x; μ, Σ), of the columns that a row shows."""
        self._add(block, out, partial(self.spread.add_gaussian, log_scale=self.log_scale))

    def add_discriminants(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log N(x; μ, Σ), of complete rows about a point where all classes share Σ."""
        if len(self.covariance) == 1:
            self._add(block, out, self.spread.add_linear)
        else:
            self.add_log_likelihood(block, out)

    def _add(self, block: RealBlock, out: NDArray[np.float64], add: Any) -> None:
        for start, x in _tiles(block):
            part = out[start : start + len(x)]
            rest = _located(add, start, x, out=part)
            if len(rest):
                distance, log_determinant, rank = self.spread.marginal(x[rest])
                part[rest] -= 0.5 * (distance + (log_determinant + rank * LOG_2PI))

    def column(self, j: int) -> MultivariateGaussianParameters:
        """The marginal of column j."""
        return MultivariateGaussianParameters(self.spread.column(j))

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = μ + Σ^½ z."""
        return self.spread.draw(codes, 1.0, rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Mean and standard deviation of column j."""
        sd = np.broadcast_to(np.sqrt(self.covariance[:, j, j]), len(self.mean))
        return {"mean": self.mean[:, j].tolist(), "sd": sd.tolist()}

    def form(self) -> Form:
        """−½(x − μ)ᵀΣ⁻¹(x − μ) − ½ log |2πΣ|, multiplied out about 0, or about far means."""
        spread, k = self.spread, len(self.mean)
        precision = spread.whitening.transpose(0, 2, 1) @ spread.whitening
        precision = np.broadcast_to(precision, (k, *precision.shape[1:]))
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        far = (self.mean**2 > FAR**2 * variance).any(axis=0)
        origin = np.where(far, self.mean[0], 0.0)
        mean = (self.mean - origin) + spread.rest
        linear = (precision @ mean[:, :, None])[:, :, 0]
        constant = self.log_scale - 0.5 * (linear * mean).sum(axis=1)
        return Form(tuple(range(len(origin))), -0.5 * precision, linear, constant, origin)

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        """Say which columns are left out, where variances were raised, what did not converge."""
        yield from self.spread.remarks(columns, classes)
        yield from self.course.remarks(columns)


@dataclass(frozen=True, eq=False)
class MultivariateStudentParameters(JointParameters):
    """Multivariate Student-t: ν (k,), location and scale matrix, times a ``factor`` (k,)."""

    spread: Spread
    dof: NDArray[np.float64]
    factor: NDArray[np.float64]
    course: Course = Course()

    @property
    def n_free(self) -> int:
        """Number of means, variances and covariances, integrated out."""
        return MultivariateGaussianParameters(self.spread).n_free

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log t_ν(x; m, fΣ), of the p columns that a row shows.

        ::

            log Γ((ν + p)/2)/Γ(ν/2) − ½ log |πνfΣ| − (ν + p)/2 log(1 + (x − m)ᵀΣ⁻¹(x − m)/(νf))
        """
        for start, x in _tiles(block):
            part = out[start : start + len(x)]
            distance = scores(len(x), len(self.dof), 0.0)
            rest = _located(self.spread.add_gaussian, start, x, np.zeros(len(self.dof)), distance)
            distance *= -2.0
            log_determinant = np.broadcast_to(self.spread.log_determinant, (len(x), len(self.dof)))
            rank: Any = self.spread.rank
            if len(rest):
                log_determinant = log_determinant.copy()
                rank = np.array(np.broadcast_to(rank, distance.shape))
                distance[rest], log_determinant[rest], rank[rest] = self.spread.marginal(x[rest])
            part += self._log_density(distance, log_determinant, rank)

    def _log_density(
        self, distance: NDArray[np.float64], log_determinant: NDArray[np.float64], rank: Any
    ) -> NDArray[np.float64]:
        nu, stretch = self.dof, self.dof * self.factor
        scale = gammaln((nu + rank) / 2) - gammaln(nu / 2) - 0.5 * rank * np.log(np.pi * stretch)
        density = -(nu + rank) / 2 * np.log1p(distance / stretch)
        return np.asarray(scale - 0.5 * log_determinant + density)

    def column(self, j: int) -> MultivariateStudentParameters:
        """The marginal of column j, with the same degrees of freedom."""
        return MultivariateStudentParameters(self.spread.column(j), self.dof, self.factor)

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = m + √(fν/χ²_ν) Σ^½ z."""
        nu = self.dof[codes]
        stretch = np.sqrt(self.factor[codes] * nu / rng.chisquare(nu))
        return self.spread.draw(codes, stretch[:, None], rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Location, scale and degrees of freedom of column j."""
        scale = np.sqrt(self.spread.covariance[:, j, j] * self.factor)
        return {
            "mean": self.spread.mean[:, j].tolist(),
            "scale": scale.tolist(),
            "dof": self.dof.tolist(),
        }

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        """Say which columns are left out, where variances were raised, what did not converge."""
        yield from self.spread.remarks(columns, classes)
        yield from self.course.remarks(columns)


def _names(columns: Sequence[str], chosen: Sequence[int]) -> str:
    """Names of columns, or of some and how many more there are."""
    names = ", ".join(repr(columns[j]) for j in chosen[:NAMED])
    return names + (f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else "")


def _tiles(block: RealBlock) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Rows as doubles, a number of them at a time that stays in cache with its scores."""
    for start, x in tiles(block.values, np.float64):
        for first in range(0, len(x), ROWS):
            yield start + first, x[first : first + ROWS]


def add_complete(kernel: Any, x: NDArray[np.float64], terms: Any, out: Any) -> NDArray[np.intp]:
    """Let a kernel add to the scores of complete rows; return which are not.

    Raises
    ------
    BadCell
        If a number is infinite or larger than 1e150.
    """
    done = np.zeros(len(x), bool)
    stopped = kernel(x, *terms, done, out)
    if stopped >= 0:
        raise too_large(x, stopped, 0)
    if done.all():
        return np.empty(0, np.intp)
    rest = np.flatnonzero(~done)
    complete = rest[~np.isnan(x[rest]).any(axis=1)]
    if len(complete):
        part = scores(len(complete), out.shape[1], 0.0)
        add_complete(kernel, x[complete], terms, part)
        out[complete] += part
    return np.setdiff1d(rest, complete, assume_unique=True)


def fill(
    x: NDArray[np.float64], mean: NDArray[np.float64], covariance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rows (n, d) with their expectation given the other cells in the place of missing ones.

    ::

        E[x_m | x_o] = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)

    with one μ (d,), or one for every row (n, d), and Σ (d, d).
    """
    missing = np.isnan(x)
    rows = np.flatnonzero(missing.any(axis=1))
    if not len(rows):
        return x
    filled, centred = x.copy(), x - mean
    patterns, pattern = np.unique(missing[rows], axis=0, return_inverse=True)
    for p, m in enumerate(patterns):
        of = rows[pattern.reshape(-1) == p]
        shown = factorise(DoubleDouble.of(covariance[np.ix_(~m, ~m)]), ROUNDED)
        slopes = shown.solve(DoubleDouble.of(covariance[np.ix_(~m, m)])).value
        expected = np.broadcast_to(mean, x.shape)[np.ix_(of, m)]
        filled[np.ix_(of, m)] = expected + centred[np.ix_(of, ~m)] @ slopes
    return filled


def _located(function: Any, start: int, *arguments: Any, **options: Any) -> Any:
    """Call a function on rows from ``start`` on; a bad cell counts its row from 0."""
    try:
        return function(*arguments, **options)
    except BadCell as bad:
        bad.row += start
        raise


def _noise(mean: DoubleDouble, total: DoubleDouble) -> NDArray[np.float64]:
    """What rounding of the data may leave of the variance of a dependent column: `factorise`."""
    variance = np.diagonal(total.hi)
    far = np.divide(
        (mean.hi**2).max(axis=0, initial=0.0),
        variance,
        out=np.zeros_like(variance),
        where=variance > 0,
    )
    return np.asarray(np.maximum(TOLERANCE, 2.0**-104 * far))


def _settled(matrices: DoubleDouble) -> NDArray[np.float64]:
    """Covariances (..., d, d) in double, without bits that depend on the order of the rows."""
    sd = np.sqrt(np.maximum(np.diagonal(matrices.hi, axis1=-2, axis2=-1), 0.0))
    return matrices.settled(sd[..., :, None] * sd[..., None, :])


def _factor(matrix: DoubleDouble, tolerance: Any) -> Factor:
    """Factor a covariance; if it is ill-conditioned, without bits that depend on the rows' order.

    With the condition number κ they would reach the result. They are rounded off to what a score,
    in double, makes of κ anyway: 2⁻⁵³κ^−½ on the scale of the columns.
    """
    factor = factorise(matrix, tolerance)
    sd = np.sqrt(np.diagonal(matrix.hi))
    steep = np.abs(factor.whitening.hi * sd).max(initial=0.0)  # κ^½
    if steep <= STEEP:
        return factor
    step = np.ldexp(1.5, np.frexp(sd[:, None] * sd / steep)[1])  # of which that is the last place
    rounded = quick_two_sum(matrix.hi, (matrix.lo + step) - step)
    return factorise(DoubleDouble(*rounded), tolerance)


def _worthwhile(mean: DoubleDouble, sd: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rest of a mean that is far from 0, to 2⁻⁶⁰ of the standard deviation."""
    far = (np.abs(mean.hi) > FAR * sd) & (sd > 0)
    step = np.ldexp(1.0, np.frexp(np.where(far, sd, 1.0))[1] - 60)
    return np.asarray(np.where(far, np.round(mean.lo / step) * step, 0.0))
