"""Products and factors of small matrices on the way of a solver: fast, or in one order.

BLAS and LAPACK choose their loops by the processor, so the last bits of what they compute depend
on it. `IN_ORDER` gives the same bits everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import matmul
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrs

from suffice.errors import DataError
from suffice.numerics.eigen import eigh
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import Factor, factorise
from suffice.numerics.rows import linear

__all__ = ["BLAS", "IN_ORDER", "Algebra", "HessianFactor"]

SINGULAR = 1e-14  # fraction of the largest eigenvalue, of a Hessian scaled to a unit diagonal

Array = NDArray[np.float64]


class HessianFactor(Protocol):
    """What is known of a positive semidefinite matrix H (p, p)."""

    def solve(self, b: Array) -> Array:
        """Return H⁻¹ b, of (p,) or (p, t); for a singular H, the shortest, scaled as H is."""
        ...

    def inverse_root(self) -> Array:
        """Return R (q, p) with RᵀR = H⁻¹, of a singular H as in `solve`."""
        ...

    @property
    def smallest_pivot(self) -> float:
        """The least part of a diagonal element that earlier rows leave over; 0 of a singular H."""
        ...


class Algebra:
    """Products by BLAS, factors by LAPACK."""

    times = staticmethod(matmul)
    """Return a b, of vectors or matrices, or of a matrix and each of a stack."""

    def factored(self, hessian: Array) -> HessianFactor:
        """Factor a Hessian, scaled to a unit diagonal."""
        unit, inverse_scale, scaled = _scaled(hessian)
        if not len(unit):
            return _Axes(self, unit, unit, scaled)
        try:
            lower = interruptible(
                np.linalg.cholesky, scaled + np.diag(np.where(unit > 0, 0.0, 1.0))
            )
            if np.diagonal(lower).min() ** 2 > SINGULAR:
                return _Cholesky(inverse_scale, lower)
        except LinAlgError:
            pass
        return _Axes.of(self, inverse_scale, *interruptible(np.linalg.eigh, scaled))

    def eigenvalues(self, hessian: Array) -> Array:
        """Return those of a symmetric matrix, the least first."""
        return np.asarray(interruptible(np.linalg.eigvalsh, hessian), np.float64)

    def log_determinant(self, hessian: Array) -> float:
        """Return log det H."""
        return float(interruptible(np.linalg.slogdet, hessian)[1])

    def root_of_inverse(self, hessian: Array) -> Array:
        """Return R (p, p) with R Rᵀ = H⁻¹."""
        inverse = self.factored(hessian).solve(np.eye(len(hessian)))
        return np.asarray(interruptible(np.linalg.cholesky, inverse), np.float64)

    def orthonormal(self, a: Array) -> Array:
        """Return orthonormal columns that span those of a (n, q), which are independent."""
        return interruptible(np.linalg.qr, a)[0]

    def on_both_sides(self, q: Array, tensor: Array) -> Array:
        """Return Σ_ab q_ar t_aibj q_bs of q (m, r) and t (m, D, m, D), (r, D, r, D)."""
        return np.asarray(np.einsum("ar,aibj,bs->risj", q, tensor, q, optimize=True))


def _times_in_order(a: Any, b: Any) -> Any:
    if b.ndim > 2:
        found = np.empty((len(b), len(a), b.shape[-1]))
        for product, each in zip(found, b, strict=True):
            product[...] = _times_in_order(a, each)
        return found
    left, right = np.atleast_2d(a), b if b.ndim > 1 else b[:, None]
    product = linear(left, right)
    rows = product if a.ndim > 1 else product[0]
    return rows if b.ndim > 1 else rows[..., 0]


class AlgebraInOrder(Algebra):
    """The same by loops of this library, which have one order on every processor."""

    times = staticmethod(_times_in_order)

    def factored(self, hessian: Array) -> HessianFactor:
        """Factor a Hessian, scaled to a unit diagonal, in double-double."""
        unit, inverse_scale, scaled = _scaled(hessian)
        if not len(unit):
            return _Axes(self, unit, unit, scaled)
        try:
            factor = factorise(_with_units(unit, scaled), SINGULAR)
            if not factor.dependent:
                return _Pairs(inverse_scale, factor)
        except DataError:
            pass
        return _Axes.of(self, inverse_scale, *eigh(scaled))

    def eigenvalues(self, hessian: Array) -> Array:
        """Return those of a symmetric matrix, the least first."""
        return eigh(hessian)[0]

    def log_determinant(self, hessian: Array) -> float:
        """Return log det H."""
        unit, _, scaled = _scaled(hessian)
        return float(factorise(DoubleDouble.of(scaled)).log_determinant + 2 * log(unit).sum())

    def root_of_inverse(self, hessian: Array) -> Array:
        """Return R (p, p) with R Rᵀ = H⁻¹."""
        return self.factored(hessian).inverse_root().T

    def orthonormal(self, a: Array) -> Array:
        """Return orthonormal columns that span those of a (n, q), which are independent."""
        for _ in range(2):  # the second time for what rounding left of the first
            a = self.times(a, self.factored(self.times(a.T, a)).inverse_root().T)
        return a

    def on_both_sides(self, q: Array, tensor: Array) -> Array:
        """Return Σ_ab q_ar t_aibj q_bs of q (m, r) and t (m, D, m, D), (r, D, r, D)."""
        m, width = tensor.shape[:2]
        left = self.times(q.T, tensor.reshape(m, -1)).reshape(-1, width, m, width)
        rows = left.transpose(0, 1, 3, 2).reshape(-1, m)
        both = self.times(rows, q).reshape(-1, width, width, q.shape[1])
        return np.asarray(both.transpose(0, 1, 3, 2))


BLAS, IN_ORDER = Algebra(), AlgebraInOrder()


def _scaled(hessian: Array) -> tuple[Array, Array, Array]:
    """√diagonal, its inverse or 0, and the Hessian divided by it on both sides."""
    unit = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))  # rounding may leave less
    inverse_scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    return unit, inverse_scale, hessian * inverse_scale * inverse_scale[:, None]


def _with_units(unit: Array, scaled: Array) -> DoubleDouble:
    """The scaled matrix, with 1 where the diagonal is 0."""
    return DoubleDouble.of(scaled + np.diag(np.where(unit > 0, 0.0, 1.0)))


@dataclass(frozen=True, eq=False)
class _Cholesky:
    """LLᵀ of the scaled matrix."""

    inverse_scale: Array
    lower: Array

    def solve(self, b: Array) -> Array:
        x, _ = dpotrs(self.lower, (self.inverse_scale * b.T).T, lower=True)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        scale = np.diag(self.inverse_scale)
        return np.asarray(interruptible(solve_triangular, self.lower, scale, lower=True))

    @property
    def smallest_pivot(self) -> float:
        return float(np.diagonal(self.lower).min() ** 2)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """LDLᵀ of the scaled matrix in double-double."""

    inverse_scale: Array
    factor: Factor

    def solve(self, b: Array) -> Array:
        columns = (self.inverse_scale * b.T).T.reshape(len(b), -1)
        x = self.factor.solve(DoubleDouble.of(columns)).value.reshape(b.shape)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray(self.factor.whitening.value * self.inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return float(self.factor.pivots.value.min())


@dataclass(frozen=True, eq=False)
class _Axes:
    """Eigenvalues and eigenvectors of a singular matrix, those of its range."""

    algebra: Algebra
    inverse_scale: Array
    values: Array
    axes: Array

    @classmethod
    def of(cls, algebra: Algebra, inverse_scale: Array, values: Array, axes: Array) -> _Axes:
        used = values > SINGULAR * values[-1]
        return cls(algebra, inverse_scale, values[used], axes[:, used])

    def solve(self, b: Array) -> Array:
        times = self.algebra.times
        x = times(self.axes / self.values, times(self.axes.T, (self.inverse_scale * b.T).T))
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray((self.axes / np.sqrt(self.values)).T * self.inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return 0.0
