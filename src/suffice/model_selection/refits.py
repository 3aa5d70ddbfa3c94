"""Models of folds that are no function of sums: each is fitted to its rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model_selection.near_fits import refitted, starting
from suffice.model_selection.rows import Rows
from suffice.model_selection.scikit_learn import Folds, rows_at
from suffice.model_selection.timed import timed
from suffice.models.base.estimator import Estimator

__all__ = ["refits"]


def refits(
    estimator: Estimator, table: Rows, folds: Folds, weight: Any, error_score: Any
) -> list[tuple[Any, float]]:
    """The model of every fold, or its error, and the seconds that it took.

    Parameters
    ----------
    estimator : Estimator
        Which is left as it is.
    table : Rows
    folds : Folds
    weight : array-like (n,), optional
    error_score : "raise" or number
        As for `cross_validate`.
    """
    start = starting(estimator, len(folds), table.X, table.y, weight)

    def fit(rows: NDArray[np.intp]) -> Any:
        return refitted(start, *(rows_at(given, rows) for given in (table.X, table.y, weight)))

    return [timed(partial(fit, train), error_score, 0.0) for train, _ in folds]
