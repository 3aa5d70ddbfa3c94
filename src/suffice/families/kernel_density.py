"""The kernel density: a Gaussian at every number, p(x | c) their mean, for every column alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from suffice.errors import ParameterError
from suffice.families.family import Family
from suffice.families.options import check_positive
from suffice.families.univariate.cells import Cells, cells_of_column
from suffice.families.univariate.densities import (
    BANDWIDTHS,
    kernel_density,
    log_losses,
)
from suffice.families.univariate.piecewise import Piece, PiecewiseParameters, nothing
from suffice.statistics.block import Encoding
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.statistic import Accumulator

__all__ = ["KernelDensity", "best_bandwidth"]


@dataclass(frozen=True)
class KernelDensity(Family):
    """A Gaussian kernel at every number of a class, and a broad one for what it did not show.

    ::

        p(x | c) = (Σ_i N(x; x_i, h_c²) + Cauchy(x; x̄, s)) / (n_c + 1)
        h_c = bandwidth · min(s_c, (q₃ − q₁)_c / 1.34) · n_c^(−1/5)

    It follows from counts on a fixed grid (see `Histogram`) and is constant in each of at most 200
    bins of equal frequency.

    Parameters
    ----------
    bandwidth : float or "loo"
        As a multiple of a spread of the class; 0.9 is Silverman's rule for Gaussian numbers.
        ``"loo"`` takes one of 0.3, 0.5 and 0.9 for each column, by the leave-one-out log loss of
        the class given this column.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: B. W. Silverman, Density Estimation for Statistics and Data Analysis (1986), eq.
    3.31; G. H. John and P. Langley, Estimating continuous distributions in Bayesian classifiers
    (UAI 1995).

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> x, y = [[1.0], [1.2], [8.0], [4.0], [4.5], [5.0]], list("aaabbb")
    >>> model = NaiveBayes(families="kernel_density").fit(x, y)
    >>> model.predict([[1.1], [4.4], [7.9]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    bandwidth: float | Literal["loo"] = "loo"

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.bandwidth, str) and self.bandwidth != "loo":
            rule = "bandwidth is a positive finite number, or 'loo'"
            raise ParameterError(f"bandwidth={self.bandwidth!r}", rule)
        if not isinstance(self.bandwidth, str):
            check_positive(bandwidth=self.bandwidth)

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAndBinsAccumulator(d)

    def estimate(self, statistic: MomentsAndBins) -> PiecewiseParameters:
        """Parameters from binned counts."""
        bins, k = statistic.bins, statistic.k
        shown = statistic.total.sum(axis=0) > 0
        pieces = [
            self._density(cells_of_column(bins, j)) if shown[j] else nothing(k)
            for j in range(bins.d)
        ]
        return PiecewiseParameters.of(k, pieces)

    def _density(self, cells: Cells) -> Piece:
        return kernel_density(cells, best_bandwidth(cells, self.bandwidth))[0]


def best_bandwidth(cells: Cells, bandwidth: float | Literal["loo"]) -> float:
    """The bandwidth, or with "loo" that of least leave-one-out log loss."""
    if not isinstance(bandwidth, str):
        return bandwidth
    return min(BANDWIDTHS, key=lambda tried: log_losses(kernel_density(cells, tried)[1]))
