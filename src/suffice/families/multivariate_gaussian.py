"""The multivariate Gaussian: real numbers that depend on each other, p(x | c) = N(x; μ_c, Σ_c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from suffice.errors import ParameterError
from suffice.families.family import (
    Family,
    Form,
    JointParameters,
    LearntRows,
    Posterior,
    ScoreMoments,
    trigamma,
)
from suffice.families.gaussian import FAR
from suffice.families.options import Estimation
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import digamma, lgamma, log, log1p, log_of
from suffice.numerics.error_free import LARGEST, quick_two_sum
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.expectation_maximisation import (
    IncompleteRows,
    LogPrior,
    expectation_maximisation,
)
from suffice.numerics.in_print import NAMED, bound, listed
from suffice.numerics.interruption import interruptible, one_thread_of_blas
from suffice.numerics.linalg import (
    LEAST_PIVOT,
    ROUNDED_MATRIX,
    SHARPEST,
    Factor,
    factorise,
    floored,
    is_above,
    product,
)
from suffice.numerics.logspace import row_sums, scores
from suffice.numerics.memory import require_memory
from suffice.numerics.rows import affine, linear
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Shape, Within
from suffice.sums.base import Accumulator
from suffice.sums.block import Encoding, RealBlock, from_row, require_held, short_tiles
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.counts import patterns_of
from suffice.sums.kept_rows import KeptRows, Roots, RowsAccumulator, product_sums
from suffice.sums.moments import ABSENT, FEWEST_DIGITS, too_large

WIDE = 256  # columns: of more, rows are kept as long as they are no more than columns
SMALLEST_SINGULAR = 1e-4  # of rows in units of their deviations, over √n; the rest is noise
NO_PART = 2.0**-44  # of the means: what rounding leaves beyond a span that they are in
DOUBLE_NOISE = 2.0**-44  # noise of sums that are only of doubles
LOG_2PI = log_of(2 * np.pi)
SCORED_ROWS = 16_384  # rows scored at a time: they stay in the cache with their scores
KEPT_FRACTION = 2.0**-40  # the fraction kept, without a floor, where one class alone does not vary
STEEP = 64.0  # root of a condition number from which the rows' order would show in a factor
MARGIN = 4.0  # by which a relative variance has to exceed its floor

Shrinkage = float | Literal["ledoit-wolf"]


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
    classes: each column alone then has the prior, and the predictive, of `Gaussian` with this κ₀,
    and b₀ that is a₀ times the variance.

    Rows with missing cells count by what they show, by expectation-maximisation; with
    ``"bayes"``, the sums expected at the mode take the place of those unknown.

    More than 256 columns and no more rows than columns (``mle``, complete rows) are described in
    the space of the rows, by a thin singular value decomposition of rows about their class means
    in units of their deviations: see `ThinGaussians`. Without shrinkage a covariance is then that
    of the span of the rows, as in scikit-learn's solver "svd". So are rows of few cells, whatever
    their number, if all classes have one covariance: see `Roots`.

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
    outcomes : tuple of int
        Columns of 0 and 1. Where each class has a covariance (``mle`` only), S_c has one row more
        in their variances, with the variance over all classes: a class that shows one outcome is
        not certain of it.

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
    shrinkage: Annotated[Shrinkage, Within(0, 1)] = 0.0
    ddof: Annotated[int, NONNEGATIVE] = 0
    variance_floor: Annotated[float, NONNEGATIVE] = 1e-9
    kappa0: Annotated[float, POSITIVE] = 1.0
    a0: Annotated[float, POSITIVE] = 1.0
    max_iter: Annotated[int, NONNEGATIVE] = 100
    outcomes: tuple[int, ...] = field(default=(), compare=False, repr=False)

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling not in (0, 1):
            raise ParameterError(f"pooling={self.pooling!r}", "pooling is 0 or 1")
        if self.estimation != "mle" and self.shrinkage != 0:
            raise ParameterError(
                f"estimation={self.estimation!r} with shrinkage",
                "a posterior has the covariance of each class, or of all",
                "use estimation='mle', or leave shrinkage out",
            )

    @property
    def shared(self) -> bool:
        return self.pooling == 1

    @property
    def apart(self) -> Self:
        return replace(self, pooling=0.0) if self.shared else self

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        fourths = self.shrinkage == "ledoit-wolf"
        if d > WIDE and self.estimation == "mle":
            return RowsAccumulator(d, pooled=self.shared, fourths=fourths, gaps=False)
        return product_sums(d, self.shared, fourths)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        if isinstance(statistic, KeptRows | Roots):
            wide = d > WIDE and self.estimation == "mle"
            return wide and statistic.d == d and statistic.pooled == self.shared
        pooled = self.shared and self.shrinkage != "ledoit-wolf"
        return super().takes(statistic, encoding, d) and statistic.columns.pooled == pooled

    def estimate(
        self, statistic: Comoments | FourthMoments | KeptRows | Roots
    ) -> GaussianOrStudent:
        """Parameters from exact co-moments, or from rows that are fewer than their columns.

        Raises
        ------
        ParameterError
            If a class has no more rows than columns, and neither shares its covariance nor shrinks
            it.
        """
        if isinstance(statistic, KeptRows | Roots):
            return self._thin(statistic.columns)
        rows = statistic.columns
        sums = GaussianSums.of(rows) if rows.complete else self._expected(rows)
        n, total = sums.weight, sums.covariance
        kappa, _, divisor = self._degrees(sums)
        mean, scatter = self._updated(sums)
        known = divisor > 0
        covariance = scatter / np.where(known, divisor, 1.0)[:, None, None]
        covariance = DoubleDouble.where(known[:, None, None], covariance, total)
        if self.estimation == "mle":
            fractions = self._fractions(covariance.value, statistic)
            covariance = DoubleDouble.stack(
                _shrunk(covariance[m], share) for m, share in enumerate(fractions.tolist())
            )
            total = _shrunk(total, float(fractions[known].min(initial=1.0)))
        elif n.sum() <= sums.d:
            # So few rows determine columns by chance; those of the prior do not.
            total = (total * n.sum() + self._prior_scatter(sums)) / (n.sum() + 2 * self.a0)
        noise = DOUBLE_NOISE if sums.course.log_likelihood else 0.0  # expected sums are of doubles
        factored = FactoredGaussians.of(mean, covariance, total, self.variance_floor, noise)
        if self.estimation == "bayes":
            dof = np.array(np.broadcast_to(divisor, len(n)))
            return MultivariateStudentParameters(factored, dof, (kappa + 1) / kappa, sums.course)
        borrowed = tuple(np.flatnonzero(~known & (n > 0)).tolist())
        return MultivariateGaussianParameters(factored, sums.course, borrowed)

    def leave_one_out(self, statistic: Any) -> GaussiansLeftOut | None:
        of_rank_one = self.estimation == "mle" and not self.shrinkage
        if not (of_rank_one and isinstance(statistic, Comoments) and statistic.complete):
            return None
        sums, factored = GaussianSums.of(statistic), self.estimate(statistic).factored
        assert isinstance(factored, FactoredGaussians)
        rest = np.where(sums.weight > 0, sums.weight - self.ddof, 1.0)
        if factored.raised or not (self.shared or rest.min() > 0):
            return None
        W = factored.whitening
        relative = W @ sums.covariance.value @ W.transpose(0, 2, 1)
        widest = interruptible(np.linalg.eigvalsh, relative).max(axis=1, initial=0.0)
        narrowest = 1.0 / np.where(widest > 0, widest, 1.0)
        return GaussiansLeftOut(factored, sums.weight, self.ddof, self.variance_floor, narrowest)

    def _thin(self, roots: Roots) -> MultivariateGaussianParameters:
        """The parameters of most likelihood, shrunk, in the space of the rows."""
        n, (_, _, divisor) = roots.weight, self._degrees(roots)
        rows = self._joined(n)
        if not self.shared and not self.shrinkage:
            raise ParameterError(
                f"classes of {n.min():g} rows and more, {roots.d} columns",
                "a covariance of more columns than rows is singular",
                "shrink it (reg_param), or share it by LinearDiscriminantAnalysis",
            )
        centre = (n[:, None] * roots.mean).sum(axis=0) / n.sum()
        mean = np.where(n[:, None] > 0, roots.mean, centre)
        away = np.sqrt(n / n.sum())[:, None] * (mean - centre)
        apart = np.sqrt((away**2).sum(axis=0))
        matrices = []
        for m in range(len(rows)):
            singular, basis = roots.matrix(m)
            inflated = rows[m] / divisor[m] if divisor[m] > 0 else 1.0
            sd, share = roots.sd[m] * np.sqrt(inflated), self.shrinkage
            if isinstance(share, str):
                used, fourth = np.count_nonzero(sd), roots.fourth[m] / inflated**2
                share = ledoit_wolf(roots.square(m), int(used), float(fourth), rows[m])
            if not roots.ground[m].any():
                kept = singular > SMALLEST_SINGULAR
                spread = share + (1 - share) * singular[kept] ** 2
                matrices.append(ThinCovariance(sd, basis[kept], spread, float(share)))
                continue
            weights = (1 - share) * singular * abs(singular)
            ground = share + (1 - share) * roots.ground[m]
            still = np.flatnonzero((sd == 0) & (apart > NO_PART * np.abs(centre)))
            sd[still] = apart[still]  # in place of 0, with directions that take it away
            directions = np.concatenate([basis, (np.arange(roots.d) == still[:, None]) * 1.0])
            weights = np.append(weights, -ground[still])
            found = ThinCovariance.of(sd, ground, directions, weights, SMALLEST_SINGULAR**2)
            matrices.append(found.floored(away, self.variance_floor))
        return MultivariateGaussianParameters(ThinGaussians(mean, tuple(matrices)))

    def _fractions(self, covariance: Floats, statistic: Comoments | FourthMoments) -> Floats:
        """Return the shrinkage of each matrix (s, d, d) towards its diagonal, (s,)."""
        if not isinstance(statistic, FourthMoments):
            return np.full(len(covariance), self.shrinkage)
        variance, weight = np.diagonal(covariance, axis1=1, axis2=2), statistic.columns.class_weight
        of_rows = statistic.fourth(np.broadcast_to(variance, (len(weight), variance.shape[1])))
        of_matrices = covariance, self._joined(of_rows), self._joined(weight)
        shares = []
        for sigma, fourth, n in zip(*of_matrices, strict=True):
            sd = np.sqrt(np.diagonal(sigma))
            used = sd > 0
            r = sigma[np.ix_(used, used)] / np.outer(sd[used], sd[used])
            shares.append(ledoit_wolf(float((r * r).sum()), len(r), fourth, n))
        return np.array(shares)

    def _joined(self, of_classes: Any) -> Any:
        """Return the sums of classes (k, ...), or of all (1, ...) if they share a covariance."""
        return of_classes.sum(axis=0)[None] if self.shared else of_classes

    def _degrees(self, sums: GaussianSums | Roots) -> tuple[Floats, Floats, Floats]:
        """κ (k,) and ν (s,) of the posterior, and what Ψ is divided by to give Σ, (s,)."""
        n, d = sums.weight, sums.d
        if self.estimation == "mle":
            freedom = np.where(n > 0, n - self.ddof, 0.0)
            return n, self._joined(np.maximum(n - 1, 0.0)), self._joined(freedom)
        nu = 2 * self.a0 + d - 1 + self._joined(n)
        divisor = nu + d + 1 + self._means(n) if self.estimation == "map" else nu - d + 1
        return self.kappa0 + n, nu, divisor

    def _means(self, n: Floats) -> int:
        """Return the number of means, with rows, that share a covariance."""
        return int(np.count_nonzero(n)) if self.shared else 1

    def _updated(self, sums: GaussianSums) -> tuple[DoubleDouble, DoubleDouble]:
        """m (k, d) and Ψ (s, d, d) of the posterior; of a prior that weighs nothing, x̄ and S."""
        scatter, n = self._joined(sums.scatter), sums.weight
        if self.estimation == "mle":
            if self.outcomes and not self.shared:
                one_more = np.zeros(scatter.shape[1:])
                one_more[self.outcomes, self.outcomes] = 1.0
                scatter = scatter + sums.prior_variance * one_more
            return sums.mean, scatter
        kappa, shift = self.kappa0 + n, sums.mean - sums.prior_mean
        mean = sums.mean - shift * (self.kappa0 / kappa)[:, None]
        moved = shift[:, :, None] * shift[:, None, :] * (self.kappa0 * n / kappa)[:, None, None]
        return mean, scatter + self._joined(moved) + self._prior_scatter(sums)

    def _prior_scatter(self, sums: GaussianSums) -> DoubleDouble:
        """Ψ₀, (d, d)."""
        return sums.prior_variance * (2 * self.a0 * np.eye(sums.mean.shape[1]))

    def _expected(self, statistic: Comoments) -> GaussianSums:
        """Return the sums that rows with missing cells are expected to have, at the mode."""
        of_cells = GaussianSums.of_cells(statistic)
        origin, (k, d) = of_cells.prior_mean, of_cells.mean.shape
        unit = np.sqrt(of_cells.prior_variance.hi)
        rows = IncompleteRows(
            k,
            statistic.patterns,
            statistic.pattern,
            statistic.code,
            statistic.group_weight.value,
            (statistic.mean - origin).settled(unit) * statistic.patterns[statistic.pattern],
            settled_double(statistic.scatter),
            statistic.product_index,
        )

        mode = replace(self, estimation="map") if self.estimation == "bayes" else self

        def estimate(n: Floats, mean: Floats, scatter: Floats) -> tuple[Floats, Floats]:
            if self.estimation == "mle":
                weight = self._joined(n)[:, None, None]
                found = scatter / np.where(weight > 0, weight, 1.0)
                return mean, np.where(weight > 0, found, np.diag(of_cells.prior_variance.value))
            sums = replace(
                of_cells,
                mean=DoubleDouble.of(mean),
                scatter=DoubleDouble.of(scatter),
                prior_mean=DoubleDouble.of(np.zeros(d)),  # from the origin
            )
            m, psi = mode._updated(sums)
            _, _, divisor = mode._degrees(sums)
            return m.value, (psi / divisor[:, None, None]).value

        prior = None if self.estimation == "mle" else self._log_prior(of_cells)
        found = expectation_maximisation(
            rows, estimate, self.shared, prior, max_iterations=self.max_iter
        )
        between, code = np.zeros((1, d, d)), np.arange(k)
        middle = (found.weight[:, None] * found.mean).sum(axis=0) / found.weight.sum()
        kernels.sweep.add_scatter(found.mean, code, found.weight, np.tile(middle, (k, 1)), between)
        total = found.scatter.sum(axis=0) + between[0]
        return replace(
            of_cells,
            weight=found.weight,
            mean=DoubleDouble.of(found.mean) + origin,
            scatter=DoubleDouble.of(found.scatter),
            covariance=DoubleDouble.of(total / found.weight.sum()),
            course=EmHistory(
                found.log_likelihood,
                found.converged or not self.max_iter,
                tuple(np.flatnonzero(~statistic.patterns.any(axis=0)).tolist()),
            ),
        )

    def _log_prior(self, sums: GaussianSums) -> LogPrior:
        """Log density of the prior of means, as seen from m₀, and covariances, up to a constant."""
        variance = sums.prior_variance.value
        used = np.flatnonzero(variance > 0)
        psi0 = 2 * self.a0 * variance[used]
        power = 2 * self.a0 + 2 * sums.d + self._means(sums.weight)

        def log_prior(mean: Floats, covariance: Floats) -> float:
            total, means = 0.0, np.split(mean[:, used], len(covariance))
            for sigma, of_sigma in zip(covariance[:, used][:, :, used], means, strict=True):
                factor = factorise(DoubleDouble.of(sigma), SHARPEST)
                total += power * factor.log_determinant
                total += float((factor.inverse_diagonal().value * psi0).sum())
                far = factor.solve(DoubleDouble.of(of_sigma.T)).value.T * of_sigma
                total += self.kappa0 * float(far.sum())
            return -0.5 * total

        return log_prior

    def posterior(self, statistic: Any) -> MultivariateGaussianPosterior:
        """Normal-inverse-Wishart posteriors from co-moments.

        Rows with missing cells count as if what was expected in them had been seen.

        Raises
        ------
        ParameterError
            If covariances are left out, or some columns are categories.
        """
        if isinstance(statistic, KeptRows | Roots):
            raise ParameterError(
                f"{statistic.d} columns, of which rows are kept, not products",
                "an interval needs products of columns",
                "use fewer columns",
            )
        rows, factored = statistic.columns, self.estimate(statistic).factored
        sums = GaussianSums.of(rows) if rows.complete else GaussianSums.of_cells(rows)
        kappa, nu, divisor = self._degrees(sums)
        mean = factored.mean + factored.mean_lo
        used = np.setdiff1d(np.arange(mean.shape[1]), [j for j, *_ in factored.left_out])
        both = np.ix_(np.arange(len(nu)), used, used)
        psi = factored.covariance[both] * np.maximum(divisor, 0.0)[:, None, None]
        return MultivariateGaussianPosterior(mean[:, used], kappa, psi, nu, used)


def _shrunk(covariance: DoubleDouble, fraction: float) -> DoubleDouble:
    """(1 − s)Σ + s diag(Σ), (d, d)."""
    return covariance * np.where(np.eye(covariance.shape[0]), 1.0, 1.0 - fraction)


# -- sums, expected where cells are missing


@dataclass(frozen=True)
class EmHistory:
    """The log-likelihoods of expectation-maximisation, and whether they converged.

    Columns without any cell are ``empty``.
    """

    log_likelihood: tuple[float, ...] = ()
    converged: bool = True
    empty: tuple[int, ...] = ()

    def remarks(self, columns: Sequence[str]) -> Iterator[str]:
        if not self.converged:
            names = listed(map(repr, columns), NAMED)
            yield (
                f"expectation-maximisation over the missing cells of {names} was still changing "
                f"after {len(self.log_likelihood)} iterations; its estimates are not the best; "
                "more complete rows, or fewer columns, would help"
            )


@dataclass(frozen=True, eq=False)
class GaussianSums:
    """Weight (k,), mean (k, d) and scatter (k or 1, d, d) of the classes; a prior; the whole.

    A class without rows borrows the mean of all. ``prior_mean`` and ``prior_variance`` (d,) are
    those of the cells over all classes, ``covariance`` (d, d) is that of the rows.
    """

    weight: Floats
    mean: DoubleDouble
    scatter: DoubleDouble
    prior_mean: DoubleDouble
    prior_variance: DoubleDouble
    covariance: DoubleDouble
    course: EmHistory = EmHistory()

    @property
    def d(self) -> int:
        """Number of columns with a spread; a posterior knows of no others."""
        return int(np.count_nonzero(self.prior_variance.hi > 0))

    @classmethod
    def of(cls, statistic: Comoments) -> GaussianSums:
        """The sums of complete rows."""
        d, weight = statistic.d, statistic.class_weight
        all_rows = statistic.one_class
        centre = all_rows.mean.sum(axis=0)
        mean = statistic.mean.scatter(statistic.code, (statistic.k, d))
        mean = DoubleDouble.where(weight[:, None] > 0, mean, centre)
        covariance = _scatter(all_rows).sum(axis=0) / (weight.sum() or 1.0)
        variance = (covariance * np.eye(d)).sum(axis=0)
        return cls(weight, mean, _scatter(statistic), centre, variance, covariance)

    @classmethod
    def of_cells(cls, statistic: Comoments) -> GaussianSums:
        """Weights, and the mean and variance of the cells of every column; nothing else."""
        d, all_rows = statistic.d, statistic.one_class
        cells = all_rows.patterns[all_rows.pattern] * all_rows.group_weight.value[:, None]
        n = cells.sum(axis=0)
        n = np.where(n > 0, n, 1.0)
        mean = (all_rows.mean * cells).sum(axis=0) / n
        squares = (all_rows.mean - mean) * (all_rows.mean - mean) * cells
        spread = (all_rows.scatter * np.eye(d)).sum(axis=1).sum(axis=0)
        variance = (squares.sum(axis=0) + spread) / n
        nothing = DoubleDouble.zeros((statistic.k, d))
        of_cells = DoubleDouble.of(mean.value), DoubleDouble.of(variance.value)
        return cls(statistic.class_weight, nothing, nothing, *of_cells, nothing)


def _scatter(statistic: Comoments) -> DoubleDouble:
    """The scatter of complete rows: of every class (k, d, d), or pooled (1, d, d)."""
    if statistic.pooled:
        return statistic.scatter_of(statistic.product_index.max(initial=-1, keepdims=True))
    index = np.full(statistic.k, -1)
    index[statistic.code] = statistic.product_index
    return statistic.scatter_of(index)


# -- parameters


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters(JointParameters):
    """μ (k, d) and Σ (k or 1, d, d); the classes ``borrowed`` have the covariance of all rows."""

    factored: FactoredGaussians | ThinGaussians
    course: EmHistory = EmHistory()
    borrowed: tuple[int, ...] = ()

    @property
    def mean(self) -> Floats:
        """μ, (k, d)."""
        return self.factored.mean

    @property
    def covariance(self) -> Floats:
        """Σ, (k, d, d), or (1, d, d) if all classes share it."""
        return self.factored.covariance

    @property
    def n_free(self) -> int:
        """Kd means, and of each matrix d(d + 1)/2 numbers."""
        s, d = self.factored.variance.shape
        return int(len(self.mean) * d + s * (d * (d + 1) // 2))

    @property
    def log_scale(self) -> Floats:
        """−½ log |2πΣ| of every class, (k,)."""
        factored = self.factored
        log_scale = -0.5 * (factored.rank * LOG_2PI + factored.log_determinant)
        return np.array(np.broadcast_to(log_scale, len(self.mean)))

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add log N(x; μ, Σ), of the columns that a row shows."""
        self._add(block, out, partial(self.factored.add_gaussian, log_scale=self.log_scale))

    def add_discriminants(self, block: RealBlock, out: Floats) -> None:
        """Add log N(x; μ, Σ), of complete rows about a point where all classes share Σ."""
        if len(self.factored.variance) == 1:
            self._add(block, out, self.factored.add_linear)
        else:
            self.add_log_likelihood(block, out)

    def _add(self, block: RealBlock, out: Floats, add: Any) -> None:
        for start, x in short_tiles(block.values, SCORED_ROWS):
            part = out[start : start + len(x)]
            with from_row(start):
                rest = add(x, out=part)
            if len(rest):
                distance, log_determinant, rank = self.factored.marginal(x[rest])
                part[rest] -= 0.5 * (distance + (log_determinant + rank * LOG_2PI))

    def column(self, j: int) -> MultivariateGaussianParameters:
        return MultivariateGaussianParameters(self.factored.columns(np.array([j])))

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw x = μ + Σ^½ z."""
        return self.factored.draw(codes, 1.0, rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        sd = np.broadcast_to(np.sqrt(self.factored.variance[:, j]), len(self.mean))
        return {"mean": self.mean[:, j].tolist(), "sd": sd.tolist()}

    def form(self) -> Form | None:
        """−½(x − μ)ᵀΣ⁻¹(x − μ) − ½ log |2πΣ|, multiplied out about 0, or about far means.

        Of more columns than rows it is linear, or not given.
        """
        factored, k = self.factored, len(self.mean)
        if isinstance(factored, ThinGaussians):
            if len(factored.covariances) > 1:
                return None
            slopes, constants = factored.linear
            names = tuple(range(slopes.shape[1]))
            return Form(names, np.zeros_like(slopes), slopes, constants, factored.origin[0])
        precision = np.array([linear(w.T, w) for w in factored.whitening])
        precision = np.broadcast_to(precision, (k, *precision.shape[1:]))
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        far = (self.mean**2 > FAR**2 * variance).any(axis=0)
        origin = np.where(far, self.mean[0], 0.0)
        mean = (self.mean - origin) + factored.mean_lo
        weights = np.array(
            [linear(p, m[:, None])[:, 0] for p, m in zip(precision, mean, strict=True)]
        )
        constant = self.log_scale - 0.5 * row_sums(weights * mean)
        return Form(tuple(range(len(origin))), -0.5 * precision, weights, constant, origin)

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        if self.borrowed:
            names = listed((repr(classes[c]) for c in self.borrowed), NAMED)
            yield (
                f"classes {names}: the rows of each weigh no more than "
                "ddof, so they have no covariance of their own; that of all rows is taken"
            )
        yield from self.factored.remarks(columns, classes, self.course.empty)
        yield from self.course.remarks(columns)


@dataclass(frozen=True, eq=False)
class MultivariateStudentParameters(JointParameters):
    """Multivariate Student-t: ν (k,), location and scale matrix, times a ``factor`` (k,)."""

    factored: FactoredGaussians
    dof: Annotated[Floats, Shape("k"), POSITIVE]
    factor: Annotated[Floats, Shape("k"), POSITIVE]
    course: EmHistory = EmHistory()

    @property
    def n_free(self) -> int:
        return MultivariateGaussianParameters(self.factored).n_free

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add log t_ν(x; m, fΣ), of the p columns that a row shows.

        ::

            log Γ((ν + p)/2)/Γ(ν/2) − ½ log |πνfΣ| − (ν + p)/2 log(1 + (x − m)ᵀΣ⁻¹(x − m)/(νf))
        """
        complete = self.factored.log_determinant, self.factored.rank
        for start, x in short_tiles(block.values, SCORED_ROWS):
            halves = scores(len(x), len(self.dof), 0.0)
            with from_row(start):
                rest = self.factored.add_gaussian(x, np.zeros(len(self.dof)), halves)
            density = self._log_density(-2.0 * halves, *complete)
            if len(rest):
                density[rest] = self._log_density(*self.factored.marginal(x[rest]))
            out[start : start + len(x)] += density

    def _log_density(self, distance: Floats, log_determinant: Floats, rank: Any) -> Floats:
        """Return log t of squared distances (n, k), with log |Σ| and p of each row or of all."""
        nu, stretch = self.dof, self.dof * self.factor
        scale = lgamma((nu + rank) / 2) - lgamma(nu / 2) - 0.5 * rank * log(np.pi * stretch)
        power = (nu + rank) / 2 * log1p(distance / stretch)
        return np.asarray(scale - 0.5 * log_determinant - power)

    def column(self, j: int) -> MultivariateStudentParameters:
        alone = self.factored.columns(np.array([j]))
        return MultivariateStudentParameters(alone, self.dof, self.factor)

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw x = m + √(fν/χ²_ν) Σ^½ z."""
        nu = self.dof[codes]
        stretch = np.sqrt(self.factor[codes] * nu / rng.chisquare(nu))
        return self.factored.draw(codes, stretch[:, None], rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        scale = np.sqrt(self.factored.covariance[:, j, j] * self.factor)
        return {
            "mean": self.factored.mean[:, j].tolist(),
            "scale": scale.tolist(),
            "dof": self.dof.tolist(),
        }

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        yield from self.factored.remarks(columns, classes, self.course.empty)
        yield from self.course.remarks(columns)


GaussianOrStudent = MultivariateGaussianParameters | MultivariateStudentParameters


# -- factored covariances


@dataclass(frozen=True, eq=False)
class FactoredGaussians:
    """Means of k classes and their factored covariances, s = k, or 1 that all classes share.

    Columns that others determine in all rows, or that have one value only, say nothing: they are
    not ``used``.

    Parameters
    ----------
    mean, mean_lo : ndarray (k, d)
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
        Columns that are not used, each with the terms (column, factor) that it is made of, and
        in words how much of its standard deviation these may leave; none of a constant column.
    raised : tuple
        Matrices whose variances were raised, each with the columns that others determine there.
    """

    mean: Annotated[Floats, Shape("k", "d"), FINITE]
    mean_lo: Annotated[Floats, Shape("k", "d"), FINITE]
    covariance: Annotated[Floats, Shape("s", "d", "d"), FINITE]
    whitening: Annotated[Floats, Shape("s", "d", "d"), FINITE]
    log_determinant: Annotated[Floats, Shape("s"), FINITE]
    rank: Annotated[Ints, Shape("s"), NONNEGATIVE]
    origin: Annotated[Floats, Shape("s", "d"), FINITE]
    shift: Annotated[Floats, Shape("k", "d"), FINITE]
    left_out: tuple[tuple[int, tuple[tuple[int, float], ...], str], ...]
    raised: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def of(
        cls,
        mean: DoubleDouble,
        covariance: DoubleDouble,
        total: DoubleDouble,
        floor: float,
        least_noise: float = 0.0,
    ) -> FactoredGaussians:
        """Factor the covariances, of which no variance is less than its fraction of that of all.

        Where one class does not vary in a direction in which others do, densities of unlike
        dimension would be compared: then the floor is `KEPT_FRACTION`.
        """
        s, d, _ = covariance.shape
        noise = np.maximum(_noise(mean, total), least_noise)
        matrices, used = tuple(covariance[m] for m in range(s)), np.ones(d, bool)
        left_out: tuple[tuple[int, tuple[tuple[int, float], ...], str], ...] = ()
        raised: tuple[tuple[int, tuple[int, ...]], ...] = ()
        if not _are_regular(matrices, total, floor, noise):
            frame = factorise(total, noise)
            ranks = [factorise(m, noise).rank for m in matrices] if floor == 0 and s > 1 else []
            if any(rank < frame.rank for rank in ranks):
                floor = KEPT_FRACTION
            singular = [m for m in range(s) if floor > 0 and floored(matrices[m], frame, floor)[1]]
            raised = tuple((m, factorise(covariance[m], noise).dependent) for m in singular)
            if raised:
                # The directions are found in double; lower bits would depend on the rows' order.
                covariance = DoubleDouble.of(settled_double(covariance))
                frame = factorise(
                    DoubleDouble.of(settled_double(total)), np.maximum(noise, ROUNDED_MATRIX)
                )
                matrices = tuple(floored(covariance[m], frame, floor)[0] for m in range(s))
            used = frame.independent
            left_out = tuple(
                (j, tuple(frame.combination(j).items()), bound(left) if left else "")
                for j, left in ((j, frame.left_over(j)) for j in frame.dependent)
            )
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
            white = product(offset[np.ix_(of_m, used)], w.T)
            shift[np.ix_(of_m, used)] = white.settled(1.0)
        settled = settled_double(DoubleDouble.stack(matrices))
        mean_lo = _low_part(mean, np.sqrt(np.diagonal(settled, axis1=1, axis2=2)))
        factors = whitening, log_determinant, rank
        return cls(mean.value, mean_lo, settled, *factors, origin, shift, left_out, raised)

    @property
    def variance(self) -> Floats:
        """The diagonals of Σ, (s, d)."""
        return np.diagonal(self.covariance, axis1=1, axis2=2)

    def add_gaussian(self, x: Floats, log_scale: Any, out: Any) -> Ints:
        """Add ``log_scale`` − ½(x − μ)ᵀΣ⁻¹(x − μ) for complete rows; return which are not."""
        terms = self.origin, self.whitening, self.shift, log_scale
        return add_complete(kernels.distances.add_complete, x, terms, out)

    def add_linear(self, x: Floats, out: Any) -> Ints:
        """Add log N(x; μ, Σ) − log N(x; o, Σ), where all classes share Σ; as `add_gaussian`."""
        terms = self.origin[0], *self.linear
        return add_complete(kernels.linear.add_complete, x, terms, out)

    @cached_property
    def linear(self) -> tuple[Floats, Floats]:
        """Σ⁻¹(μ − o), (k, d), and −½(μ − o)ᵀΣ⁻¹(μ − o), (k,), where all classes share Σ."""
        return linear(self.shift, self.whitening[0]), -0.5 * row_sums(self.shift**2)

    def marginal(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Distances (n, k), log-determinants and ranks (n, s) of rows in the columns they show."""
        n, s = len(x), len(self.covariance)
        order = np.lexsort(np.packbits(np.isnan(x), axis=1).T)
        out = np.zeros((n, len(self.mean))), np.zeros((n, s)), np.zeros((n, s))
        rows = np.ascontiguousarray(x[order])
        kernels.distances.add_marginal(rows, self.mean, self.mean_lo, self.covariance, *out)
        back = np.argsort(order)
        return out[0][back], out[1][back], out[2][back]

    def columns(self, at: Ints) -> FactoredGaussians:
        covariance = DoubleDouble.of(self.covariance[:, at][:, :, at])
        mean = DoubleDouble(self.mean[:, at], self.mean_lo[:, at])
        return FactoredGaussians.of(mean, covariance, covariance.sum(axis=0), 0.0)

    def draw(self, codes: Ints, stretch: Any, rng: np.random.Generator) -> list[Any]:
        """Draw μ + stretch · Σ^½ z for every class code (n,)."""
        s, d, _ = self.covariance.shape
        # The roots of correlations: those of covariances would round small columns away.
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        unit = np.where(sd > 0, sd, 1.0)
        correlation = self.covariance / (unit[:, :, None] * unit[:, None, :])
        variances, axes = interruptible(np.linalg.eigh, correlation)
        roots = unit[:, :, None] * axes * np.sqrt(np.maximum(variances, 0.0))[:, None, :]
        z = rng.standard_normal((len(codes), d)) * stretch
        of = np.zeros_like(codes) if s == 1 else codes
        x = self.mean[codes].copy()
        for m in range(s):
            x[of == m] += z[of == m] @ roots[m].T
        return list(x.T)

    def remarks(
        self, columns: Sequence[str], classes: Sequence[Any], empty: Sequence[int] = ()
    ) -> Iterator[str]:
        """Say which columns are left out (the ``empty`` have no cell), and what was raised."""
        dependent = [j for j, *_ in self.left_out]
        for j, made_of, left in self.left_out[:NAMED]:
            terms = " + ".join(f"{value:g} × {columns[i]!r}" for i, value in made_of)
            if len(made_of) > NAMED:
                terms = f"a combination of {len(made_of)} columns before it"
            values = "has no value" if j in empty else "has one value only"
            if terms:
                values = f"is {terms} plus a constant, up to {left} of its standard deviation"
            elif left:
                values = "varies by no more than the rounding of its values"
            yield f"column {columns[j]!r} {values}; it is left out"
        if len(dependent) > NAMED:
            names = listed((repr(columns[j]) for j in dependent[NAMED:]), NAMED)
            yield (
                f"{names} are combinations of the columns before them "
                "in the same way; they are left out"
            )
        for m, singular in self.raised[:NAMED]:
            where = "the classes" if len(self.covariance) == 1 else f"class {classes[m]!r}"
            here = (repr(columns[j]) for j in singular if j not in dependent)
            which = listed(here, NAMED) or "some combination of columns"
            yield (
                f"within {where}, the other columns determine {which}; a variance that "
                "would be 0 is kept at a small fraction of that over "
                "all classes; more rows, shrinkage, a shared covariance or "
                "estimation='bayes' would help"
            )
        if len(self.raised) > NAMED:
            more = len(self.raised) - NAMED
            yield f"within {more:,} more classes, too, some columns determine the others"


class ThinCovariance(NamedTuple):
    """A covariance D(VᵀΛV + ρ(I − VᵀV))D of d columns.

    Parameters
    ----------
    sd : ndarray (d,)
        The diagonal of D; 0 for a column that is left out.
    basis : ndarray (r, d)
        V, orthonormal rows.
    spread : ndarray (r,)
        The diagonal of Λ; 0 for a direction that is left out.
    rest : float
        ρ; with 0 only the span of V counts.
    """

    sd: Floats
    basis: Floats
    spread: Floats
    rest: float

    @classmethod
    def of(
        cls, sd: Floats, ground: Floats, rows: Floats, weights: Floats, least: float
    ) -> ThinCovariance:
        """D(diag(ground) + rowsᵀ diag(weights) rows)D, where the ground is not 0.

        Directions of no more than the ``least`` spread are left out.
        """
        root = np.sqrt(ground)
        with one_thread_of_blas():
            basis, across = interruptible(np.linalg.qr, (rows / root).T)
            variances, axes = interruptible(np.linalg.eigh, (across * weights) @ across.T)
        spread = np.where(variances > least - 1.0, 1.0 + variances, 0.0)
        return cls(sd * root, axes.T @ basis.T, spread, 1.0)

    def floored(self, away: Floats, floor: float) -> ThinCovariance:
        """Raise what does not vary to a fraction of the squares of some rows, (k, d), there."""
        still, z = self.spread == 0, away * self.unit
        values, axes = interruptible(
            np.linalg.eigh, self.basis[still] @ z.T @ z @ self.basis[still].T
        )
        basis, spread = self.basis.copy(), self.spread.copy()
        basis[still] = axes.T @ basis[still]
        spread[still] = np.where(values > NO_PART**2 * (z**2).sum(), floor * values, 0.0)
        return self._replace(basis=basis, spread=spread)

    @property
    def divisor(self) -> Floats:
        """The diagonal of Λ; infinite for a direction that is left out."""
        return np.where(self.spread > 0, self.spread, np.inf)

    @property
    def unit(self) -> Floats:
        """1/sd; 0 for a column that is left out."""
        return np.divide(1.0, self.sd, out=np.zeros_like(self.sd), where=self.sd > 0)

    @property
    def rank(self) -> int:
        if not self.rest:
            return len(self.spread)
        return int(np.count_nonzero(self.sd) - np.count_nonzero(self.spread == 0))

    @property
    def log_determinant(self) -> float:
        """log |Σ| of these directions."""
        used = self.sd > 0
        spread = self.spread[self.spread > 0]
        beyond = (self.rank - len(spread)) * log_of(self.rest) if self.rest else 0.0
        return float(log(spread).sum() + 2 * log(self.sd[used]).sum()) + beyond

    @property
    def variance(self) -> Floats:
        """The diagonal of Σ, (d,)."""
        within = ((self.spread - self.rest)[:, None] * self.basis**2).sum(axis=0)
        return np.asarray((within + self.rest) * self.sd**2)

    def distances(self, away: Floats) -> Floats:
        """Return δᵀΣ⁻¹δ of differences (n, d), (n,)."""
        z = away * self.unit
        within = z @ self.basis.T
        found = (within**2 / self.divisor).sum(axis=1)
        if self.rest:
            beyond = z - within @ self.basis
            found = found + (beyond**2).sum(axis=1) / self.rest
        return np.asarray(found)

    def columns(self, at: Ints) -> ThinCovariance:
        if self.rest:
            ground = np.full(len(at), self.rest)
            rows = self.basis[:, at]
            return self.of(self.sd[at], ground, rows, self.spread - self.rest, NO_PART)
        root = np.sqrt(self.spread)[:, None] * self.basis[:, at]
        variances, axes = interruptible(np.linalg.eigh, root @ root.T)
        kept = variances > SMALLEST_SINGULAR**2
        basis = axes[:, kept].T @ root / np.sqrt(variances[kept])[:, None]
        return ThinCovariance(self.sd[at], basis, variances[kept], 0.0)

    def dense(self, at: Ints | slice = slice(None)) -> Floats:
        basis, sd = self.basis[:, at], self.sd[at]
        within = basis.T @ ((self.spread - self.rest)[:, None] * basis)
        return (within + self.rest * np.eye(len(sd))) * sd * sd[:, None]


@dataclass(frozen=True, eq=False)
class ThinGaussians:
    """Gaussians of more columns than rows: means (k, d), and one covariance or k of them.

    ::

        Σ = (1 − s)S/n + s diag(S/n) = D(VᵀΛV + s(I − VᵀV))D,    Λ = s + (1 − s)σ²

    with σ and V the singular values and the basis of the rows about their class means, in units D
    of their deviations, over √n. It has the names of `FactoredGaussians`.
    """

    mean: Floats
    covariances: tuple[ThinCovariance, ...]

    left_out: ClassVar[tuple[Any, ...]] = ()

    @property
    def mean_lo(self) -> Floats:
        """0: means are doubles."""
        return np.zeros_like(self.mean)

    @property
    def variance(self) -> Floats:
        return np.array([one.variance for one in self.covariances])

    @property
    def covariance(self) -> Floats:
        """Σ, (s, d, d), if there is memory for it."""
        d, s = self.mean.shape[1], len(self.covariances)
        require_memory(3 * 8.0 * s * d**2, f"covariances of {d:,} columns", "use fewer columns")
        return np.array([one.dense() for one in self.covariances])

    @property
    def rank(self) -> Ints:
        return np.array([one.rank for one in self.covariances])

    @property
    def log_determinant(self) -> Floats:
        """log |Σ| of these directions, (s,)."""
        return np.array([one.log_determinant for one in self.covariances])

    @cached_property
    def origin(self) -> Floats:
        """A point near the means, (s, d)."""
        one = len(self.covariances) == 1
        return self.mean.mean(axis=0)[None] if one else self.mean

    @cached_property
    def whitening(self) -> tuple[Floats]:
        """W (r, d) of a shared covariance, with WᵀW = Σ⁻¹ where the means are."""
        (one,) = self.covariances
        rows = one.basis / np.sqrt(one.divisor)[:, None]
        if one.rest:
            z = (self.mean - self.origin) * one.unit
            beyond = z - (z @ one.basis.T) @ one.basis
            _, singular, directions = np.linalg.svd(beyond, full_matrices=False)
            least = max(SMALLEST_SINGULAR * singular[0], NO_PART * np.linalg.norm(z))
            told = singular > least
            rows = np.concatenate([rows, directions[told] / np.sqrt(one.rest)])
        return (rows * one.unit,)

    @cached_property
    def shift(self) -> Floats:
        """W(μ − o), (k, r)."""
        return np.asarray((self.mean - self.origin) @ self.whitening[0].T)

    @cached_property
    def linear(self) -> tuple[Floats, Floats]:
        """Σ⁻¹(μ − o), (k, d), and −½(μ − o)ᵀΣ⁻¹(μ − o), (k,), of a shared covariance."""
        return self.shift @ self.whitening[0], -0.5 * row_sums(self.shift**2)

    def add_linear(self, x: Floats, out: Any) -> Ints:
        return add_complete(kernels.linear.add_complete, x, (self.origin[0], *self.linear), out)

    def add_gaussian(self, x: Floats, log_scale: Any, out: Any) -> Ints:
        if (np.abs(x) > LARGEST).any():
            raise too_large(x, 0, 0)
        missing = np.isnan(x).any(axis=1)
        rows = np.flatnonzero(~missing)
        with one_thread_of_blas():
            for c, mean in enumerate(self.mean):
                one = self.covariances[min(c, len(self.covariances) - 1)]
                out[rows, c] += log_scale[c] - 0.5 * one.distances(x[rows] - mean)
        return np.flatnonzero(missing)

    def marginal(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        n, s = len(x), len(self.covariances)
        distance, log_determinant, rank = (np.zeros((n, m)) for m in (len(self.mean), s, s))
        for rows, columns in patterns_of(~np.isnan(x)):
            some = [one.columns(columns) for one in self.covariances]
            for c, mean in enumerate(self.mean):
                away = x[np.ix_(rows, columns)] - mean[columns]
                distance[rows, c] = some[min(c, s - 1)].distances(away)
            log_determinant[rows] = [one.log_determinant for one in some]
            rank[rows] = [one.rank for one in some]
        return distance, log_determinant, rank

    def columns(self, at: Ints) -> FactoredGaussians:
        covariance = DoubleDouble.of(np.array([one.dense(at) for one in self.covariances]))
        mean = DoubleDouble.of(self.mean[:, at])
        return FactoredGaussians.of(mean, covariance, covariance.sum(axis=0), 0.0)

    def draw(self, codes: Ints, stretch: Any, rng: np.random.Generator) -> list[Any]:
        z = rng.standard_normal((len(codes), self.mean.shape[1])) * stretch
        x = self.mean[codes].copy()
        for m, one in enumerate(self.covariances):
            rows = slice(None) if len(self.covariances) == 1 else codes == m
            within = z[rows] @ one.basis.T
            root = within * (np.sqrt(one.spread) - np.sqrt(one.rest))
            x[rows] += (root @ one.basis + np.sqrt(one.rest) * z[rows]) * one.sd
        return list(x.T)

    def remarks(
        self, columns: Sequence[str], classes: Sequence[Any], empty: Sequence[int] = ()
    ) -> Iterator[str]:
        """Say which columns have one value within all classes."""
        still = np.flatnonzero(~np.any([one.sd > 0 for one in self.covariances], axis=0))
        if len(still):
            names = listed((repr(columns[j]) for j in still.tolist()), NAMED)
            yield f"one value only within every class: {names}; left out"


def add_complete(kernel: Any, x: Floats, terms: Any, out: Any) -> Ints:
    """Let a kernel add to the scores of complete rows; return which are not."""
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


def fill(x: Floats, mean: Floats, covariance: Floats) -> Floats:
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
        shown = factorise(DoubleDouble.of(covariance[np.ix_(~m, ~m)]), ROUNDED_MATRIX)
        slopes = shown.solve(DoubleDouble.of(covariance[np.ix_(~m, m)])).value
        expected = np.broadcast_to(mean, x.shape)[np.ix_(of, m)]
        filled[np.ix_(of, m)] = expected + linear(centred[np.ix_(of, ~m)], slopes)
    return filled


def _noise(mean: DoubleDouble, total: DoubleDouble) -> Floats:
    """Bound the rounding error in the variance of a dependent column: `factorise`."""
    variance = np.diagonal(total.hi)
    far = (mean.hi**2).max(axis=0, initial=0.0) / np.where(variance > 0, variance, np.inf)
    return np.asarray(np.maximum(LEAST_PIVOT, 2.0**-104 * far))


def _are_regular(
    matrices: Sequence[DoubleDouble], total: DoubleDouble, floor: float, noise: Floats
) -> bool:
    """Return whether surely no column depends on others, and no variance is below its floor."""
    bounds: list[tuple[DoubleDouble, Any]] = [(total, 0.0)]
    bounds += [(matrix, floor * total.hi) for matrix in matrices]
    return all(is_above(a, least + np.diag(noise * np.diagonal(a.hi))) for a, least in bounds)


def settled_double(matrices: DoubleDouble) -> Floats:
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


def _low_part(mean: DoubleDouble, sd: Floats) -> Floats:
    """The low part of a mean that is far from 0, to 2⁻⁶⁰ of the standard deviation."""
    far = (np.abs(mean.hi) > FAR * sd) & (sd > 0)
    step = np.ldexp(1.0, np.frexp(np.where(far, sd, 1.0))[1] - 60)
    return np.asarray(np.where(far, np.round(mean.lo / step) * step, 0.0))


# -- shrinkage


def ledoit_wolf(square: float, d: int, fourth: float, n: float) -> float:
    """The shrinkage of a matrix of correlations R towards I that loses least, without a model.

    ::

        s = b² / d²    d² = tr R² − d    b² = [Σᵢ |zᵢ|⁴ / n − tr R²] / n, at most d²

    to 2⁻³⁰, from tr R² and Σᵢ |zᵢ|⁴; bits below depend on the order of the rows.

    Source: O. Ledoit and M. Wolf, A well-conditioned estimator for large-dimensional covariance
    matrices, J. Multivariate Anal. 88 (2004), lemmas 3.2 to 3.5, both sides times d.
    """
    if n <= 0:
        return 0.0
    distance, error = square - d, (fourth / n - square) / n
    if error <= 0 or distance <= 0:
        return 0.0 if error <= 0 else 1.0
    return round(min(error, distance) / distance * 2.0**30) * 2.0**-30


# -- leave-one-out


@dataclass(frozen=True, eq=False)
class GaussiansLeftOut:
    """N(x; μ_c, Σ) from the rows but x, which is of class k and weight w.

    ::

        S' = S − s δδᵀ    δ = x − μ_k    s = w N_k/(N_k − w)    h = 1 − s δᵀS⁻¹δ
        S'⁻¹ = S⁻¹ + s S⁻¹δδᵀS⁻¹/h    |S'| = h |S|    x − μ'_k = δ N_k/(N_k − w)

    where S = fΣ is a scatter of one class, or of all of them together, and f its divisor.

    Parameters
    ----------
    factored : FactoredGaussians
        Of all rows.
    weight : ndarray (k,)
        N_c.
    ddof : int
    floor : float
        The least relative variance in any direction.
    narrowest : ndarray (s,)
        The least there is.

    Source: J. Sherman and W. J. Morrison, Adjustment of an inverse matrix corresponding to a change
    in one element of a given matrix, Annals of Mathematical Statistics 21 (1950); for discriminant
    analysis, P. A. Lachenbruch and M. R. Mickey, Technometrics 10 (1968).
    """

    factored: FactoredGaussians
    weight: Floats
    ddof: int
    floor: float
    narrowest: Floats

    def add_log_likelihood(self, block: RealBlock, rows: LearntRows, out: Floats) -> None:
        for start in range(0, len(out), SCORED_ROWS):
            part = slice(start, start + SCORED_ROWS)
            x = np.asarray(block.values[part], np.float64)
            out[part] += self._log_densities(x, rows.codes[part], rows.weights[part]).T

    def _log_densities(self, x: Floats, codes: Ints, w: Floats) -> Floats:
        """Return log N(x; μ_c, Σ) without each row, (k, n); NaN where few digits are left."""
        k, n, factored = len(self.weight), len(x), self.factored
        shared, own = len(self.narrowest) == 1, np.maximum(codes, 0)
        divisor = np.where(self.weight > 0, self.weight - self.ddof, 0.0)
        divisor = np.full(k, divisor.sum()) if shared else divisor

        total = self.weight[own]
        alone = total - w <= ABSENT * total  # a class of which nothing is left
        is_own = (own == np.arange(k)[:, None]) & ~alone
        changed = (shared | is_own) & (w > 0)
        ratio = np.divide(total, total - w, out=np.ones(n), where=~alone)
        s = np.where(alone, 0.0, w * ratio) / divisor[own]

        of = np.zeros(k, np.intp) if shared else np.arange(k)
        terms = zip(factored.origin[of], factored.whitening[of], -factored.shift, strict=True)
        white = np.stack([affine(x, *one) for one in terms])  # W δ_c, with WᵀW = Σ⁻¹
        mine = white[own, np.arange(n)]
        h = 1.0 - s * np.einsum("nd,nd->n", mine, mine)
        shrunk = np.where(h > 0, h, np.nan)
        nearer = s * np.einsum("cnd,nd->cn", white, mine) ** 2 / shrunk
        distance = np.einsum("cnd,cnd->cn", white, white) + np.where(changed, nearer, 0.0)
        distance *= np.where(is_own, ratio**2, 1.0)

        f, rank, log_sigma = divisor[:, None], factored.rank[:, None], factored.log_determinant
        left = f - np.where(changed, np.where(alone, total - self.ddof, w), 0.0)
        log_det = log_sigma[:, None] + rank * (log(f) - log(left))
        log_det = log_det + np.where(changed, log(shrunk), 0.0)
        found = -0.5 * (rank * LOG_2PI + log_det + distance * left / f)
        below = self.narrowest[:, None] * h < MARGIN * self.floor
        found[changed & ((h < FEWEST_DIGITS) | below)] = np.nan
        return np.asarray(found)


# -- posterior


@dataclass(frozen=True, eq=False)
class MultivariateGaussianPosterior(Posterior):
    """m (k, d), κ (k,), Ψ (s, d, d) and ν (s,), of the columns ``used``.

    With Λ = Σ⁻¹ ~ Wishart(ν, Ψ⁻¹), μ | Λ ~ N(m, (κΛ)⁻¹), δ = x − m and p columns,

    ::

        T = ½ log |Λ| − ½ (x − μ)ᵀΛ(x − μ)    D = δᵀΨ⁻¹δ
        E T = ½ (Σᵢ ψ((ν + 1 − i)/2) + p log 2 − log |Ψ|) − ½ (νD + p/κ)
        Var T = ¼ (Σᵢ ψ₁((ν + 1 − i)/2) + 2νD² + 4νD/κ + 2p/κ²) − D

    as Cov(log |Λ|, δᵀΛδ) = 2D. Classes that share Σ share ½ log |Λ|; there, with G = δ_cᵀΨ⁻¹δ_e,
    Cov(T_c, T_e) = ½ νG², and Var T_c has νD/κ + p/(2κ²) more. Of fewer columns, Σ is
    inverse-Wishart with as many degrees of freedom fewer.

    Source: K. V. Mardia, J. T. Kent and J. M. Bibby, Multivariate Analysis (1979), section 3.4.
    """

    mean: Floats
    kappa: Floats
    psi: Floats
    nu: Floats
    used: Ints

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        shared = len(self.psi) == 1 and len(self.mean) > 1
        require_held(block.values)
        every = np.asarray(block.values, np.float64)[:, self.used]
        for rows, columns in patterns_of(~np.isnan(every)):
            x, p, white = every[np.ix_(rows, columns)], len(columns), []
            for c, mean in enumerate(self.mean):
                s = min(c, len(self.psi) - 1)
                nu, kappa = self.nu[s] - (len(self.used) - p), self.kappa[c]
                if not (nu > p - 1 and kappa > 0):
                    moments.variance[rows, c] = np.inf
                    white.append(np.zeros((len(x), p)))
                    continue
                whitening, log_determinant = _whitening(self.psi[s][np.ix_(columns, columns)])
                w = (x - mean[columns]) @ whitening.T
                D = (w**2).sum(axis=1)
                white.append(w)
                moments.mean[rows, c] -= 0.5 * (nu * D + p / kappa)
                moments.variance[rows, c] += nu * D / kappa + p / (2 * kappa**2)
                if not shared:
                    halves = (nu - np.arange(p)) / 2
                    log_lambda = digamma(halves).sum() + p * log_of(2.0) - log_determinant
                    moments.mean[rows, c] += 0.5 * log_lambda
                    own = 0.25 * trigamma(halves).sum() + 0.5 * nu * D**2 - D
                    moments.variance[rows, c] += np.maximum(own, 0.0)
            if shared:
                w = np.stack(white, axis=1)
                G = w @ w.swapaxes(1, 2)
                nu = max(self.nu[0] - (len(self.used) - p), 0.0)
                moments.covariance[rows] += 0.5 * nu * G**2


def _whitening(matrix: Floats) -> tuple[Floats, float]:
    """W with WᵀW = matrix⁻¹, and log |matrix|; columns are scaled first, so that no unit tells."""
    sd = np.sqrt(np.diagonal(matrix))
    sd = np.where(sd > 0, sd, 1.0)
    values, axes = interruptible(np.linalg.eigh, matrix / sd / sd[:, None])
    values = np.maximum(values, np.finfo(float).eps * len(values))
    log_determinant = float(log(values).sum() + 2 * log(sd).sum())
    return (axes / np.sqrt(values)).T / sd, log_determinant
