"""Least squares with a penalty of absolute values: the lasso and the elastic net."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.models.linear.least_squares import LeastSquares
from suffice.models.optimise.algebra import one_thread_of_blas
from suffice.models.optimise.proximal_newton import L1Minimum, L1Quadratic
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import SHARPEST, factorise
from suffice.rules import NONNEGATIVE, Shape

__all__ = ["L1LeastSquares"]


@dataclass(frozen=True, eq=False)
class L1LeastSquares(LeastSquares):
    """The w (p, t) and b (t,) that minimise Σ(y − b − xᵀw)² + Σⱼ λⱼwⱼ² + 2 Σⱼ cⱼ|wⱼ|.

    Coordinate descent on the normal equations finds which coefficients are 0 and the signs s of
    the others, A. These are then solved for in double-double and rounded once:

    ::

        (XᵀX + Λ)_AA w_A = (Xᵀy)_A − c_A s_A

    Parameters
    ----------
    equations, penalty, positive
        As in `LeastSquares`.
    cost : ndarray (p,)
        c, 0 or more.
    tolerance, max_sweeps : float, int
        When coordinate descent ends: see `L1Quadratic.minimum`.
    start : ndarray (p, t), optional
        Where it begins; default: w = 0.

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

    cost: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE] = field(kw_only=True)
    tolerance: float = field(default=1e-12, kw_only=True)
    max_sweeps: int = field(default=1_000, kw_only=True)
    start: NDArray[np.float64] | None = field(default=None, kw_only=True)

    @cached_property
    def minima(self) -> tuple[L1Minimum, ...]:
        """What coordinate descent found, target by target."""
        p, t = self.equations.xy.shape
        start = np.zeros((p, t)) if self.start is None else self.start
        matrix, right = self._matrix.value, self.equations.xy.value
        targets = [L1Quadratic(matrix, -right[:, j], self.cost, self.positive) for j in range(t)]
        with one_thread_of_blas():
            return tuple(
                target.minimum(start[:, j], self.tolerance, self.max_sweeps)
                for j, target in enumerate(targets)
            )

    @property
    def converged(self) -> bool:
        """Whether the conditions of a minimum hold for every target."""
        return all(found.converged for found in self.minima)

    @property
    def sweeps(self) -> int:
        """Most sweeps that a target took."""
        return max(found.sweeps for found in self.minima)

    def remarks(self, terms: Sequence[str]) -> Iterator[str]:
        """Say nothing of dependent columns: the penalty chooses among them."""
        return iter(())

    # -- the solution

    @cached_property
    def _w(self) -> DoubleDouble:
        return self._refined[0]

    @property
    def _w_scale(self) -> NDArray[np.float64]:
        return self._refined[1]

    @property
    def _intercept_scale(self) -> NDArray[np.float64]:
        of_terms = (self.equations.x_mean.hi[:, None] * self._w_scale) ** 2
        return np.asarray(np.sqrt(self._total.hi / self.equations.rows + of_terms.sum(axis=0)))

    @cached_property
    def _refined(self) -> tuple[DoubleDouble, NDArray[np.float64]]:
        """The coefficients in double-double, and their scales."""
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
            scale[used, j] = np.sqrt(self._size(inverse.hi, used) * self._total.hi[j])
        return w, scale
