"""Logistic regression by gradient descent.

::

    J(B) = 1/N [−Σ ω log P(y | x) + ½ Σⱼ λⱼwⱼ²]        N = Σ ω

Columns are seen about their means, in units √(s² + λ/(hN)): with h, the most that the second
derivative of the loss of a row by its scores can be, every second derivative of J is at most h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.fit import DataLoop, Fit
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.separation import Separation, Separator
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import (
    Convex,
    OptimizerState,
    by_batch,
    check_descent,
    descended,
)
from suffice.models.optimise.stochastic import by_rows, one_epoch
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import WEIGHT
from suffice.rules import FINITE, Shape, Within, check_form, rule
from suffice.statistics.batch import Batch
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["DescentState", "LabelledRows", "fit_by_descent"]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """How to read rows, and what the loss of standardised coefficients v (m, D) is.

    Parameters
    ----------
    centred : CentredDesign
        How rows z = (1, x − m) are made.
    classes : Vocabulary
        The k labels.
    factors : ndarray (k,)
        What the weight of a row is multiplied by, for its class.
    unit : ndarray (D,)
        Of every coefficient of z; 0 for those that stay at 0.
    costs : ndarray (D,)
        λ.
    weight : float
        N.
    count : int
        Number of rows.
    """

    centred: CentredDesign
    classes: Vocabulary
    factors: NDArray[np.float64]
    unit: NDArray[np.float64]
    costs: NDArray[np.float64]
    weight: float
    count: int

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.centred.layout

    @property
    def curvature(self) -> float:
        """h, the largest eigenvalue of ∂²ℓ/∂t∂tᵀ."""
        return _curvature(len(self.classes))

    @property
    def center(self) -> NDArray[np.float64]:
        """The columns of z are centred already, (F,)."""
        return np.zeros(len(self.unit) - 1)

    @property
    def inverse(self) -> NDArray[np.float64]:
        """1/unit, or 0, (F,)."""
        return self.per_unit[1:]

    @property
    def constant(self) -> float:
        """1 with an intercept, else 0."""
        return float(self.unit[0])

    @cached_property
    def penalty(self) -> NDArray[np.float64]:
        """λ/(N · unit²), (D,)."""
        return self.costs * self.per_unit**2 / self.weight

    @property
    def mean_weight(self) -> float:
        """N over the number of rows."""
        return self.weight / self.count

    @property
    def at_zero(self) -> NDArray[np.float64]:
        """The loss at v = 0, log k, (1,)."""
        return np.array([np.log(len(self.classes))])

    @cached_property
    def per_unit(self) -> NDArray[np.float64]:
        """1/unit, or 0, (D,)."""
        return np.divide(1.0, self.unit, out=np.zeros_like(self.unit), where=self.unit > 0)

    def read(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]]:
        """Yield rows x − m that have a class and a weight, with both."""
        batch = self.centred.to_fit(batch)
        codes = np.append(self.classes.index(batch.classes.values, -1), -1)[batch.codes]
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        for z, code, weight in self.centred.pieces(batch, False, codes, weights):
            used = (code >= 0) & (weight > 0)
            yield z[used, 1:], code[used], (weight * self.factors[np.maximum(code, 0)])[used]


def _curvature(k: int) -> float:
    """The largest eigenvalue that p(1 − p), or diag p − p pᵀ of k > 2 classes, can have."""
    return 0.25 if k == 2 else 0.5


def counted(split: Split, rows: LabelledRows) -> int:
    """Kernel: the number of rows that have a class and a weight."""

    def of(batch: Batch) -> int:
        return sum(len(code) for _, code, _ in rows.read(batch))

    return sum(each_batch(split, rows.layout, of))


@dataclass(frozen=True, eq=False)
class DescentState:
    """Where a descent has got to, and how it goes on.

    Parameters
    ----------
    walk : OptimizerState
        Coefficients v (m, D) of standardised columns.
    unit : ndarray (D,)
        Of every coefficient of z; 0 for those that stay at 0.
    weight : float
        N, of all rows so far.
    count : int
        Number of rows so far.
    loss_history : ndarray (epochs,)
        J after every epoch.
    """

    walk: OptimizerState
    unit: Annotated[NDArray[np.float64], Shape("D"), Within(0, LARGEST)]
    weight: Annotated[float, WEIGHT]
    count: Annotated[int, Within(0, 2**63)]
    loss_history: Annotated[NDArray[np.float64], Shape("epochs"), FINITE]

    def __post_init__(self) -> None:
        check_form(self)

    @rule("every coefficient has a unit")
    def _has_units(self) -> bool:
        return bool(self.walk.v.shape[1] == len(self.unit))

    @classmethod
    def start(cls, objective: Objective) -> DescentState:
        """At rest at v = 0, in units that suit the penalty of an objective; no row was read."""
        scale = np.concatenate([[1.0], objective.centred.scale])
        ease = objective.penalty / (_curvature(objective.k) * objective.weight)
        unit = np.where(objective.used, np.sqrt(scale**2 + ease), 0.0)
        v = np.zeros((len(objective.basis), len(unit)))
        return cls(OptimizerState.start(v), unit, 0.0, 0, np.empty(0))

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """B (m, D), of z; those of more than two classes add up to 0."""
        b = np.divide(self.walk.v, self.unit, out=np.zeros_like(self.walk.v), where=self.unit > 0)
        return b if len(b) == 1 else b - b.mean(axis=0)

    def at(self, coefficients: NDArray[np.float64]) -> DescentState:
        """At rest at given coefficients of z."""
        return replace(self, walk=OptimizerState.start(coefficients * self.unit))

    def among(self, objective: Objective, data: DataLoop) -> tuple[DescentState, LabelledRows]:
        """The same coefficients for further rows, and how these are read."""
        classes, factors = objective.seen.classes, objective.factors
        weight = self.weight + objective.weight
        costs = objective.penalty
        rows = LabelledRows(objective.centred, classes, factors, self.unit, costs, weight, 1)
        count = self.count + sum(data.map(counted, rows))
        return replace(self, weight=weight, count=count), replace(rows, count=count)

    def after(
        self, objective: Objective, data: DataLoop, how: GradientDescent, steps: Steps
    ) -> DescentState:
        """One more epoch, through further rows.

        Raises
        ------
        ParameterError
            If the loss grows without end.
        """
        stride, rows = self.among(objective, data)
        stream, size = how.for_stream(), how.size(steps)
        walk, loss, _ = one_epoch(rows, data.splits, stream, size, self.walk)
        data.count += 1
        check_descent(float(rows.at_zero[0]), float(loss[0]), walk.epochs, how)
        return replace(stride, walk=walk, loss_history=np.append(self.loss_history, loss))


# -- a fit


def fit_by_descent(
    objective: Objective,
    data: DataLoop,
    how: GradientDescent,
    steps: Steps,
    start: NDArray[np.float64] | None = None,
) -> tuple[Fit, DescentState]:
    """Descend from B = 0, or from ``start``, until the rule for stopping is met.

    Descent alone would not notice that a likelihood has no maximum: without a penalty, separation
    of the classes is looked for first.

    Parameters
    ----------
    objective : Objective
    data : DataLoop
        Over the rows.
    how : GradientDescent
    steps : {"gradient", "sgd", "minibatch"}
    start : ndarray (m, D), optional
        Coefficients of z to begin with.

    Raises
    ------
    ParameterError
        If the loss grows without end.
    """
    how.rate_for(steps)
    stride = DescentState.start(objective)
    separation, decided = None, True
    if start is not None:
        stride = stride.at(start)
    if not objective.penalty.any():
        separation, decided = _separation(objective, data)
    converged = False
    if separation is None:
        stride, converged = _descended(objective, data, how, steps, stride)
    point = objective(objective.parameters(stride.coefficients), False)
    slope, at_zero = (
        float(np.abs(point.gradient).max(initial=0.0)),
        objective.gradient_norm_at_zero(),
    )
    fit = Fit(
        stride.coefficients,
        point.loss,
        None,
        len(stride.loss_history),
        slope / at_zero if at_zero else slope,
        converged,
        len(point.x),
        separation=separation,
        undecided=not decided,
    )
    return fit, stride


def _separation(objective: Objective, data: DataLoop) -> tuple[Separation | None, bool]:
    """Whether any direction separates the classes, and whether the search for one finished."""
    unit, used = objective.inverse_unit, objective.used
    separator = Separator(data.map, objective.centred, objective.seen.classes, unit, used)
    return separator.find(np.zeros((objective.k, objective.centred.width)))


def _descended(
    objective: Objective, data: DataLoop, how: GradientDescent, steps: Steps, stride: DescentState
) -> tuple[DescentState, bool]:
    """Where the descent ends, and whether the rule for stopping was met."""
    stride, rows = stride.among(objective, data)
    scaled = replace(objective, centred=replace(objective.centred, scale=stride.unit[1:]))
    if steps == "gradient":
        return _by_all_rows(scaled, how, stride)

    def slope(v: NDArray[np.float64]) -> NDArray[np.float64]:
        there = replace(stride, walk=OptimizerState.start(v)).coefficients
        gradient = scaled(scaled.parameters(there), False).gradient
        return np.array([np.linalg.norm(gradient)])

    course = by_rows(rows, data.splits, how, steps, stride.walk, slope)
    found = descended(course, how, np.ones(1))
    data.count += found.walk.epochs
    return replace(stride, walk=found.walk, loss_history=found.loss_history), found.converged


def _by_all_rows(
    scaled: Objective, how: GradientDescent, stride: DescentState
) -> tuple[DescentState, bool]:
    unit = stride.unit

    def evaluate(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        point = scaled(x[0], False)
        return np.array([point.loss]) / scaled.weight, point.gradient[None] / scaled.weight

    def spread(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return scaled.coefficients(x[0]) * unit

    loss = Convex(evaluate, _curvature(scaled.k) * len(unit))
    start = scaled.parameters(stride.coefficients)[None]
    found = descended(by_batch(loss, start, how), how, np.ones(1))
    walk = OptimizerState(spread(found.walk.v), spread(found.walk.velocity), found.walk.epochs)
    return replace(stride, walk=walk, loss_history=found.loss_history), found.converged
