"""Anderson's acceleration: where the steps of a fixed-point iteration lead.

Source: D. G. Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import factorise, product

__all__ = ["Path"]

STEPS_KEPT = 10  # steps that are looked back on
KEPT = 2  # of them, after they misled
DEPENDENT = 1e-20  # a change of whose square so little is its own is left out

Array = NDArray[np.float64]


class Path(NamedTuple):
    """The last points θ and the steps f = M(θ) − θ from there, which tell where they lead.

    Examples
    --------
    The fixed point of M(θ) = θ/2 + 1, from two of its steps:

    >>> path = Path([], [])
    >>> path.extrapolated(np.array([0.0]), np.array([1.0]))
    >>> path.extrapolated(np.array([1.0]), np.array([1.5]))
    array([2.])
    """

    points: list[Array]
    steps: list[Array]

    def extrapolated(self, at: Array, following: Array) -> Array | None:
        """M(θ) − Σ γ(Δθ + Δf) over the differences of the path, where γ minimises |f − Σ γΔf|.

        Parameters
        ----------
        at, following : ndarray (q,)
            θ and M(θ), which join the path.

        Returns
        -------
        ndarray (q,) or None
            None if there is one point only.
        """
        target = following
        self.points.append(at)
        self.steps.append(target - at)
        self.forget(STEPS_KEPT)
        if len(self.points) == 1:
            return None
        moves, turns = np.diff(self.points, axis=0), np.diff(self.steps, axis=0)
        for gamma, change in zip(_fit(turns, self.steps[-1]), moves + turns, strict=True):
            target = target - gamma * change
        return target

    def forget(self, kept: int = KEPT) -> None:
        """Keep the last differences only."""
        del self.points[: -kept - 1], self.steps[: -kept - 1]


def _fit(turns: Array, step: Array) -> list[float]:
    """The γ (m,) of the least |f − Σ γΔf|, f (q,) and Δf (m, q), by normal equations in pairs."""
    rows, right = DoubleDouble.of(turns), DoubleDouble.of(step[:, None])
    columns = DoubleDouble(rows.hi.T, rows.lo.T)
    factor = factorise(product(rows, columns), DEPENDENT)
    solution: list[float] = factor.solve(product(rows, right)).value[:, 0].tolist()
    return solution
