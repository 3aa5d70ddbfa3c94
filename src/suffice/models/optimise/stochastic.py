"""Gradient descent by single rows, or a few at a time: rows, steps, and averages of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import Array, Iterates, OptimizerState
from suffice.numerics import kernels
from suffice.statistics.batch import Batch

__all__ = ["LearntRows", "by_epochs", "by_rows", "one_epoch"]

FORGETTING = 3  # power of the number of an epoch that it weighs in an average


class LearntRows(Protocol):
    """Rows to step after, and the units of their columns."""

    @property
    def layout(self) -> Layout:
        """How a table is read."""

    @property
    def curvature(self) -> float:
        """h, the largest second derivative of the loss of a row as a function of t."""

    @property
    def center(self) -> Array:
        """Of the p columns that `read` yields, (p,)."""

    @property
    def inverse(self) -> Array:
        """One over the unit of each, or 0, (p,)."""

    @property
    def constant(self) -> float:
        """What stands before the columns: 1 with an intercept, else 0."""

    @property
    def penalty(self) -> Array:
        """Of standardised coefficients, for a mean over rows, (1 + p,)."""

    @property
    def mean_weight(self) -> float:
        """Weight of all rows over their number."""

    @property
    def at_zero(self) -> Array:
        """The loss at v = 0, (t,)."""

    def read(self, batch: Batch) -> Iterator[tuple[Array, NDArray[Any], Array]]:
        """Yield complete rows of a batch, their targets (numbers or class codes) and weights."""


class _Buffer:
    """Memory for the rows of a batch, used again by the next."""

    def __init__(self) -> None:
        self._columns: tuple[NDArray[Any], ...] = ()

    def gather(
        self, batch: Batch, parts: Iterator[tuple[NDArray[Any], ...]]
    ) -> tuple[NDArray[Any], ...]:
        """All parts of a batch, one after the other."""
        n = 0
        for part in parts:
            if not self._columns or len(self._columns[0]) < batch.rows:
                self._columns = tuple(np.empty((batch.rows, *a.shape[1:]), a.dtype) for a in part)
            here = slice(n, n := n + len(part[0]))
            for column, given in zip(self._columns, part, strict=True):
                column[here] = given
        return tuple(column[:n] for column in self._columns)


def one_epoch(
    rows: LearntRows,
    splits: Sequence[Split],
    how: GradientDescent,
    size: int,
    start: OptimizerState,
) -> tuple[OptimizerState, Array, Array]:
    """Step after every ``size`` rows, once through all; also return the loss (t,) and the mean v.

    The loss is the mean over the rows, each before the step that it leads to; v is that after
    every step.
    """
    rng, rate = np.random.default_rng([how.random_state, start.epochs]), how.rate_for("minibatch")
    v, velocity = start.v.copy(), start.velocity.copy()
    eta = how.eta(start.epochs, rows.curvature * v.shape[1], rate)
    loss, path, buffer = np.zeros_like(rows.at_zero), np.zeros_like(v), _Buffer()
    z, t = np.zeros(v.shape[1]), np.empty(len(v))
    z[0] = rows.constant

    def step(batch: Batch) -> int:
        table, targets, weights = buffer.gather(batch, rows.read(batch))
        n = len(table)
        order = rng.permutation(n) if how.sampling == "shuffle" else rng.integers(n, size=n)
        units = rows.center, rows.inverse, rows.penalty
        rates = eta, float(how.momentum), bool(how.nesterov)
        state = z, t, v, velocity, loss, path
        kernels.descent.descend(
            *(table, targets, weights / rows.mean_weight, order, size, *units, *rates, *state)
        )
        return n

    read = steps = 0
    for s in rng.permutation(len(splits)).tolist():
        for n in each_batch(splits[s], rows.layout, step):
            read, steps = read + n, steps - (-n // size)
    cost = 0.5 * (v * v) @ rows.penalty
    loss = loss / max(read, 1) + cost.reshape(len(loss), -1).sum(axis=1)
    return OptimizerState(v, velocity, start.epochs + 1), loss, path / max(steps, 1)


def by_rows(
    rows: LearntRows,
    splits: Sequence[Split],
    how: GradientDescent,
    steps: Steps,
    start: OptimizerState,
) -> Iterates:
    """The states of descent by a few rows at a time."""
    epoch = partial(one_epoch, rows, splits, how, how.size(steps))
    return by_epochs(epoch, start, rows.at_zero, how.rate_for(steps) == "averaged")


def by_epochs(
    epoch: Callable[[OptimizerState], tuple[OptimizerState, Array, Array]],
    start: OptimizerState,
    loss: Array,
    averaged: bool,
) -> Iterates:
    """Yield the state after every epoch, or the average of all steps so far.

    Parameters
    ----------
    epoch : callable
        One more epoch: the state after it, the loss (t,), and the mean of v over its steps.
    start : OptimizerState
    loss : ndarray (t,)
        Before the first epoch.
    averaged : bool
        Whether averages are yielded, in which later epochs weigh more.
    """
    at = average = start
    while True:
        yield average, loss, None
        at, loss, mean = epoch(at)
        weight = (FORGETTING + 1) / (at.epochs + FORGETTING)
        v = average.v + weight * (mean - average.v)
        average = OptimizerState(v, np.zeros_like(v), at.epochs) if averaged else at
