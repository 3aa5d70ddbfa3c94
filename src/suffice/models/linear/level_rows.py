"""Least squares of sparse rows with a category of many levels, which a division eliminates.

With L the indicators of its m levels, R the other columns, among them 1 for an intercept, n_c the
weight of the rows of a level, and penalties λ_c and Λ:

::

    D = diag(n_c + λ_c)    Z = D⁻¹LᵀR    S = RᵀR + Λ − ZᵀDZ
    v = S⁻¹(Rᵀy − ZᵀLᵀy)   a = D⁻¹Lᵀy − Zv

a are the coefficients of levels, v those of the other columns. Without a penalty, S is of rows
about the means of their levels.

Source: Y. Mundlak, On the pooling of time series and cross section data (1978), section 2;
G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), section 3.2.11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.models.linear.rows import (
    DETERMINED,
    LEAST_FREE,
    RowLeastSquares,
)
from suffice.numerics.interruption import interruptible, one_thread_of_blas
from suffice.numerics.memory import require_memory

Array = NDArray[np.float64]

DENSE = 0.25  # of the cells of a column: from there on it is laid out
MOST_SOLVED = 3_000  # other columns whose products are solved; the rows of more are iterated over
DEPENDENT = 2.0**-40  # of a scaled product: what rounding leaves of a combination of others
REFINED = 2  # how often a solution is corrected by its residual
PIECE = 2**22  # cells of rows or levels that are laid out at a time


class Others(NamedTuple):
    """Columns besides the levels, of rows or of sums by level: 1 and numbers, and few cells."""

    dense: Array  # (n, d)
    few: Any  # (n, e)

    def times(self, v: Array) -> Array:
        """R v, (n, ...)."""
        d = self.dense.shape[1]
        return np.asarray(self.dense @ v[:d] + self.few @ v[d:])

    def across(self, u: Array) -> Array:
        """Rᵀu, (d + e, ...)."""
        return np.concatenate([self.dense.T @ u, self.few.T @ u])

    def products(self, weight: Array) -> Array:
        """RᵀWR, (d + e, d + e)."""
        weighted = self.dense * weight[:, None]
        beside = np.asarray(self.few.T @ weighted)
        own = (self.few.T @ self.few.multiply(weight[:, None]).tocsr()).toarray()
        return np.block([[self.dense.T @ weighted, beside.T], [beside, own]])


class Inverse(NamedTuple):
    """S⁺ = root rootᵀ, and the null directions of S."""

    root: Array  # (q, r)
    null: Array  # (q, q − r)


@dataclass(frozen=True, eq=False)
class LevelLeastSquares(RowLeastSquares):
    """The minimum of sparse rows, of which `CentredRows.levels` are eliminated.

    Where columns depend on each other without a penalty, the coefficients of all levels, that of
    the reference among them, are the shortest.
    """

    # -- rows, and sums by level

    @cached_property
    def _at(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the other columns that are dense, and those that are not."""
        x, block = self.equations.x, self.equations.levels
        stored = np.bincount(x.indices, minlength=x.shape[1])
        other = np.ones(x.shape[1], np.bool_)
        other[block] = False
        dense = stored >= DENSE * x.shape[0]
        return np.flatnonzero(other & dense), np.flatnonzero(other & ~dense)

    def _split(self, x: Any, origin: Array, one: float = 1.0) -> tuple[NDArray[np.intp], Others]:
        """The level of every row (n,), m for none of them; and the other columns, the first 1.

        Those that are dense are taken about an origin (p,). Of what terms add, the first is 0.
        """
        from scipy.sparse import csr_array

        x, block, (dense, few) = csr_array(x), self.equations.levels, self._at
        shown, code = x[:, block], np.full(x.shape[0], block.stop - block.start)
        code[np.diff(shown.indptr) > 0] = shown.indices
        ones = np.full((len(code), int(self.has_intercept)), one)
        return code, Others(np.hstack([ones, x[:, dense].toarray() - origin[dense]]), x[:, few])

    @cached_property
    def _rows(self) -> tuple[NDArray[np.intp], Others]:
        of_dense = np.where(self.equations.offset == 0, 0.0, self.origin)
        return self._split(self.equations.x, of_dense)

    @property
    def _places(self) -> NDArray[np.intp]:
        """The columns whose coefficients are v, but for the intercept."""
        return np.concatenate(self._at)

    @cached_property
    def _penalties(self) -> tuple[Array, Array]:
        """λ of the levels, and of the other columns; 0 of the intercept."""
        others = self.penalty[self._places]
        none = np.zeros(int(self.has_intercept))
        return self.penalty[self.equations.levels], np.concatenate([none, others])

    @cached_property
    def _weight(self) -> Array:
        """n_c of the levels, (m,)."""
        return self._by_level(self.equations.root**2)

    def _by_level(self, values: Array) -> Array:
        """Sums of values (n, ...) over the rows of each level, (m, ...)."""
        return np.asarray(self._indicators @ values)

    @cached_property
    def _indicators(self) -> Any:
        """Lᵀ, a CSR array (m, n)."""
        from scipy.sparse import csr_array

        code, m = self._rows[0], len(self.penalty[self.equations.levels])
        shown = np.flatnonzero(code < m)
        cells = np.ones(len(shown)), (code[shown], shown)
        return csr_array(cells, shape=(m, len(code)))

    @cached_property
    def _inverse_diagonal(self) -> Array:
        """1/D, (m,); 0 of a level without rows or a penalty."""
        found = self._weight + self._penalties[0]
        return np.divide(1.0, found, out=np.zeros_like(found), where=found > 0)

    @cached_property
    def _z(self) -> Others:
        """Z, (m, q)."""
        weight, others = self.equations.root[:, None] ** 2, self._rows[1]
        inverse = self._inverse_diagonal[:, None]
        few = (self._indicators @ others.few.multiply(weight).tocsr()).multiply(inverse).tocsr()
        return Others(inverse * self._by_level(weight * others.dense), few)

    # -- the solution

    @cached_property
    def _schur(self) -> tuple[Array, Array]:
        """S and the diagonal of RᵀR + Λ."""
        others, q = self._rows[1], len(self._penalties[1])
        instead = "leave one of the columns out, or ask for predictions only"
        require_memory(8.0 * 5 * q * q, f"products of {q:,} terms", instead)
        found = others.products(self.equations.root**2)
        found[np.diag_indices(q)] += self._penalties[1]
        scale = np.diagonal(found).copy()
        diagonal = np.where(self._inverse_diagonal > 0, self._weight + self._penalties[0], 0.0)
        return found - self._z.products(diagonal), scale

    @cached_property
    def _inverse(self) -> Inverse:
        from scipy.linalg import LinAlgError, cholesky, solve_triangular

        with one_thread_of_blas():
            schur, squares = self._schur
            scale = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
            scaled = schur * scale * scale[:, None]
            try:
                lower = interruptible(cholesky, scaled, lower=True)
                if (np.diagonal(lower) ** 2 > LEAST_FREE).all():
                    unit = np.diag(scale)
                    root = interruptible(solve_triangular, lower, unit, lower=True)
                    return Inverse(root.T, np.empty((len(scale), 0)))
            except LinAlgError:
                pass
            values, axes = interruptible(np.linalg.eigh, scaled)
            kept = values > DEPENDENT * max(1.0, values.max(initial=0.0))
            root = scale[:, None] * axes[:, kept] / np.sqrt(values[kept])
            return Inverse(root, scale[:, None] * axes[:, ~kept])

    @cached_property
    def coefficients(self) -> Array:
        with one_thread_of_blas():
            if len(self._penalties[1]) > MOST_SOLVED:
                return self._iterated()
            v, a = self._solved(self.equations.y)
            for _ in range(REFINED):
                more = self._solved(self._residual(v, a), (v, a))
                v, a = v + more[0], a + more[1]
            return self._shortest_of(self._placed(v, a))

    def _solved(self, y: Array, at: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """v (q, t) and a (m, t) that lessen a residual y (n, t) most, from where they are."""
        others, root = self._rows[1], self._inverse.root
        weighted = self.equations.root[:, None] * y
        across, by_level = others.across(weighted), self._by_level(weighted)
        if at is not None:
            across = across - self._penalties[1][:, None] * at[0]
            by_level = by_level - self._penalties[0][:, None] * at[1]
        v = root @ (root.T @ (across - self._z.across(by_level)))
        return v, self._inverse_diagonal[:, None] * by_level - self._z.times(v)

    def _residual(self, v: Array, a: Array) -> Array:
        """√w(y − L a − R v), (n, t)."""
        code, others = self._rows
        fitted = others.times(v) + np.vstack([a, np.zeros((1, a.shape[1]))])[code]
        return np.asarray(self.equations.y - self.equations.root[:, None] * fitted)

    def _placed(self, v: Array, a: Array) -> Array:
        w = np.empty((self.equations.p, v.shape[1]))
        w[self._places] = v[int(self.has_intercept) :]
        w[self.equations.levels] = a
        return w

    def _shortest_of(self, w: Array) -> Array:
        """Take away what w has of null directions; levels without rows are as the mean of all."""
        null = self._null
        if null.shape[1]:
            across = self._metric(null)
            w = w - null @ np.linalg.lstsq(null.T @ across, across.T @ w, rcond=None)[0]
        unseen = self._inverse_diagonal == 0
        if unseen.any():
            own = w[self.equations.levels]
            own[unseen] = own[~unseen].sum(axis=0) / (1 + np.count_nonzero(~unseen))
        return w

    def _metric(self, w: Array) -> Array:
        """H w, (p, r): every category is counted about the mean of its levels."""
        found = w.copy()
        for places in self.equations.categories:
            own = w[places]
            found[places] = own - own.sum(axis=0) / (1 + len(own))
        return found

    @cached_property
    def _null(self) -> Array:
        """Directions of w in which no row differs from another, (p, q − r)."""
        null = self._inverse.null
        return self._placed(null, -self._z.times(null))

    # -- what estimates vary by

    @property
    def _parameters(self) -> int:
        """Number of coefficients that rows determine, the intercept among them."""
        return int(self._inverse.root.shape[1] + np.count_nonzero(self._inverse_diagonal))

    @property
    def rank(self) -> int:
        """Number of columns that are no linear combination of others; with a penalty, all."""
        return self.equations.p if self.penalised else self._parameters - self.has_intercept

    @cached_property
    def effective_parameters(self) -> float:
        """Trace of the matrix that maps y to its fit: the parameters less Σⱼ λⱼVⱼⱼ."""
        shrunk = self.penalty @ self.variance[int(self.has_intercept) :]
        return self._parameters - float(shrunk)

    @cached_property
    def variance(self) -> Array:
        """Variances of b and w for noise of variance 1, (q,): Sⱼⱼ⁻¹, and 1/D_c + z_cᵀS⁻¹z_c."""
        p, step = self.equations.p, max(1, PIECE // max(1, self._inverse.root.shape[1]))
        parts = [self.leverage(np.zeros((int(self.has_intercept), p)))]
        for first in range(0, p, step):
            u, own = self._of_terms(np.arange(first, min(first + step, p)))
            parts.append((u**2).sum(axis=1) + own)
        return np.concatenate(parts)

    def covariance_of(self, places: NDArray[np.intp]) -> Array:
        """V of some columns, (c, c)."""
        u, own = self._of_terms(places)
        return np.asarray(u @ u.T + np.diag(own))

    def _of_terms(self, places: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return `_about_levels` of what a term adds, for some of them."""
        from scipy.sparse import csr_array

        cells = np.ones(len(places)), places, np.arange(len(places) + 1)
        terms = csr_array(cells, shape=(len(places), self.equations.p))
        return self._about_levels(terms, np.zeros(self.equations.p), 0.0)

    def leverage(self, x: Any) -> Array:
        """(r − z_c)ᵀS⁻¹(r − z_c) + 1/D_c of rows (n, p) of others r and level c, (n,)."""
        u, own = self._about_levels(x, self.origin)
        return np.asarray((u**2).sum(axis=1) + own)

    def _about_levels(self, x: Any, origin: Array, one: float = 1.0) -> tuple[Array, Array]:
        """(r − z_c)ᵀ root, (n, r), and 1/D_c, (n,)."""
        code, others = self._split(x, origin, one)
        u = others.times(self._inverse.root) - self._level_part(code, self._inverse.root)
        return u, np.append(self._inverse_diagonal, 0.0)[code]

    def _level_part(self, code: NDArray[np.intp], matrix: Array) -> Array:
        """z_cᵀ matrix of rows, (n, r); 0 of the reference."""
        some, place = np.unique(code, return_inverse=True)
        known = some[some < len(self._weight)]
        z = Others(self._z.dense[known], self._z.few[known]).times(matrix)
        return np.asarray(np.vstack([z, np.zeros((1, matrix.shape[1]))])[place])

    @property
    def deficient(self) -> bool:
        if self.penalised or len(self._penalties[1]) > MOST_SOLVED:
            return False
        return bool(self._inverse.null.shape[1]) or not self._inverse_diagonal.all()

    def determined(self, x: Any) -> NDArray[np.bool_]:
        code, others = self._split(x, self.origin)
        if not self.deficient:
            return np.ones(len(code), np.bool_)
        null, d = self._inverse.null, others.dense.shape[1]
        part = others.times(null)
        size = np.abs(others.dense) @ np.abs(null[:d]) + abs(others.few) @ np.abs(null[d:])
        of_level = self._level_part(code, null)
        known = (np.abs(part - of_level) <= DETERMINED * (size + np.abs(of_level))).all(axis=1)
        return np.asarray(known & (np.append(self._inverse_diagonal, 1.0)[code] > 0))

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        found = np.ones(self.equations.p + self.has_intercept, np.bool_)
        if self.deficient:
            first = int(self.has_intercept)
            null = np.abs(self._null)
            found[first:] = (null <= DETERMINED * null.max(axis=0, initial=0.0)).all(axis=1)
            found[first:][self.equations.levels] &= self._inverse_diagonal > 0
            if first:
                found[0] = self.determined(np.zeros((1, self.equations.p)))[0]
        return found

    def remarks(self, terms: Any) -> Iterator[str]:
        """Say how many columns depend on others."""
        if self.deficient:
            p = self.equations.p
            yield f"{p - self.rank:,} of {p:,} terms are combinations of others"
