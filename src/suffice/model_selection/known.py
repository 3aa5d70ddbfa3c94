"""Whose models of folds are made here."""

from __future__ import annotations

from typing import Any

from suffice.model_selection.scikit_learn import is_leave_one_out
from suffice.model_selection.table_rows import is_table
from suffice.models.base.estimator import Estimator

__all__ = ["is_known"]


def is_known(estimator: Any, X: Any, cv: Any) -> bool:
    """Whether the models of folds are ours: those of an estimator, or of a search of sums."""
    if isinstance(estimator, Estimator):
        return True
    nested = hasattr(estimator, "_fitted_nested") and estimator._is_of_sums
    return nested and not is_table(X) and not is_leave_one_out(cv)
