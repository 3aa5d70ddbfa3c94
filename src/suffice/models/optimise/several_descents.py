"""Many convex functions that descend together: one pass over the rows for a step of all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from suffice.models.optimise.newton import MEMORY, Inverse, Point, two_loops
from suffice.models.optimise.tolerances import ARMIJO, LOSS_ROUNDING

__all__ = ["Descent", "descend_together"]

MOST_STEPS = 30  # of one that starts near its minimum


@dataclass(eq=False)
class Descent:
    """One function, from a start near its minimum.

    Parameters
    ----------
    point : Point
        Where it is.
    inverse : callable
        Multiplies a vector (p,) by the inverse of a guess of its Hessian.
    enough : float
        The largest element of a gradient to stop at.
    """

    point: Point
    inverse: Inverse
    enough: float
    iterations: int = 0
    lost: bool = False
    _steps: deque[tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        default_factory=lambda: deque(maxlen=MEMORY)
    )

    @property
    def ended(self) -> bool:
        """Whether the minimum is reached."""
        return self.point.gradient_norm <= self.enough

    @property
    def trial(self) -> NDArray[np.float64]:
        """Where it looks next, (p,)."""
        return self.point.x - two_loops(self.point.gradient, self._steps, self.inverse)

    def move(self, trial: Point) -> None:
        """Step there; it is lost where that does not lead far enough down."""
        step, change = trial.x - self.point.x, trial.gradient - self.point.gradient
        slope = float(self.point.gradient @ step)
        noise = LOSS_ROUNDING * abs(self.point.loss)
        lower = trial.loss <= self.point.loss + ARMIJO * slope + noise
        flatter = abs(float(trial.gradient @ step)) <= -slope
        self.iterations += 1
        self.lost = not (slope < 0 and lower and flatter and self.iterations < MOST_STEPS)
        if float(step @ change) > 0:
            self._steps.append((step, change))
        self.point = trial


def descend_together(
    descents: Sequence[Descent],
    evaluate: Callable[[dict[int, NDArray[np.float64]]], dict[int, Point]],
) -> int:
    """Take steps of L-BFGS, of all at once, until each has ended or is lost.

    Parameters
    ----------
    descents : sequence of Descent
        Which are changed.
    evaluate : callable
        The functions with these numbers at these x: one pass over the rows.

    Returns
    -------
    int
        How many passes there were.
    """
    passes = 0
    while waiting := {i: d.trial for i, d in enumerate(descents) if not (d.ended or d.lost)}:
        for i, trial in evaluate(waiting).items():
            descents[i].move(trial)
        passes += 1
    return passes
