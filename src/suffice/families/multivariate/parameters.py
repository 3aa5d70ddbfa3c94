"""Estimates of a multivariate Gaussian: scored as a Gaussian, or as its posterior predictive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import Form, JointParameters
from suffice.families.multivariate.factored import FactoredGaussians, listed
from suffice.families.univariate.parameters import FAR
from suffice.numerics.elementary import lgamma, log, log1p, log_of
from suffice.numerics.logspace import row_sums, scores
from suffice.numerics.rows import linear
from suffice.rules import POSITIVE, Shape
from suffice.sums.block import BadCell, RealBlock, tiles

__all__ = [
    "LOG_2PI",
    "EmHistory",
    "MultivariateGaussianParameters",
    "MultivariateStudentParameters",
]

LOG_2PI = log_of(2 * np.pi)
SCORED_ROWS = 16_384  # rows scored at a time


@dataclass(frozen=True)
class EmHistory:
    """How expectation-maximisation went: log-likelihoods, and whether they converged.

    Columns without any cell are ``empty``.
    """

    log_likelihood: tuple[float, ...] = ()
    converged: bool = True
    empty: tuple[int, ...] = ()

    def remarks(self, columns: Sequence[str]) -> Iterator[str]:
        """Say if the estimates were still changing."""
        if not self.converged:
            names = listed(columns, range(len(columns)))
            yield (
                f"expectation-maximisation over the missing cells of {names} was still changing "
                f"after {len(self.log_likelihood)} iterations; its estimates are not the best; "
                "more complete rows, or fewer columns, would help"
            )


@dataclass(frozen=True, eq=False)
class MultivariateGaussianParameters(JointParameters):
    """μ (k, d) and Σ (k or 1, d, d); the classes ``borrowed`` have the covariance of all rows."""

    factored: FactoredGaussians
    course: EmHistory = EmHistory()
    borrowed: tuple[int, ...] = ()

    @property
    def mean(self) -> NDArray[np.float64]:
        """μ, (k, d)."""
        return self.factored.mean

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Σ, (k, d, d), or (1, d, d) if all classes share it."""
        return self.factored.covariance

    @property
    def n_free(self) -> int:
        """Kd means, and of each matrix d(d + 1)/2 numbers."""
        s, d, _ = self.covariance.shape
        return int(len(self.mean) * d + s * (d * (d + 1) // 2))

    @property
    def log_scale(self) -> NDArray[np.float64]:
        """−½ log |2πΣ| of every class, (k,)."""
        factored = self.factored
        log_scale = -0.5 * (factored.rank * LOG_2PI + factored.log_determinant)
        return np.array(np.broadcast_to(log_scale, len(self.mean)))

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log N(x; μ, Σ), of the columns that a row shows."""
        self._add(block, out, partial(self.factored.add_gaussian, log_scale=self.log_scale))

    def add_discriminants(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log N(x; μ, Σ), of complete rows about a point where all classes share Σ."""
        if len(self.covariance) == 1:
            self._add(block, out, self.factored.add_linear)
        else:
            self.add_log_likelihood(block, out)

    def _add(self, block: RealBlock, out: NDArray[np.float64], add: Any) -> None:
        for start, x in _tiles(block):
            part = out[start : start + len(x)]
            rest = _located(add, start, x, out=part)
            if len(rest):
                distance, log_determinant, rank = self.factored.marginal(x[rest])
                part[rest] -= 0.5 * (distance + (log_determinant + rank * LOG_2PI))

    def column(self, j: int) -> MultivariateGaussianParameters:
        """The marginal of column j."""
        return MultivariateGaussianParameters(self.factored.columns(np.array([j])))

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = μ + Σ^½ z."""
        return self.factored.draw(codes, 1.0, rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Mean and standard deviation of column j."""
        sd = np.broadcast_to(np.sqrt(self.covariance[:, j, j]), len(self.mean))
        return {"mean": self.mean[:, j].tolist(), "sd": sd.tolist()}

    def form(self) -> Form:
        """−½(x − μ)ᵀΣ⁻¹(x − μ) − ½ log |2πΣ|, multiplied out about 0, or about far means."""
        factored, k = self.factored, len(self.mean)
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
        """Say which columns are left out, where variances were raised, what did not converge."""
        if self.borrowed:
            yield (
                f"classes {listed(classes, self.borrowed)}: the rows of each weigh no more than "
                "ddof, so they have no covariance of their own; that of all rows is taken"
            )
        yield from self.factored.remarks(columns, classes, self.course.empty)
        yield from self.course.remarks(columns)


@dataclass(frozen=True, eq=False)
class MultivariateStudentParameters(JointParameters):
    """Multivariate Student-t: ν (k,), location and scale matrix, times a ``factor`` (k,)."""

    factored: FactoredGaussians
    dof: Annotated[NDArray[np.float64], Shape("k"), POSITIVE]
    factor: Annotated[NDArray[np.float64], Shape("k"), POSITIVE]
    course: EmHistory = EmHistory()

    @property
    def n_free(self) -> int:
        """Number of means, variances and covariances, integrated out."""
        return MultivariateGaussianParameters(self.factored).n_free

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add log t_ν(x; m, fΣ), of the p columns that a row shows.

        ::

            log Γ((ν + p)/2)/Γ(ν/2) − ½ log |πνfΣ| − (ν + p)/2 log(1 + (x − m)ᵀΣ⁻¹(x − m)/(νf))
        """
        for start, x in _tiles(block):
            part = out[start : start + len(x)]
            distance = scores(len(x), len(self.dof), 0.0)
            rest = _located(self.factored.add_gaussian, start, x, np.zeros(len(self.dof)), distance)
            distance *= -2.0
            log_determinant = np.broadcast_to(
                self.factored.log_determinant, (len(x), len(self.dof))
            )
            rank: Any = self.factored.rank
            if len(rest):
                log_determinant = log_determinant.copy()
                rank = np.array(np.broadcast_to(rank, distance.shape))
                distance[rest], log_determinant[rest], rank[rest] = self.factored.marginal(x[rest])
            part += self._log_density(distance, log_determinant, rank)

    def _log_density(
        self, distance: NDArray[np.float64], log_determinant: NDArray[np.float64], rank: Any
    ) -> NDArray[np.float64]:
        nu, stretch = self.dof, self.dof * self.factor
        scale = lgamma((nu + rank) / 2) - lgamma(nu / 2) - 0.5 * rank * log(np.pi * stretch)
        density = -(nu + rank) / 2 * log1p(distance / stretch)
        return np.asarray(scale - 0.5 * log_determinant + density)

    def column(self, j: int) -> MultivariateStudentParameters:
        """The marginal of column j, with the same degrees of freedom."""
        alone = self.factored.columns(np.array([j]))
        return MultivariateStudentParameters(alone, self.dof, self.factor)

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = m + √(fν/χ²_ν) Σ^½ z."""
        nu = self.dof[codes]
        stretch = np.sqrt(self.factor[codes] * nu / rng.chisquare(nu))
        return self.factored.draw(codes, stretch[:, None], rng)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Location, scale and degrees of freedom of column j."""
        scale = np.sqrt(self.factored.covariance[:, j, j] * self.factor)
        return {
            "mean": self.factored.mean[:, j].tolist(),
            "scale": scale.tolist(),
            "dof": self.dof.tolist(),
        }

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        """Say which columns are left out, where variances were raised, what did not converge."""
        yield from self.factored.remarks(columns, classes, self.course.empty)
        yield from self.course.remarks(columns)


def _tiles(block: RealBlock) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Rows as doubles, a number of them at a time that stays in cache with its scores."""
    for start, x in tiles(block.values, np.float64):
        for first in range(0, len(x), SCORED_ROWS):
            yield start + first, x[first : first + SCORED_ROWS]


def _located(function: Any, start: int, *arguments: Any, **options: Any) -> Any:
    """Call a function on rows from ``start`` on; a bad cell counts its row from 0."""
    try:
        return function(*arguments, **options)
    except BadCell as bad:
        bad.row += start
        raise
