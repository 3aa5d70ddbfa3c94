"""Estimates of Gaussian columns: scored as Gaussians, or as their posterior predictives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import Form, Parameters
from suffice.numerics import kernels
from suffice.numerics.elementary import lgamma, log, log1p
from suffice.numerics.error_free import LARGEST
from suffice.rules import FINITE, NONNEGATIVE, POSITIVE, Shape
from suffice.sums.block import RealBlock, converted, read_rows, require_held, tiles
from suffice.sums.moments import too_large

__all__ = ["FAR", "GaussianParameters", "StudentParameters"]

FAR = 64.0  # standard deviations from 0 at which a mean is worth more than one double


@dataclass(frozen=True, eq=False)
class GaussianParameters(Parameters):
    """μ (k, d) and σ² (k, d), or (1, d) where the classes share it.

    A column without any spread (σ² = 0 everywhere) says nothing.
    ``mean_lo`` is what ``mean``, a double, cannot hold of a μ that is far from 0.
    """

    mean: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    mean_lo: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    variance: Annotated[NDArray[np.float64], Shape("s", "d"), NONNEGATIVE]

    @property
    def n_free(self) -> int:
        """2kd, or (k + 1)d with a shared variance."""
        return self.mean.size + self.variance.size

    @property
    def sd(self) -> NDArray[np.float64]:
        """σ, (k, d)."""
        return np.broadcast_to(np.sqrt(self.variance), self.mean.shape)

    @property
    def precision(self) -> NDArray[np.float64]:
        """1/σ², (k, d); 0 for a column without spread."""
        return np.divide(1.0, self.variance, out=np.zeros_like(self.mean), where=self.variance > 0)

    @property
    def log_scale(self) -> NDArray[np.float64]:
        """−½ log 2πσ², (k, d); 0 for a column without spread."""
        used = self.variance > 0
        log_variance = log(np.where(used, 2 * np.pi * self.variance, 1.0))
        return np.asarray(-0.5 * np.broadcast_to(log_variance, self.mean.shape))

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log N(xⱼ; μ, σ²)."""
        origin, terms = self.terms
        _score(kernels.squares.add_gaussian, read_rows(_from(origin, block).values), terms, out)

    @cached_property
    def terms(self) -> tuple[NDArray[np.float64] | None, tuple[NDArray[np.float64], ...]]:
        """Where columns are measured from, and what their squares are scored by."""
        origin, mean = _origin(self.mean, self.mean_lo)
        return origin, (mean, np.sqrt(self.precision / 2), self.log_scale)

    def log_densities(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """log N(xⱼ; μ, σ²) of the cells of rows (n, d) that each have parameters, (k, n, d)."""
        origin, (mean, root, log_scale) = self.terms
        z = root * ((x if origin is None else x - origin) - mean)
        return np.asarray(log_scale - z * z)

    def column(self, j: int) -> GaussianParameters:
        """The parameters of column j alone."""
        return self.columns(np.array([j]))

    def columns(self, index: NDArray[np.intp]) -> GaussianParameters:
        """The parameters of some columns."""
        parts = self.mean, self.mean_lo, self.variance
        return GaussianParameters(*(part[:, index] for part in parts))

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = μ + σz."""
        x = rng.normal(self.mean[codes], self.sd[codes])
        return list(x.T)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Mean and standard deviation of column j."""
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

    location: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    location_lo: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    scale2: Annotated[NDArray[np.float64], Shape("k", "d"), NONNEGATIVE]
    dof: Annotated[NDArray[np.float64], Shape("s", "d"), POSITIVE]

    @property
    def n_free(self) -> int:
        """2kd, means and variances integrated out; (k + 1)d with a shared variance."""
        return self.location.size + self.dof.size

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log Γ((ν+1)/2)/Γ(ν/2) − ½ log νπs² − (ν+1)/2 log(1 + (x − m)²/νs²)."""
        origin, terms = self.terms
        rows = tiles(_from(origin, block).values, np.float64)
        _score(kernels.scores.add_student, rows, terms, out)

    def add_contributions(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add the terms of every cell.

        Raises
        ------
        BadCell
            As `add_log_likelihood` does.
        """
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
    def terms(self) -> tuple[NDArray[np.float64] | None, tuple[NDArray[np.float64], ...]]:
        """Where columns are measured from, and what their cells are scored by."""
        nu, used = np.broadcast_to(self.dof, self.scale2.shape), self.scale2 > 0
        square = np.where(used, nu * self.scale2, 1.0)
        log_scale = lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(np.pi * square)
        precision, log_scale = np.where(used, 1 / square, 0.0), np.where(used, log_scale, 0.0)
        origin, location = _origin(self.location, self.location_lo)
        return origin, (location, precision, (nu + 1) / 2, log_scale)

    def log_densities(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log densities of the cells of rows (n, d) that each have parameters, (k, n, d)."""
        origin, (location, precision, power, log_scale) = self.terms
        e = (x if origin is None else x - origin) - location
        return np.asarray(log_scale - power * log1p(precision * e * e))

    def column(self, j: int) -> StudentParameters:
        """The parameters of column j alone."""
        return self.columns(np.array([j]))

    def columns(self, index: NDArray[np.intp]) -> StudentParameters:
        """The parameters of some columns."""
        parts = self.location, self.location_lo, self.scale2, self.dof
        return StudentParameters(*(part[:, index] for part in parts))

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw x = m + st."""
        t = rng.standard_t(np.broadcast_to(self.dof, self.scale2.shape)[codes])
        return list((self.location[codes] + np.sqrt(self.scale2[codes]) * t).T)

    def describe(self, j: int) -> dict[str, list[float]]:
        """Location, scale and degrees of freedom of column j."""
        return {
            "mean": self.location[:, j].tolist(),
            "scale": np.sqrt(self.scale2[:, j]).tolist(),
            "dof": np.broadcast_to(self.dof, self.scale2.shape)[:, j].tolist(),
        }


def _score(
    kernel: Callable[..., int],
    parts: Iterable[tuple[int, NDArray[Any]]],
    terms: tuple[NDArray[np.float64], ...],
    out: NDArray[np.float64],
) -> None:
    """Run a kernel over parts of the rows; refuse a number too large to be squared."""
    for start, x in parts:
        stopped = kernel(x, *terms, out[start : start + len(x)])
        if stopped >= 0:
            raise too_large(x, stopped, start)


def _origin(
    mean: NDArray[np.float64], low: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Move the origin of columns that are far from it to their data; nothing is lost by that.

    Returns
    -------
    origin : ndarray (d,)
        None where it stays.
    mean : ndarray (k, d)
        Measured from there.
    """
    far = low.any(axis=0)
    if not far.any():
        return None, mean
    origin = np.where(far, mean[0], 0.0)
    return origin, (mean - origin) + low


def _from(origin: NDArray[np.float64] | None, block: RealBlock) -> RealBlock:
    """The numbers of a block, measured from an origin."""
    if origin is None:
        return block
    require_held(block.values)
    return RealBlock(block.values - origin)
