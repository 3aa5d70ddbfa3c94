"""How gradient descent goes: its options, and what it does not offer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, get_args

from suffice.errors import ParameterError
from suffice.models.optimise.learning_rate import LearningRate, learning_rate

__all__ = ["SINGLE_ROWS", "STEPS", "GradientDescent", "Steps", "check_descent_options"]

Sampling = Literal["shuffle", "replace"]
Steps = Literal["gradient", "sgd", "minibatch"]
STEPS: tuple[str, ...] = get_args(Steps)
SINGLE_ROWS = ("sgd", "minibatch")  # those that can go on with further rows
GRADIENT_TOLERANCE = {"gradient": 1e-8, "sgd": 1e-3, "minibatch": 1e-3}  # fraction of a gradient


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
        η₀, for standardised columns; default: 1/(2h(1 + p)), half the inverse of the mean of zᵀz
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
        Where to stop: where the gradient of the loss of all rows is this fraction of that at v = 0;
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
        _require(self, "nesterov", isinstance(self.nesterov, bool), "True or False")
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

    def tolerance(self, steps: Steps) -> float:
        """The fraction of the gradient at v = 0 to stop at."""
        return GRADIENT_TOLERANCE[steps] if self.tol is None else float(self.tol)

    def unfinished(self, steps: Steps, epochs: int, other: str) -> str:
        """Say that the rule for stopping is not met; another solver would have met it."""
        return (
            f"after {epochs} epochs the rule for stopping, a gradient over all rows of at most "
            f"tol={self.tolerance(steps):g} times that at 0, is not met; raise max_iter or tol, "
            f"or use solver={other!r}."
        )

    def eta(self, epoch: int, steepness: float, rate: LearningRate) -> float:
        """η in an epoch; ``steepness`` is the mean of h|z|², h(1 + p)."""
        return learning_rate(rate, epoch, steepness, self.eta0, self.decay)


def _require(record: GradientDescent, name: str, valid: bool, rule: str) -> None:
    if not valid:
        raise ParameterError(f"{name}={getattr(record, name)!r}", f"{name} is {rule}")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_descent_options(estimator: Any, next_step: str, **refused: Any) -> None:
    """Refuse what is no record of a descent, and options that a descent does not offer.

    Parameters
    ----------
    estimator : object
        Has the options as attributes, ``solver`` and ``descent`` among them.
    next_step : str
        What to do instead.
    **refused : object
        The value of each option that does not go with gradient descent.

    Raises
    ------
    ParameterError
        If there is such a value.
    """
    if not isinstance(estimator.descent, GradientDescent | None):
        raise ParameterError(
            f"descent={estimator.descent!r}", "descent is a GradientDescent or None"
        )
    for name, value in refused.items() if estimator.solver in STEPS else ():
        if getattr(estimator, name) == value:
            raise ParameterError(
                f"{name}={value!r} with solver={estimator.solver!r}",
                "gradient descent does not offer it",
                next_step,
            )
