"""Penalties of coefficients: of their squares, of their absolute values, or of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import warn
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.level_rows import LevelLeastSquares
from suffice.models.linear.rows import Equations, Fit, RowLeastSquares

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """Σⱼ λⱼwⱼ² + 2 Σⱼ cⱼ|wⱼ|, which is added to the sum of squares.

    ::

        λ = να(1 − ρ)u²     c = ναρu

    with u = 1, or the standard deviations of the columns; and ν = 1, or the weight n of the rows,
    where α is beside Σ(y − b − xᵀw)²/(2n).
    """

    alpha: float | Literal["gcv"] = 0.0  # α, or how it is chosen
    standardize: bool = False  # whether u are standard deviations
    l1_ratio: float = 0.0  # ρ
    of_mean: bool = False  # whether ν is n
    tolerance: float = 1e-12
    max_sweeps: int = 1_000

    def _factor(self, equations: Equations, alpha: float) -> float:
        return alpha * (equations.rows if self.of_mean else 1.0)

    def squares(self, equations: Equations, alpha: float) -> Array:
        """Return λ, what the square of every coefficient costs, (p,)."""
        u2 = equations.variance if self.standardize else np.ones(equations.p)
        return np.asarray(self._factor(equations, alpha) * (1.0 - self.l1_ratio) * u2)

    def costs(self, equations: Equations, alpha: float) -> Array:
        """Return c, half of what its absolute value costs, (p,)."""
        u = np.sqrt(equations.variance) if self.standardize else np.ones(equations.p)
        return np.asarray(self._factor(equations, alpha) * self.l1_ratio * u)

    def minimum(
        self, equations: Equations, alpha: float, positive: bool, start: Array | None = None
    ) -> Fit:
        """Return the coefficients of the least sum; a descent begins at those given, (p, t)."""
        squares, costs = self.squares(equations, alpha), self.costs(equations, alpha)
        if positive or costs.any():
            from suffice.models.linear.l1 import l1_fit  # which takes SciPy

            ends = {"tolerance": self.tolerance, "max_sweeps": self.max_sweeps}
            return l1_fit(equations, squares, costs, positive, start=start, **ends)
        if isinstance(equations, NormalEquations):
            return LeastSquares(equations, squares)
        has_levels = equations.levels.stop > equations.levels.start
        return (LevelLeastSquares if has_levels else RowLeastSquares)(equations, squares)

    def fit(self, equations: Equations, alpha: float, positive: bool) -> Fit:
        """Return the minimum, with a warning if it was not reached."""
        found = self.minimum(equations, alpha, positive)
        if not found.converged:
            warn(
                f"coordinate descent did not converge in {self.max_sweeps} sweeps; raise max_iter, "
                "or alpha.",
                convergence_warning(),
            )
        return found
