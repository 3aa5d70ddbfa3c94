"""Gradient descent of linear and logistic regression: batch, stochastic, and mini-batch.

::

    J(v) = 1/N Σ ω ℓ(v; x, y) + ½ Σⱼ λⱼ vⱼ²/(N sⱼ²)        N = Σ ω
    v ← v − η g

ℓ is half of the squared error, or −log P(y | x). Batch descent takes g = ∇J, the gradient over all
rows, once in a pass; stochastic descent takes that of one row after the other, mini-batch descent
that of a few rows. Coefficients v (m, 1 + p) are those of standardised columns (x − m)/s, the
intercept first: one learning rate then suits all.

Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.22 and 5.41 to 5.43;
L. Bottou, F. E. Curtis and J. Nocedal, Optimization methods for large-scale machine learning
(2018), section 4; B. T. Polyak and A. B. Juditsky, Acceleration of stochastic approximation by
averaging (1992); J. Barzilai and J. M. Borwein, Two-point step size gradient methods (1988), eq. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.engines.engine import Engine
from suffice.errors import ParameterError
from suffice.numerics import kernels
from suffice.sums.batch import Batch

Steps = Literal["gradient", "sgd", "minibatch"]
STEPS: tuple[str, ...] = get_args(Steps)
PARTS = 64  # parts of an array, whatever the threads, so that these change no bit
DIVERGED = 1e4  # times the loss at the start

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GradientDescent:
    """Options of gradient descent.

    Parameters
    ----------
    learning_rate : float, optional
        η, for standardised columns. Default: 1/(2h(1 + p)), with the largest second derivative h
        of the loss of a row: 1 for squared errors, ¼ for two classes, ½ for more. With all rows,
        that is the first step by default, and each later one is as long as the curvature along the
        last one asks for: η = ΔvᵀΔg/ΔgᵀΔg.
    decay : float
        δ, 0 or more: in pass t = 0, 1, ... the rate is η/(1 + δt).
    batch_size : int
        Rows of a step of "minibatch".
    passes : int
        Most passes over the rows.
    tol : float
        Where to stop: where the gradient over all rows is this fraction of that at v = 0. With 0,
        after all passes.
    random_state : int
        Seed of the order of rows; the threads do not matter.

    Notes
    -----
    Rows are shuffled within batches of at most 65,536, and the parts of the source (row groups,
    files or slices) are read in a new order in every pass. Sort no file by its target. Steps after
    single rows wander about the minimum; their mean over a pass, the result, wanders less, and a
    decay lets them settle.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> how = GradientDescent(learning_rate=0.5, passes=4, tol=0)
    >>> model = LinearRegression(solver="gradient", descent=how)
    >>> model = model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_, model.loss_history_
    (array([1.875]), array([0.625     , 0.15625   , 0.0390625 , 0.00976562]))
    """

    learning_rate: float | None = None
    decay: float = 0.0
    batch_size: int = 32
    passes: int = 1_000
    tol: float = 1e-3
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("passes", 1), ("random_state", 0)):
            whole = isinstance(getattr(self, name), Integral) and getattr(self, name) >= least
            self._require(name, whole, f"a whole number, {least} or more")
        for name in ("decay", "tol"):
            valid = _is_real(getattr(self, name)) and getattr(self, name) >= 0
            self._require(name, valid, "a finite number, 0 or more")
        rate = 1.0 if self.learning_rate is None else self.learning_rate
        self._require("learning_rate", _is_real(rate) and rate > 0, "a finite number above 0")

    def _require(self, name: str, valid: bool, rule: str) -> None:
        if not valid:
            raise ParameterError(f"{name}={getattr(self, name)!r}", f"{name} is {rule}")

    def unfinished(self, passes: int, other: str) -> str:
        return (
            f"after {passes} passes the gradient over all rows is not yet tol={self.tol:g} times "
            f"that at 0; raise passes, the learning_rate or tol, or use solver={other!r}."
        )


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and abs(float(value)) < np.inf


@dataclass(frozen=True, eq=False)
class DescentRows:
    """Rows to descend on, and the units of their columns."""

    layout: Layout  # how a table is read
    # Yields rows (n, ≥ p) of a batch, targets (standardised (n, t), or codes (n,)), weights (n,).
    read: Callable[[Batch], Iterator[tuple[Array, NDArray[Any], Array]]]
    center: Array  # m, (p,)
    scale: Array  # s; 0 of a column whose coefficient stays at 0, (p,)
    penalty: Array  # λ, of coefficients of x, (p,)
    intercept: bool
    weight: float  # N
    count: float  # number of rows
    scores: int  # m of v
    curvature: float  # h, the largest second derivative of the loss of a row

    @property
    def units(self) -> tuple[Array, Array]:
        """Centres and inverse scales, (p,), of which all second derivatives are at most h."""
        scale = np.sqrt(self.scale**2 + self.penalty / (self.curvature * self.weight))
        used = self.scale > 0
        return self.center, np.divide(1.0, scale, out=np.zeros_like(scale), where=used)

    @property
    def cost(self) -> Array:
        """λ/(N s²) of v, (1 + p,)."""
        return np.concatenate([[0.0], self.penalty * self.units[1] ** 2 / self.weight])

    def buffers(self) -> tuple[Array, Array]:
        return np.append(float(self.intercept), np.zeros(len(self.center))), np.empty(self.scores)

    def losses(self, targets: NDArray[Any]) -> Array:
        """Return 0 for each function that is minimised: one a target, or one of all classes."""
        return np.zeros(1 if targets.ndim == 1 else self.scores)


class Course(NamedTuple):
    """The end of a descent: coefficients of 1 and x − m (m, 1 + p); J after every pass."""

    coefficients: Array
    loss_history: Array
    converged: bool


@np.errstate(over="ignore", invalid="ignore")  # where the loss grows without end
def descend(
    rows: DescentRows,
    parts: Sequence[Part],
    engine: Engine,
    how: GradientDescent,
    steps: Steps,
    loss_weights: Array,
    start: Array | None = None,
) -> Course:
    """Descend from ``start``, or 0, until the gradient is small or the passes are over.

    ``loss_weights`` (m,) say what the losses of targets count; those of classes are 1. A loss that
    grows without end is a `ParameterError`.
    """
    v = np.zeros((rows.scores, 1 + len(rows.center)))
    inverse, first_rate = np.append(1.0, rows.units[1]), 0.5 / (rows.curvature * v.shape[1])

    def evaluate(v: Array) -> tuple[float, Array]:
        """Return J and its gradient (m, 1 + p), from one pass over the rows."""
        sums = engine.run(loss_and_gradient, (rows, v), parts) / rows.weight
        losses = sums[:, -1] + 0.5 * (v * v) @ rows.cost
        return float(losses @ loss_weights), sums[:, :-1] + rows.cost * v

    at_zero, gradient = evaluate(v)
    enough = how.tol * np.linalg.norm(gradient, axis=1)
    if start is not None:
        v = np.divide(start, inverse, out=v, where=inverse > 0)
        gradient = evaluate(v)[1]
    mean, moved, bent, history = v, np.zeros(v.shape), np.zeros(v.shape), list[float]()
    while not (converged := bool((np.linalg.norm(gradient, axis=1) <= enough).all())):
        if (t := len(history)) == how.passes:
            break
        rate = first_rate if how.learning_rate is None else how.learning_rate
        if how.learning_rate is None and steps == "gradient" and bent.any():
            rate = float((moved * bent).sum() / (bent * bent).sum())
        rate = rate / (1.0 + how.decay * t)
        before = mean, gradient
        if steps == "gradient":
            v = mean = v - rate * gradient
        else:
            v, mean = one_pass(rows, parts, how, steps, t, rate, v)
        loss, gradient = evaluate(mean)
        moved, bent = mean - before[0], gradient - before[1]
        history.append(loss)
        if not (np.isfinite(loss) and loss <= DIVERGED * at_zero):
            raise ParameterError(
                f"the loss grew from {at_zero:.3g} to {loss:.3g} in {t + 1} passes, with a "
                f"learning_rate of {rate:.3g}",
                "steps that are too long lead away from the minimum",
                "lower learning_rate",
            )
    return Course(mean * inverse, np.array(history), converged or how.tol == 0)


def loss_and_gradient(part: Part, params: tuple[DescentRows, Array]) -> Any:
    """Kernel of a pass: Σ ω ∂ℓ/∂v and Σ ω ℓ, (m, 2 + p); of classes, the loss is in row 0."""
    rows, v = params
    sums = np.zeros((v.shape[0], v.shape[1] + 1))

    def add(batch: Batch) -> None:
        for table, targets, weights in rows.read(batch):
            gradient, loss, order = np.zeros(v.shape), rows.losses(targets), np.arange(len(table))
            of_rows = table, targets, weights, order, *rows.units
            z, t = rows.buffers()
            kernels.descent.add_gradient(*of_rows, v, z, t, gradient, loss)
            sums[:, :-1] += gradient
            sums[: len(loss), -1] += loss

    for _ in each_batch(part, rows.layout, add):
        pass
    return sums


def one_pass(
    rows: DescentRows,
    parts: Sequence[Part],
    how: GradientDescent,
    steps: Steps,
    t: int,
    rate: float,
    v: Array,
) -> tuple[Array, Array]:
    """Step after every row, or every few, once through all; return v after it, and its mean."""
    rng = np.random.default_rng([how.random_state, t])
    size = 1 if steps == "sgd" else how.batch_size
    v, still, path, taken = v.copy(), np.zeros(v.shape), np.zeros(v.shape), 0

    def step(batch: Batch) -> int:
        pieces = [tuple(map(np.copy, piece)) for piece in rows.read(batch)]
        if not pieces:
            return 0
        table, targets, weights = map(np.concatenate, zip(*pieces, strict=True))
        order, scaled = rng.permutation(len(table)), weights * (rows.count / rows.weight)
        of_rows = table, targets, scaled, order, size, *rows.units, rows.cost
        state = *rows.buffers(), v, still, rows.losses(targets), path
        kernels.descent.descend(*of_rows, rate, 0.0, False, *state)  # without momentum
        return -(-len(table) // size)

    for s in rng.permutation(len(parts)).tolist():
        taken += sum(each_batch(parts[s], rows.layout, step))
    return v, path / max(taken, 1)


def check_descent(estimator: Any, next_step: str, **refused: Any) -> None:
    """Refuse what is no record of a descent, and options that a descent does not offer."""
    given = estimator.descent
    if not isinstance(given, GradientDescent | None):
        raise ParameterError(f"descent={given!r}", "descent is a GradientDescent or None")
    for name, value in refused.items() if estimator.solver in STEPS else ():
        if getattr(estimator, name) == value:
            raise ParameterError(
                f"{name}={value!r} with solver={estimator.solver!r}",
                "gradient descent does not offer it",
                next_step,
            )
