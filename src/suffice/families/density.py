"""The density of numbers: a histogram or kernels for every column, by what each says of the class.

Both follow from counts on a fixed grid, whose cells are at most 1/256 as wide as the numbers in
them are large: numbers far from 0 that differ by less are not told apart, unless the model learns
weights from a sample of rows, in which they are counted anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import sqrt
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.densities.cells import (
    Cells,
    cells_of_column,
    equal_frequency_cuts,
    learnt_cuts,
)
from suffice.families.densities.piecewise import Choice, Piece, PiecewiseParameters, nothing, widths
from suffice.families.family import NO_COLUMNS, Apply, Family, Parameters, Posterior, ScoreMoments
from suffice.families.gaussian import FAR, Gaussian, GaussianPosterior, StudentParameters
from suffice.families.options import Identifiers
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import exp, log
from suffice.numerics.logspace import cell_scores
from suffice.rules import Shape, Within, rule
from suffice.sums.base import Accumulator
from suffice.sums.bins import CELLS, MomentsAndBins, MomentsAndBinsAccumulator
from suffice.sums.block import Encoding, RealBlock, among
from suffice.sums.moments import Moments, row_numbers_of

BANDWIDTHS = 0.3, 0.5, 0.9, 1.5
"""Of Gaussian kernels, as multiples of the smallest spread of a class times n^(−1/5)."""
OF_A_CUT = 3.0  # nats that a likelihood gains by the place of a cut, where there is none to find
GROUPS = 200  # cells, at most, that kernels stand in
FEW_CLASSES = 10  # of more classes, cells are so many fewer that kernels take as long as of these
LEAST_BANDWIDTH = 1e-3  # of the standard deviation of all classes
COUNTS = 2**16  # of cells: columns that have so many are worth a thread
SHAPES = ("histogram", "kernel_density")
NOT_COMPARED = Choice("", 0.0, {})
ANEW = Choice("anew", 0.0, {})
MANY_CLASSES = 64
"""More of them have Student's t of `Gaussian`: kernels of each would take longer than they tell."""
COMPARED = 128
"""Columns whose densities are compared where there are more, with less than 10 rows for each."""
MANY_BANDWIDTHS = 0.5, 0.9  # of more columns than these
MANY_CELLS = 100  # of each of them, at most
COMPARED_SCORES = 640  # of these times classes, at most
ROWS_TO_A_SCORE = 0.5  # of more columns times classes, with less none is compared
ROWS_TO_A_COLUMN = 10


@dataclass(frozen=True)
class Density(Family):
    """A histogram or a kernel density for every column, by what each says of the class.

    A row is left out of the sums of its class, and its class predicted from this column alone:

    ::

        loss = −Σ_i log N_c p₋ᵢ(x_i | c) / (N_c p₋ᵢ(x_i | c) + Σ_c' N_c' p(x_i | c')),  c = c_i

    The density of least loss, one of a histogram and some bandwidths, models the column. It is
    computed from the sums, so rows that are added, merged or forgotten decide it anew, as one fit
    of all rows does. A column whose mean is more than 64 standard deviations from the origin of its
    grid has Student's t of `Gaussian`: the grid is too coarse.

    Of more than 128 columns each has 100 cells of equal frequency at most, and two bandwidths. With
    less than 10 rows for each, densities are compared for 128 of them, or 640/k of k classes: those
    of the largest Σ_c n_c log(σ²/σ²_c), with σ² the variance over all classes and σ²_c the scale²
    of Student's t. The others have Student's t; so has every column where columns times classes are
    more than 640, and more than twice the rows, and where there are more than 64 classes.

    Parameters
    ----------
    shape : {"best", "histogram", "kernel_density"}
        Which densities are compared.
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they say nothing of the class.
    choices : tuple of Choice
        What is not to be chosen anew, one for each column; empty to choose all.

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
        moments, origin = statistic.moments, statistic.bins.origin
        rows = moments.one_class
        near = (rows.mean[0] - origin) ** 2 <= FAR**2 * rows.variance[0]
        silent = rows.variance[0] == 0
        silent[self.left_out(statistic)] = True
        binned = np.zeros(moments.d, np.bool_)
        binned[self.compared(moments)] = True
        binned = binned & near | silent
        if not (binned & ~silent).any() and not silent.all():
            return self._students.estimate(moments)
        step = max(1, COUNTS * statistic.d // max(1, len(statistic.bins.packed)))
        columns = np.flatnonzero(binned).tolist()

        def some(start: int) -> list[tuple[Choice, Piece]]:
            return [
                (NOT_COMPARED, nothing(moments.k)) if silent[j] else self._column(statistic, j)
                for j in columns[start : start + step]
            ]

        found = list(chain.from_iterable(apply(some, range(0, len(columns), step))))
        pieces = PiecewiseParameters.of(moments.k, [piece for _, piece in found])
        choices = dict(zip(columns, [choice for choice, _ in found], strict=True))
        every = tuple(choices.get(j, NOT_COMPARED) for j in range(moments.d))
        if binned.all():
            return replace(pieces, choices=every)
        others = self._students.estimate(moments)
        assert isinstance(others, StudentParameters)  # as Bayesian estimation has them
        others = replace(others, scale2=np.where(binned, 0.0, others.scale2))
        return DensityParameters(binned, pieces, others, every)

    @property
    def _students(self) -> Gaussian:
        return Gaussian(identifiers=self.identifiers)

    def compared(self, moments: Moments) -> Ints:
        """The columns that vary and whose densities are compared, or have been."""
        if self.choices:
            return np.flatnonzero([bool(choice.shape) for choice in self.choices])
        rows, n = moments.one_class, moments.one_class.total.max()
        if moments.k > MANY_CLASSES or not are_compared(n, moments.d * moments.k):
            return NO_COLUMNS
        varies = rows.variance[0] > 0
        if moments.d <= COMPARED or n >= ROWS_TO_A_COLUMN * moments.d:
            return np.flatnonzero(varies)
        students = self._students.by_class(moments)
        assert isinstance(students, StudentParameters)  # as Bayesian estimation has them
        scale2 = students.scale2
        ratio = np.divide(rows.variance, scale2, out=np.ones_like(scale2), where=scale2 > 0)
        gain = (moments.total * log(np.where(varies, ratio, 1.0))).sum(axis=0)
        order = np.argsort(np.where(varies, -gain, np.inf), kind="stable")
        most = min(COMPARED, COMPARED_SCORES // moments.k, int(varies.sum()))
        return np.sort(order[:most])

    def _column(self, statistic: MomentsAndBins, j: int) -> tuple[Choice, Piece]:
        """Choose a density; a column of one cell says nothing."""
        cells = cells_of_column(statistic.bins, j, MANY_CELLS if statistic.d > COMPARED else CELLS)
        choice = self.choices[j] if self.choices else ANEW
        if len(cells.low) == 1:
            return NOT_COMPARED if choice == ANEW else choice, nothing(statistic.k)
        shape: str = self.shape
        bandwidths: Sequence[float] = MANY_BANDWIDTHS if statistic.d > COMPARED else BANDWIDTHS
        if choice != ANEW:
            shape, bandwidths = choice.shape, [choice.bandwidth]
        tried = [] if shape == "kernel_density" else [histogram(cells)]
        if shape != "histogram":
            of_all = Kernels.of(cells)
            tried += [kernel_density(of_all, bandwidth) for bandwidth in bandwidths]
        if choice != ANEW:
            return choice, tried[0].piece
        losses = [log_losses(one) for one in tried] if len(tried) > 1 else [0.0]
        best = tried[int(np.argmin(losses))]
        by_shape: dict[str, float] = {}
        if self.shape == "best":
            rows = float(cells.counts.sum())
            by_shape = dict(zip(SHAPES, (losses[0] / rows, min(losses[1:]) / rows), strict=True))
        return Choice(SHAPES[best.bandwidth > 0], best.bandwidth, by_shape), best.piece

    def settled(self, parameters: Parameters) -> Self:
        if isinstance(parameters, StudentParameters):
            return replace(self, choices=(NOT_COMPARED,) * parameters.location.shape[1])
        assert isinstance(parameters, PiecewiseParameters | DensityParameters)
        return replace(self, choices=parameters.choices)

    def narrowed(self, parameters: Parameters) -> Density:
        found = self.settled(parameters)
        return replace(found, choices=tuple(ANEW if c.shape else c for c in found.choices))

    def posterior(self, statistic: MomentsAndBins) -> Posterior:
        estimate, k = self.estimate(statistic), statistic.k
        students = self._students.posterior(statistic.moments)
        if isinstance(estimate, StudentParameters):
            return students
        assert isinstance(estimate, PiecewiseParameters | DensityParameters)
        binned = getattr(estimate, "binned", np.ones(statistic.d, np.bool_))
        most = MANY_CELLS if statistic.d > COMPARED else CELLS
        columns = [
            Shares.of(cells_of_column(statistic.bins, j, most), choice)
            if choice.shape
            else Shares.none(k)
            for j, choice in enumerate(estimate.choices)
            if binned[j]
        ]
        students = replace(students, says=students.says & ~binned)
        return DensityPosterior(k, columns, binned, students)


def are_compared(rows: float, densities: int) -> bool:
    """Return whether there are rows enough to compare densities, of every column and class."""
    return densities <= COMPARED_SCORES or rows >= ROWS_TO_A_SCORE * densities


@dataclass(frozen=True, eq=False)
class DensityParameters(Parameters):
    """Densities in bins of some columns, and Student's t of the others.

    Parameters
    ----------
    binned : ndarray of bool (d,)
        Which columns have bins.
    pieces : PiecewiseParameters
        Of these columns.
    students : StudentParameters
        Of all d; of scale 0, which says nothing, where there are bins.
    choices : tuple of d Choice
    """

    binned: Bools
    pieces: PiecewiseParameters
    students: StudentParameters
    choices: tuple[Choice, ...]

    @property
    def n_free(self) -> int:
        others = int((~self.binned).sum())
        return self.pieces.n_free + self.students.n_free * others // len(self.binned)

    @cached_property
    def _columns(self) -> Ints:
        return np.flatnonzero(self.binned)

    def add_log_likelihood(self, block: RealBlock, out: Floats) -> None:
        """Add Σⱼ log p(xⱼ | c)."""
        self.students.add_log_likelihood(block, out)
        with among(self._columns):
            self.pieces.add_log_likelihood(RealBlock(block.values[:, self._columns]), out)

    def add_contributions(self, block: RealBlock, out: Floats) -> None:
        """Add log p(xⱼ | c) of every cell."""
        self.students.add_contributions(block, out)
        cells = cell_scores(len(out), len(self._columns), out.shape[2])
        with among(self._columns):
            self.pieces.add_contributions(RealBlock(block.values[:, self._columns]), cells)
        out[:, self._columns] += cells

    def weighed(self, weights: Floats) -> DensityParameters:
        pieces = self.pieces.weighed(weights[self._columns])
        return replace(self, pieces=pieces, students=self.students.weighed(weights))

    def column(self, j: int) -> Any:
        return self._of(j).column(self._place(j))

    def _of(self, j: int) -> PiecewiseParameters | StudentParameters:
        return self.pieces if self.binned[j] else self.students

    def _place(self, j: int) -> int:
        return int(self.binned[:j].sum()) if self.binned[j] else j

    def chosen(self, j: int) -> str:
        return self.choices[j].shape

    def rivals(self, j: int) -> dict[str, float]:
        return self.choices[j].losses

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[Floats]:
        drawn = self.students.sample(codes, rng)
        for j, x in zip(self._columns.tolist(), self.pieces.sample(codes, rng), strict=True):
            drawn[j] = x
        return drawn

    def describe(self, j: int) -> dict[str, list[float]]:
        return self._of(j).describe(self._place(j))


# -- histograms and kernels


class Estimated(NamedTuple):
    """Densities of the classes at the places where numbers were counted.

    Parameters
    ----------
    piece : Piece
        With log p(x | c) at these places, (k, m).
    counts : ndarray (k, m)
        Σw of the numbers of each class at each place.
    without_one : ndarray (k, m)
        The same densities where the class c has one number less, that at x.
    cuts : int
        How many cuts of these places were found by the classes of all numbers.
    bandwidth : float
        Of kernels; 0 of a histogram.
    """

    piece: Piece
    counts: Floats
    without_one: Floats
    cuts: int = 0
    bandwidth: float = 0.0


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
    >>> even = nothing(2)
    >>> counts = np.array([[3.0], [1.0]])
    >>> round(log_losses(Estimated(even, counts, even.log_density)), 9)  # 3 log 4/3 + log 4
    2.249340578
    """
    counts, logs = density.counts, density.piece.log_density
    return kernels.densities.log_losses(counts, logs, density.without_one) + OF_A_CUT * density.cuts


def histogram(cells: Cells) -> Estimated:
    """Bins cut by `learnt_cuts`: where classes differ, or ten of equal frequency.

    ::

        p(b | c) = (N_cb + s q_b)/(N_c + s),  q_b = (N_b + ½)/(N + ½ m)

    of m bins, where the strength s is a power of two that maximises the evidence of all classes,
    Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c. Where classes do not differ it is large, and bins
    say nothing.
    """
    binned, prior, cuts = _binned(cells)
    logs, without = np.empty((2, *binned.counts.shape))
    kernels.densities.bin_logs(*binned, prior, logs, without)
    return Estimated(Piece(binned.low, binned.high, logs), binned.counts, without, cuts)


def _binned(cells: Cells) -> tuple[Cells, Floats, int]:
    """The bins of a histogram, s q_b in each, (m,), and how many cuts the classes have made."""
    cuts, by_class = learnt_cuts(cells)
    binned = cells.joined(cuts)
    prior = np.empty(len(binned.low))
    kernels.densities.back_off(binned.counts, prior)
    return binned, prior, len(cuts) * by_class


class Kernels(NamedTuple):
    """The scale of the kernels of the classes, and a broad one for values out of range.

    Parameters
    ----------
    cells : Cells
        At most 200 of equal frequency, without gaps; of k > 10 classes 200 √(10/k).
    at : ndarray (b,)
        The middle of each.
    deviation : float
        Of the numbers of all classes, from their mean.
    spreads, narrower : ndarray (k,)
        min(s_c, (q₃ − q₁)_c / 1.34) and n_c^(−1/5), of the numbers of each class.
    broad : ndarray (b,)
        Cauchy(x; x̄, s) in each cell.
    """

    cells: Cells
    at: Floats
    deviation: float
    spreads: Floats
    narrower: Floats
    broad: Floats

    @classmethod
    def of(cls, cells: Cells) -> Kernels:
        k, m = cells.counts.shape
        most = round(GROUPS * sqrt(min(1.0, FEW_CLASSES / k)))
        few = m <= most
        cuts = np.arange(1, m) if few else equal_frequency_cuts(cells.counts.sum(axis=0), most)
        grouped = cells.joined(cuts)
        at = 0.5 * grouped.low + 0.5 * grouped.high
        spreads, narrower, broad = np.empty(k), np.empty(k), np.empty(len(at))
        given = at, grouped.counts, spreads, narrower, broad
        deviation = kernels.densities.kernel_shape(*given)
        return cls(grouped, at, deviation, spreads, narrower, broad)

    def widths(self, bandwidth: float) -> Floats:
        """Return h_c of every class, (k,), no less than a thousandth of the deviation."""
        h = bandwidth * self.spreads * self.narrower
        return np.maximum(h, LEAST_BANDWIDTH * self.deviation)


def kernel_density(of_all: Kernels, bandwidth: float) -> Estimated:
    """Gaussian kernels at every number, and one broad kernel for what no number showed.

    ::

        p(x | c) = (Σ_i N(x; x_i, h_c²) + Cauchy(x; x̄, s)) / (n_c + 1)
        h_c = bandwidth · min(s_c, (q₃ − q₁)_c / 1.34) · n_c^(−1/5)

    with mean and deviation x̄, s of all classes. It is evaluated in the middle of at most 200 bins
    of equal frequency, 200 √(10/k) of k > 10 classes. A class without a number has the density of
    all classes.
    """
    low, high, counts = of_all.cells
    logs, without = np.empty((2, *counts.shape))
    given = of_all.at, counts, of_all.widths(bandwidth), of_all.broad
    kernels.densities.kernel_logs(*given, logs, without)
    return Estimated(Piece(low, high, logs), counts, without, bandwidth=bandwidth)


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
        choices = getattr(parameters, "choices", ())
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
    def none(cls, k: int) -> Shares:
        """Return the shares of a column that is not informative."""
        return cls(*nothing(k), np.zeros((k, 1)))

    @classmethod
    def of(cls, cells: Cells, choice: Choice) -> Shares:
        """Return those of a chosen density; of kernels, a class without numbers is open."""
        if choice.shape == "histogram":
            binned, prior, _ = _binned(cells)
            density = np.diag(1 / widths(binned.low, binned.high))
            found = [_log_moments(a, density) for a in binned.counts + prior]
            return cls(binned.low, binned.high, *np.array(found).swapaxes(0, 1))
        of_all = Kernels.of(cells)
        (low, high, counts), x = of_all.cells, of_all.at
        mean, variance = np.zeros(counts.shape), np.full(counts.shape, np.inf)
        for c, h in enumerate(of_all.widths(choice.bandwidth).tolist()):
            shown = np.flatnonzero(counts[c])
            if len(shown):
                at = exp(-0.5 * ((x[:, None] - x[shown]) / h) ** 2) / (np.sqrt(2 * np.pi) * h)
                density = np.column_stack([at, of_all.broad])
                mean[c], variance[c] = _log_moments(np.append(counts[c, shown], 1.0), density)
        return cls(low, high, mean, variance)


def _log_moments(a: Floats, density: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of log p in each bin, (b,), from a (m,) and densities (b, m)."""
    first, second = density @ a / a.sum(), density**2 @ a / a.sum()
    spread = log(1 + np.maximum(second / first**2 - 1, 0.0) / (a.sum() + 1))
    return log(first) - 0.5 * spread, spread


class DensityPosterior(Posterior):
    """The posteriors of columns with bins, looked up as densities are, beside those of others."""

    def __init__(
        self, k: int, columns: Sequence[Shares], binned: Bools, students: GaussianPosterior
    ) -> None:
        self._binned, self._students = binned, students
        self._mean, self._variance = (
            PiecewiseParameters.of(k, [Piece(c.low, c.high, values(c)) for c in columns])
            for values in (attrgetter("mean"), attrgetter("variance"))
        )

    def add_moments(self, block: RealBlock, moments: ScoreMoments) -> None:
        """Add Σⱼ E log p(x_j | c), and its variance."""
        if not self._binned.all():
            self._students.add_moments(block, moments)
        binned = RealBlock(block.values[:, self._binned])
        with among(np.flatnonzero(self._binned)):
            self._mean.add_log_likelihood(binned, moments.mean)
            self._variance.add_log_likelihood(binned, moments.variance)
