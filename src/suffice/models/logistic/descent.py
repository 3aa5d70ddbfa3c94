"""Logistic regression by gradient descent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.models.logistic.descent_state import DescentState, largest_curvature
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.separation import refuse_separation
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import Convex, OptimizerState, by_batch
from suffice.models.optimise.stochastic import by_rows
from suffice.models.optimise.stopping import descend

__all__ = ["fit_by_descent"]


def fit_by_descent(
    objective: Objective,
    how: GradientDescent,
    steps: Steps,
    start: NDArray[np.float64] | None = None,
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

    Raises
    ------
    DataError
        If there is no minimum, as the classes are separated.
    ParameterError
        If the loss grows without end.
    """
    how.rate_for(steps)
    state = DescentState.start(objective)
    if start is not None:
        state = state.at(start)
    zero = np.zeros((objective.k, objective.centred.width))
    decided = objective.penalised or refuse_separation(objective, zero)
    state, converged = _descended(objective, how, steps, state)
    point = objective(objective.parameters(state.coefficients), False)
    return Fit(
        state.coefficients,
        point.loss,
        len(state.loss_history),
        objective.relative(point.gradient_norm),
        converged,
        len(point.x),
        undecided=not decided,
        state=state,
    )


def _descended(
    objective: Objective, how: GradientDescent, steps: Steps, state: DescentState
) -> tuple[DescentState, bool]:
    """Where the descent ends, and whether the rule for stopping was met."""
    state, rows = state.among(objective)
    scaled = replace(objective, centred=replace(objective.centred, scale=state.scale[1:]))
    if steps == "gradient":
        return _by_all_rows(scaled, how, state)

    def gradient_norm(v: NDArray[np.float64]) -> NDArray[np.float64]:
        there = replace(state, optimizer=OptimizerState.start(v)).coefficients
        gradient = scaled(scaled.parameters(there), False).gradient
        return np.array([np.linalg.norm(gradient)])

    iterates = by_rows(rows, objective.data.splits, how, steps, state.optimizer)
    optimizer, history, converged = descend(iterates, gradient_norm, how, steps, np.ones(1))
    objective.data.count += optimizer.epochs
    return replace(state, optimizer=optimizer, loss_history=history), converged


def _by_all_rows(
    scaled: Objective, how: GradientDescent, state: DescentState
) -> tuple[DescentState, bool]:
    def evaluate(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        point = scaled(x[0], False)
        return np.array([point.loss]) / scaled.weight, point.gradient[None] / scaled.weight

    def gradient_norm(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(evaluate(x)[1], axis=1))

    def standardised(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return scaled.coefficients(x[0]) * state.scale

    loss = Convex(evaluate, largest_curvature(scaled.k) * len(state.scale))
    iterates = by_batch(loss, scaled.parameters(state.coefficients)[None], how)
    end, history, converged = descend(iterates, gradient_norm, how, "gradient", np.ones(1))
    optimizer = OptimizerState(standardised(end.v), standardised(end.velocity), end.epochs)
    return replace(state, optimizer=optimizer, loss_history=history), converged
