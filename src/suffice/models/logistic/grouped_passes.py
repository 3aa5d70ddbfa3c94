"""Passes over the rows of every group, for the losses of many training sets at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Split, each_batch
from suffice.engines.engine import Engine
from suffice.models.base.fold_sums import by_place, sums_by_place
from suffice.models.logistic.first_pass import first_pass
from suffice.models.logistic.loss import LossRequest, loss_sums, present
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.training_rows import TrainingRows
from suffice.models.optimise.newton import Point
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.batch import Batch
from suffice.statistics.by_class import ByClass
from suffice.statistics.loss_sums import LossSums

__all__ = ["Gradients", "GroupedPasses", "about"]


@dataclass
class GroupedPasses:
    """Rows in groups, of which every training set has some.

    Parameters
    ----------
    engine : Engine
    splits : sequence of Split
    group : ndarray of int (n,)
        −1 for rows that no training set has.
    """

    engine: Engine
    splits: Sequence[Split]
    group: NDArray[np.intp]

    def first(self, layout: Any) -> list[ByClass]:
        """Moments and counts of the rows of every group."""
        return sums_by_place(first_pass, (layout, False), self.engine, self.splits, self.group)

    def second_order(self, requests: Sequence[LossRequest]) -> list[list[LossSums]]:
        """The sums of all requests, by group."""
        found = sums_by_place(_several, tuple(requests), self.engine, self.splits, self.group)
        return [list(of_group.sums) for of_group in found]

    def points(
        self,
        rows: TrainingRows,
        objectives: Mapping[int, Objective],
        places: Mapping[int, NDArray[np.float64]],
        learnt: NDArray[np.intp],
    ) -> dict[int, Point]:
        """Functions at free parameters, without Hessians, from one pass.

        Parameters
        ----------
        rows : TrainingRows
            How all rows are read.
        objectives : mapping of int to Objective
            Each over the rows of its own training set, with the same weights of classes.
        places : mapping of int to ndarray (p,)
            Where which of them are asked for.
        learnt : ndarray of int (q, g)
            Whether each has each group.
        """
        mean = rows.centred.mean
        asked = [
            about(objectives[i].coefficients(x), objectives[i], mean) for i, x in places.items()
        ]
        sums = self.gradients(rows, np.stack(asked), learnt[list(places)])
        total = reduce(add, sums)
        return {
            i: objectives[i].point(x, total.of(slot, objectives[i], mean))
            for slot, (i, x) in enumerate(places.items())
        }

    def gradients(
        self,
        rows: TrainingRows,
        coefficients: NDArray[np.float64],
        learnt: NDArray[np.intp] | None = None,
    ) -> list[Gradients]:
        """What the rows of every group say of coefficients (q, m, D) of (1, x − mean).

        Those that have not learnt a group, where that is told, get nothing of it.
        """
        asked = len(coefficients), int(self.group.max()) + 1
        params = rows, coefficients, np.ones(asked, np.bool_) if learnt is None else learnt > 0
        sums = by_place(_gradients, params, self.engine, self.splits, self.group)
        return [sums[g] for g in range(asked[1])]


def about(
    coefficients: NDArray[np.float64], objective: Objective, mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Coefficients (m, D) of (1, x − mean) from those of the z of a function."""
    moved = coefficients.copy()
    moved[:, 0] += coefficients[:, 1:] @ (mean - objective.centred.mean)
    return moved


@dataclass(frozen=True, eq=False)
class _Several:
    """Sums of several requests."""

    sums: tuple[LossSums, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(map(add, self.sums, other.sums)))


def _several(split: Split, requests: tuple[LossRequest, ...]) -> _Several:
    """Kernel: the sums of several requests."""
    return _Several(tuple(loss_sums(split, request) for request in requests))


@dataclass(frozen=True, eq=False)
class Gradients:
    """Losses (q,) and gradients (q, m, D) of q functions, in z = (1, x − mean) of all rows."""

    loss: DoubleDouble
    gradient: DoubleDouble

    @classmethod
    def empty(cls, q: int, m: int, width: int) -> Self:
        """Of no rows."""
        return cls(DoubleDouble.zeros((q,)), DoubleDouble.zeros((q, m, width)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.loss + other.loss, self.gradient + other.gradient)

    def of(self, q: int, objective: Objective, mean: NDArray[np.float64]) -> LossSums:
        """Those of one function, as it has z; from z = (1, x − mean)."""
        none, gradient = np.zeros(objective.k), self.gradient[q].value
        shift = mean - objective.centred.mean
        turned = np.concatenate(
            [gradient[:, :1], gradient[:, 1:] + gradient[:, :1] * shift], axis=1
        )
        return LossSums.of(none, none, self.loss[q].value, turned, np.zeros((0, 0)))


def _gradients(part: Split, params: Any, g: int) -> Gradients:
    """Kernel: losses and gradients of the functions that have a group, over some of its rows."""
    rows, coefficients, learnt = params
    (slots,) = np.nonzero(learnt[:, g])
    asked = np.ascontiguousarray(coefficients[slots])

    def of(batch: Batch) -> Gradients:
        loss, gradient = np.zeros(len(asked)), np.zeros(asked.shape)
        batch, codes = rows.of(batch)
        for start, x in rows.centred.tables(batch):
            places = slice(start, start + len(x))
            table, code, w = present(x, codes[places], batch.weights[places])
            _add_gradients(
                rows, np.ascontiguousarray(table, np.float64), asked, code, w, loss, gradient
            )
        q, (m, width) = len(coefficients), asked.shape[1:]
        return Gradients(
            DoubleDouble.of(loss).scatter(slots, (q,)),
            DoubleDouble.of(gradient).scatter(slots, (q, m, width)),
        )

    nothing = Gradients.empty(*coefficients.shape)
    return sum(each_batch(part, rows.layout, of), nothing) if len(slots) else nothing


def _add_gradients(
    rows: TrainingRows,
    table: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
    loss: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None:
    """Add the losses (q,) and gradients (q, m, D) of q functions over some rows."""
    of_rows = codes, weights, rows.class_weights
    if coefficients.shape[1] == 1:
        kernels.logistic.add_gradients(
            table, rows.centred.mean, coefficients[:, 0], *of_rows, loss, gradient[:, 0]
        )
        return
    k, nothing = len(rows.classes), np.zeros((1, table.shape[1] + 1))
    for q, one in enumerate(coefficients):
        directions = np.concatenate([one, nothing])  # without a checksum
        sums = np.zeros(k), np.zeros(k), gradient[q]
        loss[q] += kernels.logistic.add_gradient(
            table, rows.centred.mean, directions, *of_rows, *sums
        )
