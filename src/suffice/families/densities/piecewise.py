"""Densities that are constant in bins: those of histograms, and of kernels on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import Parameters
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import exp
from suffice.rules import FINITE, NONNEGATIVE, Shape, rule
from suffice.sums.block import RealBlock, require_finite, tiles

FEW = 12  # bins that are described one by one
LOOKED_UP = 2**16  # scores at a time: 512 kB


class Choice(NamedTuple):
    """The shape that was chosen for a column, and from what.

    Parameters
    ----------
    shape : str
        "histogram" or "kernel_density"; empty where nothing was compared.
    bandwidth : float
        Of a kernel density, as a multiple of the spread of a class.
    losses : mapping of str to float
        The leave-one-out log loss of the class given this column alone, in nats a row, by shape;
        empty where there was no choice.
    """

    shape: str
    bandwidth: float
    losses: dict[str, float]


class Piece(NamedTuple):
    """The density of one column in every class.

    Parameters
    ----------
    low, high : ndarray (b,)
        Bounds of the bins, ascending; each ends where the next begins. A number below the first, or
        above the last, counts as one of the bin next to it.
    log_density : ndarray (k, b)
    """

    low: Floats
    high: Floats
    log_density: Floats


@dataclass(frozen=True, eq=False)
class PiecewiseParameters(Parameters):
    """Densities of d columns, side by side.

    Parameters
    ----------
    start : ndarray of int (d + 1,)
        Where the bins of each column start.
    low, high : ndarray (B,)
        Bounds of the bins. A bin holds the numbers from its lower bound on.
    log_density : ndarray (k, B)
        log p(x | c) in each bin.
    choices : tuple of d Choice
        Empty where shapes are none of data.
    """

    start: Annotated[NDArray[np.int64], Shape("s"), NONNEGATIVE]
    low: Annotated[Floats, Shape("B"), FINITE]
    high: Annotated[Floats, Shape("B"), FINITE]
    log_density: Annotated[Floats, Shape("k", "B"), FINITE]
    choices: tuple[Choice, ...] = ()

    @rule("every column has a bin, and the bins of a column follow each other")
    def _has_bins(self) -> bool:
        inner = np.ones(max(0, len(self.low) - 1), np.bool_)
        inner[self.start[1:-1] - 1] = False
        joined = bool((self.high[:-1] == self.low[1:])[inner].all())
        return joined and bool((np.diff(self.start) > 0).all() and (self.low <= self.high).all())

    @classmethod
    def of(cls, k: int, pieces: Sequence[Piece]) -> PiecewiseParameters:
        """Put columns of k classes side by side."""
        sizes = [piece.log_density.shape[1] for piece in pieces]
        start = np.cumsum([0, *sizes]).astype(np.int64)
        low = np.concatenate([np.zeros(0), *(piece.low for piece in pieces)])
        high = np.concatenate([np.zeros(0), *(piece.high for piece in pieces)])
        logs = np.concatenate([np.zeros((k, 0)), *(piece.log_density for piece in pieces)], axis=1)
        return cls(start, low, high, logs)

    @property
    def n_free(self) -> int:
        """k(B − d): the probabilities of the bins of a column add up to 1."""
        k, bins = self.log_density.shape
        return int(k * (bins - len(self.start) + 1))

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ log p(xⱼ | c)."""
        for first, x in tiles(block.values, np.float64):
            part = out[first : first + len(x)]
            if kernels.piecewise.add(x, self.start, self.low, self.log_density, part) >= 0:
                require_finite(x, first)

    def add_contributions(self, block: RealBlock, out: Floats) -> None:
        """Add log p(xⱼ | c) of every cell, looked up for some columns at a time."""
        for first, x in tiles(block.values, np.float64):
            require_finite(x, first)
            part, k = out[first : first + len(x)], out.shape[2]
            step = max(1, LOOKED_UP // max(1, len(x) * k))
            for left in range(0, x.shape[1], step):
                own, start = x[:, left : left + step], self.start[left : left + step + 1]
                terms = np.empty((own.shape[1], k, len(x)))
                kernels.piecewise.terms(own, start, self.low, self.log_density, terms)
                part[:, left : left + step] += terms.transpose(2, 0, 1)

    def weighed(self, weights: Floats) -> PiecewiseParameters:
        """Return w_j log p(x_j | c) as such densities."""
        by_bin = np.repeat(weights, np.diff(self.start))
        return replace(self, log_density=self.log_density * by_bin, choices=())

    def column(self, j: int) -> PiecewiseParameters:
        found = PiecewiseParameters.of(len(self.log_density), [self.piece(j)])
        return replace(found, choices=self.choices[j : j + 1])

    def chosen(self, j: int) -> str:
        return self.choices[j].shape if self.choices else ""

    def rivals(self, j: int) -> dict[str, float]:
        """Leave-one-out log loss of the class given column j alone, in nats a row, by shape."""
        return self.choices[j].losses if self.choices else {}

    def piece(self, j: int) -> Piece:
        own = slice(*self.start[j : j + 2])
        return Piece(self.low[own], self.high[own], self.log_density[:, own])

    def probabilities(self, j: int) -> Floats:
        """P(bin | c) of column j, (k, b)."""
        low, high, log_density = self.piece(j)
        mass = exp(log_density) * widths(low, high)
        return np.asarray(mass / mass.sum(axis=1, keepdims=True))

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        """Draw a bin, and a number in it."""
        drawn = []
        for j in range(len(self.start) - 1):
            upto = np.cumsum(self.probabilities(j), axis=1)
            u, within = rng.random((2, len(codes)))
            bin_ = np.minimum((upto[codes] < u[:, None]).sum(axis=1), upto.shape[1] - 1)
            at = self.start[j] + bin_
            drawn.append(self.low[at] + within * (self.high[at] - self.low[at]))
        return drawn

    def describe(self, j: int) -> dict[str, list[float]]:
        """Probabilities of the bins of column j where they are few, else mean and deviation."""
        (low, high, _), p = self.piece(j), self.probabilities(j)
        if p.shape[1] <= FEW:
            return dict(zip(bin_names(low, high), p.T.tolist(), strict=True))
        middle, width = 0.5 * (low + high), high - low
        mean = (p * middle).sum(axis=1)
        variance = (p * ((middle - mean[:, None]) ** 2 + width**2 / 12)).sum(axis=1)
        return {"mean": mean.tolist(), "sd": np.sqrt(variance).tolist()}


def nothing(k: int) -> Piece:
    """The density of a column that says nothing: of one bin, equal in all k classes."""
    return Piece(np.zeros(1), np.zeros(1), np.zeros((k, 1)))


def widths(low: Floats, high: Floats) -> Floats:
    """Widths of bins; 1 where all numbers of a column are the same."""
    return np.where(high > low, high - low, 1.0)


def bin_names(low: Floats, high: Floats) -> list[str]:
    """Name the numbers of every bin, in six digits, or as many as tell the bins apart.

    Examples
    --------
    >>> bin_names(np.array([0.0, 0.5]), np.array([0.5, 1.0]))
    ['< 0.5', '>= 0.5']
    >>> bin_names(np.array([1e9, 1e9 + 2.5]), np.array([1e9 + 2.5, 1e9 + 9.0]))
    ['< 1000000002.5', '>= 1000000002.5']
    """
    if len(low) == 1:
        return ["any"]
    rounding = 0.01 * (high - low).min()
    cuts: list[str] = []
    for digits in range(6, 18):
        cuts = [f"{cut:.{digits}g}" for cut in low[1:].tolist()]
        if (np.abs(np.array(cuts, np.float64) - low[1:]) <= rounding).all():
            break
    return [f"< {cuts[0]}", *(f">= {cut}" for cut in cuts)]
