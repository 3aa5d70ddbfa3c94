"""Logistic regression by gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import TrainingRows
from suffice.models.logistic.separation import refuse_separation
from suffice.models.optimise.gradient_descent import DescentRows, GradientDescent, Steps, descend
from suffice.sums.batch import Batch

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    rows: TrainingRows

    def __call__(self, batch: Batch) -> Iterator[tuple[Array, NDArray[np.intp], Array]]:
        batch, codes = self.rows.of(batch)
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        for z, code, weight in self.rows.centred.pieces(batch, False, codes, weights):
            used = code >= 0
            yield z[used, 1:], code[used], weight[used] * self.rows.class_weights[code[used]]


def counted(part: Part, rows: TrainingRows) -> int:
    def of(batch: Batch) -> int:
        return int((rows.of(batch)[1] >= 0).sum())

    return sum(each_batch(part, rows.layout, of))


def fit_by_descent(
    objective: Objective, how: GradientDescent, steps: Steps, start: Array | None = None
) -> Fit:
    """Descend from B = 0, or from ``start``, until the rule for stopping is met.

    Descent alone would not notice that a likelihood has no maximum: without a penalty, separation
    of the classes is looked for first.

    Parameters
    ----------
    objective : Objective
    how : GradientDescent
    steps : {"gradient", "sgd", "minibatch"}
    start : ndarray (m, D), optional
        Coefficients of z to begin with.
    """
    centred, data = objective.centred, objective.data
    zero = np.zeros((objective.k, centred.width))
    decided = objective.penalised or refuse_separation(objective, zero)
    m, nothing = objective.scores, np.zeros(centred.width - 1)
    scale = np.where(objective.used[1:], centred.scale, 0.0)
    of_columns = nothing, scale, objective.penalty[1:], objective.intercept
    count = sum(data.map(counted, objective.rows))
    curvature = 0.25 if objective.k == 2 else 0.5  # the largest that p(1 − p), diag p − p pᵀ have
    rows = DescentRows(
        centred.layout,
        LabelledRows(objective.rows),
        *of_columns,
        objective.weight,
        count,
        m,
        curvature,
    )
    course = descend(rows, data.parts, data.engine, how, steps, np.ones(m), start)
    passes = len(course.loss_history)
    data.count += passes * (1 if steps == "gradient" else 2)
    b = course.coefficients
    b = b if m == 1 else b - b.mean(axis=0)
    point = objective(objective.parameters(b), False)
    return Fit(
        b,
        point.loss,
        passes,
        objective.relative(point.gradient_norm),
        course.converged,
        objective.freedom,
        undecided=not decided,
        loss_history=course.loss_history,
    )
