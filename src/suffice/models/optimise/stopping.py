"""When the iterates of a solver end: where a gradient is small, or the solver gets no further."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import numpy as np

from suffice.errors import ParameterError
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import Array, Iterates, OptimizerState
from suffice.models.optimise.tolerances import LOSS_ROUNDING

__all__ = ["StallDetector", "check_descent", "descend"]

STALLED = 10  # steps without progress
LATER = 5 / 4  # times as many epochs until the gradient of all rows is looked at again
DIVERGED = 1e4  # times the loss at the start


class StallDetector:
    """Notices that neither the loss nor its gradient gets smaller: what is left is rounding.

    Examples
    --------
    >>> detector = StallDetector()
    >>> [detector.has_stalled(loss=1.0, gradient_norm=1e-16) for _ in range(12)].index(True)
    11
    """

    def __init__(self) -> None:
        self._loss = self._gradient_norm = np.inf
        self._waited = 0

    def has_stalled(self, loss: float, gradient_norm: float) -> bool:
        """Take note of one more step; whether the last ones have led no further."""
        lower = loss < self._loss - LOSS_ROUNDING * abs(loss)
        self._waited = 0 if lower or gradient_norm < self._gradient_norm / 2 else self._waited + 1
        self._loss = min(loss, self._loss)
        self._gradient_norm = min(gradient_norm, self._gradient_norm)
        return self._waited > STALLED


def descend(
    iterates: Iterates,
    gradient_norm: Callable[[Array], Array],
    how: GradientDescent,
    steps: Steps,
    weights: Array,
) -> tuple[OptimizerState, Array, bool]:
    """Take states until the gradients over all rows are small enough or the epochs are over.

    Parameters
    ----------
    iterates : iterator
        Of `by_batch` or `by_rows`.
    gradient_norm : callable
        The norms (t,) of the gradients over all rows at v; a pass over the rows.
    how : GradientDescent
    steps : {"gradient", "sgd", "minibatch"}
    weights : ndarray (t,)
        What every loss counts.

    Returns
    -------
    state : OptimizerState
    loss_history : ndarray (epochs,)
        After every epoch.
    converged : bool
        Whether the gradients are small enough.

    Raises
    ------
    ParameterError
        If the loss grows without end.
    """
    history: list[float] = []
    rule = _SmallGradient(gradient_norm, how, steps)
    for state, loss, gradient in islice(iterates, how.max_iter + 1):
        history.append(float(loss @ weights))
        check_descent(history[0], history[-1], state.epochs, how)
        if converged := rule.is_met(state, gradient):
            break
    return state, np.array(history[1:]), converged


class _SmallGradient:
    """Whether gradients over all rows are a small enough fraction of those at v = 0.

    Those that are not known take a pass over the rows: epochs in which they are looked at are ever
    further apart.
    """

    def __init__(
        self, gradient_norm: Callable[[Array], Array], how: GradientDescent, steps: Steps
    ) -> None:
        self._gradient_norm, self._fraction = gradient_norm, how.tolerance(steps)
        self._due, self._last = 0, how.max_iter
        self._enough: Array | None = None

    def is_met(self, state: OptimizerState, gradient: Array | None) -> bool:
        norm = None if gradient is None else np.asarray(np.linalg.norm(gradient, axis=1))
        if self._enough is None:
            at_zero = norm if not state.v.any() else None
            if at_zero is None:
                at_zero = self._gradient_norm(np.zeros_like(state.v))
            self._enough = self._fraction * at_zero
        if norm is None:
            if state.epochs < self._due and state.epochs != self._last:
                return False
            self._due = math.ceil(LATER * state.epochs)
            norm = self._gradient_norm(state.v)
        return bool((norm <= self._enough).all())


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
