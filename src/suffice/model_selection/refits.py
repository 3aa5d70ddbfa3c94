"""Models of folds that are no function of sums: a fit to the rows of every one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model_selection.pairs import Folds
from suffice.model_selection.rows import Rows
from suffice.model_selection.rows_at import rows_at
from suffice.model_selection.timed import Training, timed
from suffice.models.estimator import Estimator

__all__ = ["refits"]


def refits(
    learners: Sequence[Estimator], table: Rows, folds: Folds, weight: Any, error_score: Any
) -> list[list[tuple[Any, float]]]:
    """Return the model of every learner and fold, or its error, and the seconds that it took.

    Parameters
    ----------
    learners : sequence of Estimator
        Which are left as they are.
    table : Rows
    folds : Folds
    weight : array-like (n,), optional
    error_score : "raise" or number
        As for `cross_validate`.
    """

    def fit(learner: Estimator, rows: NDArray[np.intp]) -> Any:
        given = (rows_at(each, rows) for each in (table.X, table.y, weight))
        return learner.unfitted().fit(*given)

    return [
        [
            timed(partial(fit, learner, train), error_score, 0.0, Training(f, table.truth, train))
            for f, (train, _) in enumerate(folds)
        ]
        for learner in learners
    ]
