"""Adaptive: every column of numbers has the distribution that tells its class best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.counts.identifiers import Identifiers, check_identifiers, row_numbers_of
from suffice.families.family import Family, Parameters
from suffice.families.gaussian import FAR, Gaussian, StudentParameters
from suffice.families.kernel_density import best_kernel_density
from suffice.families.univariate.cells import Cells, cells_of_column
from suffice.families.univariate.densities import BANDWIDTHS, Density, histogram, log_losses
from suffice.families.univariate.piecewise import Piece, PiecewiseParameters
from suffice.families.univariate.student import student_densities
from suffice.rules import NONNEGATIVE, Shape
from suffice.statistics.block import Encoding, RealBlock, converted
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.precision import (
    AnyMoments,
    PrecisionOfMoments,
    check_precision_of_moments,
)
from suffice.statistics.statistic import Accumulator

__all__ = ["Adaptive", "AdaptiveParameters", "Choice"]

BINS = 10  # of a histogram of equal frequency


class Choice(NamedTuple):
    """What was chosen for a column, and from what.

    Parameters
    ----------
    family : str
    losses : mapping of str to float
        The leave-one-out log loss of the class given this column alone, in nats a row, by family;
        empty where there was no choice.
    """

    family: str
    losses: dict[str, float]


@dataclass(frozen=True)
class Adaptive(Family):
    """A Gaussian, a histogram or a kernel density for every column, by what each says of the class.

    A row is left out of the sums of its class, and its class predicted from this column alone:

    ::

        loss = −Σ_i log N_c p₋ᵢ(x_i | c) / (N_c p₋ᵢ(x_i | c) + Σ_c' N_c' p(x_i | c')),  c = c_i

    The family of least loss models the column. It is computed from the sums, so rows that are
    added, merged or forgotten decide it anew, as one fit of all rows does. A column whose mean is
    more than 64 standard deviations from 0 is a Gaussian: the grid of its counts is too coarse.

    Parameters
    ----------
    precision : {"pairs", "exact"}
        How the moments are held: see `Gaussian`.
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they say nothing of the class.

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
    'histogram'
    """

    precision: PrecisionOfMoments = "pairs"
    identifiers: Identifiers = field(default="keep", compare=False)

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_precision_of_moments(self.precision)
        check_identifiers(self.identifiers)

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAndBinsAccumulator(self.precision, d)

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
        moments = statistic.moments
        gaussian = Gaussian(identifiers=self.identifiers).estimate(moments)
        assert isinstance(gaussian, StudentParameters)
        comparable = _comparable(moments)
        comparable[self.left_out(statistic)] = False
        choices, pieces = [], []
        for j, chosen in enumerate(comparable.tolist()):
            cells = cells_of_column(statistic.bins, j) if chosen else None
            choice, piece = _chosen(moments, j, cells)
            choices.append(choice)
            pieces += [piece] if piece is not None else []
        binned = np.array([choice.family != "gaussian" for choice in choices], np.bool_)
        return AdaptiveParameters(
            np.flatnonzero(~binned),
            np.flatnonzero(binned),
            gaussian.columns(np.flatnonzero(~binned)),
            PiecewiseParameters.of(statistic.k, pieces),
            tuple(choices),
        )


def _comparable(moments: AnyMoments) -> NDArray[np.bool_]:
    """Columns of several values that are near enough to 0 for their grid, (d,)."""
    rows = moments.one_class
    mean, variance = rows.mean[0], rows.variance[0]
    return np.asarray((variance > 0) & (mean**2 <= FAR**2 * variance))


def _chosen(moments: AnyMoments, j: int, cells: Cells | None) -> tuple[Choice, Piece | None]:
    """The family of column j; a piece of its density where that is no Gaussian."""
    if cells is None or len(cells.low) == 1:
        return Choice("gaussian", {}), None
    binned, density = histogram(cells, BINS)
    smooth, loss = best_kernel_density(cells, BANDWIDTHS)
    normal = Density(cells.counts, *student_densities(moments, j, cells))
    found = {
        "gaussian": log_losses(normal),
        "histogram": log_losses(density),
        "kernel_density": loss,
    }
    pieces: dict[str, Piece | None] = {
        "gaussian": None,
        "histogram": binned,
        "kernel_density": smooth,
    }
    best = min(found, key=lambda name: found[name])
    rows = float(cells.every.sum())
    return Choice(best, {name: loss / rows for name, loss in found.items()}), pieces[best]


@dataclass(frozen=True, eq=False)
class AdaptiveParameters(Parameters):
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
    def _sides(self) -> tuple[tuple[NDArray[np.intp], Parameters], ...]:
        return (self.normal, self.gaussian), (self.binned, self.piecewise)

    @property
    def n_free(self) -> int:
        """Those of both."""
        return sum(parameters.n_free for _, parameters in self._sides)

    def add_log_likelihood(self, block: RealBlock, out: NDArray[np.float64]) -> None:
        """Add Σⱼ log p(xⱼ | c)."""
        for columns, parameters in self._sides:
            if len(columns) == block.width:
                parameters.add_log_likelihood(block, out)
            elif len(columns):
                values = converted(block.values)
                parameters.add_log_likelihood(RealBlock(values[:, columns]), out)

    def _side(self, j: int) -> tuple[Parameters, int]:
        """The parameters that column j belongs to, and its place in them."""
        columns, parameters = self._sides[self.choices[j].family != "gaussian"]
        return parameters, int(np.searchsorted(columns, j))

    def column(self, j: int) -> AdaptiveParameters:
        """The parameters of column j alone."""
        parameters, place = self._side(j)
        one, none = np.zeros(1, np.intp), np.zeros(0, np.intp)
        k = len(self.gaussian.location)
        if parameters is self.gaussian:
            empty = PiecewiseParameters.of(k, ())
            return AdaptiveParameters(
                one, none, self.gaussian.column(place), empty, (self.choices[j],)
            )
        rest = self.gaussian.columns(none)
        return AdaptiveParameters(none, one, rest, self.piecewise.column(place), (self.choices[j],))

    def sample(
        self, codes: NDArray[np.intp], rng: np.random.Generator
    ) -> list[NDArray[np.float64]]:
        """Draw from each column's own distribution."""
        drawn: dict[int, NDArray[np.float64]] = {}
        for columns, parameters in self._sides:
            drawn |= zip(columns.tolist(), parameters.sample(codes, rng), strict=True)
        return [drawn[j] for j in range(len(self.choices))]

    def describe(self, j: int) -> dict[str, list[float]]:
        """What its own family says of column j."""
        parameters, place = self._side(j)
        return parameters.describe(place)
