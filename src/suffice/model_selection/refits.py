"""Models of folds that are no function of sums: fitted together, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model_selection.folds import Partition, row_groups
from suffice.model_selection.near_fits import refitted, starting
from suffice.model_selection.pairs import Folds
from suffice.model_selection.rows import Rows
from suffice.model_selection.rows_at import rows_at
from suffice.model_selection.timed import Training, timed
from suffice.models.base.estimator import Estimator

__all__ = ["refits"]


def refits(
    learners: Sequence[Estimator], table: Rows, folds: Folds, weight: Any, error_score: Any
) -> list[list[tuple[Any, float]]]:
    """The model of every learner and fold, or its error, and the seconds that it took.

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
    started = perf_counter()
    found = _together(learners, table, folds, weight)
    share = (perf_counter() - started) / (len(learners) * len(folds))
    return [
        [(model, share) for model in models]
        if all(model is not None for model in models)
        else _one_by_one(learner, table, folds, weight, error_score, models)
        for learner, models in zip(learners, found, strict=True)
    ]


def _together(learners: Sequence[Any], table: Rows, folds: Folds, weight: Any) -> list[list[Any]]:
    """Models that descend together; None for those that do not."""
    nothing: list[list[Any]] = [[None] * len(folds) for _ in learners]
    joint = getattr(learners[0], "_fitted_together", None)
    if joint is None or any(type(one) is not type(learners[0]) for one in learners):
        return nothing
    groups = (
        (folds.fold, 1 - np.eye(len(folds), dtype=np.intp))
        if isinstance(folds, Partition)
        else row_groups([train for train, _ in folds], table.n)
    )
    return (
        nothing
        if groups is None
        else joint(learners, (table.X, table.y, weight), *groups) or nothing
    )


def _one_by_one(
    learner: Estimator,
    table: Rows,
    folds: Folds,
    weight: Any,
    error_score: Any,
    models: Sequence[Any],
) -> list[tuple[Any, float]]:
    start = starting(learner, len(folds), table.X, table.y, weight)

    def fit(rows: NDArray[np.intp]) -> Any:
        return refitted(start, *(rows_at(given, rows) for given in (table.X, table.y, weight)))

    return [
        timed(partial(fit, train), error_score, 0.0, Training(f, table.truth, train))
        if model is None
        else (model, 0.0)
        for f, ((train, _), model) in enumerate(zip(folds, models, strict=True))
    ]
