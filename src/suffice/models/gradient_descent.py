"""Gradient descent: convex losses of many rows by small steps, for those who want to see them.

Coefficients v (m, 1 + p) are those of standardised columns, the intercept first. What is minimised
is a mean over rows plus a penalty; `suffice.models.linear_descent` and
`suffice.models.logistic_descent` say which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError

__all__ = [
    "PARTS",
    "SINGLE_ROWS",
    "STEPS",
    "Array",
    "Convex",
    "Course",
    "Descent",
    "Evaluate",
    "GradientDescent",
    "Loss",
    "Quadratic",
    "Steps",
    "Walk",
    "by_batch",
    "check_descent",
    "descended",
]

LearningRate = Literal["auto", "line_search", "averaged", "constant", "decaying"]
Sampling = Literal["shuffle", "replace"]
Steps = Literal["gradient", "sgd", "minibatch"]
STEPS: tuple[str, ...] = get_args(Steps)
SINGLE_ROWS = ("sgd", "minibatch")  # those that can go on with further rows

PARTS = 64  # parts of an array, whatever the threads, so that these change no bit
DIVERGED = 1e4  # times the loss at the start
SLOWLY = 0.01  # how fast the rate of averaged steps falls
SMALL = {"gradient": 1e-8, "sgd": 1e-3, "minibatch": 1e-3}  # share of a gradient to stop at
ENOUGH = 1e-4  # share of the decrease promised by the slope that a step must bring
ROUNDING = 1e-14  # share of the loss that may be noise
LONGER = 100.0  # times the last step that the next may be
HALVINGS = 60


@dataclass(frozen=True)
class GradientDescent:
    """How to descend. An epoch is one step by all rows, or one round of steps by some at a time.

    Parameters
    ----------
    learning_rate : {"auto", "line_search", "averaged", "constant", "decaying"}
        η in epoch e = 0, 1, ...: by a line search (solver "gradient" only); η₀/√(1 + e/100), the
        coefficients being an average over all steps ("sgd" and "minibatch" only); η₀; or
        η₀/(1 + decay · e). "auto" is "line_search" for "gradient", "averaged" for a fit by the
        others, and "decaying" for their ``partial_fit``.
    eta0 : float, optional
        η₀, for standardised columns; default: 1/(2h(1 + p)), half the inverse of the mean of |z|²
        times the largest second derivative h of the loss of a row: 1 for squared errors, ¼ for the
        logistic loss of two classes and ½ for more.
    decay : float
        0 or more.
    momentum : float
        β, from 0 to less than 1: v ← v + d with d ← βd − ηg.
    nesterov : bool
        Step by βd − ηg with that d (Nesterov's method); not with a line search.
    sampling : {"shuffle", "replace"}
        For "sgd" and "minibatch": every row once, or rows drawn with replacement.
    batch_size : int
        Rows of a step of "minibatch".
    tol : float, optional
        Where to stop: where the gradient of the loss of all rows is this share of that at v = 0;
        default: 1e-8 for "gradient", 1e-3 for the others. With 0, at ``max_iter``.
    max_iter : int
        Most epochs.
    random_state : int
        Seed of the order of rows; the threads do not matter.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Notes
    -----
    Rows are shuffled within batches of at most 65,536, and the splits of the source (its row
    groups, files or slices) are visited in a new order in every epoch. Sort no file by its target.

    Steps after single rows go on wandering about the minimum. Their average does not: epoch e
    weighs (e + 1)(e + 2)(e + 3) in it, so that the way to the minimum is forgotten. Whether to stop
    is decided by the gradient over all rows, without noise, and looked at in epochs that are ever
    further apart; a ``ConvergenceWarning`` says where ``max_iter`` came first.

    The line search finds the minimum of a quadratic along the step, from one pass over the rows.
    The logistic loss is no quadratic: a step is shortened until it brings enough of what the slope
    promises (Armijo's condition), and the next is tried with the length that would have been best,
    so that one pass is most often enough.

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.22 and 5.41 to
    5.43; Y. Nesterov, A method of solving a convex programming problem with convergence rate
    O(1/k²) (1983); L. Bottou, F. E. Curtis and J. Nocedal, Optimization methods for large-scale
    machine learning (2018), section 4; B. T. Polyak and A. B. Juditsky, Acceleration of stochastic
    approximation by averaging (1992); O. Shamir and T. Zhang, Stochastic gradient descent for
    non-smooth optimization (2013), section 4; J. Nocedal and S. J. Wright, Numerical Optimization,
    2nd ed. (2006), algorithm 3.1; J. Barzilai and J. M. Borwein, Two-point step size gradient
    methods (1988), eq. 6.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression(solver="gradient")
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]).coef_.round(9)
    array([2.])
    """

    learning_rate: LearningRate = "auto"
    eta0: float | None = None
    decay: float = 1.0
    momentum: float = 0.0
    nesterov: bool = False
    sampling: Sampling = "shuffle"
    batch_size: int = 32
    tol: float | None = None
    max_iter: int = 1_000
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("learning_rate", LearningRate), ("sampling", Sampling)):
            _require(self, name, self._of(name) in get_args(allowed), f"one of {get_args(allowed)}")
        for name, least in (("batch_size", 1), ("max_iter", 1), ("random_state", 0)):
            whole = isinstance(self._of(name), Integral) and self._of(name) >= least
            _require(self, name, whole, f"a whole number, {least} or more")
        eta0 = 1.0 if self.eta0 is None else self.eta0
        _require(self, "eta0", _is_real(eta0) and eta0 > 0, "a finite number above 0")
        for name in ("decay", "tol"):
            valid = _is_real(self._of(name)) and self._of(name) >= 0
            unset = name == "tol" and self.tol is None
            _require(self, name, valid or unset, "a finite number, 0 or more")
        valid = _is_real(self.momentum) and 0 <= self.momentum < 1
        _require(self, "momentum", valid, "from 0 to less than 1")

    def _of(self, name: str) -> Any:
        return getattr(self, name)

    def size(self, steps: Steps) -> int:
        """Rows of a step of "sgd" or "minibatch"."""
        return 1 if steps == "sgd" else self.batch_size

    def rate_for(self, steps: Steps) -> LearningRate:
        """The learning rate that "auto" stands for.

        Raises
        ------
        ParameterError
            If a line search, or an average, is asked for where there is none.
        """
        searched = self.learning_rate == "line_search"
        if searched and steps != "gradient":
            raise ParameterError(
                f"learning_rate='line_search' with solver={steps!r}",
                "a line search needs the loss of all rows",
                "use solver='gradient', or learning_rate='decaying'",
            )
        if self.learning_rate == "averaged" and steps == "gradient":
            raise ParameterError(
                "learning_rate='averaged' with solver='gradient'",
                "steps by all rows have no noise to average",
                "use learning_rate='line_search'",
            )
        if self.learning_rate != "auto":
            rate = self.learning_rate
        else:
            rate = "line_search" if steps == "gradient" else "averaged"
        if self.nesterov and rate == "line_search":
            raise ParameterError(
                "nesterov=True with a line search",
                "Nesterov's step has a given length",
                "use learning_rate='constant'",
            )
        return rate

    def for_stream(self) -> GradientDescent:
        """The same for rows that come in batches, each call being an epoch.

        Raises
        ------
        ParameterError
            If an average over epochs is asked for.
        """
        if self.learning_rate == "averaged":
            raise ParameterError(
                "learning_rate='averaged' with partial_fit",
                "what is averaged are epochs of the same rows",
                "use learning_rate='decaying' or 'constant'",
            )
        return replace(self, learning_rate="decaying") if self.learning_rate == "auto" else self

    def share(self, steps: Steps) -> float:
        """The share of the gradient at v = 0 to stop at."""
        return SMALL[steps] if self.tol is None else float(self.tol)

    def unfinished(self, steps: Steps, epochs: int, other: str) -> str:
        """Say that the rule for stopping is not met; another solver would have met it."""
        return (
            f"after {epochs} epochs the rule for stopping, a gradient over all rows of at most "
            f"tol={self.share(steps):g} times that at 0, is not met; raise max_iter or tol, "
            f"or use solver={other!r}."
        )

    def eta(self, epoch: int, steepness: float, rate: LearningRate) -> float:
        """η in an epoch; ``steepness`` is the mean of h|z|², h(1 + p)."""
        eta0 = 0.5 / steepness if self.eta0 is None else float(self.eta0)
        if rate == "averaged":
            return eta0 / math.sqrt(1.0 + SLOWLY * epoch)
        return eta0 / (1.0 + self.decay * epoch) if rate == "decaying" else eta0


def _require(record: GradientDescent, name: str, valid: bool, rule: str) -> None:
    if not valid:
        raise ParameterError(f"{name}={getattr(record, name)!r}", f"{name} is {rule}")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


# -- by all rows

Array = NDArray[np.float64]
Evaluate = Callable[[Array], tuple[Array, Array]]
"""Losses (t,) and their gradients (t, D) at v (t, D)."""


@dataclass(frozen=True, eq=False)
class Walk:
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

    v: Array
    velocity: Array
    epochs: int

    @classmethod
    def start(cls, v: Array) -> Walk:
        """At rest at v."""
        return cls(v, np.zeros_like(v), 0)


Course = Iterator[tuple[Walk, Array, bool]]
"""Points and losses (t,) at the start and after every epoch; whether to stop there."""


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
    >>> bowl = Quadratic(lambda v: (0.5 * (v * v).sum(axis=1), v))
    >>> course = by_batch(bowl, np.ones((1, 1)), GradientDescent())
    >>> [(at.v.item(), loss.item()) for at, loss, _ in islice(course, 2)]
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
    >>> cosh = Convex(lambda v: (np.cosh(v).sum(axis=1), np.sinh(v)))
    >>> course = by_batch(cosh, np.full((1, 1), 2.0), GradientDescent())
    >>> [round(loss.item(), 6) for _, loss, _ in islice(course, 5)]
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
        alpha, noise = float(length[0]), ROUNDING * abs(float(loss[0]))
        for _ in range(HALVINGS):
            there, bent = self.evaluate(v + alpha * d)
            bend = float((bent * d).sum()) - slope
            best = -alpha * slope / bend if bend > 0.0 else np.inf
            if there[0] <= loss[0] + ENOUGH * alpha * slope + noise:
                return alpha * d, there, bent, np.array([min(best, LONGER * alpha)])
            alpha = min(max(best, 0.1 * alpha), 0.5 * alpha)
        return np.zeros_like(d), loss, g, length


def by_batch(function: Loss, start: Array, how: GradientDescent) -> Course:
    """Yield the points of descent by the gradient over all rows."""
    rate = how.rate_for("gradient")
    loss, g = function.evaluate(start)
    at_zero = function.evaluate(np.zeros_like(start))[1] if start.any() else g
    enough = how.share("gradient") * np.linalg.norm(at_zero, axis=1)
    at, length = Walk.start(start), np.full(len(start), 1.0 / function.steepness)
    while True:
        yield at, loss, bool((np.linalg.norm(g, axis=1) <= enough).all())
        if rate == "line_search":
            d = how.momentum * at.velocity - g
            d, loss, g, length = function.along(at.v, loss, g, d, length)
            at = Walk(at.v + d, d, at.epochs + 1)
        else:
            step = how.eta(at.epochs, function.steepness, rate) * g
            d = how.momentum * at.velocity - step
            v = at.v + (how.momentum * d - step if how.nesterov else d)
            at = Walk(v, d, at.epochs + 1)
            loss, g = function.evaluate(v)


# -- where that ends


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Parameters
    ----------
    walk : Walk
    loss_history : ndarray (epochs,)
        After every epoch.
    converged : bool
        Whether the rule for stopping was met.
    """

    walk: Walk
    loss_history: Array
    converged: bool


def descended(course: Course, how: GradientDescent, share: Array) -> Descent:
    """Descend until the rule for stopping is met or the epochs are over.

    Parameters
    ----------
    course : iterator
        Of `by_batch` or `by_rows`.
    how : GradientDescent
    share : ndarray (t,)
        What every loss counts.

    Raises
    ------
    ParameterError
        If the loss grows without end.
    """
    history: list[float] = []
    for walk, loss, there in islice(course, how.max_iter + 1):
        reached, converged = walk, there
        history.append(float(loss @ share))
        check_descent(history[0], history[-1], walk.epochs, how)
        if converged:
            break
    return Descent(reached, np.array(history[1:]), converged)


def check_descent(before: float, after: float, epochs: int, how: GradientDescent) -> None:
    """Refuse a loss that grows without end.

    Raises
    ------
    ParameterError
        If it does.
    """
    if not (np.isfinite(after) and after <= DIVERGED * before):
        raise ParameterError(
            f"the loss grew from {before:.3g} to {after:.3g} in {epochs} epochs, with "
            f"eta0={how.eta0!r} and momentum={how.momentum!r}",
            "steps that are too long lead away from the minimum",
            "lower eta0 or momentum",
        )
