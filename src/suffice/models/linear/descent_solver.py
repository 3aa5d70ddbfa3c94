"""Least squares learnt by gradient descent: from a first table, or from some more rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.models.linear.descent import (
    DescentFit,
    IncompleteRow,
    ReadRows,
    first_pass,
    least_squares,
)
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.standardisation import Columns, Standard
from suffice.models.optimise.descent_options import GradientDescent, Steps
from suffice.models.optimise.gradient_descent import PARTS
from suffice.statistics.moments import refuse_underflow

__all__ = ["DescentSolver"]


@dataclass(frozen=True)
class DescentSolver:
    """How a linear model descends.

    Parameters
    ----------
    how : GradientDescent
        Learning rate, momentum, when to stop, and the seed.
    steps : str
        By all rows, by single rows, or by a few at a time.
    drop : bool
        Whether rows with a missing cell are left out; else they are refused.
    intercept : bool
        Whether b is estimated.
    penalty : function
        λ of every column, (p,).
    """

    how: GradientDescent
    steps: Steps
    drop: bool
    intercept: bool
    penalty: Callable[[Columns], NDArray[np.float64]]

    def fit(self, reader: LinearReader, source: Rows, engine: Engine) -> DescentFit:
        """Descend, pass by pass over the rows of a table."""
        rows, splits, standard = self._standardised(reader, source, engine, first=True)
        costs = self.penalty(standard)
        rows = rows.among(standard.penalised(costs), costs)
        return least_squares(rows, splits, engine, self.how, self.steps)

    def after(
        self, before: DescentFit | None, reader: LinearReader, source: Rows, engine: Engine
    ) -> DescentFit:
        """Step after every few rows of one more table; the first settles centres and units."""
        rows, splits, standard = self._standardised(reader, source, engine, first=before is None)
        costs = self.penalty(standard)
        if before is None:
            before = DescentFit.at_rest(standard.penalised(costs))
        else:
            before = before.joined(standard)
            costs = self.penalty(before.standard)
        return before.after(rows.among(before.standard, costs), splits, self.how, self.steps)

    def _standardised(
        self, reader: LinearReader, source: Rows, engine: Engine, first: bool
    ) -> tuple[ReadRows, Sequence[Split], Standard]:
        """How the rows of a source are read, and their own centres and units.

        Column scales are set from the first rows, so every column needs a value there.
        """
        layout, design = reader.layout_of(source), reader.design
        splits = source.splits(layout, PARTS)
        rows = ReadRows(design, layout, self.drop)
        try:
            seen = engine.run(first_pass, rows, splits)
        except IncompleteRow:
            raise reader.incomplete(engine, layout, splits) from None
        if first:
            refuse_underflow(seen.moments.too_small, design.column)
        return rows, splits, Standard.of(seen, len(design), self.intercept)
