"""Builds co-moments from rows, as pairs of doubles: complete ones together, others by pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.error_free import LARGEST
from suffice.statistics.block import RealBlock, require_held, tiles
from suffice.statistics.comoments import Comoments, indexed_products
from suffice.statistics.counts import grown
from suffice.statistics.moments import too_large
from suffice.statistics.row_tally import tallied

__all__ = ["ComomentsAccumulator"]

SEPARATED_ROWS = 4_096  # rows separated at a time into complete ones and others
# Products that one call of a kernel adds, in about a tenth of a second: Ctrl-C is heard in between.
PRODUCTS = 2**29
LEAST_ROWS = 4_096  # of a call: what it adds to pairs at its end takes as long as a thousand rows


class ComomentsAccumulator:
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
        self.complete = True
        self._d, self._pooled = d, pooled
        self._tally = np.zeros((0, 3), np.int64)  # of the complete rows of every class
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
        self._grow(k)
        for start, x in self._short(block):
            rows = slice(start, start + len(x))
            y = x[:, :0] if beside is None else beside.values[rows]
            require_held(y, start, left=x.shape[1])
            y = np.ascontiguousarray(y, np.float64)
            done = self._add(x, y, codes[rows], weights[rows])
            counted = slice(start, start + done)
            self._count(codes[counted], weights[counted])
            for first in range(done, len(x), SEPARATED_ROWS):
                rows = slice(start + first, start + min(first + SEPARATED_ROWS, len(x)))
                part = slice(first, first + SEPARATED_ROWS)
                z = np.concatenate([x[part], y[part]], axis=1)
                self._separate(z, codes[rows], weights[rows], start + first)

    def statistic(self) -> Comoments:
        """Freeze what was added."""
        k = len(self._state[0])
        groups = np.stack([np.zeros(k, np.intp), np.arange(k)], axis=1)
        everything = np.ones((1, self._d), bool)
        rows = Comoments.of_groups(k, self._pooled, everything, groups, self._home)
        weight, pivot, sums, products = (part.copy() for part in self._state)
        tally = grown(self._tally, k)
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
        """Add complete rows; return how many came before one that is not, or is too large."""
        weight, pivot, sums, products = self._state
        state = weight, pivot, sums, self._home, products
        stopped = kernels.comoments.add_rows(x, y, codes, weights, *state)
        return len(x) if stopped < 0 else int(stopped)

    def _count(self, codes: NDArray[np.intp], weights: NDArray[np.float64]) -> None:
        """Count complete rows that were added."""
        k = max(len(self._tally), int(codes.max(initial=-1)) + 1)
        self._tally = grown(self._tally, k) + tallied(codes, weights, k)

    def _short(self, block: RealBlock) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Cut rows so that a kernel returns soon, each part with the number of its first row."""
        step = max(LEAST_ROWS, PRODUCTS // max(1, self._d**2))
        for start, x in tiles(block.values, np.float64):
            for first in range(0, len(x), step):
                yield start + first, x[first : first + step]

    def _separate(
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
        self._count(codes[complete], of_complete)
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
        of_rest = weights[rest] if len(weights) else weights
        rows, k = x[rest], len(self._state[0])
        product_index = indexed_products(self._pooled, groups, counts > 1)
        part = Comoments.of_groups(k, self._pooled, patterns, groups, product_index)
        weight, pivot, sums = part.weight.copy(), part.pivot.copy(), part.sums.copy()
        products, group = part.products.copy(), group.reshape(-1)
        kernels.comoments.add_scattered_rows(
            rows, group, of_rest, weight, pivot, sums, product_index, products
        )
        tally = tallied(group, of_rest, len(groups))
        part = replace(part, weight=weight, pivot=pivot, sums=sums, products=products, tally=tally)
        self._others = replace(self._others, k=k) + part._shown()
