"""Builds a ranking from batches of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.ranking import CELLS, Ranking, cell_of, sides_of

__all__ = ["RankingAccumulator"]


class RankingAccumulator:
    """The sum of `Ranking.of` over batches.

    Once scores have to be rounded, rows are counted in a table of all cells.

    Examples
    --------
    >>> rows = RankingAccumulator()
    >>> rows.add(np.array([0.5, 2.0]), np.array([False, True]), np.ones(2))
    >>> rows.add(np.array([-1.0]), np.array([False]), np.ones(1))
    >>> rows.ranking().roc_area.value
    1.0
    """

    def __init__(self) -> None:
        self._found = Ranking.empty()
        self._cells: DoubleDouble | None = None  # (cells, 2)

    def add(
        self, scores: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> None:
        """Add n rows; see `Ranking.of`."""
        if self._cells is not None:
            at, sums = cell_of(scores), self._cells
            kernels.counts.add_events(sides_of(truth, weights), at, np.zeros(0), sums.hi, sums.lo)
            return
        self._found += Ranking.of(scores, truth, weights)
        if self._found.parts[0].rounded:
            self._cells = DoubleDouble.zeros((CELLS, 2))

    def ranking(self) -> Ranking:
        """The sum of all rows added."""
        if self._cells is None:
            return self._found
        return self._found + Ranking.of_cells(self._cells)
