"""Builds co-moments from rows, as pairs of doubles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.statistics.comoment_groups import indexed_products
from suffice.statistics.comoments import Comoments
from suffice.statistics.counts import grown
from suffice.statistics.row_tally import tallied
from suffice.statistics.separated_rows import IncompleteRows, SeparatingAccumulator

__all__ = ["ComomentsAccumulator"]


class ComomentsAccumulator(SeparatingAccumulator):
    """Builds `Comoments` of d columns; rows may come as any real dtype in any memory order.

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
        # weight, pivot, sums and products of the complete rows of every class
        self._state: tuple[NDArray[np.float64], ...] = (
            np.zeros((0, 2)),
            np.zeros((0, d)),
            np.zeros((0, 2, d)),
            np.zeros((int(pooled), 2, d, d)),
        )
        self._others = Comoments.empty(0, d, pooled)

    def statistic(self) -> Comoments:
        """Freeze what was added."""
        k = len(self._state[0])
        groups = np.stack([np.zeros(k, np.intp), np.arange(k)], axis=1)
        everything = np.ones((1, self._d), bool)
        rows = Comoments.of_groups(k, self._pooled, everything, groups, self._home)
        weight, pivot, sums, products = (part.copy() for part in self._state)
        tally = self._tally_of(k)
        rows = replace(rows, weight=weight, pivot=pivot, sums=sums, products=products, tally=tally)
        rows = rows._shown()
        return rows + replace(self._others, k=k) if len(self._others.code) else rows

    @property
    def _home(self) -> NDArray[np.intp]:
        k = len(self._state[0])
        return np.zeros(k, np.intp) if self._pooled else np.arange(k)

    def _grow(self, k: int) -> None:
        *of_classes, products = self._state
        products = products if self._pooled else grown(products, k)
        self._state = (*(grown(sums, k) for sums in of_classes), products)

    def _add(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> int:
        weight, pivot, sums, products = self._state
        state = weight, pivot, sums, self._home, products
        stopped = kernels.comoments.add_rows(x, y, codes, weights, *state)
        return len(x) if stopped < 0 else int(stopped)

    def _add_incomplete(self, rows: IncompleteRows) -> None:
        k = len(self._state[0])
        product_index = indexed_products(self._pooled, rows.groups, rows.counts > 1)
        part = Comoments.of_groups(k, self._pooled, rows.patterns, rows.groups, product_index)
        weight, pivot, sums = part.weight.copy(), part.pivot.copy(), part.sums.copy()
        products, of = part.products.copy(), (rows.x, rows.group, rows.weights)
        kernels.comoments.add_scattered_rows(*of, weight, pivot, sums, product_index, products)
        tally = tallied(rows.group, rows.weights, len(rows.groups))
        part = replace(part, weight=weight, pivot=pivot, sums=sums, products=products, tally=tally)
        self._others = replace(self._others, k=k) + part._shown()
