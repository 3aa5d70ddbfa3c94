"""Gradient descent: convex losses of many rows by small steps, for those who want to see them.

Coefficients v (m, 1 + p) are those of standardised columns, the intercept first. What is minimised
is a mean over rows plus a penalty; `suffice.models.linear.descent` and
`suffice.models.logistic.descent` say which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.models.optimise.descent_options import GradientDescent
from suffice.models.optimise.tolerances import ARMIJO, HALVINGS, LOSS_ROUNDING
from suffice.numerics.exact import SQUARABLE
from suffice.rules import NONNEGATIVE, Shape, check_form

__all__ = [
    "PARTS",
    "Array",
    "Convex",
    "Evaluate",
    "Iterates",
    "Loss",
    "OptimizerState",
    "Quadratic",
    "by_batch",
]


PARTS = 64  # parts of an array, whatever the threads, so that these change no bit
LONGER = 100.0  # times the last step that the next may be


# -- by all rows

Array = NDArray[np.float64]
Evaluate = Callable[[Array], tuple[Array, Array]]
"""Losses (t,) and their gradients (t, D) at v (t, D)."""


@dataclass(frozen=True, eq=False)
class OptimizerState:
    """Where a descent has got to.

    Parameters
    ----------
    v : ndarray (m, D)
        Coefficients.
    velocity : ndarray (m, D)
        d, the last step.
    epochs : int
        How many are over.
    """

    v: Annotated[Array, Shape("m", "D"), SQUARABLE]
    velocity: Annotated[Array, Shape("m", "D"), SQUARABLE]
    epochs: Annotated[int, NONNEGATIVE]

    def __post_init__(self) -> None:
        check_form(self)

    @classmethod
    def start(cls, v: Array) -> OptimizerState:
        """At rest at v."""
        return cls(v, np.zeros_like(v), 0)


Iterates = Iterator[tuple[OptimizerState, Array, Array | None]]
"""States at the start and after every epoch, losses (t,), and gradients (t, D) where known."""


class Loss(Protocol):
    """Convex functions of the rows of v (t, D), one for each row."""

    @property
    def steepness(self) -> float:
        """Largest second derivative of the loss of a row by its scores, times the mean of |z|²."""

    @property
    def evaluate(self) -> Evaluate:
        """The functions and their gradients."""

    def along(
        self, v: Array, loss: Array, g: Array, d: Array, length: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Step from v along d, ``length`` (t,) long to begin with.

        Returns
        -------
        d, loss, g : ndarray
            The step taken, and the functions and gradients where it ends.
        length : ndarray (t,)
            How long to begin with next time.
        """


@dataclass(frozen=True)
class Quadratic:
    """Quadratics, whose minimum along a step is known from the gradients at two points.

    The gradient is affine, so g(v + d) − g(v) = Hd, and along the step α = −gᵀd/dᵀHd the loss
    changes by ½ α gᵀd, which is never more than 0.

    Examples
    --------
    >>> from itertools import islice
    >>> bowl = Quadratic(lambda v: (0.5 * (v * v).sum(axis=1), v))
    >>> iterates = by_batch(bowl, np.ones((1, 1)), GradientDescent())
    >>> [(at.v.item(), loss.item()) for at, loss, _ in islice(iterates, 2)]
    [(1.0, 0.5), (0.0, 0.0)]
    """

    evaluate: Evaluate
    steepness: float = 1.0

    def along(
        self, v: Array, loss: Array, g: Array, d: Array, length: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Step to the minimum along d; the length does not matter."""
        bent = self.evaluate(v + d)[1] - g
        slope, curvature = (g * d).sum(axis=1), (d * bent).sum(axis=1)
        alpha = np.divide(-slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        step = alpha[:, None] * d
        return step, loss + 0.5 * alpha * slope, g + alpha[:, None] * bent, length


@dataclass(frozen=True)
class Convex:
    """One convex function: a step is shortened until the function is low enough at its end.

    ::

        f(v + αd) ≤ f(v) + c α gᵀd        c = 10⁻⁴

    The slope at the end says where a quadratic would have its minimum along d; there the search
    goes on, and with that length the next begins.

    Source: J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed. (2006), algorithm 3.1 with
    c = 10⁻⁴; J. Barzilai and J. M. Borwein, Two-point step size gradient methods (1988), eq. 6.

    Examples
    --------
    >>> from itertools import islice
    >>> cosh = Convex(lambda v: (np.cosh(v).sum(axis=1), np.sinh(v)))
    >>> iterates = by_batch(cosh, np.full((1, 1), 2.0), GradientDescent())
    >>> [round(loss.item(), 6) for _, loss, _ in islice(iterates, 5)]
    [3.762196, 2.642211, 1.013838, 1.001751, 1.0]
    """

    evaluate: Evaluate
    steepness: float = 1.0

    def along(
        self, v: Array, loss: Array, g: Array, d: Array, length: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Step along d, or along −g where that leads up."""
        slope = float((g * d).sum())
        if slope >= 0.0:
            d, slope = -g, -float((g * g).sum())
        if slope == 0.0:
            return np.zeros_like(d), loss, g, length
        alpha, noise = float(length[0]), LOSS_ROUNDING * abs(float(loss[0]))
        for _ in range(HALVINGS):
            there, bent = self.evaluate(v + alpha * d)
            bend = float((bent * d).sum()) - slope
            best = -alpha * slope / bend if bend > 0.0 else np.inf
            if there[0] <= loss[0] + ARMIJO * alpha * slope + noise:
                return alpha * d, there, bent, np.array([min(best, LONGER * alpha)])
            alpha = min(max(best, 0.1 * alpha), 0.5 * alpha)
        return np.zeros_like(d), loss, g, length


def by_batch(function: Loss, start: Array, how: GradientDescent) -> Iterates:
    """Yield the states of descent by the gradient over all rows."""
    rate = how.rate_for("gradient")
    loss, g = function.evaluate(start)
    at, length = OptimizerState.start(start), np.full(len(start), 1.0 / function.steepness)
    while True:
        yield at, loss, g
        if rate == "line_search":
            d = how.momentum * at.velocity - g
            d, loss, g, length = function.along(at.v, loss, g, d, length)
            at = OptimizerState(at.v + d, d, at.epochs + 1)
        else:
            step = how.eta(at.epochs, function.steepness, rate) * g
            d = how.momentum * at.velocity - step
            v = at.v + (how.momentum * d - step if how.nesterov else d)
            at = OptimizerState(v, d, at.epochs + 1)
            loss, g = function.evaluate(v)
