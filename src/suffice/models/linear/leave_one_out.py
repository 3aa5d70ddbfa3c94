"""Leave-one-out of linear models: errors of rows left out, from their leverages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import LinearModel
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell

__all__ = ["LinearLeftOut"]

LEAST_REST = 2.0**-20  # of 1 − wh: below, a row alone determines a coefficient, but for rounding
DOUBTFUL = "it alone determines a coefficient, so leave-one-out has no closed form here"


@dataclass(frozen=True)
class LinearLeftOut(LinearModel):
    """For every row that was learnt, the model of all others; it is judged like a model.

    ::

        y − ŷ' = (y − ŷ)/(1 − wh)    h = 1/n + (x − x̄)ᵀ(XᵀX + Λ)⁻¹(x − x̄)

    for a row of weight w, which is taken out whole. Rows that were not learnt, as a target is
    missing or their weight is 0, are answered by the model of all.

    Source: D. M. Allen, The relationship between variable selection and data augmentation and a
    method for prediction, Technometrics 16 (1974).
    """

    def judged(
        self, x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The answers to rows (n, p) with targets (n, t), each by the model of the others.

        Raises
        ------
        BadCell
            If a row has no closed form.
        """
        found = self._left_out(x, y, weights)
        doubtful = np.isnan(found).any(axis=1) & np.isfinite(x).all(axis=1)
        if doubtful.any():
            raise BadCell(int(doubtful.argmax()), None, "this row", DOUBTFUL, "use cv=10")
        return found

    def answers(self, batch: Batch) -> NDArray[np.float64]:
        """The answers to the rows of a batch, (n, t); NaN where there is no closed form."""
        parts = [np.empty((0, len(self.design.targets)))]
        for rows, x, y in self.rows(batch, with_targets=True):
            parts.append(self._left_out(x, y, batch.weights[rows]))
            self.require_finite(rows.start, x, parts[-1])
        return np.concatenate(parts)

    def _left_out(
        self, x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        fit = cast(LeastSquares, self.fit)
        predicted = fit.predict(x)
        learnt = np.asarray(~np.isnan(y).any(axis=1))
        w = np.where(learnt, weights if len(weights) else 1.0, 0.0)
        rest = 1.0 - w * fit.leverage(x)
        rest[(w > 0) & (rest < LEAST_REST)] = np.nan
        errors = np.where(learnt[:, None], y - predicted, 0.0)
        moved = predicted - errors * ((1.0 - rest) / rest)[:, None]
        return np.asarray(np.where((w > 0)[:, None], moved, predicted))
