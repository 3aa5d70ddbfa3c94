"""Judging and choosing models: with scikit-learn's names, and from sums that are taken once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.model_selection.cross_validation import cross_val_predict as cross_val_predict
    from suffice.model_selection.cross_validation import cross_val_score as cross_val_score
    from suffice.model_selection.cross_validation import cross_validate as cross_validate
    from suffice.model_selection.cross_validation import learning_curve as learning_curve
    from suffice.model_selection.evaluated_folds import evaluate_folds as evaluate_folds
    from suffice.model_selection.evaluated_folds import evaluate_models as evaluate_models
    from suffice.model_selection.grid_search import GridSearchCV as GridSearchCV
    from suffice.model_selection.paired_scores import ScoreDifference as ScoreDifference
    from suffice.model_selection.paired_scores import compare_scores as compare_scores
    from suffice.model_selection.ranking import FoldEvaluations as FoldEvaluations

# Imported on first use: folds of files need no scikit-learn.
_HOME = {
    "FoldEvaluations": "ranking",
    "GridSearchCV": "grid_search",
    "ScoreDifference": "paired_scores",
    "compare_scores": "paired_scores",
    "cross_val_predict": "cross_validation",
    "cross_val_score": "cross_validation",
    "cross_validate": "cross_validation",
    "evaluate_folds": "evaluated_folds",
    "evaluate_models": "evaluated_folds",
    "learning_curve": "cross_validation",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
