"""The density of numbers: a histogram or kernels for every column, by what each says of the class.

Both follow from counts on a fixed grid, whose cells are at most 1/256 as wide as the numbers in
them are large: numbers far from 0 that differ by less are not told apart, unless the model learns
weights from a sample of rows, in which they are counted anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.families.densities.cells import (
    BINS,
    Cells,
    cells_of_column,
    entropy_cuts,
    equal_frequency_cuts,
    merged,
)
from suffice.families.densities.piecewise import Choice, Piece, PiecewiseParameters, nothing, widths
from suffice.families.dirichlet import row_numbers_of
from suffice.families.family import NO_COLUMNS, Apply, Family, Parameters, Posterior, ScoreMoments
from suffice.families.gaussian import FAR, Gaussian, StudentParameters
from suffice.families.options import Identifiers
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import exp, log
from suffice.rules import Shape, Within, rule
from suffice.sums.base import Accumulator
from suffice.sums.bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.sums.block import Encoding, RealBlock
from suffice.sums.moments import Moments

BANDWIDTHS = 0.3, 0.5, 0.9, 1.5
"""Of Gaussian kernels, as multiples of the smallest spread of a class times n^(−1/5)."""
OF_A_CUT = 3.0  # nats that a likelihood gains by the place of a cut, where there is none to find
COUNTS = 2**16  # of cells: columns that have so many are worth a thread
SHAPES = ("histogram", "kernel_density")
NOT_COMPARED = Choice("", 0.0, {})
MANY_CLASSES = 64
"""More of them have Student's t of `Gaussian`: kernels of each would take longer than they tell."""
COMPARED = 128
"""Columns whose densities are compared where there are more, with less than 10 rows for each."""
WIDE_BANDWIDTHS = 0.5, 0.9  # of these
COMPARED_SCORES = 640  # of these times classes, at most
ROWS_TO_A_SCORE = 0.5  # of more columns times classes, with less none is compared
ROWS_TO_A_COLUMN = 10
WIDE_STEPS = np.linspace(-4.0, 4.0, 33)  # deviations of all classes: where others have bins
STEPS = np.linspace(-6.0, 6.0, 61)  # scales of a class, between which a normal density is constant
MOST_STEPS = 400


@dataclass(frozen=True)
class Density(Family):
    """A histogram or a kernel density for every column, by what each says of the class.

    A row is left out of the sums of its class, and its class predicted from this column alone:

    ::

        loss = −Σ_i log N_c p₋ᵢ(x_i | c) / (N_c p₋ᵢ(x_i | c) + Σ_c' N_c' p(x_i | c')),  c = c_i

    The density of least loss, one of a histogram and some bandwidths, models the column. It is
    computed from the sums, so rows that are added, merged or forgotten decide it anew, as one fit
    of all rows does. A column whose mean is more than 64 standard deviations from the origin of its
    grid has Student's t of `Gaussian`, in bins: the grid is too coarse.

    In a table of more than 128 columns, with less than 10 rows for each, densities are compared for
    128 of them, or 640/k of k classes: those of the largest Σ_c n_c log(σ²/σ²_c), with σ² the
    variance over all classes and σ²_c the scale² of Student's t. The others have Student's t, in
    bins; so has every column where columns times classes are more than 640, and more than twice
    the rows. Of more than 64 classes every column has Student's t.

    Parameters
    ----------
    shape : {"best", "histogram", "kernel_density"}
        Which densities are compared.
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they say nothing of the class.
    choices : tuple of Choice
        What is not to be chosen anew, one for each column; empty to choose.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: U. M. Fayyad and K. B. Irani, Multi-interval discretization of continuous-valued
    attributes for classification learning (IJCAI 1993); B. W. Silverman, Density Estimation for
    Statistics and Data Analysis (1986), eq. 3.31; G. H. John and P. Langley, Estimating continuous
    distributions in Bayesian classifiers (UAI 1995).

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> sides = y * rng.choice([-3, 3], 500)  # one class lies around the other
    >>> x = np.c_[rng.normal(size=500) + y, rng.normal(size=500) + sides]
    >>> model = NaiveBayes(families="density").fit(x, y)
    >>> model.model_.parameters[0].choices[1].shape
    'kernel_density'
    """

    shape: Literal["best", "histogram", "kernel_density"] = "best"
    identifiers: Identifiers = field(default="keep", compare=False)
    choices: tuple[Choice, ...] = field(default=(), compare=False, repr=False)

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        return MomentsAndBinsAccumulator(d)

    def advice(self, statistic: MomentsAndBins) -> Sequence[tuple[int, str]]:
        return tuple(Gaussian().advice(statistic.moments))

    def left_out(self, statistic: MomentsAndBins) -> Ints:
        if self.identifiers == "keep":
            return super().left_out(statistic)
        return np.flatnonzero(row_numbers_of(statistic.moments))

    def estimate(self, statistic: MomentsAndBins) -> Parameters:
        return self.estimate_by(statistic, map)

    def estimate_by(self, statistic: MomentsAndBins, apply: Apply) -> Parameters:
        """Choose a density for every column, some columns at a time."""
        if statistic.k > MANY_CLASSES:
            return self._students.estimate(statistic.moments)
        rows, origin = statistic.moments.one_class, statistic.bins.origin
        mean, variance = rows.mean[0] - origin, rows.variance[0]
        varies, near = variance > 0, mean**2 <= FAR**2 * variance
        varies[self.left_out(statistic)] = False
        others = self._not_compared(statistic.moments, varies)
        normals = _normals(statistic.moments, others)
        bandwidths = WIDE_BANDWIDTHS if len(others) else BANDWIDTHS
        step = max(1, COUNTS * statistic.d // max(1, len(statistic.bins.cell)))

        def column(j: int) -> tuple[Choice, Piece]:
            if not varies[j]:
                return NOT_COMPARED, nothing(statistic.k)
            if j in normals:
                return NOT_COMPARED, normals[j]
            if not near[j]:
                return NOT_COMPARED, _normal(statistic.moments, j)
            return self._column(statistic, j, bandwidths)

        def some(start: int) -> list[tuple[Choice, Piece]]:
            return [column(j) for j in range(start, min(start + step, statistic.d))]

        found = list(chain.from_iterable(apply(some, range(0, statistic.d, step))))
        choices, pieces = tuple(one for one, _ in found), [piece for _, piece in found]
        return replace(PiecewiseParameters.of(statistic.k, pieces), choices=choices)

    @property
    def _students(self) -> Gaussian:
        return Gaussian(identifiers=self.identifiers)

    def _not_compared(self, moments: Moments, varies: Bools) -> Ints:
        rows = moments.one_class
        n, scores = rows.total.max(), moments.d * moments.k
        none = scores > COMPARED_SCORES and n < ROWS_TO_A_SCORE * scores
        if not none and (moments.d <= COMPARED or n >= ROWS_TO_A_COLUMN * moments.d):
            return NO_COLUMNS
        if self.choices:
            varies = varies & [not choice.shape for choice in self.choices]
        if none or self.choices:
            return np.flatnonzero(varies)
        students = self._students.by_class(moments)
        assert isinstance(students, StudentParameters)  # as Bayesian estimation has them
        scale2 = students.scale2
        ratio = np.divide(rows.variance, scale2, out=np.ones_like(scale2), where=scale2 > 0)
        gain = (moments.total * log(np.where(varies, ratio, 1.0))).sum(axis=0)
        order = np.argsort(np.where(varies, -gain, np.inf), kind="stable")
        return np.sort(order[min(COMPARED, COMPARED_SCORES // moments.k) : int(varies.sum())])

    def _column(
        self, statistic: MomentsAndBins, j: int, bandwidths: Sequence[float]
    ) -> tuple[Choice, Piece]:
        if not self.choices:
            return _chosen(cells_of_column(statistic.bins, j), self.shape, bandwidths)
        shape, bandwidth, _ = choice = self.choices[j]
        if not shape:
            return choice, _normal(statistic.moments, j)
        return choice, _density(shape, bandwidth, cells_of_column(statistic.bins, j))[0]

    def binned(self, d: int) -> Ints:
        if not self.choices:
            return super().binned(d)
        return np.flatnonzero([bool(choice.shape) for choice in self.choices])

    def settled(self, parameters: Parameters) -> Density:
        if isinstance(parameters, PiecewiseParameters):
            return replace(self, choices=parameters.choices)
        return self

    def posterior(self, statistic: MomentsAndBins) -> Posterior:
        estimate = self.estimate(statistic)
        if not isinstance(estimate, PiecewiseParameters):
            return self._students.posterior(statistic.moments)
        columns = []
        for j, choice in enumerate(estimate.choices):
            if choice.shape:
                columns.append(Shares.of(cells_of_column(statistic.bins, j), choice))
            else:  # a density that is taken as it is
                piece = estimate.piece(j)
                columns.append(Shares(*piece, np.zeros_like(piece.log_density)))
        return PiecewisePosterior(statistic.k, columns)


def _chosen(cells: Cells, compared: str, bandwidths: Sequence[float]) -> tuple[Choice, Piece]:
    """The shape of a column, and its density; a column of one cell says nothing."""
    if len(cells.low) == 1:
        return NOT_COMPARED, nothing(len(cells.counts))
    tried = [("histogram", 0.0), *(("kernel_density", h) for h in bandwidths)]
    if compared != "best":
        tried = [one for one in tried if one[0] == compared]
    if len(tried) == 1:
        return Choice(*tried[0], {}), _density(*tried[0], cells)[0]
    pieces, losses = {}, {}
    for one in tried:
        pieces[one], estimated = _density(*one, cells)
        losses[one] = log_losses(estimated)
    best = min(losses, key=lambda one: losses[one])
    by_shape: dict[str, float] = {}
    if compared == "best":
        rows = float(cells.every.sum())
        by_shape = {
            shape: min(loss for (name, _), loss in losses.items() if name == shape) / rows
            for shape in SHAPES
        }
    return Choice(*best, by_shape), pieces[best]


def _density(shape: str, bandwidth: float, cells: Cells) -> tuple[Piece, Estimated]:
    return histogram(cells) if shape == "histogram" else kernel_density(cells, bandwidth)


def _normals(moments: Moments, columns: Ints) -> dict[int, Piece]:
    """Return Student's t of every class in some columns, in bins of a quarter of a deviation."""
    if not len(columns):
        return {}
    of_columns = moments.columns(columns)
    rows = of_columns.one_class
    edges = rows.mean[0] + WIDE_STEPS[:, None] * np.sqrt(rows.variance[0])
    pieces = _pieces(Gaussian().by_class(of_columns), edges, moments.k)
    return dict(zip(columns.tolist(), pieces, strict=True))


def _normal(moments: Moments, j: int) -> Piece:
    """Student's t of every class, in bins of a fifth of a scale of some class."""
    column = Gaussian().by_class(moments.columns(np.array([j])))
    assert isinstance(column, StudentParameters)
    at, scale = column.location + column.location_lo, np.sqrt(column.scale2)
    edges = np.unique(at + scale * STEPS)
    if len(edges) > MOST_STEPS:
        edges = edges[np.linspace(0, len(edges) - 1, MOST_STEPS).round().astype(np.intp)]
    if len(edges) < 3:
        return nothing(len(at))
    return next(_pieces(column, edges[:, None], len(at)))


def _pieces(parameters: Parameters, edges: Floats, k: int) -> Iterator[Piece]:
    """Yield the densities in the middle of the bins between edges (b + 1, d), of every column."""
    low, high = edges[:-1], edges[1:]
    logs = np.zeros((*low.shape, k))
    parameters.add_contributions(RealBlock(0.5 * low + 0.5 * high), logs)
    return map(Piece, low.T.copy(), high.T.copy(), logs.transpose(1, 2, 0).copy())


# -- histograms and kernels


class Estimated(NamedTuple):
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

    counts: Floats
    log_density: Floats
    without_one: Floats
    cuts: int = 0


def log_losses(density: Estimated) -> float:
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
    >>> round(log_losses(Estimated(np.array([[3.0], [1.0]]), even, even)), 9)  # 3 log 4/3 + log 4
    2.249340578
    """
    counts, logs, without, cuts = density
    return kernels.densities.log_losses(counts, logs, without) + OF_A_CUT * cuts


def histogram(cells: Cells) -> tuple[Piece, Estimated]:
    """Bins cut by `entropy_cuts`, or where it cuts nothing, ten of equal frequency.

    ::

        p(b | c) = (N_cb + s q_b)/(N_c + s),  q_b = (N_b + ½)/(N + ½ m)

    of m bins, where the strength s is a power of two that maximises the evidence of all classes,
    Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c. Where classes do not differ it is large, and bins
    say nothing.
    """
    binned, prior, found = _binned(cells)
    logs, without = np.empty((2, *binned.counts.shape))
    kernels.densities.bin_logs(*binned, prior, logs, without)
    return Piece(binned.low, binned.high, logs), Estimated(binned.counts, logs, without, found)


def _binned(cells: Cells) -> tuple[Cells, Floats, int]:
    """The bins of a histogram, s q_b in each, (m,), and how many cuts the classes have made."""
    cuts = entropy_cuts(cells.counts)
    found = len(cuts)
    if not found:
        cuts = equal_frequency_cuts(cells.every, BINS)
    binned = merged(cells, cuts)
    prior = np.empty(len(binned.low))
    kernels.densities.back_off(binned.counts, prior)
    return binned, prior, found


def kernel_density(cells: Cells, bandwidth: float) -> tuple[Piece, Estimated]:
    """Gaussian kernels at every number, and one broad kernel for what no number showed.

    ::

        p(x | c) = (Σ_i N(x; x_i, h_c²) + Cauchy(x; x̄, s)) / (n_c + 1)
        h_c = bandwidth · min(s_c, (q₃ − q₁)_c / 1.34) · n_c^(−1/5)

    with mean and deviation x̄, s of all classes. It is evaluated in the middle of at most 200 bins
    of equal frequency, 200 √(10/k) of k > 10 classes. A class without a number has the density of
    all classes.
    """
    if len(cells.low) == 1:
        flat = np.zeros_like(cells.counts)
        return Piece(cells.low, cells.high, flat), Estimated(cells.counts, flat, flat)
    at, shape = cells.grouped, cells.kernel_shape
    logs, without = np.empty((2, *at.counts.shape))
    given = at.at, at.counts, shape.widths(bandwidth), shape.broad
    kernels.densities.kernel_logs(*given, logs, without)
    return Piece(at.low, at.high, logs), Estimated(at.counts, logs, without)


# -- in a model file


@dataclass(frozen=True, eq=False)
class Chosen:
    """The choices of d columns, as a file holds them: choosing anew takes most of a loading.

    Parameters
    ----------
    shape : ndarray of int (d,)
        0 where nothing is counted; 1 histogram, 2 kernel density.
    bandwidth : ndarray (d,)
        Of kernel densities.
    compared : ndarray of bool (d,)
        Whether there was a choice.
    losses : ndarray (2, d)
        Of each shape, where there was.
    """

    shape: Annotated[NDArray[np.int8], Shape("d"), Within(0, len(SHAPES))]
    bandwidth: Annotated[Floats, Shape("d"), Within(0, 100)]
    compared: Annotated[Bools, Shape("d")]
    losses: Annotated[Floats, Shape("r", "d")]

    @rule("there was a choice for some column")
    def _has_choice(self) -> bool:
        return bool(self.compared.any())

    @rule("every shape has a loss, which may be infinite")
    def _has_losses(self) -> bool:
        return len(self.losses) == len(SHAPES) and not np.isnan(self.losses).any()

    @classmethod
    def of(cls, parameters: object) -> Chosen | None:
        """The choices of parameters; None where no shapes were compared."""
        if not isinstance(parameters, PiecewiseParameters):
            return None
        choices = parameters.choices
        compared = np.array([bool(choice.losses) for choice in choices], np.bool_)
        if not compared.any():
            return None
        losses = [[choice.losses.get(name, 0.0) for choice in choices] for name in SHAPES]
        shape = [("", *SHAPES).index(choice.shape) for choice in choices]
        bandwidth = [choice.bandwidth for choice in choices]
        return cls(np.array(shape, np.int8), np.array(bandwidth), compared, np.array(losses))

    @property
    def choices(self) -> tuple[Choice, ...]:
        columns = zip(
            self.shape.tolist(),
            self.bandwidth.tolist(),
            self.compared.tolist(),
            self.losses.T.tolist(),
            strict=True,
        )
        return tuple(
            Choice(("", *SHAPES)[shape], h, dict(zip(SHAPES, losses, strict=True)) if some else {})
            for shape, h, some, losses in columns
        )


def fits(chosen: Sequence[Chosen | None], widths: Sequence[int]) -> bool:
    """Return whether there are choices of every column of every part, or none of a part."""
    return not chosen or (
        len(chosen) == len(widths)
        and all(c is None or len(c.shape) == d for c, d in zip(chosen, widths, strict=True))
    )


# -- posterior


class Shares(NamedTuple):
    """Moments of the posterior density of one column.

    Parameters
    ----------
    low, high : ndarray (b,)
        Bounds of the bins.
    mean, variance : ndarray (k, b)
        Of log p(x | c).

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

    low: Floats
    high: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, cells: Cells, choice: Choice) -> Shares:
        """Return those of a density that was chosen from the counts of cells."""
        if choice.shape == "histogram":
            return cls.of_histogram(cells)
        return cls.of_kernels(cells, choice.bandwidth)

    @classmethod
    def of_histogram(cls, cells: Cells) -> Shares:
        binned, prior, _ = _binned(cells)
        density = np.diag(1 / widths(binned.low, binned.high))
        found = [_log_moments(a, density) for a in binned.counts + prior]
        return cls(binned.low, binned.high, *np.array(found).swapaxes(0, 1))

    @classmethod
    def of_kernels(cls, cells: Cells, bandwidth: float) -> Shares:
        """Return the Bayesian bootstrap of a kernel density; a class without numbers is open."""
        grouped, shape = cells.grouped, cells.kernel_shape
        x, counts = grouped.at, grouped.counts
        mean, variance = np.zeros(counts.shape), np.full(counts.shape, np.inf)
        for c, h in enumerate(shape.widths(bandwidth).tolist()):
            shown = np.flatnonzero(counts[c])
            if len(shown):
                at = exp(-0.5 * ((x[:, None] - x[shown]) / h) ** 2) / (np.sqrt(2 * np.pi) * h)
                density = np.column_stack([at, shape.broad])
                mean[c], variance[c] = _log_moments(np.append(counts[c, shown], 1.0), density)
        return cls(grouped.low, grouped.high, mean, variance)


def _log_moments(a: Floats, density: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of log p in each bin, (b,), from a (m,) and densities (b, m)."""
    first, second = density @ a / a.sum(), density**2 @ a / a.sum()
    spread = log(1 + np.maximum(second / first**2 - 1, 0.0) / (a.sum() + 1))
    return log(first) - 0.5 * spread, spread


class PiecewisePosterior(Posterior):
    """The posteriors of columns side by side, looked up as densities are."""

    def __init__(self, k: int, columns: Sequence[Shares]) -> None:
        self._mean, self._variance = (
            PiecewiseParameters.of(k, [Piece(c.low, c.high, values(c)) for c in columns])
            for values in (attrgetter("mean"), attrgetter("variance"))
        )

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add Σⱼ E log p(x_j | c), and its variance."""
        self._mean.add_log_likelihood(block, moments.mean)
        self._variance.add_log_likelihood(block, moments.variance)
