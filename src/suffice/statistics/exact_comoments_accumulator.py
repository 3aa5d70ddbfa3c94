"""Builds co-moments from rows, as whole numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.dyadic import Dyadic
from suffice.statistics.exact_comoments import ExactComoments
from suffice.statistics.row_tally import tallied
from suffice.statistics.separated_rows import IncompleteRows, SeparatingAccumulator

__all__ = ["ExactComomentsAccumulator"]


class ExactComomentsAccumulator(SeparatingAccumulator):
    """Builds `ExactComoments` of d columns; rows may come as any real dtype in any memory order.

    Parameters
    ----------
    d : int
        Number of columns.
    pooled : bool
        Keep one matrix of products for all classes.

    Attributes
    ----------
    complete : bool
        Whether every row added so far shows every column.
    """

    def __init__(self, d: int, pooled: bool = False) -> None:
        super().__init__(d, pooled)
        self._state = kernels.exact_comoments.ProductSums(d)  # of complete rows of every class
        self._k = 0
        self._others = ExactComoments.empty(0, d, pooled)

    def statistic(self) -> ExactComoments:
        """Freeze what was added."""
        k, none = self._k, np.empty(0, np.intp)
        self._add(np.empty((0, self._d)), np.empty((0, 0)), none, np.empty(0))  # of all classes
        groups = np.stack([np.zeros(k, np.intp), np.arange(k)], axis=1)
        everything = np.ones((1 if k else 0, self._d), bool)
        rows = self._frozen(self._state, everything, groups, self._tally_of(k))
        return rows + replace(self._others, k=k) if len(self._others.code) else rows

    def _frozen(
        self,
        state: Any,
        patterns: NDArray[np.bool_],
        groups: NDArray[np.intp],
        tally: NDArray[np.int64],
    ) -> ExactComoments:
        """The sums of groups (g, 2), pairs of pattern and class, that have rows."""
        g, d = len(groups), self._d
        matrices = len(patterns) if self._pooled else g
        shapes = (g, 1), (g, d), (matrices, d * (d + 1) // 2)
        weight, sums, products = (_table(state, i, shape) for i, shape in enumerate(shapes))
        pattern, code = (np.ascontiguousarray(part) for part in groups.T)
        of_groups = self._k, self._pooled, patterns, pattern, code
        found = ExactComoments(*of_groups, weight, sums, products, tally)
        return found._keep(np.flatnonzero(found.weight.value[:, 0] > 0.0))

    def _grow(self, k: int) -> None:
        self._k = k

    def _add(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> int:
        matrix = np.zeros(self._k, np.intp) if self._pooled else np.arange(self._k)
        stopped = self._state.add_rows(x, y, codes, weights, matrix)
        return len(x) if stopped < 0 else int(stopped)

    def _add_incomplete(self, rows: IncompleteRows) -> None:
        state = kernels.exact_comoments.ProductSums(self._d)
        x = np.where(np.isnan(rows.x), 0.0, rows.x)
        matrix = rows.groups[:, 0] if self._pooled else np.arange(len(rows.groups))
        state.add_rows(x, x[:, :0], rows.group, rows.weights, np.ascontiguousarray(matrix))
        tally = tallied(rows.group, rows.weights, len(rows.groups))
        part = self._frozen(state, rows.patterns, rows.groups, tally)
        self._others = replace(self._others, k=self._k) + part


def _table(state: Any, which: int, shape: tuple[int, int]) -> Dyadic:
    planes, low = state.extent(which)
    limbs = np.empty((planes, *shape), np.uint64)
    state.write(which, limbs)
    return Dyadic.trimmed(limbs, low)
