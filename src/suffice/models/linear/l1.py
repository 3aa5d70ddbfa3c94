"""Least squares with a penalty of absolute values: the lasso and the elastic net.

Of products of columns, by coordinate descent; of few rows, on few columns at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.rows import CentredRows, Equations, RowLeastSquares
from suffice.models.optimise.proximal_newton import L1Minimum, L1Quadratic, violation
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import one_thread_of_blas
from suffice.numerics.linalg import SHARPEST, factorise
from suffice.numerics.memory import require_memory
from suffice.rules import NONNEGATIVE, Shape

Array = NDArray[np.float64]

MOST_ADDED = 1_000  # columns by which a working set grows at a time
FEWEST_ADDED = 64
WORKING_SETS = 100


@dataclass(frozen=True, eq=False)
class L1:
    """The part of a fit that 2 Σⱼ cⱼ|wⱼ| adds to; see `L1Quadratic.minimum` for where it ends."""

    cost: Annotated[Array, Shape("p"), NONNEGATIVE] = field(kw_only=True)  # c
    tolerance: float = field(default=1e-12, kw_only=True)
    max_sweeps: int = field(default=1_000, kw_only=True)
    start: Array | None = field(default=None, kw_only=True)  # (p, t); default: w = 0
    positive: bool = field(default=False, kw_only=True)  # only w ≥ 0 is allowed

    @property
    @abstractmethod
    def minima(self) -> tuple[L1Minimum, ...]:
        """The minimum of every target."""

    def starts(self, p: int, t: int) -> Array:
        """First coefficients of each target's descent, (t, p)."""
        return np.zeros((t, p)) if self.start is None else self.start.T

    @property
    def converged(self) -> bool:
        """Return whether the conditions of a minimum hold for every target."""
        return all(found.converged for found in self.minima)

    @property
    def sweeps(self) -> int:
        """Most sweeps that a target took."""
        return max(found.sweeps for found in self.minima)

    @property
    def deficient(self) -> bool:
        """Nothing is said of what is not determined: the penalty, or the sign, chooses."""
        return False


@dataclass(frozen=True, eq=False)
class L1LeastSquares(L1, LeastSquares):
    """The w (p, t) and b (t,) that minimise Σ(y − b − xᵀw)² + Σⱼ λⱼwⱼ² + 2 Σⱼ cⱼ|wⱼ|.

    Coordinate descent on the normal equations finds which coefficients are 0 and the signs s of
    the others, A. These are then solved for in double-double and rounded once:

    ::

        (XᵀX + Λ)_AA w_A = (Xᵀy)_A − c_A s_A

    Source: R. Tibshirani, Regression shrinkage and selection via the lasso (1996); H. Zou and
    T. Hastie, Regularization and variable selection via the elastic net (2005), eq. 3.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> rows = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> equations = rows.model_.fit.equations
    >>> fit = L1LeastSquares(equations, np.zeros(1), cost=np.ones(1))
    >>> fit.coefficients, fit.intercept
    (array([[1.5]]), array([1.5]))
    """

    @cached_property
    def minima(self) -> tuple[L1Minimum, ...]:
        """Return the minima of coordinate descent, target by target."""
        matrix, right = self._matrix.value, self.equations.xy.value
        with one_thread_of_blas():
            return tuple(
                L1Quadratic(matrix, -right[:, j], self.cost, self.positive).minimum(
                    start, self.tolerance, self.max_sweeps
                )
                for j, start in enumerate(self.starts(*right.shape))
            )

    @cached_property
    def _w(self) -> DoubleDouble:
        return self._refined[0]

    @property
    def _w_scale(self) -> NDArray[np.float64]:
        return self._refined[1]

    @property
    def _intercept_scale(self) -> NDArray[np.float64]:
        of_terms = (self.equations.x_mean.hi[:, None] * self._w_scale) ** 2
        return np.asarray(
            np.sqrt(self.equations.yy.hi / self.equations.rows + of_terms.sum(axis=0))
        )

    @cached_property
    def _refined(self) -> tuple[DoubleDouble, NDArray[np.float64]]:
        matrix, noise = self._matrix, np.where(self.penalty > 0, SHARPEST, self.equations.noise)
        w, scale = DoubleDouble.zeros(self.equations.xy.shape), np.zeros(self.equations.xy.shape)
        for j, found in enumerate(self.minima):
            used = np.flatnonzero(found.x)
            if not len(used):
                continue
            sign = np.sign(found.x[used])
            right = self.equations.xy[used, j] - DoubleDouble.of(self.cost[used] * sign)
            factor = factorise(matrix[np.ix_(used, used)], noise[used])
            solved = factor.solve(right[:, None])[:, 0]
            if not (found.converged and (np.sign(solved.hi) == sign).all()):
                solved = DoubleDouble.of(found.x[used])  # coefficients that are not determined
            w.hi[used, j], w.lo[used, j] = solved.hi, solved.lo
            inverse = (factor.whitening * factor.whitening).sum(axis=0)
            size = np.sqrt(self._size(inverse.hi, used))
            scale[used, j] = size * np.sqrt(self.equations.yy.hi[j])
        return w, scale


@dataclass(frozen=True, eq=False)
class RowL1(L1, RowLeastSquares):
    """The minimum of Σ(y − b − xᵀw)² + Σⱼ λⱼwⱼ² + 2 Σⱼ cⱼ|wⱼ|, from the rows.

    A working set holds the columns whose conditions are missed most. The quadratic of these few is
    minimised on their products (`L1Quadratic`), and the residual says which others miss theirs.
    It ends where all conditions hold.

    Source: M. Massias, A. Gramfort and J. Salmon, Celer: a fast solver for the lasso with dual
    extrapolation (2018), section 4.
    """

    @cached_property
    def minima(self) -> tuple[L1Minimum, ...]:
        starts = self.starts(self.equations.p, self.equations.t)
        with one_thread_of_blas():
            return tuple(map(self._minimum, self.equations.y.T, starts))

    def _minimum(self, y: Array, start: Array) -> L1Minimum:
        equations, w = self.equations, np.array(start)
        scale = np.sqrt(equations.squares + self.penalty)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        right = equations.across(y)
        enough = self.tolerance * float(np.abs(right * inverse).max(initial=0.0))
        working = np.flatnonzero(w)
        residual = y - equations.along(w) if len(working) else y
        sweeps = 0
        for _ in range(WORKING_SETS):
            gradient = self.penalty * w - equations.across(residual)
            missed = violation(w, gradient, self.cost, self.positive) * inverse
            if missed.max(initial=0.0) <= enough:
                return L1Minimum(w, sweeps, True)
            if sweeps >= self.max_sweeps:
                break
            working = self._grown(working, missed, enough)
            require_memory(
                8.0 * len(working) * (3 * len(working) + equations.n),
                f"products of {len(working):,} columns with coefficients that are not 0",
                "raise alpha, so that fewer columns are chosen",
            )
            hessian = equations.products(working)
            hessian[np.diag_indices(len(working))] += self.penalty[working]
            linear = gradient[working] - hessian @ w[working]  # of the residual, not of products
            quadratic = L1Quadratic(hessian, linear, self.cost[working], self.positive)
            found = quadratic.minimum(w[working], self.tolerance, self.max_sweeps - sweeps)
            sweeps += max(found.sweeps, 1)
            w[:] = 0.0
            w[working] = found.x
            residual = y - equations.along(w)
            working = working[found.x != 0.0]
        return L1Minimum(w, sweeps, False)

    @staticmethod
    def _grown(working: NDArray[np.intp], missed: Array, enough: float) -> NDArray[np.intp]:
        """The columns in use, and those that miss their conditions most."""
        outside = missed.copy()
        outside[working] = 0.0
        missing = int(np.count_nonzero(outside > enough))
        number = min(max(FEWEST_ADDED, len(working)), MOST_ADDED, missing)
        worst = np.argpartition(-outside, number - 1)[:number] if number else working[:0]
        return np.union1d(working, worst)

    @cached_property
    def coefficients(self) -> Array:
        return np.column_stack([found.x for found in self.minima])


def l1_fit(
    equations: Equations, squares: Array, cost: Array, positive: bool, **descent: Any
) -> L1LeastSquares | RowL1:
    """Return the minimum of products, or of rows; ``descent`` says where it begins and ends."""
    options: dict[str, Any] = {"cost": cost, "positive": positive, **descent}
    if isinstance(equations, CentredRows):
        return RowL1(equations, squares, **options)
    return L1LeastSquares(equations, squares, **options)
