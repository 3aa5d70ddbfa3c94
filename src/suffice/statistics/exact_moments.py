"""Moments as whole numbers: the same rows give the same arrays, however they came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.dyadic import Dyadic
from suffice.numerics.error_free import LARGEST, SMALLEST
from suffice.rules import Shape, rule
from suffice.statistics.block import RealBlock, tiles
from suffice.statistics.divergence import Divergences, of_gaussians
from suffice.statistics.moments import too_large
from suffice.statistics.statistic import described, described_in_html

__all__ = ["ExactMoments", "ExactMomentsAccumulator"]


@dataclass(frozen=True, eq=False, repr=False)
class ExactMoments:
    """Exact class-wise sums of d features over k classes (``src/native/exact_moments.hpp``).

    Sums are whole numbers times powers of two, of as many bits as the cells ask for, in one form:
    the same rows give the same arrays, in whatever order and parts they come and whatever was
    added and taken away before.

    Parameters
    ----------
    weight : Dyadic (k, d)
        W = Σw over the observed cells.
    sums : Dyadic (k, d)
        Σwx.
    squares : Dyadic (k, d)
        Σwx².

    Examples
    --------
    >>> total = ExactMomentsAccumulator(1)
    >>> rows = RealBlock(np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().mean, total.statistic().scatter
    (array([[1.e+09]]), array([[2.]]))
    """

    weight: Annotated[Dyadic, Shape("k", "d")]
    sums: Annotated[Dyadic, Shape("k", "d")]
    squares: Annotated[Dyadic, Shape("k", "d")]

    __repr__ = described
    _repr_html_ = described_in_html

    @rule("weights are not below 0, W Σwx² not below (Σwx)², and no weight is no sum")
    def _has_rows(self) -> bool:
        return kernels.exact_moments.impossible(*self._tables) < 0

    @rule("means can be squared, and scatters are finite")
    def _has_scatter(self) -> bool:
        finite = np.isfinite(self.total).all() and np.isfinite(self.scatter).all()
        return bool(finite and (np.abs(self.mean) <= 2 * LARGEST).all())

    @classmethod
    def empty(cls, k: int, d: int) -> Self:
        """Moments of no rows."""
        nothing = Dyadic.zeros(k, d)
        return cls(nothing, nothing, nothing)

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.weight.shape[0]

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.weight.shape[1]

    @property
    def total(self) -> NDArray[np.float64]:
        """W = Σw of the observed cells, (k, d)."""
        return self.weight.value

    @property
    def mean(self) -> NDArray[np.float64]:
        """x̄ = Σwx / W, (k, d); 0 where nothing was observed."""
        return self._mean_and_scatter[0]

    @property
    def scatter(self) -> NDArray[np.float64]:
        """Σw(x − x̄)² = (W Σwx² − (Σwx)²) / W, (k, d), rounded once."""
        return self._mean_and_scatter[2]

    @property
    def variance(self) -> NDArray[np.float64]:
        """Σw(x − x̄)² / W, (k, d), rounded once; 0 where nothing was observed."""
        return self._mean_and_scatter[3]

    @property
    def mean_lo(self) -> NDArray[np.float64]:
        """x̄ − mean, (k, d): what a double cannot hold of a mean that is far from 0."""
        return self._mean_and_scatter[1]

    @property
    def _tables(self) -> tuple[Any, ...]:
        w, s, q = self.weight, self.sums, self.squares
        return w.limbs, w.low, s.limbs, s.low, q.limbs, q.low

    @cached_property
    def _mean_and_scatter(self) -> tuple[NDArray[np.float64], ...]:
        out = tuple(np.empty(self.weight.shape) for _ in range(4))
        kernels.exact_moments.mean_and_scatter(*self._tables, *out)
        return out

    def _each(self, change: Callable[[Dyadic], Dyadic]) -> ExactMoments:
        return ExactMoments(change(self.weight), change(self.sums), change(self.squares))

    @cached_property
    def one_class(self) -> ExactMoments:
        """The same rows as if they were of one class."""
        return self._each(Dyadic.summed) if self.k else self

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column, of all classes, differ by too little to be squared."""
        rows = self.one_class
        lost = rows.scatter < SMALLEST**2 * np.maximum(rows.total, 1.0)
        tiny = (rows.mean != 0.0) & (np.abs(rows.mean) < SMALLEST)
        return np.asarray((lost & ((rows.scatter != 0.0) | tiny)).any(axis=0))

    def __add__(self, other: ExactMoments) -> ExactMoments:
        self._require_like(other)
        return ExactMoments(
            self.weight + other.weight, self.sums + other.sums, self.squares + other.squares
        )

    def __sub__(self, other: ExactMoments) -> ExactMoments:
        self._require_like(other)
        rest = ExactMoments(
            self.weight - other.weight,
            self.sums - other.sums,
            self.squares - other.squares,
        )
        cell = kernels.exact_moments.impossible(*rest._tables)
        if cell >= 0:
            error = ForgetError(
                "fewer values than are to be forgotten, or other ones",
                "only rows that were learnt can be forgotten",
            )
            error.column = cell % self.d
            raise error
        return rest

    def _require_like(self, other: ExactMoments) -> None:
        if other.weight.shape != self.weight.shape:
            raise ParameterError(
                f"moments of {other.k} classes and {other.d} columns",
                f"they are added to those of {self.k} classes and {self.d} columns",
            )

    def canonical(self) -> ExactMoments:
        """The statistic itself: its sums have one form."""
        return self

    def scaled(self, factor: float) -> ExactMoments:
        """The same rows with their weights multiplied by a factor; weight 0 is absence.

        Products are exact, but for what lies 2,048 bits and more below the highest of a table:
        there Σwx² is rounded up and the others down.
        """
        return ExactMoments(
            self.weight.scaled(factor),
            self.sums.scaled(factor),
            self.squares.scaled(factor, up=True),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactMoments):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in ("weight", "sums", "squares")
        )

    __hash__ = None  # type: ignore[assignment]

    def divergences(self, other: ExactMoments) -> Divergences:
        """How far the columns of every class are from another table's, as Gaussians, (k, d)."""
        shift = (self.mean - other.mean) + (self.mean_lo - other.mean_lo)
        return of_gaussians((self.total, other.total), (self.variance, other.variance), shift)

    def place(self, index: NDArray[np.intp], k: int) -> ExactMoments:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return self._each(lambda table: table.place(index, k))

    def widened(self, index: NDArray[np.intp], d: int) -> ExactMoments:
        """The same columns at ``index`` among d; no cell of others was observed."""
        return self._each(lambda table: table.widened(index, d))

    def columns(self, index: NDArray[np.intp]) -> ExactMoments:
        """Keep the columns at ``index``, in that order."""
        return self._each(lambda table: table.columns(index))

    def take(self, index: NDArray[np.intp]) -> ExactMoments:
        """Keep the classes at ``index``, in that order."""
        return self._each(lambda table: table.take(index))


class ExactMomentsAccumulator:
    """Builds `ExactMoments` of d features; rows may come as any real dtype in any memory order."""

    def __init__(self, d: int) -> None:
        self._d = d
        self._state = kernels.exact_moments.MomentSums(d)
        self._k = 0

    def add(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e150.
        """
        self._k = k
        for start, x in tiles(block.values, np.float64):
            rows = slice(start, start + len(x))
            self._add(x, codes[rows], weights[rows], start)

    def statistic(self) -> ExactMoments:
        """Freeze what was added."""
        weight, sums, squares = map(self._table, range(3))
        return ExactMoments(weight, sums, squares)

    def _table(self, which: int) -> Dyadic:
        planes, low = self._state.extent(which)
        limbs = np.empty((planes, self._state.k, self._d), np.uint64)
        self._state.write(which, limbs)
        table = Dyadic.trimmed(limbs, low)
        return table if self._state.k == self._k else table.place(np.arange(self._state.k), self._k)

    def _add(
        self, x: NDArray[np.float64], codes: NDArray[np.intp], weights: NDArray[Any], first: int
    ) -> None:
        if len(weights):
            stopped = self._state.add_weighted_rows(x, codes, weights, self._k)
        else:
            stopped = self._state.add_rows(x, codes, self._k)
        if stopped >= 0:
            raise too_large(np.where(codes[:, None] >= 0, x, 0.0), stopped, first)
