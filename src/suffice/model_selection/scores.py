"""What an evaluation is summed up by: scores of classifiers and of regressions, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["CLASS_SCORES", "NUMBER_SCORES", "Score", "scores_of"]


@dataclass(frozen=True)
class Score:
    """A figure of an evaluation.

    Parameters
    ----------
    of : callable
        Gives it.
    more_is_better : bool
    scikit_learn : str
        Its name there, where more is always better.
    percent : bool
        Whether it is a share.
    """

    of: Callable[[Any], float]
    more_is_better: bool
    scikit_learn: str
    percent: bool = False


CLASS_SCORES: Mapping[str, Score] = {
    "log loss": Score(lambda found: found.log_loss, False, "neg_log_loss"),
    "error rate": Score(lambda found: found.error, False, "accuracy", True),
    "Brier score": Score(lambda found: found.brier, False, "neg_brier_score"),
    "ROC area": Score(lambda found: found.roc_area.value, True, "roc_auc"),
    "average precision": Score(
        lambda found: found.average_precision.value, True, "average_precision"
    ),
    "balanced accuracy": Score(
        lambda found: found.balanced_accuracy, True, "balanced_accuracy", True
    ),
    "calibration error": Score(lambda found: found.calibration_error, False, "", True),
}
NUMBER_SCORES: Mapping[str, Score] = {
    "RMSE": Score(
        lambda found: float(found.mean_squared_error.mean() ** 0.5),
        False,
        "neg_root_mean_squared_error",
    ),
    "MAE": Score(
        lambda found: float(found.mean_absolute_error.mean()), False, "neg_mean_absolute_error"
    ),
    "R²": Score(lambda found: float(found.centred.r_squared.mean()), True, "r2"),
}


def scores_of(evaluation: Any) -> Mapping[str, Score]:
    """The scores that an evaluation has; the first is what models are chosen by."""
    return CLASS_SCORES if hasattr(evaluation, "log_loss") else NUMBER_SCORES
