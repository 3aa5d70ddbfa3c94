"""Products and factors of small matrices on the way of a solver: fast, or in one order.

BLAS and LAPACK choose their loops by the processor, so the last bits of what they compute depend
on it. `IN_ORDER` gives the same bits everywhere.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, solve_triangular

from suffice.errors import DataError
from suffice.numerics.eigen import eigh
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
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

    def times(self, a: Any, b: Any) -> Any:
        """Return a b, of vectors or matrices, or of a matrix and each of a stack."""
        return a @ b

    def factored(self, hessian: Array) -> HessianFactor:
        """Factor a Hessian, scaled to a unit diagonal."""
        unit, scaled = _scaled(hessian)
        if not len(unit):
            return _Axes(self, unit, unit, scaled)
        try:
            lower = np.linalg.cholesky(scaled + np.diag(np.where(unit > 0, 0.0, 1.0)))
            if np.diagonal(lower).min() ** 2 > SINGULAR:
                return _Cholesky(_inverse(unit), lower)
        except LinAlgError:
            pass
        return _Axes.of(self, _inverse(unit), *np.linalg.eigh(scaled))

    def eigenvalues(self, hessian: Array) -> Array:
        """Return those of a symmetric matrix, the least first."""
        return np.asarray(np.linalg.eigvalsh(hessian), np.float64)

    def log_determinant(self, hessian: Array) -> float:
        """Return log det H."""
        return float(np.linalg.slogdet(hessian)[1])

    def root_of_inverse(self, hessian: Array) -> Array:
        """Return R (p, p) with R Rᵀ = H⁻¹."""
        inverse = self.factored(hessian).solve(np.eye(len(hessian)))
        return np.asarray(np.linalg.cholesky(inverse), np.float64)

    def orthonormal(self, a: Array) -> Array:
        """Return orthonormal columns that span those of a (n, q), which are independent."""
        return np.linalg.qr(a)[0]

    def on_both_sides(self, q: Array, tensor: Array) -> Array:
        """Return Σ_ab q_ar t_aibj q_bs of q (m, r) and t (m, D, m, D), (r, D, r, D)."""
        return np.asarray(np.einsum("ar,aibj,bs->risj", q, tensor, q, optimize=True))


class AlgebraInOrder(Algebra):
    """The same by loops of this library, which have one order on every processor."""

    def times(self, a: Any, b: Any) -> Any:
        """Return a b, of vectors or matrices, or of a matrix and each of a stack."""
        if b.ndim > 2:
            found = np.empty((len(b), len(a), b.shape[-1]))
            for product, each in zip(found, b, strict=True):
                product[...] = self.times(a, each)
            return found
        left, right = np.atleast_2d(a), b if b.ndim > 1 else b[:, None]
        product = linear(left, right)
        rows = product if a.ndim > 1 else product[0]
        return rows if b.ndim > 1 else rows[..., 0]

    def factored(self, hessian: Array) -> HessianFactor:
        """Factor a Hessian, scaled to a unit diagonal, in double-double."""
        unit, scaled = _scaled(hessian)
        if not len(unit):
            return _Axes(self, unit, unit, scaled)
        try:
            factor = factorise(_with_units(unit, scaled), SINGULAR)
            if not factor.dependent:
                return _Pairs(_inverse(unit), factor)
        except DataError:
            pass
        return _Axes.of(self, _inverse(unit), *eigh(scaled))

    def eigenvalues(self, hessian: Array) -> Array:
        """Return those of a symmetric matrix, the least first."""
        return eigh(hessian)[0]

    def log_determinant(self, hessian: Array) -> float:
        """Return log det H."""
        unit, scaled = _scaled(hessian)
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


def _scaled(hessian: Array) -> tuple[Array, Array]:
    """√diagonal, and the Hessian divided by it on both sides."""
    unit = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))  # rounding may leave less
    inverse_scale = _inverse(unit)
    return unit, hessian * inverse_scale * inverse_scale[:, None]


def _inverse(unit: Array) -> Array:
    return np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)


def _with_units(unit: Array, scaled: Array) -> DoubleDouble:
    """The scaled matrix, with 1 where the diagonal is 0."""
    return DoubleDouble.of(scaled + np.diag(np.where(unit > 0, 0.0, 1.0)))


class _Cholesky:
    """LLᵀ of the scaled matrix."""

    def __init__(self, inverse_scale: Array, lower: Array) -> None:
        self._inverse_scale, self._lower = inverse_scale, lower

    def solve(self, b: Array) -> Array:
        x = cho_solve((self._lower, True), (self._inverse_scale * b.T).T)
        return np.asarray((self._inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        scale = np.diag(self._inverse_scale)
        return np.asarray(solve_triangular(self._lower, scale, lower=True))

    @property
    def smallest_pivot(self) -> float:
        return float(np.diagonal(self._lower).min() ** 2)


class _Pairs:
    """LDLᵀ of the scaled matrix in double-double."""

    def __init__(self, inverse_scale: Array, factor: Factor) -> None:
        self._inverse_scale, self._factor = inverse_scale, factor

    def solve(self, b: Array) -> Array:
        columns = (self._inverse_scale * b.T).T.reshape(len(b), -1)
        x = self._factor.solve(DoubleDouble.of(columns)).value.reshape(b.shape)
        return np.asarray((self._inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray(self._factor.whitening.value * self._inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return float(self._factor.pivots.value.min())


class _Axes:
    """Eigenvalues and eigenvectors of a singular matrix, those of its range."""

    def __init__(self, algebra: Algebra, inverse_scale: Array, values: Array, axes: Array) -> None:
        self._algebra, self._inverse_scale = algebra, inverse_scale
        self._values, self._axes = values, axes

    @classmethod
    def of(cls, algebra: Algebra, inverse_scale: Array, values: Array, axes: Array) -> _Axes:
        used = values > SINGULAR * values[-1]
        return cls(algebra, inverse_scale, values[used], axes[:, used])

    def solve(self, b: Array) -> Array:
        times = self._algebra.times
        x = times(self._axes / self._values, times(self._axes.T, (self._inverse_scale * b.T).T))
        return np.asarray((self._inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray((self._axes / np.sqrt(self._values)).T * self._inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return 0.0
