"""Factors of Hessians on the way of a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, helmert, solve_triangular
from scipy.linalg.lapack import dpotrs

from suffice.numerics.interruption import interruptible

RIDGE = 1e-11  # that is added to a unit diagonal, where eigenvectors would take too long
SINGULAR = 1e-14  # fraction of the largest eigenvalue, of a Hessian scaled to a unit diagonal

Array = NDArray[np.float64]


class HessianFactor(Protocol):
    """A factor of a positive semidefinite matrix H (p, p)."""

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


def factored(hessian: Array) -> HessianFactor:
    """Factor a Hessian, scaled to a unit diagonal."""
    unit, inverse_scale, scaled = _scaled(hessian)
    if not len(unit):
        return _Axes(unit, unit, scaled)
    try:
        lower = interruptible(np.linalg.cholesky, scaled + np.diag(np.where(unit > 0, 0.0, 1.0)))
        if np.diagonal(lower).min() ** 2 > SINGULAR:
            return _Cholesky(inverse_scale, lower)
    except LinAlgError:
        pass
    return _Axes.of(inverse_scale, *interruptible(np.linalg.eigh, scaled))


def solved(hessian: Array, b: Array) -> Array:
    """Return H⁻¹ b; of a singular H nearly so, by a little more on its diagonal."""
    unit, inverse_scale, scaled = _scaled(hessian)
    diagonal = np.where(unit > 0, 0.0, 1.0)
    for ridge in (0.0, RIDGE):
        try:
            raised = scaled + np.diag(diagonal + ridge)
            lower = np.asarray(interruptible(np.linalg.cholesky, raised), np.float64)
        except LinAlgError:
            continue
        if ridge or np.diagonal(lower).min(initial=1.0) ** 2 > SINGULAR:
            return _Cholesky(inverse_scale, lower).solve(b)
    return factored(hessian).solve(b)


def eigenvalues(hessian: Array) -> Array:
    return np.asarray(interruptible(np.linalg.eigvalsh, hessian), np.float64)


def eigenvectors(matrix: Array) -> tuple[Array, Array]:
    values, vectors = interruptible(np.linalg.eigh, matrix)
    return values, vectors


def log_determinant(hessian: Array) -> float:
    return float(interruptible(np.linalg.slogdet, hessian)[1])


def root_of_inverse(hessian: Array) -> Array:
    """Return R (p, p) with R Rᵀ = H⁻¹."""
    inverse = factored(hessian).solve(np.eye(len(hessian)))
    return np.asarray(interruptible(np.linalg.cholesky, inverse), np.float64)


def orthonormal(a: Array) -> Array:
    """Return orthonormal columns that span those of a (n, q), which are independent."""
    return interruptible(np.linalg.qr, a)[0]


def orthonormal_contrasts(k: int) -> Array:
    """Return an orthonormal basis (k, k − 1) of the vectors that sum to zero.

    Examples
    --------
    >>> (orthonormal_contrasts(3) * 6**0.5).round(9)
    array([[ 1.73205081,  1.        ],
           [-1.73205081,  1.        ],
           [ 0.        , -2.        ]])
    """
    return np.asarray(helmert(k).T, np.float64)


def on_both_sides(q: Array, tensor: Array) -> Array:
    """Return Σ_ab q_ar t_aibj q_bs of q (m, r) and t (m, D, m, D), (r, D, r, D)."""
    return np.asarray(np.einsum("ar,aibj,bs->risj", q, tensor, q, optimize=True))


def _scaled(hessian: Array) -> tuple[Array, Array, Array]:
    """√diagonal, its inverse or 0, and the Hessian divided by it on both sides."""
    unit = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))  # rounding may leave less
    inverse_scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    return unit, inverse_scale, hessian * inverse_scale * inverse_scale[:, None]


@dataclass(frozen=True, eq=False)
class _Cholesky:
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
class _Axes:
    inverse_scale: Array
    values: Array
    axes: Array

    @classmethod
    def of(cls, inverse_scale: Array, values: Array, axes: Array) -> _Axes:
        used = values > SINGULAR * values[-1]
        return cls(inverse_scale, values[used], axes[:, used])

    def solve(self, b: Array) -> Array:
        x = (self.axes / self.values) @ (self.axes.T @ (self.inverse_scale * b.T).T)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray((self.axes / np.sqrt(self.values)).T * self.inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return 0.0
