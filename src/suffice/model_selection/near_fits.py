"""Fits of folds that start where that of all rows ended."""

from __future__ import annotations

from copy import copy
from typing import Any

from suffice.errors import DataError, ParameterError
from suffice.models.base.estimator import Estimator

__all__ = ["refitted", "starting"]


def starting(estimator: Estimator, folds: int, *rows: Any) -> Any:
    """What the models of folds start from.

    Where an optimum is the same from any start, that of all rows saves more than it costs.

    Parameters
    ----------
    estimator : Estimator
    folds : int
    *rows
        All of them, for `fit`.
    """
    start: Any = estimator.unfitted()
    if not start._has_one_optimum or folds < 3:
        return start
    try:
        return start.fit(*rows)
    except (DataError, ParameterError):  # which the folds may not have
        return estimator.unfitted()


def refitted(start: Any, *rows: Any) -> Any:
    """An estimator fitted to other rows, from where it ended; that one is left as it is."""
    if not hasattr(start, "model_"):
        return copy(start).fit(*rows)
    given = start.warm_start
    return copy(start).set_params(warm_start=True).fit(*rows).set_params(warm_start=given)
