"""The end of a fit of a logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.remarks import dependence
from suffice.models.logistic.inference import Likelihood
from suffice.models.logistic.objective import Objective
from suffice.models.optimise.algebra import orthonormal
from suffice.models.optimise.newton import Point, inverse_root
from suffice.numerics.elementary import log
from suffice.numerics.linalg import Factor


@dataclass(frozen=True, eq=False)
class Fit:
    """The end of a solver.

    Parameters
    ----------
    coefficients : ndarray (m, D)
        Of rows z = (1, x − m).
    loss : float
        What was minimised, penalties included, in units of the columns.
    iterations : int
    gradient_norm : float
        Largest element of the gradient, as a fraction of that at 0.
    converged : bool
    parameters : int
        How many are free.
    undecided : bool
        Whether separation could not be ruled out.
    root : ndarray (q, mD), optional
        R with RᵀR = I(B)⁻¹, the inverse Fisher information, where the Hessian is known.
    dependence : tuple of str
        Of what other terms those are made that depend on others; without a penalty.
    loss_history : ndarray (passes,), optional
        Of gradient descent.
    """

    coefficients: NDArray[np.float64]
    loss: float
    iterations: int
    gradient_norm: float
    converged: bool
    parameters: int
    undecided: bool
    root: NDArray[np.float64] | None = None
    dependence: tuple[str, ...] = ()
    loss_history: NDArray[np.float64] | None = None

    @classmethod
    def at(
        cls, objective: Objective, point: Point, iterations: int, converged: bool, undecided: bool
    ) -> Fit:
        """The fit that ends at a point; where terms depend on others, of least norm."""
        coefficients = objective.centred.to_columns(objective.coefficients(point.x))
        root = None
        if point.hessian is not None and not objective.penalised:
            root = _root(objective, point.hessian)
        if objective.factor is not None and objective.dependent:
            shorten = _shortening(objective, objective.factor)
            coefficients = coefficients @ shorten
            if root is not None:
                rows = root.reshape(-1, len(shorten))
                root = (rows @ shorten).reshape(root.shape)
        return cls(
            coefficients,
            point.loss - objective.log_scale * objective.firth,
            iterations,
            objective.relative(point.gradient_norm),
            converged,
            objective.freedom,
            undecided,
            root,
            () if objective.penalised else tuple(_dependence(objective)),
        )

    def likelihood(self, objective: Objective) -> Likelihood:
        """Return how well a fit without an L2 penalty fits, and class frequencies alone."""
        weight = objective.class_weights * objective.seen.weight.value
        n, null = float(weight.sum()), None
        if not objective.firth:
            p = weight / n if objective.intercept else np.full(objective.k, 1.0 / objective.k)
            null = float(weight @ log(p))
        null_parameters = (objective.k - 1) * objective.intercept
        return Likelihood(-self.loss, null, n, self.parameters, null_parameters)


def _root(objective: Objective, hessian: NDArray[np.float64]) -> NDArray[np.float64]:
    """R (q, mD) with RᵀR = I(B)⁻¹, from the Hessian in free parameters."""
    free, m, width = inverse_root(hessian), objective.scores, objective.centred.width
    inner = np.zeros((len(free), objective.sides * width))
    inner[:, objective.free] = free
    root = inner.reshape(len(free), objective.sides, width) * objective.inverse_scale
    if objective.basis is not None:
        root = objective.basis @ root
    return objective.centred.to_columns(root.reshape(-1, width)).reshape(len(free), m * width)


def _shortening(objective: Objective, factor: Factor) -> NDArray[np.float64]:
    """The matrix (D, D) that B is multiplied by for the shortest B with the same scores.

    The length is in the units of the columns, without the intercept.
    """
    null = (factor.lower_inverse.hi[list(objective.dependent)] * factor.scale).T
    axes = orthonormal(null / np.linalg.norm(null, axis=0))
    moved = np.concatenate([np.zeros((1, axes.shape[1])), axes])
    if not (objective.intercept and objective.centred.is_sparse):
        return np.asarray(np.eye(len(moved)) - (moved @ moved.T))
    # Rows about 0: along an axis every score changes by the same.
    mean = objective.sums[:, 1:].sum(axis=0) / objective.sums[:, 0].sum()
    kept = np.concatenate([-(mean @ axes)[None], axes])
    return np.asarray(np.eye(len(moved)) - moved @ kept.T)


def _dependence(objective: Objective) -> Iterator[str]:
    """Say of terms that depend on others, or are constant, of what they are made."""
    constant = np.flatnonzero(objective.centred.column_scale == 0).tolist()
    dependent = sorted({*objective.dependent, *constant})
    if dependent:
        terms = objective.centred.design.terms
        yield from dependence(dependent, objective.factor, terms, objective.intercept)
