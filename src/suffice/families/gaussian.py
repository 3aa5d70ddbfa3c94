"""The Gaussian: real numbers, p(x | c) = N(x; μ_c, σ²_c) for every column on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import (
    NO_COLUMNS,
    Family,
    Form,
    LearntRows,
    Parameters,
    Posterior,
    ScoreMoments,
    trigamma,
)
from suffice.families.options import Estimation, Identifiers, VarianceFloor
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import digamma, lgamma, log, log1p
from suffice.numerics.error_free import LARGEST, quick_two_sum
from suffice.numerics.variance_floor import StandardMoments, best_fraction
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Shape
from suffice.sums.base import Accumulator
from suffice.sums.block import Encoding, RealBlock, converted, read_rows, require_held, tiles
from suffice.sums.moments import (
    Moments,
    MomentsAccumulator,
    MomentsLeftOut,
    row_numbers_of,
    too_large,
)

CERTAIN = 2.0**-100  # the least fraction that a variance has of that over all classes
CELLS = 16_384  # that are worked on at a time where rows are left out: they stay in the cache
MOST_BETWEEN = 2.0  # times the variance within classes, that a prior has between them
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
        Prior m₀, κ₀, a₀, b₀. By default a₀ is 1, m₀ the mean of the column over all classes, and
        κ₀ and b₀ are such that the prior weighs as much as one row at the mean and 2a₀ = 2 rows of
        the variance v over all classes, or where classes lie far apart, of the variance s² within:

        ::

            κ₀ = min(1, 2s²/(v − s²))    b₀ = a₀ min(v, 3s²)
            s² = (Σ_c Σ(x − x̄_c)² + v/N)/(Σ_c (n_c − 1) + 1)

        with N numbers in all classes; v/N, the standard error² of m₀, is one number more.
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
    ddof: Annotated[int, NONNEGATIVE] = 0
    variance_floor: VarianceFloor = 1e-9
    mean0: Annotated[float | None, FINITE] = None
    kappa0: Annotated[float | None, POSITIVE] = None
    a0: Annotated[float, POSITIVE] = 1.0
    b0: Annotated[float | None, POSITIVE] = None
    shared: bool = False
    identifiers: Identifiers = field(  # sums do not depend on it, so models of both go together
        default="keep", compare=False
    )

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        return MomentsAccumulator(d)

    def advice(self, statistic: Moments) -> Iterator[tuple[int, str]]:
        rows = statistic.one_class
        for j in np.flatnonzero(((rows.total > 1) & (rows.scatter == 0)).any(axis=0)).tolist():
            yield j, f"has one value only, {rows.mean[0, j]:g}: it tells nothing"

    def estimate(self, statistic: Moments) -> GaussianParameters | StudentParameters:
        found, left_out = self.by_class(statistic), self.left_out(statistic)
        if not len(left_out):
            return found
        pooled, changed = self.by_class(statistic.one_class), {}
        for name in [each.name for each in fields(found)]:
            changed[name] = getattr(found, name).copy()
            changed[name][:, left_out] = getattr(pooled, name)[:, left_out]
        return replace(found, **changed)

    def leave_one_out(self, statistic: Moments) -> GaussianLeftOut | None:
        """Log-likelihoods of rows by the moments of all others; None where these choose a floor."""
        chooses = self.estimation == "mle" and self.variance_floor == "loo"
        return None if chooses else GaussianLeftOut(self, statistic)

    def left_out(self, statistic: Moments) -> Ints:
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
        seen, pooled = moments.total > 0, moments.one_class
        mean, mean_lo = moments.mean, moments.mean_lo
        if not seen.all():
            mean = np.where(seen, mean, pooled.mean)
            mean_lo = np.where(seen, mean_lo, pooled.mean_lo)
        variance = np.maximum(self._variance(moments), self.least_variance(moments))
        return GaussianParameters(mean, mean_lo, variance)

    def _variance(self, moments: Moments) -> Floats:
        """σ² of maximum likelihood, before it has a floor, (k, d) or (1, d)."""
        n, pooled = moments.total, moments.one_class
        if not (self.shared or self.ddof):
            return np.where(n > 0, moments.variance, pooled.variance)
        freedom = self._joined(np.where(n > 0, n - self.ddof, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = self._joined(moments.scatter) / freedom
            return np.where(freedom > 0, spread, pooled.variance)

    def least_variance(self, moments: Moments) -> Floats:
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
        found = self._updated(moments)
        kappa, a, b = found.kappa, found.a, found.b
        mean, mean_lo = quick_two_sum(found.mean, found.mean_lo)
        mean_lo = np.where(mean**2 > FAR**2 * b / a, mean_lo, 0.0)
        if self.estimation == "map":
            means = (moments.total > 0).sum(axis=0, keepdims=True) if self.shared else 1
            return GaussianParameters(mean, mean_lo, b / (a + (1 + means / 2)))
        return StudentParameters(mean, mean_lo, b * (kappa + 1) / (a * kappa), 2 * a)

    def _prior(self, moments: Moments) -> tuple[Any, Any, Any, Any]:
        """Return m₀ and its low part, κ₀ and b₀: numbers, or arrays (1, d)."""
        pooled = moments.one_class
        mean0, lo0 = (pooled.mean, pooled.mean_lo) if self.mean0 is None else (self.mean0, 0.0)
        kappa0: Any = self.kappa0
        b0: Any = self.b0
        if kappa0 is None or b0 is None:
            overall, within = pooled.variance, variance_within(moments)
            far = overall > (1 + MOST_BETWEEN) * within
            between = np.where(far, overall - within, 1.0)
            if kappa0 is None:
                kappa0 = np.where(far, MOST_BETWEEN * within / between, 1.0)
            if b0 is None:
                b0 = self.a0 * np.where(far, (1 + MOST_BETWEEN) * within, overall)
        return mean0, lo0, kappa0, b0

    def _joined(self, sums: Floats) -> Floats:
        """Sums (k, d), or (1, d) over all classes if these share their variance."""
        return sums.sum(axis=0, keepdims=True) if self.shared else sums

    def posterior(self, statistic: Moments) -> GaussianPosterior:
        found = self._updated(statistic)
        found.says[self.left_out(statistic)] = False
        return found

    def _updated(self, moments: Moments) -> GaussianPosterior:
        n, pooled = moments.total, moments.one_class
        seen, informed = n > 0, self.estimation != "mle"
        mean0, lo0, kappa0, b0 = self._prior(moments)
        kappa0 = kappa0 if informed else 0.0
        kappa = kappa0 + n
        divisor = np.where(kappa > 0, kappa, 1.0)
        shift = np.where(seen, (moments.mean - mean0) + (moments.mean_lo - lo0), 0.0)
        mean = np.where(seen, moments.mean, mean0)
        mean_lo = np.where(seen, moments.mean_lo - kappa0 / divisor * shift, lo0)
        rows = self._joined(n)
        scatter = self._joined(moments.scatter + kappa0 * n / divisor * shift**2)
        if informed:
            a, b = self.a0 + rows / 2, b0 + scatter / 2
        else:
            a, b = (rows - self._joined(np.minimum(n, 1.0))) / 2, scatter / 2
        return GaussianPosterior(mean, mean_lo, kappa, a, b, (pooled.variance > 0)[0])


@dataclass(frozen=True)
class GaussianLeftOut:
    """Gaussian columns by the moments of all rows but one: total minus row, in blocks of rows."""

    family: Gaussian
    moments: Moments

    def add_log_likelihood(self, block: RealBlock, rows: LearntRows, out: Floats) -> None:
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


def variance_within(moments: Moments) -> Floats:
    """Return s² of every column, (1, d): see `Gaussian`."""
    pooled = moments.one_class
    scatter = moments.scatter.sum(axis=0, keepdims=True)
    freedom = np.maximum(moments.total - 1, 0.0).sum(axis=0, keepdims=True)
    return np.asarray((scatter + pooled.variance / np.maximum(pooled.total, 1)) / (freedom + 1))


# -- parameters


FAR = 64.0  # standard deviations from 0 at which a mean is worth more than one double


@dataclass(frozen=True, eq=False)
class GaussianParameters(Parameters):
    """μ (k, d) and σ² (k, d), or (1, d) where the classes share it.

    A column without any spread (σ² = 0 everywhere) says nothing.
    ``mean_lo`` is what ``mean``, a double, cannot hold of a μ that is far from 0.
    """

    mean: Annotated[Floats, Shape("k", "d"), FINITE]
    mean_lo: Annotated[Floats, Shape("k", "d"), FINITE]
    variance: Annotated[Floats, Shape("s", "d"), NONNEGATIVE]

    @property
    def n_free(self) -> int:
        """2kd, or (k + 1)d with a shared variance."""
        return self.mean.size + self.variance.size

    @property
    def sd(self) -> Floats:
        """σ, (k, d)."""
        return np.broadcast_to(np.sqrt(self.variance), self.mean.shape)

    @property
    def precision(self) -> Floats:
        """1/σ², (k, d); 0 for a column without spread."""
        return np.divide(1.0, self.variance, out=np.zeros_like(self.mean), where=self.variance > 0)

    @property
    def log_scale(self) -> Floats:
        """−½ log 2πσ², (k, d); 0 for a column without spread."""
        used = self.variance > 0
        scale = -0.5 * log(np.where(used, 2 * np.pi * self.variance, 1.0))
        return scale if scale.shape == self.mean.shape else np.broadcast_to(scale, self.mean.shape)

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ log N(xⱼ; μ, σ²)."""
        origin, terms = self.terms
        _score(kernels.squares.add_gaussian, read_rows(_from(origin, block).values), terms, out)

    @cached_property
    def terms(self) -> tuple[Floats | None, tuple[Floats, ...]]:
        """Return the origin of each column, and the coefficients of its squares."""
        origin, mean = _origin(self.mean, self.mean_lo)
        return origin, (mean, np.sqrt(self.precision / 2), self.log_scale)

    def log_densities(self, x: Floats) -> Floats:
        """log N(xⱼ; μ, σ²) of the cells of rows (n, d) that each have parameters, (k, n, d)."""
        origin, (mean, root, log_scale) = self.terms
        z = root * ((x if origin is None else x - origin) - mean)
        return np.asarray(log_scale - z * z)

    def column(self, j: int) -> GaussianParameters:
        parts = self.mean, self.mean_lo, self.variance
        return GaussianParameters(*(part[:, [j]] for part in parts))

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw x = μ + σz."""
        x = rng.normal(self.mean[codes], self.sd[codes])
        return list(x.T)

    def describe(self, j: int) -> dict[str, list[float]]:
        return {"mean": self.mean[:, j].tolist(), "sd": self.sd[:, j].tolist()}

    def form(self) -> Form:
        """−½(x − μ)²/σ² − ½ log 2πσ², multiplied out: around 0, or around a mean far from it."""
        precision, used = self.precision, self.variance > 0
        far = (used & (self.mean**2 > FAR**2 * self.variance)).any(axis=0)
        origin = np.where(far, self.mean[0], 0.0)
        mean = (self.mean - origin) + self.mean_lo
        constant = (self.log_scale - 0.5 * precision * mean**2).sum(axis=1)
        features = tuple(range(self.mean.shape[1]))
        return Form(features, -0.5 * precision, precision * mean, constant, origin)


@dataclass(frozen=True, eq=False)
class StudentParameters(Parameters):
    """Location and scale² (k, d) of a Student-t, and its degrees of freedom ν.

    ν is (k, d), or (1, d) where the classes share the variance that is integrated out.
    ``location_lo`` is what ``location``, a double, cannot hold of a location that is far from 0.
    """

    location: Annotated[Floats, Shape("k", "d"), FINITE]
    location_lo: Annotated[Floats, Shape("k", "d"), FINITE]
    scale2: Annotated[Floats, Shape("k", "d"), NONNEGATIVE]
    dof: Annotated[Floats, Shape("s", "d"), POSITIVE]

    @property
    def n_free(self) -> int:
        """2kd, means and variances integrated out; (k + 1)d with a shared variance."""
        return self.location.size + self.dof.size

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ log Γ((ν+1)/2)/Γ(ν/2) − ½ log νπs² − (ν+1)/2 log(1 + (x − m)²/νs²)."""
        origin, terms = self.terms
        rows = tiles(_from(origin, block).values, np.float64)
        _score(kernels.scores.add_student, rows, terms, out)

    def add_contributions(self, block: RealBlock, out: Floats) -> None:
        x = np.asarray(converted(block.values), np.float64)
        if (np.abs(x) >= LARGEST).any():
            super().add_contributions(block, out)
            return
        origin, (location, precision, power, log_scale) = self.terms
        x = x if origin is None else x - origin
        terms = np.empty((x.shape[1], len(location), len(x)))
        kernels.scores.student_terms(x, location, precision, power, log_scale, terms)
        out += terms.transpose(2, 0, 1)

    @cached_property
    def terms(self) -> tuple[Floats | None, tuple[Floats, ...]]:
        """Return the origin of each column, and the coefficients of its cells."""
        nu, used = np.broadcast_to(self.dof, self.scale2.shape), self.scale2 > 0
        square = np.where(used, nu * self.scale2, 1.0)
        log_scale = lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(np.pi * square)
        precision, log_scale = np.where(used, 1 / square, 0.0), np.where(used, log_scale, 0.0)
        origin, location = _origin(self.location, self.location_lo)
        return origin, (location, precision, (nu + 1) / 2, log_scale)

    def log_densities(self, x: Floats) -> Floats:
        """Log densities of the cells of rows (n, d) that each have parameters, (k, n, d)."""
        origin, (location, precision, power, log_scale) = self.terms
        e = (x if origin is None else x - origin) - location
        return np.asarray(log_scale - power * log1p(precision * e * e))

    def weighed(self, weights: Floats) -> StudentParameters:
        found, (origin, (location, precision, power, log_scale)) = replace(self), self.terms
        terms = location, precision, weights * power, weights * log_scale
        vars(found)["terms"] = origin, terms
        return found

    def column(self, j: int) -> StudentParameters:
        parts = self.location, self.location_lo, self.scale2, self.dof
        return StudentParameters(*(part[:, [j]] for part in parts))

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw x = m + st."""
        t = rng.standard_t(np.broadcast_to(self.dof, self.scale2.shape)[codes])
        return list((self.location[codes] + np.sqrt(self.scale2[codes]) * t).T)

    def describe(self, j: int) -> dict[str, list[float]]:
        return {
            "mean": self.location[:, j].tolist(),
            "scale": np.sqrt(self.scale2[:, j]).tolist(),
            "dof": np.broadcast_to(self.dof, self.scale2.shape)[:, j].tolist(),
        }


def _score(
    kernel: Callable[..., int],
    parts: Iterable[tuple[int, NDArray[Any]]],
    terms: tuple[Floats, ...],
    out: Floats,
) -> None:
    """Run a kernel over parts of the rows; refuse a number too large to be squared."""
    for start, x in parts:
        stopped = kernel(x, *terms, out[start : start + len(x)])
        if stopped >= 0:
            raise too_large(x, stopped, start)


def _origin(mean: Floats, low: Floats) -> tuple[Floats | None, Floats]:
    """Return an origin (d,) in the data of columns far from 0, or None, and the means from there.

    Nothing is lost by that.
    """
    if not low.any():
        return None, mean
    far = low.any(axis=0)
    origin = np.where(far, mean[0], 0.0)
    return origin, (mean - origin) + low


def _from(origin: Floats | None, block: RealBlock) -> RealBlock:
    """The numbers of a block, measured from an origin."""
    if origin is None:
        return block
    require_held(block.values)
    return RealBlock(block.values - origin)


# -- posterior


@dataclass(frozen=True, eq=False)
class GaussianPosterior(Posterior):
    """m, its low part and κ (k, d); a and b (k, d), or (1, d) where the classes share σ².

    ``says`` (d,) is False for a column that has no spread, or is an identifier left out.

    With λ = 1/σ² ~ Gamma(a, b), μ | λ ~ N(m, 1/(κλ)), δ = x − m and z standard normal,

    ::

        T = ½ log λ − ½ Q    Q = λ(x − μ)² = λδ² − 2√λ δz/√κ + z²/κ
        E T = ½ (ψ(a) − log b) − ½ (δ²a/b + 1/κ)
        Var T = ¼ (ψ₁(a) + δ⁴a/b² + 4δ²a/(bκ) + 2/κ²) − ½ δ²/b,    as Cov(log λ, λ) = 1/b

    Classes that share σ² share ½ log λ too, which tells none from another; there

    ::

        Cov(T_c, T_e) = ¼ δ_c²δ_e²a/b²,    and Var T_c has δ_c²a/(bκ) + 1/(2κ²) more

    Source: K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007),
    section 3.
    """

    mean: Floats
    mean_lo: Floats
    kappa: Floats
    a: Floats
    b: Floats
    says: Bools

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add mean and variance of T; see the formulas above."""
        require_held(block.values)
        x = np.asarray(block.values, np.float64)
        shown, shared = ~np.isnan(x) & self.says, len(self.a) < len(self.mean)
        proper = (self.a > 0) & (self.b > 0) & (self.kappa > 0)
        a, b = (np.where(proper, np.broadcast_to(p, proper.shape), 1.0) for p in (self.a, self.b))
        kappa = np.where(proper, self.kappa, 1.0)
        squares = np.zeros((*x.shape, len(a))) if shared else None
        for c in range(len(a)):
            # In units of the posterior, so that no square is too large.
            t = ((x - self.mean[c]) - self.mean_lo[c]) * np.sqrt(a[c] / b[c])  # δ √(a/b)
            mean = -0.5 * (t**2 + 1 / kappa[c])
            variance = t**2 / kappa[c] + 0.5 / kappa[c] ** 2
            if squares is None:
                mean = mean + 0.5 * (digamma(a[c]) - log(b[c]))
                own = 0.25 * trigamma(a[c]) + 0.25 * t**4 / a[c] - 0.5 * t**2 / a[c]
                variance = variance + np.maximum(own, 0.0)
            else:
                squares[..., c] = np.where(shown & proper.all(axis=0), 0.5 * t**2, 0.0)
            variance = np.where(proper[c], variance, np.inf)
            moments.mean[:, c] += np.where(shown, mean, 0.0).sum(axis=1)
            moments.variance[:, c] += np.where(shown, variance, 0.0).sum(axis=1)
        if squares is not None:
            scaled = squares / np.sqrt(a[0])[:, None]
            moments.covariance[:] += np.einsum("ijc,ije->ice", scaled, scaled)
