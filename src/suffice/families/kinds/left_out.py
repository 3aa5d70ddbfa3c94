"""Leave-one-out of whole numbers: each kind by its own formula, unless a row decides the kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.families.kinds.divided import DividedParameters
from suffice.families.kinds.rule import is_category
from suffice.families.left_out.rows import LearntRows, LeaveOneOut
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.block import RealBlock, among, converted
from suffice.statistics.value_grid import cells_of
from suffice.statistics.whole_values import value_of_cells

__all__ = ["WholeNumbersLeftOut"]


@dataclass(frozen=True)
class WholeNumbersLeftOut:
    """The families of both kinds, for rows without which every column stays what it is.

    Parameters
    ----------
    bins : BinnedCounts
        Of all rows.
    parameters : WholeNumbersParameters
        Of all rows.
    families : sequence of LeaveOneOut
        Of the kinds of which there are columns.
    """

    bins: BinnedCounts
    parameters: DividedParameters
    families: Sequence[LeaveOneOut]

    def add_log_likelihood(
        self, block: RealBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add Σⱼ log p(xⱼ | c) by the sums without the row; NaN where a kind would change."""
        sides = self.parameters.sides(block)
        for family, (_, some, columns) in zip(self.families, sides, strict=True):
            with among(columns):
                family.add_log_likelihood(some, rows, out)
        x = np.asarray(converted(block.values), np.float64)
        for j, column in enumerate(self._columns):
            out[column.changed_without(cells_of(x[:, j]), rows.weights)] = np.nan

    @cached_property
    def _columns(self) -> list[_Column]:
        pooled = self.bins.one_class
        columns = [pooled.column(j) for j in range(pooled.d)]
        return [_Column(cells, counts[0]) for cells, counts in columns]


@dataclass(frozen=True)
class _Column:
    """The cells (m,) that the rows of a column show, and Σw in each."""

    cells: NDArray[np.uint16]
    counts: NDArray[np.float64]

    def changed_without(
        self, cells: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """The rows without which the column would be of the other kind."""
        rows = np.flatnonzero((cells >= 0) & (weights > 0))
        if not len(rows):
            return rows
        place = np.searchsorted(self.cells, cells[rows])
        alone = self.counts[place] <= weights[rows]
        changed = self._is_category(place, alone, weights[rows]) != self._usual
        return np.asarray(rows[changed])

    @cached_property
    def _usual(self) -> NDArray[np.bool_]:
        nobody = np.zeros(1, np.intp)
        return self._is_category(nobody, nobody > 0, np.zeros(1))

    def _is_category(
        self, place: NDArray[np.intp], alone: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """What the column is without each of some rows, whose cells are at ``place``."""
        value, whole = value_of_cells(self.cells)
        m = len(value)
        others = (~whole).sum() - (alone & ~whole[place])
        smallest = np.where(alone & (place == 0), value[min(1, m - 1)], value[0])
        largest = np.where(alone & (place == m - 1), value[m - 2], value[m - 1])
        observed = self.counts.sum() - weights
        return np.asarray((others == 0) & is_category(m - alone, observed, smallest, largest))
