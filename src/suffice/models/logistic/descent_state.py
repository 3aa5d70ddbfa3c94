"""Where gradient descent of a logistic regression has got to, and the rows that it steps after.

::

    J(B) = 1/N [−Σ ω log P(y | x) + ½ Σⱼ λⱼwⱼ²]        N = Σ ω

Columns are seen about their means, in the scales √(s² + λ/(hN)): with h, the most that the second
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
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.training_rows import TrainingRows
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import OptimizerState
from suffice.models.optimise.stochastic import one_epoch
from suffice.models.optimise.stopping import check_descent
from suffice.numerics.elementary import log
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import WEIGHT
from suffice.rules import FINITE, Shape, Within, check_form, rule
from suffice.statistics.batch import Batch

__all__ = ["DescentState", "largest_curvature"]


@dataclass(frozen=True, eq=False)
class DescentRows:
    """How rows are read, and what the loss of standardised coefficients v (m, D) is.

    Parameters
    ----------
    rows : TrainingRows
    scale : ndarray (D,)
        Of every coefficient of z; 0 for those that stay at 0.
    costs : ndarray (D,)
        λ.
    weight : float
        N.
    count : int
        Number of rows.
    """

    rows: TrainingRows
    scale: NDArray[np.float64]
    costs: NDArray[np.float64]
    weight: float
    count: int

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.rows.layout

    @property
    def curvature(self) -> float:
        """h, the largest eigenvalue of ∂²ℓ/∂t∂tᵀ."""
        return largest_curvature(len(self.rows.classes))

    @property
    def center(self) -> NDArray[np.float64]:
        """The columns of z are centred already, (F,)."""
        return np.zeros(len(self.scale) - 1)

    @property
    def inverse(self) -> NDArray[np.float64]:
        """1/scale, or 0, (F,)."""
        return self.inverse_scale[1:]

    @property
    def constant(self) -> float:
        """1 with an intercept, else 0."""
        return float(self.scale[0])

    @cached_property
    def penalty(self) -> NDArray[np.float64]:
        """λ/(N · scale²), (D,)."""
        return self.costs * self.inverse_scale**2 / self.weight

    @property
    def mean_weight(self) -> float:
        """N over the number of rows."""
        return self.weight / self.count

    @property
    def at_zero(self) -> NDArray[np.float64]:
        """The loss at v = 0, log k, (1,)."""
        return np.array([log(len(self.rows.classes))])

    @cached_property
    def inverse_scale(self) -> NDArray[np.float64]:
        """1/scale, or 0, (D,)."""
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)

    def read(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]]:
        """Yield rows x − m that have a class and a weight, with both."""
        batch, codes = self.rows.of(batch)
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        for z, code, weight in self.rows.centred.pieces(batch, False, codes, weights):
            used = code >= 0
            yield (
                z[used, 1:],
                code[used],
                (weight * self.rows.class_weights[np.maximum(code, 0)])[used],
            )


def largest_curvature(k: int) -> float:
    """The largest eigenvalue that p(1 − p), or diag p − p pᵀ of k > 2 classes, can have."""
    return 0.25 if k == 2 else 0.5


def counted(split: Split, rows: DescentRows) -> int:
    """Kernel: the number of rows that have a class and a weight."""

    def of(batch: Batch) -> int:
        return sum(len(code) for _, code, _ in rows.read(batch))

    return sum(each_batch(split, rows.layout, of))


@dataclass(frozen=True, eq=False)
class DescentState:
    """Where a descent has got to, and how it goes on.

    Parameters
    ----------
    optimizer : OptimizerState
        Coefficients v (m, D) of standardised columns.
    scale : ndarray (D,)
        Of every coefficient of z; 0 for those that stay at 0.
    weight : float
        N, of all rows so far.
    count : int
        Number of rows so far.
    loss_history : ndarray (epochs,)
        J after every epoch.
    """

    optimizer: OptimizerState
    scale: Annotated[NDArray[np.float64], Shape("D"), Within(0, LARGEST)]
    weight: Annotated[float, WEIGHT]
    count: Annotated[int, Within(0, 2**63)]
    loss_history: Annotated[NDArray[np.float64], Shape("epochs"), FINITE]

    def __post_init__(self) -> None:
        check_form(self)

    @rule("every coefficient has a scale")
    def _has_scales(self) -> bool:
        return bool(self.optimizer.v.shape[1] == len(self.scale))

    @classmethod
    def start(cls, objective: Objective) -> DescentState:
        """At rest at v = 0, in scales that suit the penalty of an objective; no row was read."""
        sd = np.concatenate([[1.0], objective.centred.scale])
        ease = objective.penalty / (largest_curvature(objective.k) * objective.weight)
        scale = np.where(objective.used, np.sqrt(sd**2 + ease), 0.0)
        v = np.zeros((len(objective.basis), len(scale)))
        return cls(OptimizerState.start(v), scale, 0.0, 0, np.empty(0))

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """B (m, D), of z; those of more than two classes add up to 0."""
        b = np.divide(
            self.optimizer.v, self.scale, out=np.zeros_like(self.optimizer.v), where=self.scale > 0
        )
        return b if len(b) == 1 else b - b.mean(axis=0)

    def at(self, coefficients: NDArray[np.float64]) -> DescentState:
        """At rest at given coefficients of z."""
        return replace(self, optimizer=OptimizerState.start(coefficients * self.scale))

    def among(self, objective: Objective) -> tuple[DescentState, DescentRows]:
        """The same coefficients for further rows, and how these are read."""
        weight = self.weight + objective.weight
        rows = DescentRows(objective.rows, self.scale, objective.penalty, weight, 1)
        count = self.count + sum(objective.data.map(counted, rows))
        return replace(self, weight=weight, count=count), replace(rows, count=count)

    def after(self, objective: Objective, how: GradientDescent, steps: Steps) -> DescentState:
        """One more epoch, through further rows.

        Raises
        ------
        ParameterError
            If the loss grows without end.
        """
        state, rows = self.among(objective)
        stream, size, data = how.for_stream(), how.size(steps), objective.data
        optimizer, loss, _ = one_epoch(rows, data.splits, stream, size, self.optimizer)
        data.count += 1
        check_descent(float(rows.at_zero[0]), float(loss[0]), optimizer.epochs, how)
        return replace(state, optimizer=optimizer, loss_history=np.append(self.loss_history, loss))
