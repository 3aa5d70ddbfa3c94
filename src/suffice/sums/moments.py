"""Moments: weight, mean and scatter of every feature in every class, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

import numpy as np

from suffice.errors import DataError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.error_free import LARGEST, SMALLEST, two_sum
from suffice.numerics.exact import SQUARABLE, scaled
from suffice.numerics.rows import READ
from suffice.rules import FINITE, Shape, rule
from suffice.sums.base import ClassSums, axis, forgotten
from suffice.sums.block import BadCell, RealBlock, tiles
from suffice.sums.by_class import grown
from suffice.sums.comparison import Divergences, of_gaussians
from suffice.sums.sorted_rows import MANY_CLASSES, SortedRows

TOO_LARGE = "a number must be below 1e150, or its square overflows"
UNDERFLOW = 2.0**-1000  # what squares of small numbers may lose
MOVED = 2.0**-60  # fraction of the squares of numbers that may be left of their differences
DOUBLE_ROUNDING = 2.0**-46  # of mean and scatter, which are doubles
FEWEST_NUMBERS = 20  # that may count rows: fewer show nothing
SUM_ROUNDING = 2.0**-20  # fraction of a sum that many additions in plain double may be off by


@dataclass(frozen=True, eq=False, repr=False)
class Moments(ClassSums):
    """Exact class-wise sums of d features over k classes (``src/native/sums/moments.hpp``).

    Parameters
    ----------
    weight : ndarray (k, 2, d)
        Pair of Σw over the observed cells.
    pivot : ndarray (k, d)
        p, a number near the values of that class and feature; only a matter of representation.
    sums : ndarray (k, 4, d)
        Pairs of Σw(x − p) and Σw(x − p)².

    Examples
    --------
    >>> total = MomentsAccumulator(1)
    >>> rows = RealBlock(np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().mean, total.statistic().scatter
    (array([[1.e+09]]), array([[2.]]))
    """

    weight: Annotated[Floats, Shape("k", 2, "d"), SQUARABLE]
    pivot: Annotated[Floats, Shape("k", "d"), SQUARABLE]
    sums: Annotated[Floats, Shape("k", 4, "d"), FINITE]

    @rule("weights are normal pairs, and not below 0 by more than rounding")
    def _has_weights(self) -> bool:
        total = self.total
        least = -SUM_ROUNDING * total.max(initial=0.0)
        return bool((total == self.weight[:, 0]).all() and total.min(initial=0.0) >= least)

    @rule("means can be squared, and a scatter is not below 0 by more than rounding")
    def _has_scatter(self) -> bool:
        weight, (s, q) = self.total, (self.sums[:, i] + self.sums[:, i + 1] for i in (0, 2))
        mean = np.divide(s, weight, out=np.zeros_like(s), where=weight > 0)
        noise = noise_of_squares(weight, self.pivot, mean)
        return is_scatter(mean, mean * s, q, noise)

    @classmethod
    def empty(cls, k: int, d: int) -> Self:
        return cls(np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d)))

    k, d = axis("k"), axis("d")

    @property
    def total(self) -> Floats:
        return self.weight[:, 0] + self.weight[:, 1]

    @property
    def mean(self) -> Floats:
        """x̄ = Σwx / W, (k, d); 0 where nothing was observed."""
        return self._mean_and_scatter[0]

    @property
    def scatter(self) -> Floats:
        """Σw(x − x̄)², (k, d)."""
        return self._mean_and_scatter[2]

    @cached_property
    def variance(self) -> Floats:
        """Σw(x − x̄)² / W, (k, d); 0 where nothing was observed."""
        total = self.total
        return np.divide(self.scatter, total, out=np.zeros_like(total), where=total > 0)

    @property
    def mean_lo(self) -> Floats:
        """x̄ − mean, (k, d): what a double cannot hold of a mean that is far from 0."""
        return self._mean_and_scatter[1]

    @cached_property
    def _mean_and_scatter(self) -> tuple[Floats, ...]:
        out = tuple(np.empty_like(self.pivot) for _ in range(3))
        kernels.moments.mean_and_scatter(self.weight, self.pivot, self.sums, *out)
        return out

    @cached_property
    def one_class(self) -> Self:
        out = self.weight[:1].copy(), self.pivot[:1].copy(), self.sums[:1].copy()
        if len(self.pivot):
            kernels.moments.merge_classes(*out, self.weight, self.pivot, self.sums)
        return type(self)(*out)

    @property
    def too_small(self) -> Bools:
        pooled = self.one_class
        first, squares = (pooled.sums[:, i] + pooled.sums[:, i + 1] for i in (0, 2))
        weight = pooled.weight[:, 0] + pooled.weight[:, 1]
        return np.asarray(too_small(weight, pooled.pivot, first, squares).any(axis=0))

    def __add__(self, other: Self) -> Self:
        return self._merged(other, 1.0)

    def __sub__(self, other: Self) -> Self:
        return self._merged(other, -1.0)

    def _merged(self, other: Self, sign: float) -> Self:
        """Add or take away in one kernel call, which moves the pivots of the other."""
        if other.pivot.shape != self.pivot.shape:
            raise ParameterError(
                f"moments of {other.k} classes and {other.d} columns",
                f"they are added to those of {self.k} classes and {self.d} columns",
            )
        out = self.weight.copy(), self.pivot.copy(), self.sums.copy()
        cell = kernels.moments.merge(*out, other.weight, other.pivot, other.sums, sign)
        if cell >= 0:
            raise forgotten("fewer values than are to be forgotten, or other ones", cell % self.d)
        if sign < 0:
            kernels.moments.recentre(*out)
        return type(self)(*out)

    def canonical(self) -> Self:
        """Return the sums about pivots that mean and scatter decide, and no single row."""
        out = self.weight.copy(), self.pivot.copy(), self.sums.copy()
        kernels.moments.recentre(*out)
        return type(self)(*out)

    def scaled(self, factor: float) -> Self:
        (k, _, d), weight = self.weight.shape, scaled(self.weight, factor)
        sums = scaled(self.sums.reshape(2 * k, 2, d), factor).reshape(k, 4, d)
        seen = weight[:, 0] > 0
        return type(self)(
            weight, np.where(seen, self.pivot, 0.0), np.where(seen[:, None], sums, 0.0)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("total", "mean", "scatter")
        )

    def divergences(self, other: Self) -> Divergences:
        shift = (self.mean - other.mean) + (self.mean_lo - other.mean_lo)
        return of_gaussians((self.total, other.total), (self.variance, other.variance), shift)

    def shares_left(self, rest: Self) -> Floats:
        return scatters_left((self.scatter, rest.scatter), rest.total, rest.mean)


class MomentsAccumulator:
    """Builds `Moments` of d features; rows may come as any real dtype in any memory order."""

    def __init__(self, d: int) -> None:
        self._state: tuple[Floats, ...] = np.zeros((0, 2, d)), np.zeros((0, d)), np.zeros((0, 4, d))
        self._waiting: SortedRows | None = None  # rows of many classes

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        self._state = tuple([grown(part, k) for part in self._state])
        if k >= MANY_CLASSES and self._has_put(block, codes, weights):
            return
        values = block.values
        as_they_lie = not len(weights) and values.dtype in READ
        for start, x in ((0, values),) if as_they_lie else tiles(values, np.float64):
            rows = slice(start, start + len(x))
            if len(weights):
                of_rows = x, codes[rows], weights[rows]
                stopped = kernels.moments.add_weighted_rows(*of_rows, *self._state)
            else:
                stopped = kernels.moments.add_rows(x, codes[rows], *self._state)
            if stopped >= 0:
                raise too_large(np.where(codes[rows, None] >= 0, x, 0.0), stopped, start)

    def _has_put(self, block: RealBlock, codes: Ints, weights: Floats) -> bool:
        """Let rows wait; return False, and keep none, if a number is too large."""
        tiled = list(tiles(block.values, np.float64))
        if any((np.abs(x)[codes[a : a + len(x)] >= 0] > LARGEST).any() for a, x in tiled):
            return False
        waiting = self._waiting = self._waiting or SortedRows()
        for start, x in tiled:
            rows = slice(start, start + len(x))
            waiting.put(x, codes[rows], weights[rows])
        if waiting.is_full:
            self._add_sorted(waiting)
        return True

    def _add_sorted(self, waiting: SortedRows) -> None:
        for (_, x, codes, weights), sums in waiting.pieces(*self._state):
            if len(weights):
                kernels.moments.add_weighted_rows(x, codes, weights, *sums)
            else:
                kernels.moments.add_rows(x, codes, *sums)

    def statistic(self) -> Moments:
        if self._waiting is not None:
            self._add_sorted(self._waiting)
        weight, pivot, sums = self._state
        return Moments(weight.copy(), pivot.copy(), sums.copy())


def noise_of_squares(weight: Floats, pivot: Floats, mean: Floats) -> Floats:
    """Bound on what moving pivots may leave of Σw(x − p)², where x̄ − p is the ``mean``."""
    return np.asarray(MOVED * weight * (np.abs(pivot) + np.abs(mean)) ** 2 + UNDERFLOW)


def is_scatter(mean: Floats, between: Floats, squares: Floats, noise: Floats) -> bool:
    """Return whether x̄ − p, W(x̄ − p)² and Σw(x − p)² can be those of numbers x, but for noise."""
    near, most = np.abs(mean) <= 2 * LARGEST, (1 + SUM_ROUNDING) * squares + noise
    return bool(near.all() and (between <= most).all())


def scatters_left(scatters: tuple[Floats, Floats], total: Floats, mean: Floats) -> Floats:
    """The share of a scatter that is left, (k, d), of what is left the weight and the mean.

    Values that are left as equal have none: their size stands for it, or that of all classes where
    they are 0, for they may not have been equal. Of a column of zeros nothing is said.
    """
    before, after = scatters
    size = total * mean**2
    of_column = (after + size).sum(axis=0) / np.maximum(total.sum(axis=0), 1.0)
    after = np.where(after > 0, after, np.where(size > 0, size, total * of_column))
    return np.divide(after, before, out=np.ones_like(after), where=(after > 0) & (before > 0))


def too_large(x: Floats, stopped: int, first: int) -> BadCell:
    """Name the number at which a kernel stopped, somewhere from row ``stopped`` of x (n, d) on.

    ``first`` is the row of the block at which x starts.
    """
    row, column = map(int, np.argwhere(np.abs(x[stopped:]) > LARGEST)[0])
    value = float(x[stopped + row, column])
    rule = "a number must be finite" if np.isinf(value) else TOO_LARGE
    return BadCell(first + stopped + row, column, value, rule)


def too_small(weight: Floats, pivot: Floats, sums: Floats, squares: Floats) -> Bools:
    """Compare spread with what can be squared: from W, p, Σw(x − p), Σw(x − p)²."""
    lost = np.asarray(squares < SMALLEST**2 * np.maximum(weight, 1.0))
    if lost.any():
        lost &= (sums != 0.0) | ((pivot != 0.0) & (np.abs(pivot) < SMALLEST))
    return lost


def refuse_underflow(too_small: Bools, name: Callable[[int], str]) -> None:
    """Refuse columns whose values differ by too little; ``name`` says what column j is called."""
    for j in np.flatnonzero(too_small)[:1].tolist():
        raise DataError(
            f"column {name(j)!r}: its values differ by about {SMALLEST:g} or less",
            "the squares of such differences underflow",
            "give it in a smaller unit",
        )


def row_numbers_of(moments: Moments | MomentsLeftOut) -> Bools:
    """Return which columns have the moments of n numbers in a row, (d,).

    ::

        Σ(x − x̄)² = n(n² − 1)/12    x̄ = a + (n − 1)/2, a whole

    n different whole numbers cannot have less scatter. Other values have exactly these moments by
    a rare accident only.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> x = np.arange(60.0)
    >>> sums = GaussianNB().fit(np.c_[x + 1000, x**2], x > 20).statistic_.blocks[0]
    >>> row_numbers_of(sums)
    array([ True, False])
    """
    rows = moments.one_class
    n, scatter, first = rows.total[0], rows.scatter[0], rows.mean[0] - (rows.total[0] - 1) / 2
    expected = n * (n**2 - 1) / 12
    found = (
        (n >= FEWEST_NUMBERS)
        & (n == np.floor(n))
        & (abs(scatter - expected) <= DOUBLE_ROUNDING * expected)
    )
    whole = abs(first - np.round(first)) <= DOUBLE_ROUNDING * np.maximum(abs(rows.mean[0]), n)
    return np.asarray(found & whole)


FEWEST_DIGITS = 2.0**-20  # of a scatter have to be left: 10 decimal digits remain, and more
ABSENT = 2.0**-40  # fraction of a weight that rounding may leave of nothing


@dataclass(frozen=True, eq=False)
class MomentsLeftOut:
    """The moments of a class without a row x of weight w, for n rows and s classes.

    ::

        W' = W − w    x̄' = x̄ − w(x − x̄)/W'    S' = S − w(x − x̄)² W/W'

    It has what an estimate reads of `Moments`, for every row: arrays (s, n, d).

    Parameters
    ----------
    total, mean, mean_lo, scatter : ndarray (s, n, d)
    doubtful : ndarray of bool (n,)
        Rows without which less than 2⁻²⁰ of some scatter is left: so many digits cancel.
    pooled : MomentsLeftOut, optional
        Of all classes together; None where these are.

    Source: T. F. Chan, G. H. Golub and R. J. LeVeque, Algorithms for computing the sample variance,
    The American Statistician 37 (1983), eq. 1.5, solved for the sums without a row.
    """

    total: Floats
    mean: Floats
    mean_lo: Floats
    scatter: Floats
    doubtful: Bools
    pooled: MomentsLeftOut | None = None

    @classmethod
    def of(cls, moments: Moments, x: Floats, weights: Floats) -> MomentsLeftOut:
        """Take every row x (n, d) out of its class; weights (n, k) are w there, and 0 in others."""
        shown = ~np.isnan(x)
        pooled = _without(moments.one_class, x, (weights.sum(axis=1)[:, None] * shown)[None])
        return _without(moments, x, weights.T[:, :, None] * shown, pooled)

    @property
    def one_class(self) -> MomentsLeftOut:
        """The rows as if they were of one class, (1, n, d)."""
        return self if self.pooled is None else self.pooled

    @cached_property
    def variance(self) -> Floats:
        """S'/W', (s, n, d); 0 where nothing is left."""
        return np.divide(
            self.scatter, self.total, out=np.zeros_like(self.scatter), where=self.total > 0
        )


def _without(
    moments: Moments, x: Floats, weights: Floats, pooled: MomentsLeftOut | None = None
) -> MomentsLeftOut:
    """Take rows (n, d), of weights (k, n, d), out of moments of k classes."""
    total, mean, low, scatter = (
        part[:, None] for part in (moments.total, moments.mean, moments.mean_lo, moments.scatter)
    )
    left = total - weights
    left = np.where(left > ABSENT * total, left, 0.0)
    e = np.where(weights > 0, (x - mean) - low, 0.0)
    some = left > 0
    inverse = np.divide(1.0, left, out=np.zeros_like(left), where=some)
    taken = weights * e
    rest = np.where(some, scatter - taken * e * (total * inverse), 0.0)
    few = some & (weights > 0) & (rest < FEWEST_DIGITS * scatter)
    doubtful: Bools = np.asarray(few.any(axis=(0, 2)))
    if pooled is not None:
        doubtful |= pooled.doubtful
    new, new_low = two_sum(np.where(some, mean, 0.0), np.where(some, low - taken * inverse, 0.0))
    return MomentsLeftOut(left, new, new_low, np.maximum(rest, 0.0), doubtful, pooled)
