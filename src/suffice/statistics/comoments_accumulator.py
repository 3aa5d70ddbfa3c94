"""Builds co-moments from rows: complete ones together, others by what they lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.error_free import LARGEST
from suffice.statistics.block import RealBlock, require_held, tiles
from suffice.statistics.comoment_groups import indexed_products
from suffice.statistics.comoments import Comoments
from suffice.statistics.counts import grown
from suffice.statistics.moments import too_large

__all__ = ["ComomentsAccumulator"]

SEPARATED_ROWS = 4_096  # rows separated at a time into complete ones and others


class ComomentsAccumulator:
    """Builds `Comoments` of d columns; rows may come as any real dtype in any memory order.

    Parameters
    ----------
    d : int
        Number of columns.
    pooled : bool
        Keep one matrix of products for all classes.
    exact : bool
        Add products without rounding; else in plain double precision, which is faster.

    Attributes
    ----------
    complete : bool
        Whether every row added so far shows every column.
    """

    def __init__(self, d: int, pooled: bool = False, exact: bool = True) -> None:
        self.complete = True
        self._d, self._pooled, self._exact = d, pooled, exact
        # weight, pivot, sums and products of the complete rows of every class
        self._state: tuple[NDArray[np.float64], ...] = (
            np.zeros((0, 2)),
            np.zeros((0, d)),
            np.zeros((0, 2, d)),
            np.zeros((int(pooled), 2, d, d)),
        )
        self._others = Comoments.empty(0, d, pooled)

    def add(
        self,
        block: RealBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
        beside: RealBlock | None = None,
    ) -> None:
        """Add the rows of a block, and of one beside it, whose columns come after.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e150.
        """
        *of_classes, products = self._state
        products = products if self._pooled else grown(products, k)
        self._state = (*(grown(sums, k) for sums in of_classes), products)
        for start, x in tiles(block.values, np.float64):
            rows = slice(start, start + len(x))
            y = x[:, :0] if beside is None else beside.values[rows]
            require_held(y, start, left=x.shape[1])
            y = np.ascontiguousarray(y, np.float64)
            done = self._add(x, y, codes[rows], weights[rows])
            for first in range(done, len(x), SEPARATED_ROWS):
                rows = slice(start + first, start + min(first + SEPARATED_ROWS, len(x)))
                part = slice(first, first + SEPARATED_ROWS)
                z = np.concatenate([x[part], y[part]], axis=1)
                self._add_separated(z, codes[rows], weights[rows], start + first)

    def statistic(self) -> Comoments:
        """Freeze what was added."""
        k = len(self._state[0])
        groups = np.stack([np.zeros(k, np.intp), np.arange(k)], axis=1)
        everything = np.ones((1, self._d), bool)
        rows = Comoments.of_groups(k, self._pooled, everything, groups, self._home)
        weight, pivot, sums, products = (part.copy() for part in self._state)
        rows = replace(rows, weight=weight, pivot=pivot, sums=sums, products=products)
        rows = rows._shown()
        return rows + replace(self._others, k=k) if len(self._others.code) else rows

    @property
    def _home(self) -> NDArray[np.intp]:
        k = len(self._state[0])
        return np.zeros(k, np.intp) if self._pooled else np.arange(k)

    def _add(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> int:
        """Add complete rows; return how many were added before one that is not, or is too large."""
        weight, pivot, sums, products = self._state
        state = weight, pivot, sums, self._home, products
        stopped = kernels.comoments.add_rows(x, y, codes, weights, self._exact, *state)
        return len(x) if stopped < 0 else int(stopped)

    def _add_separated(
        self,
        x: NDArray[np.float64],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        first: int,
    ) -> None:
        """Add complete rows as such, and the others to the groups of their patterns."""
        if (np.abs(x[codes >= 0]) > LARGEST).any():
            raise too_large(np.where(codes[:, None] >= 0, x, 0.0), 0, first)
        shown = ~np.isnan(x)
        complete = np.asarray(shown.all(axis=1))
        self.complete = self.complete and bool(complete[codes >= 0].all())
        of_complete = weights[complete] if len(weights) else weights
        self._add(x[complete], np.empty((complete.sum(), 0)), codes[complete], of_complete)
        rest = np.flatnonzero(~complete & shown.any(axis=1) & (codes >= 0))
        if not len(rest):
            return
        patterns, pattern = np.unique(shown[rest], axis=0, return_inverse=True)
        groups, group, counts = np.unique(
            np.stack([pattern.reshape(-1), codes[rest]], axis=1),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        k, product_index = len(self._state[0]), indexed_products(self._pooled, groups, counts > 1)
        part = Comoments.of_groups(k, self._pooled, patterns, groups, product_index)
        weight, pivot, sums = part.weight.copy(), part.pivot.copy(), part.sums.copy()
        products = part.products.copy()
        rows = x[rest], group.reshape(-1), weights[rest] if len(weights) else weights
        kernels.comoments.add_scattered_rows(*rows, weight, pivot, sums, product_index, products)
        part = replace(part, weight=weight, pivot=pivot, sums=sums, products=products)
        self._others = replace(self._others, k=k) + part._shown()
