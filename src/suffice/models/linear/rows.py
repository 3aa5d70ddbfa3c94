"""Least squares of few rows: solved among the rows, not the products of their columns.

With n rows of p columns, A the rows about their means (p means are estimated with the intercept),
each times √w, and Λ the penalties:

::

    ridge           w = Λ⁻¹Aᵀ(AΛ⁻¹Aᵀ + I)⁻¹ y             n × n numbers
    least squares   w = Q z,  A = (L 0)(Q N)ᵀ,  z = L⁺y   the shortest of all minima

Rows that are stored in compressed form are never centred: the mean is taken from their products.

Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), sections 5.5 and 5.6;
T. Hastie and R. Tibshirani, Efficient quadratic regularization for expression arrays (2004), eq. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import warn
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.design.normal_equations import (
    NormalEquations,
    Weighed,
    Weights,
    no_complete_row,
)
from suffice.models.linear.least_squares import LeastSquares
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible, one_thread_of_blas
from suffice.numerics.memory import require_memory
from suffice.numerics.rows import affine, is_sparse
from suffice.sums.kept_rows import KeptRows

Array = NDArray[np.float64]

CONSTANT = 2.0**-44  # of the size of its cells: what rounding leaves of a constant column
SPARSE_CONSTANT = 1e-8  # of its mean square: below, the variance of a sparse column is summed anew
LEAST_FREE = 2.0**-30  # of a scaled product: pivots above leave a Cholesky factor its digits
DETERMINED = 2.0**-30  # of the size of a row: what rounding of its cells may leave
ILL_CONDITIONED = 1e10  # of AΛ⁻¹Aᵀ: beyond, its singular values are taken from A
PERFECT = 2.0**-88  # of sums of squares: what rounding of residuals leaves
LAID_OUT = 2**22  # cells of sparse rows that are laid out at a time
LSQR_STEPS = 2  # times the columns
MANY_COLUMNS = 2  # times the rows


@dataclass(frozen=True, eq=False)
class CentredRows(Weighed):
    """The complete rows of a fit about their means, in place of `NormalEquations`."""

    x: Any  # √w(x − x̄); of sparse rows x − x̄ of columns without a 0, and x of others, (n, p)
    y: Array  # √w(y − ȳ), (n, t)
    root: Array  # √w, (n,)
    mean: Array  # x̄; 0 without an intercept, (p,)
    target_mean: Array  # ȳ; 0 without an intercept, (t,)
    intercept: bool  # whether the rows are about their means
    variance: Array  # variance of every column, with divisor n, (p,)
    weights: Weights  # what is known of the weights besides n
    offset: Array  # what is still to be taken from the columns of sparse rows, (p,)
    categories: tuple[slice, ...] = ()  # levels of unordered ones, but for their references

    @classmethod
    def of(cls, statistic: KeptRows, intercept: bool, categories: Sequence[slice] = ()) -> Self:
        """Centre the complete rows."""
        used = ~statistic.gaps
        if not used.any():
            raise no_complete_row()
        x, y, w = statistic.x, statistic.y, statistic.row_weights
        if not used.all():
            x, y, w = x[used], y[used], w[used]
        with one_thread_of_blas():
            found = cls._about_means(x, y, w, intercept)
        weights = Weights.of(statistic.tally) if used.all() else Weights()
        return replace(found, weights=weights, categories=tuple(categories))

    @classmethod
    def _about_means(cls, x: Any, y: Array, w: Array, intercept: bool) -> Self:
        n, root = w.sum(), np.sqrt(w)
        target_mean = _means(y, w) if intercept else np.zeros(y.shape[1])
        centred_y = root[:, None] * (y - target_mean)
        offset = np.zeros(x.shape[1])
        if is_sparse(x):
            mean, variance = _sparse_moments(x, w)
            about = mean if intercept else np.zeros_like(mean)
            full = np.bincount(x.indices, minlength=len(mean)) == x.shape[0]
            offset = np.where(full, 0.0, about)
            if intercept and full.any():  # so that a mean far from 0 keeps its digits
                data = x.data - np.where(full, mean, 0.0)[x.indices]
                x = type(x)((data, x.indices, x.indptr), shape=x.shape)
        else:
            moved = np.empty(x.shape)
            mean = _means(x, w, moved)
            np.subtract(x, mean, out=moved)
            least = CONSTANT * np.abs(mean)
            if not (root == 1.0).all():
                moved *= root[:, None]
            variance = np.einsum("ij,ij->j", moved, moved) / n
            close = np.flatnonzero(variance <= least**2)
            far = np.abs(x[:, close] - mean[close]).max(axis=0, initial=0.0)
            constant = close[far <= least[close]]
            moved[:, constant], variance[constant] = 0.0, 0.0
            about = mean if intercept else np.zeros_like(mean)
            x = moved if intercept else np.multiply(x, root[:, None], out=moved)
        of_rows = x, centred_y, root, about, target_mean
        return cls(*of_rows, intercept, variance, Weights(), offset)

    @property
    def levels(self) -> slice:
        """Return the positions of the category of most levels; none where rows are dense."""
        some = self.categories if self.is_sparse else ()
        return max(some, key=lambda at: at.stop - at.start, default=slice(0, 0))

    # -- what normal equations say too

    @property
    def rows(self) -> float:
        return float((self.root**2).sum())

    @property
    def n(self) -> int:
        """Number of rows that differ."""
        return len(self.y)

    @property
    def p(self) -> int:
        return int(self.x.shape[1])

    @property
    def t(self) -> int:
        return int(self.y.shape[1])

    @cached_property
    def xy(self) -> DoubleDouble:
        """Aᵀy, (p, t)."""
        return DoubleDouble.of(self.across(self.y))

    # -- products with A

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.x)

    def along(self, w: Array) -> Array:
        """A w, (n, ...), of w (p, ...)."""
        if not self.is_sparse:
            return np.asarray(self.x @ w)
        return np.asarray((self.root * (self.x @ w - self.offset @ w).T).T)

    def across(self, u: Array) -> Array:
        """Aᵀu, (p, ...), of u (n, ...)."""
        if not self.is_sparse:
            return np.asarray(self.x.T @ u)
        weighted = (self.root * u.T).T
        return np.asarray(self.x.T @ weighted - np.multiply.outer(self.offset, weighted.sum(0)))

    @cached_property
    def squares(self) -> Array:
        """Σa², (p,), of every column of A."""
        if not self.is_sparse:
            return self.rows * self.variance if self.intercept else (self.x**2).sum(axis=0)
        about_zero = 0.0 if self.intercept else _sparse_moments(self.x, self.root**2)[0] ** 2
        return np.asarray(self.rows * (self.variance + about_zero))

    def products(self, places: NDArray[np.intp]) -> Array:
        """Products of some columns of A, (c, c)."""
        some = self.x[:, places]
        if not self.is_sparse:
            return np.asarray(some.T @ some)
        some.data *= np.repeat(self.root, np.diff(some.indptr))
        found = (some.T @ some).toarray()
        if self.intercept:
            found -= self.rows * np.outer(self.offset[places], self.offset[places])
        return np.asarray(found)

    @cached_property
    def dense(self) -> Array:
        """A, (n, p)."""
        if not self.is_sparse:
            return np.asarray(self.x)
        instead = "use fewer columns, or ask for predictions only"
        require_memory(
            24.0 * self.n * self.p, f"{self.n:,} dense rows of {self.p:,} columns", instead
        )
        return np.asarray(self.root[:, None] * (self.x.toarray() - self.offset))


Equations = NormalEquations | CentredRows
"""Products of columns, or rows where these are fewer numbers: all that a fit depends on."""


def _means(x: Array, w: Array, room: Array | None = None) -> Array:
    mean = w @ x / w.sum()
    return np.asarray(mean + w @ np.subtract(x, mean, out=room) / w.sum())


def _sparse_moments(x: Any, w: Array) -> tuple[Array, Array]:
    n = w.sum()
    mean, square = x.T @ w / n, x.multiply(x).T @ w / n
    variance = np.maximum(square - mean**2, 0.0)
    close = np.flatnonzero((variance <= SPARSE_CONSTANT * square) & (square > 0))
    step = max(1, 2**22 // x.shape[0])
    for first in range(0, len(close), step):
        places = close[first : first + step]
        column = x[:, places].toarray()
        centre = _means(column, w)
        moved = column - centre
        constant = np.abs(moved).max(axis=0) <= CONSTANT * np.abs(centre)
        mean[places], variance[places] = centre, np.where(constant, 0.0, w @ moved**2 / n)
    return mean, variance


class RowSpace(NamedTuple):
    """The row space of A: A = L Qᵀ."""

    lower: Array  # L, (n, r)
    basis: Array  # Q, orthonormal, (p, r)


@dataclass(frozen=True, eq=False)
class RowLeastSquares:
    """The w (p, t) and b (t,) that minimise Σ(y − b − xᵀw)² + Σⱼ λⱼwⱼ², from the rows.

    The formulas are those of the module; what is said of the minimum is as in `LeastSquares`, in
    double precision. Either all columns that vary have a penalty, or none has.

    Examples
    --------
    >>> from suffice.linear_model import Ridge
    >>> x = np.vander([1.0, 2.0, 3.0], 400) / 3.0 ** np.arange(399, -1, -1)
    >>> fit = Ridge(alpha=0.5).fit(x, [1.0, 2.0, 4.0]).model_.fit
    >>> type(fit).__name__, fit.rss < 1.0
    ('RowLeastSquares', array([ True]))
    """

    equations: CentredRows
    penalty: Array  # λ, 0 or more, (p,)

    positive = False

    @property
    def converged(self) -> bool:
        return True

    @property
    def penalised(self) -> bool:
        return bool(self.penalty.any())

    @cached_property
    def inverse_unit(self) -> Array:
        """1/√λ, (p,), or 1 without a penalty; 0 for constant columns."""
        if not self.penalised:
            return np.ones(self.equations.p)
        root = np.sqrt(self.penalty)
        return np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)

    # -- the solution

    @cached_property
    def coefficients(self) -> Array:
        with one_thread_of_blas():
            if self.equations.is_sparse:
                return self._iterated()
            return self._ridge() if self.penalised else self._shortest()

    def _shortest(self) -> Array:
        from scipy.linalg import lstsq

        space = self.row_space
        if not space.lower.shape[1]:
            return np.zeros((self.equations.p, self.equations.t))
        solve = partial(lstsq, lapack_driver="gelsy", check_finite=False)
        return np.asarray(space.basis @ interruptible(solve, space.lower, self.equations.y)[0])

    def _ridge(self) -> Array:
        from scipy.linalg import cho_factor, cho_solve

        a, y, unit = self.equations.dense, self.equations.y, self.inverse_unit
        alike = bool((unit == unit[0]).all())
        scaled = a if alike else a * unit  # no copy is made of the rows unless it has to be
        gram = interruptible(np.matmul, scaled, scaled.T)
        if alike:
            gram *= unit[0] ** 2
        if np.trace(gram) > ILL_CONDITIONED:
            u, s, v = self.svd
            found = v @ ((s / (s * s + 1.0))[:, None] * (u.T @ y))
            return np.asarray(unit[:, None] * found)
        gram[np.diag_indices(len(gram))] += 1.0
        solved = cho_solve(interruptible(cho_factor, gram, lower=True), y)
        return np.asarray(unit[:, None] ** 2 * (a.T @ solved))

    def _iterated(self) -> Array:
        equations, unit = self.equations, self.inverse_unit
        size = np.sqrt(float(self.penalised) + equations.squares * unit**2)
        alike = np.divide(unit, size, out=np.zeros_like(unit), where=size > 0)
        # Columns of one size suit rows that determine them; one penalty, rows that do not. Without
        # a penalty the shortest minimum is looked for first, but for many levels.
        units: tuple[Array, ...] = (unit,)
        if equations.levels.stop or (self.penalised and equations.p <= MANY_COLUMNS * equations.n):
            units = (alike,)
        elif not self.penalised and equations.p <= equations.n:
            units = (unit, alike)
        found = [
            least_squares_of(equations.along, equations.across, y, self.penalty, units)
            for y in equations.y.T
        ]
        return np.stack(found, axis=1)

    @cached_property
    def row_space(self) -> RowSpace:
        """The row space, of rank r."""
        with one_thread_of_blas():
            return interruptible(_row_space, self.equations.dense, self._noise)

    @property
    def _noise(self) -> float:
        """Return the rounding error of the rows' sum, which is 0 about their mean."""
        far = np.linalg.norm(self.origin) * np.linalg.norm(self.equations.root)
        return float(8.0 * np.finfo(float).eps * far)

    @cached_property
    def svd(self) -> tuple[Array, Array, Array]:
        """U (n, r), s (r,) and V (p, r) of AΛ^-½, or of A without a penalty."""
        with one_thread_of_blas():
            if self.penalised:
                space = interruptible(_row_space, self.equations.dense * self.inverse_unit, 0.0)
            else:
                space = self.row_space
            if not space.lower.shape[1]:
                return space.lower, np.empty(0), space.basis
            u, s, w = interruptible(np.linalg.svd, space.lower, full_matrices=False)
            return u, s, space.basis @ w.T

    @property
    def has_intercept(self) -> bool:
        return self.equations.intercept

    @property
    def origin(self) -> Array:
        """The point that rows are measured from, (p,)."""
        return self.equations.mean

    @property
    def at_origin(self) -> Array:
        """The value at the origin, (t,)."""
        return self.equations.target_mean

    @cached_property
    def intercept(self) -> Array:
        return np.asarray(self.at_origin - self.origin @ self.coefficients)

    @cached_property
    def rss(self) -> Array:
        """Residual sum of squares, (t,)."""
        residual = self.equations.y - self.equations.along(self.coefficients)
        return np.asarray((residual**2).sum(axis=0))

    @property
    def tss(self) -> Array:
        return np.asarray((self.equations.y**2).sum(axis=0))

    @property
    def penalty_paid(self) -> Array:
        return np.asarray(self.penalty @ self.coefficients**2)

    @property
    def rank(self) -> int:
        return self.equations.p if self.penalised else self.row_space.lower.shape[1]

    @cached_property
    def effective_parameters(self) -> float:
        """Trace of the matrix that maps y to its fit: Σ s²/(s² + 1), or the rank; and 1 for b."""
        s = self.svd[1]
        kept = (s * s / (s * s + 1.0)).sum() if self.penalised else len(s)
        return float(kept) + self.has_intercept

    @property
    def flat(self) -> int:
        return (0 if self.penalised else self.rank) + self.has_intercept

    @property
    def is_perfect(self) -> NDArray[np.bool_]:
        y = self.tss + self.equations.rows * self.at_origin**2
        return np.asarray(self.rss <= PERFECT * (y + self.equations.squares @ self.coefficients**2))

    # -- what the estimates vary by

    @cached_property
    def variance(self) -> Array:
        """Variances of b (where there is an intercept) and w for noise of variance 1, (q,)."""
        _, s, v = self.svd
        if self.penalised:
            w = self.inverse_unit**2 * (1.0 - v**2 @ (s * s / (s * s + 1.0)))
        else:
            w = v**2 @ s**-2.0
        if not self.has_intercept:
            return np.asarray(w)
        return np.append(self.leverage(np.zeros((1, len(w)))), w)

    @property
    def covariance(self) -> Array:
        """V: covariances of b and w for noise of variance 1, (q, q); that of w is (AᵀA + Λ)⁺."""
        p = self.equations.p
        require_memory(24.0 * p * p, f"covariances of {p:,} coefficients", "ask for a summary")
        found = self.covariance_of(np.arange(p))
        if not self.has_intercept:
            return found
        beside = -found @ self.origin
        first = np.append(self.variance[0], beside)
        return np.block([[first], [beside[:, None], found]])

    def covariance_of(self, places: NDArray[np.intp]) -> Array:
        """V of some columns, (c, c)."""
        (_, s, v), unit = self.svd, self.inverse_unit[places]
        own = unit[:, None] * v[places]
        if not self.penalised:
            return np.asarray((own * s**-2.0) @ own.T)
        return np.asarray(np.diag(unit**2) - (own * (s * s / (s * s + 1.0))) @ own.T)

    @property
    def root(self) -> Array:
        """R, (r, p), with RᵀR = (AᵀA)⁺; without a penalty."""
        _, s, v = self.svd
        return np.asarray((v / s).T)

    # -- new rows

    def predict(self, x: Any) -> Array:
        return affine(x, self.origin, self.coefficients.T, self.at_origin)

    def whitened(self, x: Any) -> Array:
        """R(x − x̄) of rows (n, p), (n, r); without a penalty."""
        return np.asarray(self._centred(x) @ self.root.T)

    def leverage(self, x: Any) -> Array:
        """1/n + (x − x̄)ᵀ(AᵀA + Λ)⁺(x − x̄) of rows (n, p), (n,)."""
        if is_sparse(x) and x.shape[0] > (step := max(1, LAID_OUT // self.equations.p)):
            parts = (x[first : first + step] for first in range(0, x.shape[0], step))
            return np.concatenate([self.leverage(part) for part in parts])
        b, (_, s, v) = self._centred(x), self.svd
        z = b @ v
        constant = 1.0 / self.equations.rows if self.has_intercept else 0.0
        if not self.penalised:
            return np.asarray(constant + ((z / s) ** 2).sum(axis=1))
        outside = np.maximum((b * b).sum(axis=1) - (z * z).sum(axis=1), 0.0)
        return np.asarray(constant + (z * z / (s * s + 1.0)).sum(axis=1) + outside)

    def _centred(self, x: Any) -> Array:
        dense = x.toarray() if is_sparse(x) else x
        return np.asarray((dense - self.origin) * self.inverse_unit)

    @property
    def deficient(self) -> bool:
        return not (self.penalised or self.equations.is_sparse) and self.rank < self.equations.p

    def determined(self, x: Array) -> NDArray[np.bool_]:
        if not self.deficient:
            return np.ones(x.shape[0], np.bool_)
        b, basis = self._centred(x), self.row_space.basis
        outside = np.sqrt((((b @ basis) @ basis.T - b) ** 2).sum(axis=1))
        size = np.sqrt((np.asarray(x) ** 2).sum(axis=1)) + float(np.linalg.norm(self.origin))
        spread = float(np.sqrt(self.equations.variance.sum()))
        return np.asarray(outside <= DETERMINED * (size + spread))

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        found = np.ones(self.equations.p + self.has_intercept, np.bool_)
        if self.deficient:
            own = (self.row_space.basis**2).sum(axis=1)
            found[int(self.has_intercept) :] = own >= 1.0 - DETERMINED
            if self.has_intercept:
                found[0] = self.determined(np.zeros((1, self.equations.p)))[0]
        return found

    def remarks(self, terms: Sequence[str]) -> Iterator[str]:
        if self.deficient:
            p, rank = self.equations.p, self.rank
            yield (
                f"{p - rank:,} of {p:,} columns are combinations of others: {self.equations.n:,} "
                f"rows determine {rank:,} coefficients at most"
            )


Fit = LeastSquares | RowLeastSquares


def least_squares_of(
    along: Callable[[Array], Array],
    across: Callable[[Array], Array],
    y: Array,
    penalty: Array,
    units: Sequence[Array],
) -> Array:
    """The w (p,) that minimises |y − A w|² + Σⱼ λⱼwⱼ², from products with A (n, p), by LSQR.

    Its steps are of w/u; where they do not lead to the end, more are made in the next unit u (p,).
    The penalties are rows, diag √λ, of a residual 0.

    Source: C. C. Paige and M. A. Saunders, LSQR: an algorithm for sparse linear equations and
    sparse least squares (1982).
    """
    from scipy.sparse.linalg import LinearOperator, lsqr

    n, p, root = len(y), len(penalty), np.sqrt(penalty)
    w, unit, most = np.zeros(p), units[0], LSQR_STEPS * p // len(units)

    def product(z: Array) -> Array:
        return np.concatenate([along(unit * z.ravel()), root * unit * z.ravel()])

    def transposed(u: Array) -> Array:
        return np.asarray(unit * (across(u.ravel()[:n]) + root * u.ravel()[n:]))

    rows = LinearOperator((n + p, p), matvec=product, rmatvec=transposed, dtype=np.float64)
    right = np.concatenate([y, np.zeros(p)])
    solve = partial(lsqr, rows, right, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=most)
    for unit in units:
        start = np.divide(w, unit, out=np.zeros(p), where=unit > 0) if w.any() else None
        z, stopped, *_ = solve(x0=start)
        w = unit * z
        if stopped != 7:
            return np.asarray(w)
    warn(
        f"the coefficients of sparse rows did not converge in {len(units) * most:,} steps; "
        "scale the columns, or raise alpha.",
        convergence_warning(),
    )
    return np.asarray(w)


def _row_space(a: Array, noise: float) -> RowSpace:
    """Two orthogonal factorisations: of a tall Aᵀ = Q₁R, without pivots, and of R, with them.

    What is no larger than the ``noise`` of a centred row is none of it.
    """
    from scipy.linalg import qr

    outer: Any = None
    r: Any = a.T
    if a.shape[0] <= a.shape[1]:
        outer, r = qr(r, mode="economic", check_finite=False)
    inner, upper, order = qr(r, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(upper))
    least = max(noise, np.finfo(float).eps * max(a.shape) * diagonal.max(initial=0.0))
    rank = int((diagonal > least).sum())
    lower = np.empty((a.shape[0], rank))
    lower[order] = upper[:rank].T
    basis = inner[:, :rank]
    return RowSpace(lower, basis if outer is None else outer @ basis)
