"""Factors of Hessians on the way of a solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrs

from suffice.numerics.interruption import interruptible

RIDGE = 1e-11  # that is added to a unit diagonal, where eigenvectors would take too long
SINGULAR = 1e-14  # fraction of the largest eigenvalue, of a Hessian scaled to a unit diagonal

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cholesky:
    """H (p, p) = S L Lᵀ S, positive definite, with S the roots of its diagonal."""

    inverse_scale: Array  # 1/S, (p,)
    lower: Array  # L

    def solve(self, b: Array) -> Array:
        """Return H⁻¹ b, of (p,) or (p, t)."""
        x, _ = dpotrs(self.lower, (self.inverse_scale * b.T).T, lower=True)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        """Return R (q, p) with RᵀR = H⁻¹."""
        scale = np.diag(self.inverse_scale)
        return np.asarray(interruptible(solve_triangular, self.lower, scale, lower=True))

    @property
    def smallest_pivot(self) -> float:
        """The least part of a diagonal element that earlier rows leave over; 0 of a singular H."""
        return float(np.diagonal(self.lower).min() ** 2)


@dataclass(frozen=True, eq=False)
class Axes:
    """H (p, p) = S V diag(λ) Vᵀ S of rank q < p: solutions are the shortest in units of 1/S."""

    inverse_scale: Array  # 1/S, (p,)
    values: Array  # λ > 0, (q,)
    axes: Array  # V, (p, q)

    def solve(self, b: Array) -> Array:
        x = (self.axes / self.values) @ (self.axes.T @ (self.inverse_scale * b.T).T)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray((self.axes / np.sqrt(self.values)).T * self.inverse_scale)

    @property
    def smallest_pivot(self) -> float:
        return 0.0


def factored(hessian: Array) -> Cholesky | Axes:
    """Factor a positive semidefinite matrix (p, p), scaled to a unit diagonal.

    Examples
    --------
    >>> factored(np.diag([4.0, 1e-12])).solve(np.array([8.0, 1e-12]))
    array([2., 1.])
    >>> factored(np.diag([4.0, 0.25])).inverse_root()
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    unit, inverse_scale, scaled = _scaled(hessian)
    if not len(unit):
        return Axes(unit, unit, scaled)
    try:
        lower = interruptible(np.linalg.cholesky, scaled + np.diag(np.where(unit > 0, 0.0, 1.0)))
        if np.diagonal(lower).min() ** 2 > SINGULAR:
            return Cholesky(inverse_scale, lower)
    except LinAlgError:
        pass
    values, axes = interruptible(np.linalg.eigh, scaled)
    used = values > SINGULAR * values[-1]
    return Axes(inverse_scale, values[used], axes[:, used])


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
            return Cholesky(inverse_scale, lower).solve(b)
    return factored(hessian).solve(b)


def _scaled(hessian: Array) -> tuple[Array, Array, Array]:
    """√diagonal, its inverse or 0, and the Hessian divided by it on both sides."""
    unit = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))  # rounding may leave less
    inverse_scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    return unit, inverse_scale, hessian * inverse_scale * inverse_scale[:, None]
