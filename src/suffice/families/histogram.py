"""The histogram: numbers in bins, p(x | c) constant in each, for every column on its own."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from suffice.errors import ParameterError
from suffice.families.family import Family
from suffice.families.univariate.cells import cells_of_column
from suffice.families.univariate.densities import histogram
from suffice.families.univariate.piecewise import PiecewiseParameters, nothing
from suffice.statistics.block import Encoding
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.statistic import Accumulator

__all__ = ["Histogram"]


@dataclass(frozen=True)
class Histogram(Family):
    """Numbers in bins that are cut where they tell most of the class.

    ::

        p(x | c) = (N_cb + s q_b)/(N_c + s) / width of b,   x in bin b,   q_b = (N_b + ½)/(N + ½ m)

    The m bins are those of `suffice.families.univariate.cuts.entropy_cuts`; where that cuts
    nothing, ``bins`` of about the same weight. The strength s of the back-off to all classes
    maximises the evidence. All follows from counts on a fixed grid, whose cells are at most 1/256
    as wide as the numbers in them are large: numbers far from 0 that differ by less are not told
    apart, unless the model learns weights from a sample of rows, in which they are counted anew.

    Parameters
    ----------
    bins : int
        How many bins of equal frequency, at most, where no cut tells of the class.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: U. M. Fayyad and K. B. Irani, Multi-interval discretization of continuous-valued
    attributes for classification learning (IJCAI 1993).

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> x, y = [[1.0], [1.2], [1.5], [7.0], [7.5], [8.0]], list("aaabbb")
    >>> model = NaiveBayes(families="histogram").fit(x, y)
    >>> model.predict([[0.0], [100.0]])
    array(['a', 'b'], dtype='<U1')
    """

    bins: int = 10

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.bins, Integral) and self.bins >= 1):
            raise ParameterError(f"bins={self.bins!r}", "bins is a whole number, 1 or more")

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAndBinsAccumulator(d)

    def estimate(self, statistic: MomentsAndBins) -> PiecewiseParameters:
        """Parameters from binned counts."""
        bins, k = statistic.bins, statistic.k
        shown = statistic.total.sum(axis=0) > 0
        pieces = [
            histogram(cells_of_column(bins, j), self.bins)[0] if shown[j] else nothing(k)
            for j in range(bins.d)
        ]
        return PiecewiseParameters.of(k, pieces)
