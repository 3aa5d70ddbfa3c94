"""Densities of one column by histograms and by kernels, and what they say of a row held out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.cells import Cells, merged
from suffice.families.univariate.cuts import entropy_cuts, equal_frequency_cuts
from suffice.families.univariate.piecewise import Piece
from suffice.numerics import kernels
from suffice.numerics.elementary import exp

__all__ = [
    "BANDWIDTHS",
    "OF_A_CUT",
    "Density",
    "Kernels",
    "histogram",
    "histogram_shares",
    "kernel_density",
    "log_losses",
]

BANDWIDTHS = 0.3, 0.5, 0.9
"""Of Gaussian kernels, as multiples of the smallest spread of a class times n^(−1/5)."""
LEAST_BANDWIDTH = 1e-3  # of the standard deviation of all classes
OF_A_CUT = 3.0  # nats that a likelihood gains by the place of a cut, where there is none to find


class Density(NamedTuple):
    """Densities of the classes at the places where numbers were counted.

    Parameters
    ----------
    counts : ndarray (k, m)
        Σw of the numbers of each class at each place.
    log_density : ndarray (k, m)
        log p(x | c) there.
    without_one : ndarray (k, m)
        The same where the class c has one number less, that at x.
    cuts : int
        How many cuts of these places were found by the classes of all numbers.
    """

    counts: NDArray[np.float64]
    log_density: NDArray[np.float64]
    without_one: NDArray[np.float64]
    cuts: int = 0


def log_losses(density: Density, of_a_cut: float = OF_A_CUT) -> float:
    """Return Σ −log P(c | x) over all numbers, each left out of the density of its own class.

    ::

        P(c | x) = N_c p₋ₓ(x | c) / (N_c p₋ₓ(x | c) + Σ_c' N_c' p(x | c')),  c' ≠ c

    The number left out has had a say in where cuts are, so every cut adds 3 nats: what the best
    place of a change-point adds to a likelihood by chance.

    Source: Y. Ninomiya, Change-point model selection via AIC (Annals of the Institute of
    Statistical Mathematics 67, 2015), whose penalty is 6 for twice the log-likelihood.

    Examples
    --------
    >>> even = np.zeros((2, 1))
    >>> round(log_losses(Density(np.array([[3.0], [1.0]]), even, even)), 9)  # 3 log 4/3 + log 4
    2.249340578
    """
    counts, logs, without, cuts = density
    return kernels.densities.log_losses(counts, logs, without) + of_a_cut * cuts


def histogram(cells: Cells, bins: int) -> tuple[Piece, Density]:
    """Bins cut by `entropy_cuts`, or where it cuts nothing, of equal frequency.

    ::

        p(b | c) = (N_cb + s q_b)/(N_c + s),  q_b = (N_b + ½)/(N + ½ m)

    of m bins, where the strength s is a power of two that maximises the evidence of all classes,
    Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c. Where classes do not differ it is large, and bins
    say nothing.
    """
    binned, prior, found = _binned(cells, bins)
    logs, without = np.empty((2, *binned.counts.shape))
    kernels.densities.bin_logs(*binned, prior, logs, without)
    return Piece(binned.low, binned.high, logs), Density(binned.counts, logs, without, found)


def histogram_shares(cells: Cells, bins: int) -> tuple[Cells, NDArray[np.float64]]:
    """The bins of a histogram, and N_cb + s q_b in each, (k, m)."""
    binned, prior, _ = _binned(cells, bins)
    return binned, binned.counts + prior


def _binned(cells: Cells, bins: int) -> tuple[Cells, NDArray[np.float64], int]:
    """The bins of a histogram, s q_b in each, (m,), and how many cuts the classes have made."""
    cuts = entropy_cuts(cells.counts)
    found = len(cuts)
    if not found:
        cuts = equal_frequency_cuts(cells.every, bins)
    binned = merged(cells, cuts)
    prior = np.empty(len(binned.low))
    kernels.densities.back_off(binned.counts, prior)
    return binned, prior, found


def kernel_density(cells: Cells, bandwidth: float) -> tuple[Piece, Density]:
    """Gaussian kernels at every number, and one broad kernel for what no number showed.

    ::

        p(x | c) = (Σ_i N(x; x_i, h_c²) + Cauchy(x; x̄, s)) / (n_c + 1)
        h_c = bandwidth · min(s_c, (q₃ − q₁)_c / 1.34) · n_c^(−1/5)

    with mean and deviation x̄, s of all classes. It is evaluated in the middle of at most 200 bins
    of equal frequency. A class without a number has the density of all classes.
    """
    if len(cells.low) == 1:
        flat = np.zeros_like(cells.counts)
        return Piece(cells.low, cells.high, flat), Density(cells.counts, flat, flat)
    cells, h, broad = Kernels.of(cells, bandwidth)
    logs, without = np.empty((2, *cells.counts.shape))
    kernels.densities.kernel_logs(cells.at, cells.counts, h, broad, logs, without)
    return Piece(cells.low, cells.high, logs), Density(cells.counts, logs, without)


class Kernels(NamedTuple):
    """Where kernels stand and are evaluated, and how broad they are.

    Parameters
    ----------
    cells : Cells
        b of them, at most 200.
    h : ndarray (k,)
        Bandwidths.
    broad : ndarray (b,)
        The broad kernel in each.
    """

    cells: Cells
    h: NDArray[np.float64]
    broad: NDArray[np.float64]

    @classmethod
    def of(cls, cells: Cells, bandwidth: float) -> Kernels:
        """Those of two cells or more."""
        cells, shape = cells.grouped, cells.kernel_shape
        h = bandwidth * shape.spreads * shape.narrower
        return cls(cells, np.maximum(h, LEAST_BANDWIDTH * shape.deviation), shape.broad)

    def at(self, c: int) -> NDArray[np.float64]:
        """The density, in each cell, of a number in each cell, (b, b), for class c."""
        x, h = self.cells.at, self.h[c]
        return np.asarray(exp(-0.5 * ((x[:, None] - x) / h) ** 2) / (np.sqrt(2 * np.pi) * h))
