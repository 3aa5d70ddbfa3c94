"""Least squares, plain and penalised: a function of the normal equations, in double-double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.normal_equations import NormalEquations
from suffice.models.design.remarks import dependence
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import SHARPEST, Factor, factorise, product
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import affine
from suffice.rules import NONNEGATIVE, Shape, rule

DETERMINED = 2.0**-30  # of the size of a row: what rounding of its cells may leave
NEGLIGIBLE = 2.0**-96  # of the scale: what rounding leaves of a sum of pairs


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The w (p, t) and b (t,) that minimise Σ(y − b − xᵀw)² + Σⱼ λⱼwⱼ² over the rows.

    ::

        (XᵀX + Λ) w = Xᵀy      b = ȳ − x̄ᵀw      RSS = yᵀy + wᵀ(XᵀX w − 2Xᵀy)

    with sums about the means, or about 0 without an intercept. All of it is computed in
    double-double and rounded once.

    Where columns depend on each other and nothing penalises them, many w have the least sum of
    squares. Of these, w has the least norm in the units of the columns, as that of
    ``numpy.linalg.lstsq``; the intercept takes no part in the norm. Of categories, the norm is that
    of coefficients of all values (`suffice.models.design.norm`), so that no prediction depends on
    which value has none.

    Parameters
    ----------
    equations : NormalEquations
        The sums.
    penalty : ndarray (p,)
        λ, 0 or more.
    norm : ndarray (p, p), optional
        H of the norm wᵀHw; default: I.

    Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), sections 5.3
    and 5.5.

    Examples
    --------
    >>> from suffice.sums.block import RealBlock
    >>> from suffice.sums.comoments import ComomentsAccumulator
    >>> rows = ComomentsAccumulator(2)
    >>> xy = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
    >>> rows.add(RealBlock(xy), np.zeros(3, np.intp), np.empty(0), 1)
    >>> fit = LeastSquares(NormalEquations.of(rows.statistic(), 1), np.zeros(1))
    >>> fit.coefficients, fit.intercept, fit.rss
    (array([[2.]]), array([1.]), array([0.]))
    """

    equations: NormalEquations
    penalty: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE]
    norm: Annotated[NDArray[np.float64] | None, Shape("p", "p")] = None

    positive = False

    @property
    def converged(self) -> bool:
        return True

    @rule("coefficients are finite, so that predictions are")
    def _is_finite(self) -> bool:
        found = self.coefficients, self.intercept
        return all(bool((np.abs(part) <= LARGEST**2).all()) for part in found)

    # -- the solution

    @cached_property
    def factor(self) -> Factor:
        """XᵀX + Λ, factored."""
        noise = np.where(self.penalty > 0.0, SHARPEST, self.equations.noise)
        return factorise(self._matrix, noise)

    @property
    def _matrix(self) -> DoubleDouble:
        if not self.penalty.any():
            return self.equations.xx
        return self.equations.xx + DoubleDouble.of(np.diag(self.penalty))

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """w, (p, t)."""
        return self._w.settled(self._w_scale, NEGLIGIBLE)

    @cached_property
    def intercept(self) -> NDArray[np.float64]:
        at_zero = self.equations.y_mean - product(self.equations.x_mean[None], self._w)[0]
        return at_zero.settled(self._intercept_scale, NEGLIGIBLE)

    @cached_property
    def rss(self) -> NDArray[np.float64]:
        """Residual sum of squares Σ(y − b − xᵀw)², (t,)."""
        w, equations = self._w, self.equations
        rss = (w * (product(equations.xx, w) - equations.xy * 2.0)).sum(axis=0) + equations.yy
        return np.maximum(rss.settled(self.equations.yy.hi, NEGLIGIBLE), 0.0)

    @property
    def tss(self) -> NDArray[np.float64]:
        """Sum of squares of y about its mean, or about 0 without an intercept, (t,)."""
        return np.maximum(self.equations.yy.value, 0.0)

    @property
    def is_perfect(self) -> NDArray[np.bool_]:
        """Return whether the residuals of each target are those of rounding, (t,).

        ::

            RSS ≤ 2⁻⁹² (Σy² + Σⱼ wⱼ² Σxⱼ²)

        which is residuals of 100 units in the last place of y. R's ``summary.lm`` has 1e-30 in the
        place of 2⁻⁹², and Σŷ² in that of the bracket.
        """
        n, squares = self.equations.rows, np.diagonal(self.equations.xx.hi)
        x = squares + n * self.equations.x_mean.hi**2
        y = self.equations.yy.hi + n * self.equations.y_mean.hi**2
        return np.asarray(self.rss <= 2.0**-92 * (y + x @ self.coefficients**2))

    @property
    def penalty_paid(self) -> NDArray[np.float64]:
        """Σⱼ λⱼwⱼ², (t,)."""
        return np.asarray(self.penalty @ self.coefficients**2)

    @property
    def has_intercept(self) -> bool:
        return self.equations.intercept

    @property
    def rank(self) -> int:
        """Number of columns that are no linear combination of earlier ones."""
        return self.factor.rank

    @cached_property
    def effective_parameters(self) -> float:
        """Trace of the matrix that maps y to its fit: rank − Σⱼ λⱼ(XᵀX + Λ)⁻¹ⱼⱼ, and 1 for b."""
        shrunk = float(self.penalty @ self._inverse_diagonal.value)
        return self.rank - shrunk + self.equations.intercept

    @property
    def flat(self) -> int:
        """Number of parameters without a penalty."""
        free = self.factor.independent & (self.penalty == 0.0)
        return int(free.sum()) + self.equations.intercept

    # -- new rows

    @cached_property
    def origin(self) -> NDArray[np.float64]:
        """The point o, (p,), that rows are measured from, so that no digits cancel."""
        return self.equations.x_mean.value

    @cached_property
    def at_origin(self) -> NDArray[np.float64]:
        """The value b + oᵀw at the origin, (t,)."""
        rest = self.equations.x_mean - DoubleDouble.of(self.origin)
        return (self.equations.y_mean - product(rest[None], self._w)[0]).value

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """b + xᵀw of rows (n, p), (n, t)."""
        return affine(x, self.origin, self.coefficients.T, self.at_origin)

    def whitened(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """R(x − x̄) of rows (n, p), (n, p)."""
        return affine(x, self.origin, self.root, np.zeros(len(self.root)))

    def leverage(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """1/n + (x − x̄)ᵀ(XᵀX + Λ)⁻¹(x − x̄) of rows (n, p), (n,); 1/n with an intercept only."""
        white = self.whitened(x)
        constant = 1.0 / self.equations.rows if self.equations.intercept else 0.0
        return constant + row_sums(white * white)

    # -- what the estimates vary by

    @cached_property
    def root(self) -> NDArray[np.float64]:
        """R, (p, p), with RᵀR the pseudo-inverse of XᵀX + Λ."""
        return self._root.value

    @property
    def covariance(self) -> NDArray[np.float64]:
        """V: covariances of b (where there is an intercept) and w for noise of variance 1, (q, q).

        The block of w is (XᵀX + Λ)⁺, and Var(b) = 1/n + x̄ᵀ(XᵀX + Λ)⁺x̄.
        """
        if not self.equations.intercept:
            return product(self._root.T, self._root).value
        at_zero = product(self._root, self.equations.x_mean[None].T)
        both = DoubleDouble.concatenate([-at_zero, self._root], axis=1)
        covariance = product(both.T, both).value
        covariance[0, 0] += 1.0 / self.equations.rows
        return covariance

    def covariance_of(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """V of some columns, (c, c)."""
        root = self.root[:, places]
        return root.T @ root

    @property
    def variance(self) -> NDArray[np.float64]:
        """Diagonal of V, (q,)."""
        return np.asarray(np.diagonal(self.covariance))

    @cached_property
    def _variance_at_zero(self) -> float:
        if not self.equations.intercept:
            return 0.0
        white = product(self.equations.x_mean[None], self._root.T).hi
        return float((white * white).sum()) + 1.0 / self.equations.rows

    @property
    def _w_scale(self) -> NDArray[np.float64]:
        """Return the size of the terms whose sum w is, (p, t)."""
        every = np.arange(self.equations.p)
        return np.sqrt(np.outer(self._size(self._inverse_diagonal.hi, every), self.equations.yy.hi))

    def _size(self, inverse: NDArray[np.float64], used: NDArray[np.intp]) -> NDArray[np.float64]:
        """The sum of squares of row j of A⁻¹Xᵀ, but for other columns: A = XᵀX + Λ of columns (q,).

        ::

            A⁻¹ⱼⱼ                    without a penalty
            A⁻¹ⱼⱼ · XᵀXⱼⱼ A⁻¹ⱼⱼ      where a penalty makes this less
        """
        squares = np.diagonal(self.equations.xx.hi)[used]
        shrunk = np.where(self.penalty[used] > 0.0, np.clip(squares * inverse, 0.0, 1.0), 1.0)
        return inverse * shrunk

    @property
    def _intercept_scale(self) -> NDArray[np.float64]:
        """Return the size of the terms whose sum b is, (t,)."""
        return np.asarray(np.sqrt(self.equations.yy.hi * self._variance_at_zero))

    @cached_property
    def _inverse_diagonal(self) -> DoubleDouble:
        return (self._root * self._root).sum(axis=0)

    @cached_property
    def _root(self) -> DoubleDouble:
        whitening = self.factor.whitening
        if not self.factor.dependent:
            return whitening
        return self._shortest(whitening.T).T

    @cached_property
    def _w(self) -> DoubleDouble:
        w = self.factor.solve(self.equations.xy)
        return self._shortest(w) if self.factor.dependent else w

    # -- dependent columns

    @cached_property
    def _null(self) -> DoubleDouble:
        """N, (p, p − rank): directions in which no row differs from another."""
        dependent = list(self.factor.dependent)
        rows = self.factor.lower_inverse[dependent]
        scale = self.factor.scale
        return DoubleDouble(rows.hi * scale, rows.lo * scale).T

    def _shortest(self, w: DoubleDouble) -> DoubleDouble:
        """Take away what w (p, m) has of null directions: w − N(NᵀHN)⁻¹NᵀHw."""
        across = self._null.T
        if self.norm is not None:
            across = product(across, DoubleDouble.of(self.norm))
        gram = factorise(product(across, self._null), SHARPEST)
        return w - product(self._null, gram.solve(product(across, w)))

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Return which coefficients the rows determine, (q,), the intercept first if there is one.

        They do not if a null direction changes it. Of a constant column alone, the intercept is
        that of the model without the column.
        """
        found = np.ones(self.equations.p + self.equations.intercept, np.bool_)
        w = found[int(self.equations.intercept) :]
        for j in self.factor.dependent:
            made_of = self.factor.combination(j)
            w[[j, *made_of]] = False
            if made_of and self.equations.intercept:
                v = self._null.hi[:, self.factor.dependent.index(j)]
                found[0] &= abs(self.origin @ v) <= DETERMINED * (np.abs(self.origin) @ np.abs(v))
        return found

    @property
    def deficient(self) -> bool:
        return bool(self.factor.dependent)

    def determined(self, x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which predictions of rows (n, p) the rows of the fit determine, (n,).

        They do if x − o has nothing of a null direction but for rounding.

        Source: S. R. Searle, Linear Models (1971), section 5.4: estimable functions.
        """
        if not self.deficient:
            return np.ones(len(x), np.bool_)
        null = self._null.hi
        spread = np.sqrt(np.maximum(np.diagonal(self.equations.xx.hi), 0.0) / self.equations.rows)
        size = np.abs(x) + np.abs(self.origin) + spread
        return np.asarray(
            (np.abs((x - self.origin) @ null) <= DETERMINED * (size @ np.abs(null))).all(axis=1)
        )

    def remarks(self, terms: Sequence[str]) -> Iterator[str]:
        """Say which columns depend on others."""
        return dependence(self.factor.dependent, self.factor, terms, self.equations.intercept)
