"""Gaussians of all classes, their covariances factored: what is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.parameters import FAR
from suffice.numerics import kernels
from suffice.numerics.error_free import quick_two_sum
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import NAMED, bound
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import (
    LEAST_PIVOT,
    ROUNDED_MATRIX,
    SHARPEST,
    Factor,
    factorise,
    floored,
    product,
)
from suffice.numerics.logspace import row_sums, scores
from suffice.numerics.rows import linear
from suffice.rules import FINITE, NONNEGATIVE, Shape
from suffice.sums.moments import too_large

__all__ = ["FactoredGaussians", "add_complete", "fill", "listed", "settled_double"]

KEPT_FRACTION = 2.0**-40  # the fraction kept, without a floor, where one class alone does not vary
STEEP = 64.0  # root of a condition number from which the rows' order would show in a factor


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

    mean: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    mean_lo: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    covariance: Annotated[NDArray[np.float64], Shape("s", "d", "d"), FINITE]
    whitening: Annotated[NDArray[np.float64], Shape("s", "d", "d"), FINITE]
    log_determinant: Annotated[NDArray[np.float64], Shape("s"), FINITE]
    rank: Annotated[NDArray[np.intp], Shape("s"), NONNEGATIVE]
    origin: Annotated[NDArray[np.float64], Shape("s", "d"), FINITE]
    shift: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
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
        dimension would be compared: then the floor is ``CERTAIN`` at least.
        """
        s, d, _ = covariance.shape
        noise = np.maximum(_noise(mean, total), least_noise)
        frame = factorise(total, noise)
        matrices = tuple(covariance[m] for m in range(s))
        if floor == 0 and s > 1 and any(factorise(m, noise).rank < frame.rank for m in matrices):
            floor = KEPT_FRACTION
        singular = [m for m in range(s) if floor > 0 and floored(matrices[m], frame, floor)[1]]
        raised = tuple((m, factorise(covariance[m], noise).dependent) for m in singular)
        if raised:
            # The directions are found in double; bits below would depend on the order of the rows.
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
            white = product(offset[np.ix_(of_m, used)], DoubleDouble(w.hi.T, w.lo.T))
            shift[np.ix_(of_m, used)] = white.settled(1.0)
        settled = settled_double(DoubleDouble.stack(matrices))
        mean_lo = _low_part(mean, np.sqrt(np.diagonal(settled, axis1=1, axis2=2)))
        factors = whitening, log_determinant, rank
        return cls(mean.value, mean_lo, settled, *factors, origin, shift, left_out, raised)

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
        return linear(self.shift, self.whitening[0]), -0.5 * row_sums(self.shift**2)

    def marginal(
        self, x: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Distances (n, k), log-determinants and ranks (n, s) of rows in the columns they show."""
        n, s = len(x), len(self.covariance)
        order = np.lexsort(np.packbits(np.isnan(x), axis=1).T)
        out = np.zeros((n, len(self.mean))), np.zeros((n, s)), np.zeros((n, s))
        rows = np.ascontiguousarray(x[order])
        kernels.distances.add_marginal(rows, self.mean, self.mean_lo, self.covariance, *out)
        back = np.argsort(order)
        return out[0][back], out[1][back], out[2][back]

    def columns(self, at: NDArray[np.intp]) -> FactoredGaussians:
        """The Gaussians of some columns alone."""
        covariance = DoubleDouble.of(self.covariance[:, at][:, :, at])
        mean = DoubleDouble(self.mean[:, at], self.mean_lo[:, at])
        return FactoredGaussians.of(mean, covariance, covariance.sum(axis=0), 0.0)

    def draw(self, codes: NDArray[np.intp], stretch: Any, rng: np.random.Generator) -> list[Any]:
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
            yield (
                f"{listed(columns, dependent[NAMED:])} are combinations of the columns before them "
                "in the same way; they are left out"
            )
        for m, singular in self.raised:
            where = "the classes" if len(self.covariance) == 1 else f"class {classes[m]!r}"
            here = [j for j in singular if j not in dependent]
            which = listed(columns, here) or "some combination of columns"
            yield (
                f"within {where}, the other columns determine {which}; a variance that "
                "would be 0 is kept at a small fraction of that over "
                "all classes; more rows, shrinkage, a shared covariance or "
                "estimation='bayes' would help"
            )


def listed(columns: Sequence[str], chosen: Sequence[int]) -> str:
    """Names of columns, or of some and how many more there are."""
    names = ", ".join(repr(columns[j]) for j in chosen[:NAMED])
    return names + (f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else "")


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
        shown = factorise(DoubleDouble.of(covariance[np.ix_(~m, ~m)]), ROUNDED_MATRIX)
        slopes = shown.solve(DoubleDouble.of(covariance[np.ix_(~m, m)])).value
        expected = np.broadcast_to(mean, x.shape)[np.ix_(of, m)]
        filled[np.ix_(of, m)] = expected + linear(centred[np.ix_(of, ~m)], slopes)
    return filled


def _noise(mean: DoubleDouble, total: DoubleDouble) -> NDArray[np.float64]:
    """What rounding of the data may leave of the variance of a dependent column: `factorise`."""
    variance = np.diagonal(total.hi)
    far = np.divide(
        (mean.hi**2).max(axis=0, initial=0.0),
        variance,
        out=np.zeros_like(variance),
        where=variance > 0,
    )
    return np.asarray(np.maximum(LEAST_PIVOT, 2.0**-104 * far))


def settled_double(matrices: DoubleDouble) -> NDArray[np.float64]:
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


def _low_part(mean: DoubleDouble, sd: NDArray[np.float64]) -> NDArray[np.float64]:
    """The low part of a mean that is far from 0, to 2⁻⁶⁰ of the standard deviation."""
    far = (np.abs(mean.hi) > FAR * sd) & (sd > 0)
    step = np.ldexp(1.0, np.frexp(np.where(far, sd, 1.0))[1] - 60)
    return np.asarray(np.where(far, np.round(mean.lo / step) * step, 0.0))
