"""Gradient descent: least squares by small steps, for those who want to see them.

::

    J(b, w) = 1/(2N) [Σ ω(y − b − xᵀw)² + Σⱼ λⱼwⱼ²]        N = Σ ω

The first pass over the rows finds means and variances. All others see columns about their means, in
units √(s² + λ/N) in which the second derivatives are 1, and targets in units of their standard
deviation, so that one learning rate suits every unit. The coefficients are returned in the units of
the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from numbers import Integral, Real
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.models.design import Design
from suffice.models.generative import each_batch
from suffice.numerics import kernels
from suffice.statistics.batch import BATCH_ROWS, Batch
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.moments import Moments, MomentsAccumulator

__all__ = [
    "PARTS",
    "STEPS",
    "Columns",
    "Course",
    "Descended",
    "GradientDescent",
    "IncompleteRow",
    "Overview",
    "ReadRows",
    "Standard",
    "by_batch",
    "by_rows",
    "descended",
    "overview",
]


class IncompleteRow(Exception):  # noqa: N818 - the rows with missing cells are counted next
    """A row has a missing cell, and none was to have one."""


LearningRate = Literal["auto", "line_search", "constant", "decaying"]
Sampling = Literal["shuffle", "replace"]
Steps = Literal["gradient", "sgd", "minibatch"]
STEPS: tuple[str, ...] = get_args(Steps)

PARTS = 64  # parts of an array, whatever the threads, so that these change no bit
DIVERGED = 1e4  # times the loss at the start
PATIENCE = 5  # epochs without improvement, after which steps after single rows are over


@dataclass(frozen=True)
class GradientDescent:
    """How to descend. An epoch is one pass over the rows.

    Parameters
    ----------
    learning_rate : {"auto", "line_search", "constant", "decaying"}
        η in epoch e = 0, 1, ...: the exact minimum along the step (solver "gradient" only), η₀, or
        η₀/(1 + decay · e); "auto" is "line_search" for "gradient", else "decaying".
    eta0 : float, optional
        η₀, for standardised columns; default: 1/(2(1 + p)), half the inverse of the mean of |z|².
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
    tol : float
        Where to stop: at a gradient of this share of that at the start ("gradient"), or when five
        epochs improve the loss by less than this share of the loss at the start. With 0, at
        ``max_iter``.
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

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.22 and 5.41 to
    5.43; Y. Nesterov, A method of solving a convex programming problem with convergence rate
    O(1/k²) (1983); L. Bottou, F. E. Curtis and J. Nocedal, Optimization methods for large-scale
    machine learning (2018), section 4.

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
    tol: float = 1e-8
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
            _require(self, name, valid, "a finite number, 0 or more")
        valid = _is_real(self.momentum) and 0 <= self.momentum < 1
        _require(self, "momentum", valid, "from 0 to less than 1")

    def _of(self, name: str) -> Any:
        return getattr(self, name)

    def rate_for(self, steps: Steps) -> LearningRate:
        """The learning rate that "auto" stands for.

        Raises
        ------
        ParameterError
            If a line search is asked for where there is none.
        """
        searched = self.learning_rate == "line_search"
        if searched and steps != "gradient":
            raise ParameterError(
                f"learning_rate='line_search' with solver={steps!r}",
                "a line search needs the loss of all rows",
                "use solver='gradient', or learning_rate='decaying'",
            )
        if self.learning_rate != "auto":
            rate = self.learning_rate
        else:
            rate = "line_search" if steps == "gradient" else "decaying"
        if self.nesterov and rate == "line_search":
            raise ParameterError(
                "nesterov=True with a line search",
                "Nesterov's step has a given length",
                "use learning_rate='constant'",
            )
        return rate

    def eta(self, epoch: int, p: int, rate: LearningRate) -> float:
        """η in an epoch, for p columns."""
        eta0 = 0.5 / (1 + p) if self.eta0 is None else float(self.eta0)
        return eta0 / (1.0 + self.decay * epoch) if rate == "decaying" else eta0


def _require(record: GradientDescent, name: str, valid: bool, rule: str) -> None:
    if not valid:
        raise ParameterError(f"{name}={getattr(record, name)!r}", f"{name} is {rule}")


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


# -- rows in units of their spread


@dataclass(frozen=True, eq=False)
class Overview:
    """What the first pass finds: exact moments of columns and targets, and the number of rows."""

    moments: Moments
    rows: int

    def __add__(self, other: Overview) -> Overview:
        return Overview(self.moments + other.moments, self.rows + other.rows)


class Columns(Protocol):
    """What a penalty may depend on."""

    @property
    def p(self) -> int:
        """Number of columns."""

    @property
    def spread(self) -> NDArray[np.float64]:
        """Variance of every column, with divisor n, (p,)."""


@dataclass(frozen=True, eq=False)
class Standard:
    """Centres and units of p columns and t targets: means and standard deviations.

    Without an intercept, 0 and root mean squares. A constant column has an inverse unit of 0, so
    that its coefficient stays at 0.

    Parameters
    ----------
    weight : float
        N, the weight of the rows.
    rows : int
        Number of rows.
    center, unit : ndarray (p + t,)
    spread : ndarray (p,)
        Variance of every column, with divisor N.
    intercept : bool
    """

    weight: float
    rows: int
    center: NDArray[np.float64]
    unit: NDArray[np.float64]
    spread: NDArray[np.float64]
    intercept: bool

    @classmethod
    def of(cls, seen: Overview, p: int, intercept: bool) -> Standard:
        """Centres and units, from the first pass.

        Raises
        ------
        DataError
            If there is no row.
        """
        moments = seen.moments
        if not seen.rows:
            raise DataError(
                "there is no complete row whose weight is not zero",
                "a linear model needs at least one",
                "check the columns and the weights",
            )
        weight, mean = float(moments.total[0, 0]), moments.mean[0]
        variance = moments.scatter[0] / weight
        square = variance if intercept else variance + mean**2
        center = mean if intercept else np.zeros_like(mean)
        return cls(weight, seen.rows, center, np.sqrt(square), variance[:p], intercept)

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.spread)

    @property
    def inverse(self) -> NDArray[np.float64]:
        """1/unit, or 0, (p + t,)."""
        return np.divide(1.0, self.unit, out=np.zeros_like(self.unit), where=self.unit > 0)

    def penalised(self, costs: NDArray[np.float64]) -> Standard:
        """The units √(s² + λ/N), in which every second derivative of the loss is 1."""
        unit = self.unit.copy()
        unit[: self.p] = np.sqrt(unit[: self.p] ** 2 + costs / self.weight)
        return replace(self, unit=unit)

    def penalty(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """λ/(N · unit²) of standardised coefficients, the intercept first, (1 + p,)."""
        return np.concatenate([[0.0], costs * self.inverse[: self.p] ** 2 / self.weight])


@dataclass(frozen=True, eq=False)
class ReadRows:
    """How to read rows, and what the loss of standardised coefficients v (t, 1 + p) is.

    Parameters
    ----------
    design, layout
        How a table is read, with its targets.
    drop : bool
        Whether rows with a missing cell are left out; else they are refused.
    standard : Standard, optional
        Centres and units; not needed by `overview`.
    penalty : ndarray (1 + p,), optional
    """

    design: Design
    layout: Layout
    drop: bool
    standard: Standard | None = None
    penalty: NDArray[np.float64] | None = None

    def parts(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]]:
        """Yield complete rows (x, y) and their weights, with their numbers in the batch.

        Raises
        ------
        IncompleteRow
            If a cell is missing and rows are not to be left out.
        """
        for start, z in self.design.rows(batch, with_targets=True):
            weights = batch.weights[start : start + len(z)]
            weights = weights if weights.size else np.ones(len(z))
            used = np.asarray(weights > 0)
            if self.drop or self.standard is None:
                complete = ~np.asarray(np.isnan(z).any(axis=1))
                if not (self.drop or complete[used].all()):
                    raise IncompleteRow
                used &= complete
            places = np.arange(start, start + len(z))
            whole = places, z, weights
            yield whole if used.all() else (places[used], z[used], weights[used])


def overview(split: Split, rows: ReadRows) -> Any:
    """Kernel of the first pass, an `Overview`.

    Raises
    ------
    IncompleteRow
        As `ReadRows.parts`.
    """
    total = MomentsAccumulator(len(rows.design) + len(rows.design.targets))

    def add(batch: Batch) -> int:
        read = 0
        for places, z, weights in rows.parts(batch):
            try:
                total.add(RealBlock(z), np.zeros(len(z), np.intp), weights, 1)
            except BadCell as bad:
                bad.row, bad.column = (
                    int(places[bad.row]),
                    rows.design.column(cast(int, bad.column)),
                )
                raise
            read += len(z)
        return read

    read = sum(each_batch(split, rows.layout, add))
    return Overview(total.statistic(), read)


def gradient(split: Split, params: tuple[ReadRows, NDArray[np.float64]]) -> Any:
    """Kernel of an epoch: Σ ω e z and ½ Σ ω e² at v, (t, 2 + p); their sum is an array."""
    rows, v = params
    standard = cast(Standard, rows.standard)
    g, loss, z = np.zeros(v.shape), np.zeros(len(v)), _room(standard)

    def add(batch: Batch) -> None:
        for _, table, weights in rows.parts(batch):
            order = np.arange(len(table))
            center, inverse = standard.center, standard.inverse
            kernels.descent.add_gradient(table, weights, order, center, inverse, v, z, g, loss)

    for _ in each_batch(split, rows.layout, add):
        pass
    return np.concatenate([g, loss[:, None]], axis=1)


def _room(standard: Standard) -> NDArray[np.float64]:
    """Room for a row z, (1 + p,)."""
    z = np.zeros(1 + standard.p)
    z[0] = standard.intercept
    return z


# -- going down

Evaluate = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""Losses (t,) and their gradients (t, D) at v (t, D)."""
Course = Iterator[tuple[NDArray[np.float64], NDArray[np.float64], bool]]
"""Coefficients (t, D) and losses (t,) at the start and after every epoch; whether to stop there."""


def by_batch(evaluate: Evaluate, start: NDArray[np.float64], how: GradientDescent) -> Course:
    """Yield the points of descent by the gradient over all rows; an epoch is one evaluation.

    A line search is exact for a quadratic: its gradient is affine, so g(v + d) − g(v) = Hd, and
    along the step α = −gᵀd/dᵀHd the loss changes by ½ α gᵀd, which is never more than 0.

    Examples
    --------
    >>> bowl = lambda v: (0.5 * (v * v).sum(axis=1), v)
    >>> course = by_batch(bowl, np.ones((1, 1)), GradientDescent())
    >>> [(v.item(), loss.item()) for v, loss, _ in islice(course, 2)]
    [(1.0, 0.5), (0.0, 0.0)]
    """
    rate, p = how.rate_for("gradient"), start.shape[1] - 1
    v, (loss, g) = start, evaluate(start)
    d = np.zeros_like(v)
    first = np.linalg.norm(g, axis=1)
    for epoch in count():
        yield v, loss, bool((np.linalg.norm(g, axis=1) <= how.tol * first).all())
        if rate == "line_search":
            d = how.momentum * d - g
            bent = evaluate(v + d)[1] - g
            slope, curvature = (g * d).sum(axis=1), (d * bent).sum(axis=1)
            alpha = np.divide(-slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
            d = alpha[:, None] * d
            v, g, loss = v + d, g + alpha[:, None] * bent, loss + 0.5 * alpha * slope
        else:
            step = how.eta(epoch, p, rate) * g
            d = how.momentum * d - step
            v = v + (how.momentum * d - step if how.nesterov else d)
            loss, g = evaluate(v)


def by_rows(
    rows: ReadRows,
    splits: Sequence[Split],
    how: GradientDescent,
    size: int,
    start: NDArray[np.float64],
) -> Course:
    """Yield the points of descent by the gradients of ``size`` rows at a time, epoch by epoch.

    The loss of an epoch is the mean over its rows, each before the step that it leads to.
    """
    standard, penalty = cast(Standard, rows.standard), cast(Any, rows.penalty)
    rng, rate = np.random.default_rng(how.random_state), how.rate_for("minibatch")
    room, weights = np.empty((BATCH_ROWS, len(standard.unit))), np.empty(BATCH_ROWS)
    v, velocity, z = start.copy(), np.zeros_like(start), _room(standard)
    loss = np.where(standard.unit[standard.p :] > 0, 0.5, 0.0)
    best, since = loss.sum(), 0
    standardised = standard.center, standard.inverse
    least, mean_weight = how.tol * best, standard.weight / standard.rows

    def step(eta: float, loss: NDArray[np.float64], batch: Batch) -> int:
        n = 0
        for _, part, of_rows in rows.parts(batch):
            here = slice(n, n := n + len(part))
            room[here], weights[here] = part, of_rows
        if not n:
            return 0
        order = rng.permutation(n) if how.sampling == "shuffle" else rng.integers(n, size=n)
        kernels.descent.descend(
            *(room, weights[:n] / mean_weight, order, size, *standardised, penalty),
            *(eta, float(how.momentum), bool(how.nesterov), z, v, velocity, loss),
        )
        return n

    for epoch in count():
        yield v.copy(), loss, (how.tol > 0 and since >= PATIENCE) or not best
        eta, loss, read = how.eta(epoch, standard.p, rate), np.zeros(len(v)), 0
        for s in rng.permutation(len(splits)).tolist():
            read += sum(each_batch(splits[s], rows.layout, partial(step, eta, loss)))
        loss = np.asarray(loss / max(read, 1) + 0.5 * (v * v) @ penalty)
        since = 0 if loss.sum() < best - least else since + 1
        best = min(best, loss.sum())


# -- what was found


@dataclass(frozen=True, eq=False)
class Descended:
    """Coefficients that a descent ended at, in the units of the rows.

    Parameters
    ----------
    coefficients : ndarray (p, t)
        w.
    origin : ndarray (p,)
        The point o, (p,), that rows are measured from, so that no digits cancel.
    at_origin : ndarray (t,)
        b + oᵀw.
    has_intercept : bool
    loss_history : ndarray (epochs,)
        J, the sum over targets, after every epoch.
    converged : bool
        Whether the rule for stopping was met.
    """

    coefficients: NDArray[np.float64]
    origin: NDArray[np.float64]
    at_origin: NDArray[np.float64]
    has_intercept: bool
    loss_history: NDArray[np.float64]
    converged: bool

    @property
    def intercept(self) -> NDArray[np.float64]:
        """b, (t,): the value at x = 0."""
        return np.asarray(self.at_origin - self.origin @ self.coefficients)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """b + xᵀw of rows (n, p), (n, t)."""
        return np.asarray((x - self.origin) @ self.coefficients + self.at_origin)


def descended(
    rows: ReadRows, splits: Sequence[Split], engine: Engine, how: GradientDescent, steps: Steps
) -> Descended:
    """Descend from v = 0 until the rule for stopping is met or the epochs are over.

    Raises
    ------
    ParameterError
        If the loss grows without end.
    """
    standard, penalty = cast(Standard, rows.standard), cast(Any, rows.penalty)
    p = standard.p

    def evaluate(v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums = engine.run(gradient, (rows, v), splits) / standard.weight
        return sums[:, -1] + 0.5 * (v * v) @ penalty, sums[:, :-1] + penalty * v

    start = np.zeros((len(standard.unit) - p, 1 + p))
    course = (
        by_batch(evaluate, start, how)
        if steps == "gradient"
        else by_rows(rows, splits, how, 1 if steps == "sgd" else how.batch_size, start)
    )
    r, history, v, converged = standard.unit[p:], [], start, False
    for reached, loss, there in islice(course, how.max_iter + 1):
        v, converged = reached, there
        history.append(float(loss @ r**2))
        if not (np.isfinite(history[-1]) and history[-1] <= DIVERGED * history[0]):
            raise ParameterError(
                f"the loss grew from {history[0]:.3g} to {history[-1]:.3g} in "
                f"{len(history) - 1} epochs, with eta0={how.eta0!r} and momentum={how.momentum!r}",
                "steps that are too long lead away from the minimum",
                "lower eta0 or momentum",
            )
        if converged:
            break
    w = np.ascontiguousarray((v[:, 1:] * standard.inverse[:p]).T * r)
    at_origin = standard.center[p:] + v[:, 0] * r
    return Descended(
        w, standard.center[:p], at_origin, standard.intercept, np.array(history[1:]), converged
    )
