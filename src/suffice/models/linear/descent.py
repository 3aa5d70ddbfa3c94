"""Least squares by gradient descent.

::

    J(b, w) = 1/(2N) [Σ ω(y − b − xᵀw)² + Σⱼ λⱼwⱼ²]        N = Σ ω

The first pass over the rows finds means and variances. All others see columns about their means, in
divided by √(s² + λ/N), so that the second derivatives are 1, and targets divided by their standard
deviation: one learning rate then suits every column. The coefficients returned are those of the
columns as they were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.engines.engine import Engine
from suffice.models.design.matrix import Design
from suffice.models.linear.standardisation import Overview, Standard
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import (
    OptimizerState,
    Quadratic,
    by_batch,
)
from suffice.models.optimise.stochastic import by_rows, one_epoch
from suffice.models.optimise.stopping import check_descent, descend
from suffice.numerics import kernels
from suffice.numerics.rows import affine
from suffice.rules import FINITE, Shape, rule
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.moments import MomentsAccumulator

__all__ = ["DescentFit", "IncompleteRow", "Overview", "ReadRows", "first_pass", "least_squares"]


class IncompleteRow(Exception):  # noqa: N818 - the rows with missing cells are counted next
    """A row has a missing cell, and none was to have one."""


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
        Centres and scales; not needed by `first_pass`.
    cost : ndarray (1 + p,), optional
        The penalty.
    """

    design: Design
    layout: Layout
    drop: bool
    standard: Standard | None = None
    cost: NDArray[np.float64] | None = None

    curvature: ClassVar[float] = 1.0

    def among(self, standard: Standard, costs: NDArray[np.float64]) -> ReadRows:
        """The same rows on given scales, with penalties λ (p,)."""
        return replace(self, standard=standard, cost=standard.penalty(costs))

    def parts(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]]:
        """Yield complete rows (x, y) and their weights, with their numbers in the batch.

        Raises
        ------
        IncompleteRow
            If a cell is missing and rows are not to be left out.
        """
        for start, z in self.design.rows(self.design.present(batch), with_targets=True):
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

    # -- standardised, as a descent sees them

    @cached_property
    def center(self) -> NDArray[np.float64]:
        """m, (p,)."""
        standard = cast(Standard, self.standard)
        return standard.center[: standard.p]

    @cached_property
    def inverse(self) -> NDArray[np.float64]:
        """1/s, (p,)."""
        standard = cast(Standard, self.standard)
        return standard.inverse[: standard.p]

    @property
    def constant(self) -> float:
        """1 with an intercept, else 0."""
        return float(cast(Standard, self.standard).intercept)

    @property
    def penalty(self) -> NDArray[np.float64]:
        """λ/(N · scale²), (1 + p,)."""
        return cast(NDArray[np.float64], self.cost)

    @property
    def mean_weight(self) -> float:
        """N over the number of rows."""
        standard = cast(Standard, self.standard)
        return standard.weight / standard.rows

    @property
    def at_zero(self) -> NDArray[np.float64]:
        """The loss at v = 0, (t,): half the variance of a target on its own scale."""
        standard = cast(Standard, self.standard)
        return np.where(standard.scale[standard.p :] > 0, 0.5, 0.0)

    def read(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
        """Yield rows that start with x, standardised targets (n, t), and weights."""
        standard = cast(Standard, self.standard)
        p = standard.p
        for _, z, weights in self.parts(batch):
            yield z, (z[:, p:] - standard.center[p:]) * standard.inverse[p:], weights


def first_pass(split: Split, rows: ReadRows) -> Any:
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
    g, loss, t, z = np.zeros(v.shape), np.zeros(len(v)), np.empty(len(v)), np.zeros(v.shape[1])
    z[0] = rows.constant

    def add(batch: Batch) -> None:
        for table, targets, weights in rows.read(batch):
            order, standard = np.arange(len(table)), (rows.center, rows.inverse)
            kernels.descent.add_gradient(
                table, targets, weights, order, *standard, v, z, t, g, loss
            )

    for _ in each_batch(split, rows.layout, add):
        pass
    return np.concatenate([g, loss[:, None]], axis=1)


# -- what was found


@dataclass(frozen=True, eq=False)
class DescentFit:
    """Coefficients that a descent ended at.

    Parameters
    ----------
    standard : Standard
        Centres and scales; no digits cancel, as rows are measured from a centre.
    optimizer : OptimizerState
        Coefficients of standardised columns, and how to go on.
    loss_history : ndarray (epochs,)
        J, the sum over targets, after every epoch.
    converged : bool
        Whether the rule for stopping was met.
    """

    standard: Standard
    optimizer: OptimizerState
    loss_history: Annotated[NDArray[np.float64], Shape("epochs"), FINITE]
    converged: bool

    @rule("there are coefficients of every target for every column, and they are finite")
    def _has_coefficients(self) -> bool:
        p, both = self.standard.p, len(self.standard.scale)
        if self.optimizer.v.shape != (both - p, 1 + p):
            return False
        return bool(np.isfinite(self.coefficients).all() and np.isfinite(self.intercept).all())

    @classmethod
    def at_rest(cls, standard: Standard) -> DescentFit:
        """The start, v = 0."""
        v = np.zeros((len(standard.scale) - standard.p, 1 + standard.p))
        return cls(standard, OptimizerState.start(v), np.empty(0), False)

    def joined(self, other: Standard) -> DescentFit:
        """The same coefficients, with the weight of further rows."""
        return replace(self, standard=self.standard.joined(other))

    @property
    def has_intercept(self) -> bool:
        """Whether b is estimated; else it is 0."""
        return self.standard.intercept

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """w, (p, t), in the units of the rows."""
        p, standard = self.standard.p, self.standard
        w = (self.optimizer.v[:, 1:] * standard.inverse[:p]).T * standard.scale[p:]
        return np.ascontiguousarray(w)

    @property
    def origin(self) -> NDArray[np.float64]:
        """The point o, (p,), that rows are measured from."""
        return self.standard.center[: self.standard.p]

    @cached_property
    def at_origin(self) -> NDArray[np.float64]:
        """b + oᵀw, (t,)."""
        p, standard = self.standard.p, self.standard
        return np.asarray(standard.center[p:] + self.optimizer.v[:, 0] * standard.scale[p:])

    @property
    def intercept(self) -> NDArray[np.float64]:
        """b, (t,): the value at x = 0."""
        return np.asarray(self.at_origin - self.origin @ self.coefficients)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """b + xᵀw of rows (n, p), (n, t)."""
        return affine(x, self.origin, self.coefficients.T, self.at_origin)

    def after(
        self, rows: ReadRows, splits: Sequence[Split], how: GradientDescent, steps: Steps
    ) -> DescentFit:
        """One more epoch, through further rows.

        Raises
        ------
        ParameterError
            If the loss grows without end.
        """
        standard = cast(Standard, rows.standard)
        target_weights = standard.scale[standard.p :] ** 2
        optimizer, losses, _ = one_epoch(
            rows, splits, how.for_stream(), how.size(steps), self.optimizer
        )
        loss = float(losses @ target_weights)
        check_descent(float(rows.at_zero @ target_weights), loss, optimizer.epochs, how)
        return DescentFit(standard, optimizer, np.append(self.loss_history, loss), False)


def least_squares(
    rows: ReadRows, splits: Sequence[Split], engine: Engine, how: GradientDescent, steps: Steps
) -> DescentFit:
    """Descend from v = 0 until the rule for stopping is met or the epochs are over.

    Raises
    ------
    ParameterError
        If the loss grows without end.
    """
    standard, penalty = cast(Standard, rows.standard), rows.penalty

    def evaluate(v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums = engine.run(gradient, (rows, v), splits) / standard.weight
        return sums[:, -1] + 0.5 * (v * v) @ penalty, sums[:, :-1] + penalty * v

    def gradient_norm(v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(evaluate(v)[1], axis=1))

    start = DescentFit.at_rest(standard).optimizer
    iterates = (
        by_batch(Quadratic(evaluate, 1.0 + standard.p), start.v, how)
        if steps == "gradient"
        else by_rows(rows, splits, how, steps, start)
    )
    weights = standard.scale[standard.p :] ** 2
    return DescentFit(standard, *descend(iterates, gradient_norm, how, steps, weights))
