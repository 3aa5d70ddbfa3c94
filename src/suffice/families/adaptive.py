"""Adaptive: every column of numbers has the distribution that tells its class best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.families.counts.identifiers import row_numbers_of
from suffice.families.family import Apply, Family, Parameters
from suffice.families.gaussian import Gaussian
from suffice.families.kinds.divided import Choice, DividedParameters, Side
from suffice.families.options import Identifiers, check_words
from suffice.families.univariate.cells import Cells, cells_of_column
from suffice.families.univariate.densities import (
    BANDWIDTHS,
    OF_A_CUT,
    Density,
    histogram,
    kernel_density,
    log_losses,
)
from suffice.families.univariate.parameters import FAR, StudentParameters
from suffice.families.univariate.piecewise import Piece, PiecewiseParameters
from suffice.families.univariate.student import student_densities
from suffice.rules import NONNEGATIVE, Shape
from suffice.statistics.block import Encoding, RealBlock, converted
from suffice.statistics.moments import Moments
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.statistic import Accumulator

__all__ = ["Adaptive", "AdaptiveParameters", "Choice"]

BINS = 10  # of a histogram of equal frequency
COUNTS = 2**16  # of cells: columns that have so many are worth a thread
GAUSSIAN = Choice("gaussian", 0.0, {})


@dataclass(frozen=True)
class Adaptive(Family):
    """A Gaussian, a histogram or a kernel density for every column, by what each says of the class.

    A row is left out of the sums of its class, and its class predicted from this column alone:

    ::

        loss = −Σ_i log N_c p₋ᵢ(x_i | c) / (N_c p₋ᵢ(x_i | c) + Σ_c' N_c' p(x_i | c')),  c = c_i

    The family of least loss models the column. It is computed from the sums, so rows that are
    added, merged or forgotten decide it anew, as one fit of all rows does. A column whose mean is
    more than 64 standard deviations from the origin of its grid is a Gaussian: the grid is too
    coarse.

    Parameters
    ----------
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they say nothing of the class.
    choices : tuple of Choice
        What is not to be chosen anew, one for each column; empty to choose.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    See Also
    --------
    suffice.families.gaussian.Gaussian : By its posterior predictive, a Student-t.
    suffice.families.histogram.Histogram
    suffice.families.kernel_density.KernelDensity

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> sides = y * rng.choice([-3, 3], 500)  # one class lies around the other
    >>> x = np.c_[rng.normal(size=500) + y, rng.normal(size=500) + sides]
    >>> model = NaiveBayes(families="adaptive").fit(x, y)
    >>> model.model_.parameters[0].choices[1].family
    'kernel_density'
    """

    identifiers: Identifiers = field(default="keep", compare=False)
    choices: tuple[Choice, ...] = field(default=(), compare=False, repr=False)

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_words(identifiers=self.identifiers)

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAndBinsAccumulator(d)

    def advice(self, statistic: MomentsAndBins) -> Sequence[tuple[int, str]]:
        """Constants."""
        return tuple(Gaussian().advice(statistic.moments))

    def left_out(self, statistic: MomentsAndBins) -> NDArray[np.intp]:
        """Numbers of rows, if these are to be ignored."""
        if self.identifiers == "keep":
            return super().left_out(statistic)
        return np.flatnonzero(row_numbers_of(statistic.moments))

    def estimate(self, statistic: MomentsAndBins) -> AdaptiveParameters:
        """Choose a family for every column, and estimate it."""
        return self.estimate_by(statistic, map)

    def estimate_by(self, statistic: MomentsAndBins, apply: Apply) -> AdaptiveParameters:
        """Choose a family for every column, and estimate it, some columns at a time."""
        moments = statistic.moments
        gaussian = Gaussian(identifiers=self.identifiers).estimate(moments)
        assert isinstance(gaussian, StudentParameters)
        comparable = _comparable(moments, statistic.bins.origin)
        comparable[self.left_out(statistic)] = False
        step = max(1, COUNTS * statistic.d // max(1, len(statistic.bins.cell)))

        def some(start: int) -> list[tuple[Choice, Piece | None]]:
            own = range(start, min(start + step, statistic.d))
            return [self._column(statistic, j) if comparable[j] else (GAUSSIAN, None) for j in own]

        found = list(chain.from_iterable(apply(some, range(0, statistic.d, step))))
        choices = [choice for choice, _ in found]
        pieces = [piece for _, piece in found if piece is not None]
        binned = np.array([choice.family != "gaussian" for choice in choices], np.bool_)
        return AdaptiveParameters(
            np.flatnonzero(~binned),
            np.flatnonzero(binned),
            gaussian.columns(np.flatnonzero(~binned)),
            PiecewiseParameters.of(statistic.k, pieces),
            tuple(choices),
        )

    def _column(self, statistic: MomentsAndBins, j: int) -> tuple[Choice, Piece | None]:
        """The family of column j; a piece of its density where that is no Gaussian."""
        if not self.choices:
            cells = cells_of_column(statistic.bins, j)
            return _chosen(statistic.moments, j, cells)
        family, bandwidth, _ = choice = self.choices[j]
        if family == "gaussian":
            return choice, None
        return choice, _density(family, bandwidth, cells_of_column(statistic.bins, j))[0]

    def estimate_as(self, statistic: MomentsAndBins, choices: Sequence[Choice]) -> Parameters:
        """The same parameters, where it is known what this family would choose."""
        known = replace(self, choices=tuple(choices))
        return known.estimate(statistic)

    def binned(self, d: int) -> NDArray[np.intp]:
        """Those that are no Gaussians, once that is known."""
        if not self.choices:
            return super().binned(d)
        return np.flatnonzero([choice.family != "gaussian" for choice in self.choices])

    def settled(self, parameters: Parameters) -> Adaptive:
        """The same, with what was chosen for these parameters."""
        assert isinstance(parameters, AdaptiveParameters)
        return replace(self, choices=parameters.choices)


def _comparable(moments: Moments, origin: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Columns of several values that are near enough to the origin of their grid, (d,)."""
    rows = moments.one_class
    from_origin, variance = rows.mean[0] - origin, rows.variance[0]
    return np.asarray((variance > 0) & (from_origin**2 <= FAR**2 * variance))


def _chosen(moments: Moments, j: int, cells: Cells) -> tuple[Choice, Piece | None]:
    """The family of column j; a piece of its density where that is no Gaussian."""
    if len(cells.low) == 1:
        return GAUSSIAN, None
    normal = Density(cells.counts, *student_densities(moments, j, cells))
    pieces: dict[tuple[str, float], Piece | None] = {("gaussian", 0.0): None}
    losses = {("gaussian", 0.0): log_losses(normal)}
    for family, bandwidth in (("histogram", 0.0), *(("kernel_density", h) for h in BANDWIDTHS)):
        pieces[family, bandwidth], density = _density(family, bandwidth, cells)
        losses[family, bandwidth] = log_losses(density, OF_A_CUT)
    best = min(losses, key=lambda key: losses[key])
    rows, by_family = float(cells.every.sum()), dict.fromkeys((key[0] for key in losses), np.inf)
    for (family, _), loss in losses.items():
        by_family[family] = min(by_family[family], loss / rows)
    return Choice(*best, by_family), pieces[best]


def _density(family: str, bandwidth: float, cells: Cells) -> tuple[Piece, Density]:
    """A density of a column by the family of that name."""
    return histogram(cells, BINS) if family == "histogram" else kernel_density(cells, bandwidth)


@dataclass(frozen=True, eq=False)
class AdaptiveParameters(DividedParameters):
    """Gaussians of some columns, and densities in bins of the others.

    Parameters
    ----------
    normal, binned : ndarray of int
        Which columns those are.
    gaussian : StudentParameters
        Of the columns ``normal``.
    piecewise : PiecewiseParameters
        Of the columns ``binned``.
    choices : tuple of Choice
        One for each column.
    """

    normal: Annotated[NDArray[np.intp], Shape("g"), NONNEGATIVE]
    binned: Annotated[NDArray[np.intp], Shape("b"), NONNEGATIVE]
    gaussian: StudentParameters
    piecewise: PiecewiseParameters
    choices: tuple[Choice, ...]

    @property
    def kinds(self) -> tuple[tuple[NDArray[np.intp], Parameters], ...]:
        """Gaussians, and densities in bins."""
        kinds = (self.normal, self.gaussian), (self.binned, self.piecewise)
        return tuple(kind for kind in kinds if len(kind[0]))

    def sides(self, block: RealBlock) -> list[Side]:
        """The columns of both.

        Raises
        ------
        BadCell
            If no double holds a number.
        """
        if len(self.kinds) == 1:
            return [Side(parameters, block, columns) for columns, parameters in self.kinds]
        values = converted(block.values)
        return [Side(side, RealBlock(values[:, columns]), columns) for columns, side in self.kinds]

    def side(self, j: int) -> tuple[Parameters, int]:
        """The parameters that column j belongs to, and its place in them."""
        if self.choices[j].family == "gaussian":
            return self.gaussian, int(np.searchsorted(self.normal, j))
        return self.piecewise, int(np.searchsorted(self.binned, j))

    def column(self, j: int) -> AdaptiveParameters:
        """The parameters of column j alone."""
        parameters, place = self.side(j)
        one, none = np.zeros(1, np.intp), np.zeros(0, np.intp)
        k = len(self.gaussian.location)
        if parameters is self.gaussian:
            empty = PiecewiseParameters.of(k, ())
            return AdaptiveParameters(
                one, none, self.gaussian.column(place), empty, (self.choices[j],)
            )
        rest = self.gaussian.columns(none)
        return AdaptiveParameters(none, one, rest, self.piecewise.column(place), (self.choices[j],))
