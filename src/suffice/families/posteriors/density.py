"""Posteriors of densities in bins: shares of weights that are independent Gamma variables.

The numbers of a class, or its bins, have random weights g_m ~ Gamma(a_m). Of a histogram,

::

    p(x | c) = g_b / (w_b Σ g),  a_b = N_cb + s q_b,

which is its Dirichlet posterior, with w_b the width of the bin. Of a kernel density,

::

    p(x | c) = Σ_m g_m K_bm / Σ g,  a_m = n_cm, and 1 for the broad kernel,

the Bayesian bootstrap. In both, E p = Σ K a/A and Var p = (Σ K² a/A − (E p)²)/(A + 1), A = Σ a.
As a share may come near 0, which its logarithm takes far, the moments of log p are those of a
lognormal variable with this mean and variance.

Source: D. B. Rubin, The Bayesian bootstrap (Annals of Statistics 9, 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.density import BINS, Density, Kernels, histogram_shares
from suffice.families.posteriors.posterior import Posterior, ScoreMoments
from suffice.families.univariate.cells import Cells, cells_of_column
from suffice.families.univariate.piecewise import Piece, PiecewiseParameters, widths
from suffice.numerics.elementary import log
from suffice.sums.bins import MomentsAndBins
from suffice.sums.block import RealBlock

__all__ = ["PiecewisePosterior", "Shares", "posterior"]


class Shares(NamedTuple):
    """The posterior of one column.

    Parameters
    ----------
    low, high : ndarray (b,)
        Bounds of the bins.
    a : tuple of k ndarray (m,)
        Weights of what is drawn, of each class; none of a class that showed nothing.
    density : tuple of k ndarray (b, m)
        What each adds to the density in each bin.
    mean, variance : ndarray (k, b)
        Of log p(x | c).
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    a: tuple[NDArray[np.float64], ...]
    density: tuple[NDArray[np.float64], ...]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]

    def draw(self, rng: np.random.Generator) -> Piece:
        """Draw the density in every bin."""
        logs = self.mean.copy()
        for c, (a, density) in enumerate(zip(self.a, self.density, strict=True)):
            if len(a):
                g = rng.standard_gamma(a)
                logs[c] = log(np.maximum(density @ (g / g.sum()), np.finfo(float).tiny))
        return Piece(self.low, self.high, logs)


def of_histogram(cells: Cells, bins: int) -> Shares:
    """The Dirichlet posterior of a histogram."""
    binned, a = histogram_shares(cells, bins)
    width = widths(binned.low, binned.high)
    density = (np.diag(1 / width),) * len(a)
    found = [_log_moments(*of_class) for of_class in zip(a, density, strict=True)]
    mean, variance = np.array(found).swapaxes(0, 1)
    return Shares(binned.low, binned.high, tuple(a), density, mean, variance)


def of_kernels(cells: Cells, bandwidth: float) -> Shares:
    """The Bayesian bootstrap of a kernel density."""
    kernels = Kernels.of(cells, bandwidth)
    low, high, counts = kernels.cells
    mean, variance = np.zeros(counts.shape), np.full(counts.shape, np.inf)
    weights, densities = [], []
    for c, count in enumerate(counts):
        if not count.any():
            weights.append(count[:0])
            densities.append(np.zeros((len(low), 0)))
            continue
        shown = np.flatnonzero(count)
        a = np.append(count[shown], 1.0)
        density = np.column_stack([kernels.at(c)[:, shown], kernels.broad])
        mean[c], variance[c] = _log_moments(a, density)
        weights.append(a)
        densities.append(density)
    return Shares(low, high, tuple(weights), tuple(densities), mean, variance)


def _log_moments(
    a: NDArray[np.float64], density: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of log p in each bin, (b,), from weights (m,) and densities (b, m)."""
    first, second = density @ a / a.sum(), density**2 @ a / a.sum()
    spread = log(1 + np.maximum(second / first**2 - 1, 0.0) / (a.sum() + 1))
    return log(first) - 0.5 * spread, spread


def of_fixed(piece: Piece) -> Shares:
    """A column whose density is taken as it is."""
    low, high, logs = piece
    k, bins = logs.shape
    return Shares(
        low, high, (np.zeros(0),) * k, (np.zeros((bins, 0)),) * k, logs, np.zeros((k, bins))
    )


class PiecewisePosterior(Posterior):
    """The posteriors of columns side by side."""

    def __init__(self, k: int, columns: Sequence[Shares]) -> None:
        self._k, self.columns = k, columns
        self._mean = self._side_by_side([one.mean for one in columns])
        self._variance = self._side_by_side([one.variance for one in columns])

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add Σⱼ E log p(x_j | c), and its variance."""
        self._mean.add_log_likelihood(block, moments.mean)
        self._variance.add_log_likelihood(block, moments.variance)

    def draw(self, rng: np.random.Generator) -> PiecewiseParameters:
        """Draw the densities of all columns."""
        return PiecewiseParameters.of(self._k, [one.draw(rng) for one in self.columns])

    def _side_by_side(self, values: list[NDArray[np.float64]]) -> PiecewiseParameters:
        """Functions that are constant in bins, looked up as densities are."""
        both = zip(self.columns, values, strict=True)
        return PiecewiseParameters.of(self._k, [Piece(o.low, o.high, v) for o, v in both])


def posterior(family: Density, statistic: MomentsAndBins) -> PiecewisePosterior:
    """The posteriors of all columns, given what was chosen for them."""
    estimate = family.estimate(statistic)
    columns = []
    for j, (shape, bandwidth, _) in enumerate(estimate.choices):
        if not shape:
            columns.append(of_fixed(estimate.piece(j)))
            continue
        cells = cells_of_column(statistic.bins, j)
        histogram = shape == "histogram"
        columns.append(of_histogram(cells, BINS) if histogram else of_kernels(cells, bandwidth))
    return PiecewisePosterior(statistic.k, columns)
