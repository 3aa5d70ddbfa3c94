"""Judging and choosing models: with scikit-learn's names, and from sums that are taken once."""

from suffice.model_selection.cross_validation import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from suffice.model_selection.division import ByContent
from suffice.model_selection.evaluated_folds import (
    FoldEvaluations,
    evaluate_folds,
    evaluate_models,
)
from suffice.model_selection.grid_search import GridSearchCV
from suffice.model_selection.learning_curve import LearningCurve, learning_curve_from_statistics
from suffice.model_selection.score_curve import learning_curve

__all__ = [
    "ByContent",
    "FoldEvaluations",
    "GridSearchCV",
    "LearningCurve",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "evaluate_folds",
    "evaluate_models",
    "learning_curve",
    "learning_curve_from_statistics",
]
