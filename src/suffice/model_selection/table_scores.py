"""Scores of folds of a file, by scikit-learn's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.model_selection.evaluated_folds import FoldEvaluations, evaluate_folds
from suffice.model_selection.scores import CLASS_SCORES, NUMBER_SCORES, Score
from suffice.models.classifier import Classifier

__all__ = ["table_scores"]

Figure = Callable[[Any], float]


def _figure(score: Score) -> Figure:
    """A figure of which more is better."""
    return score.of if score.more_is_better else lambda found: -score.of(found)


def _by_name(scores: Mapping[str, Score]) -> dict[str, Figure]:
    return {score.scikit_learn: _figure(score) for score in scores.values() if score.scikit_learn}


CLASSES: dict[str, Figure] = _by_name(CLASS_SCORES) | {
    "accuracy": lambda found: found.accuracy,
    "roc_auc_ovr": lambda found: found.roc_area.value,
    "f1_macro": lambda found: float(found.f1.mean()),
    "precision_macro": lambda found: float(found.precision.mean()),
    "recall_macro": lambda found: float(found.recall.mean()),
}
NUMBERS: dict[str, Figure] = _by_name(NUMBER_SCORES) | {
    "neg_mean_squared_error": lambda found: -float(found.mean_squared_error.mean()),
}


def table_scores(
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any,
    scoring: Any,
    cv: Any,
    sample_weight: Any,
) -> dict[str, NDArray[np.float64]]:
    """What `cross_validate` returns of a table that is read part by part.

    Parameters
    ----------
    estimator, X, y, groups, scoring, cv
        As there; scores are names.
    sample_weight : str, optional
        Rows are weighed in scores, too.

    Raises
    ------
    ParameterError
        If a score has no such name.
    """
    known = CLASSES if isinstance(estimator, Classifier) else NUMBERS
    own = "accuracy" if known is CLASSES else "r2"
    if scoring is None or isinstance(scoring, str):
        names = {"score": scoring or own}
    else:
        names = dict(scoring) if isinstance(scoring, Mapping) else {name: name for name in scoring}
    for name in names.values():
        if name not in known:
            raise ParameterError(
                f"scoring={name!r}",
                f"the scores of a table that is not in memory are {', '.join(sorted(known))}",
                "choose one of these, or read the table into memory",
            )
    found: FoldEvaluations = evaluate_folds(estimator, X, y, sample_weight, cv=cv, groups=groups)
    share = np.full(len(found.folds), found.seconds / (2 * len(found.folds)))
    scores = {
        f"test_{name}": np.array([known[score](fold) for fold in found.folds])
        for name, score in names.items()
    }
    return {"fit_time": share, "score_time": share, **scores}
