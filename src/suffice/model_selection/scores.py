"""Scores: figures of an evaluation by name, and what scorers of scikit-learn say of folds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import DataError, ParameterError, warn
from suffice.model_selection.fits import FoldModels
from suffice.model_selection.folds import Folds, Partition
from suffice.model_selection.rows import MemoryRows
from suffice.models.base.judge import evaluated_by_place
from suffice.models.grouped_sums import GroupedSums


class Score(NamedTuple):
    """A figure of an evaluation."""

    of: Callable[[Any], float]
    more_is_better: bool = False


CLASS_SCORES: Mapping[str, Score] = {
    "log loss": Score(lambda found: found.log_loss),
    "error rate": Score(lambda found: found.error),
    "accuracy": Score(lambda found: found.accuracy, True),
    "Brier score": Score(lambda found: found.brier),
    "ROC area": Score(lambda found: found.roc_area.value, True),
    "average precision": Score(lambda found: found.average_precision.value, True),
    "balanced accuracy": Score(lambda found: found.balanced_accuracy, True),
    "calibration error": Score(lambda found: found.calibration_error),
}
NUMBER_SCORES: Mapping[str, Score] = {
    "RMSE": Score(lambda found: float(found.mean_squared_error.mean() ** 0.5)),
    "MAE": Score(lambda found: float(found.mean_absolute_error.mean())),
    "R²": Score(lambda found: float(found.centred.r_squared.mean()), True),
}


OF_ONE_CLASS = ("precision", "recall", "F1")


def scores_of(evaluation: Any, positive: Any = None) -> Mapping[str, Score]:
    """Return the scores that an evaluation has; the first is what models are chosen by.

    Precision, recall and F1 of the class ``positive`` are scores, too.
    """
    if not hasattr(evaluation, "log_loss"):
        return NUMBER_SCORES
    if positive is None:
        return CLASS_SCORES

    def of_one(name: str) -> Score:
        def value(found: Any) -> float:
            known = positive in found.classes
            one = getattr(found, name.lower())
            return float(one[found.classes.index(positive)]) if known else float("nan")

        return Score(value, True)

    return {**CLASS_SCORES, **{name: of_one(name) for name in OF_ONE_CLASS}}


def named_score(asked: str, known: Collection[str]) -> str:
    """Return the name of a score, however it is spelt."""
    plain = {_spelt(name): name for name in known}
    if _spelt(asked) not in plain:
        fact = f"metric={asked!r}"
        if _spelt(asked) in map(_spelt, OF_ONE_CLASS):
            raise ParameterError(fact, "it is of one class", "name it by positive=...")
        more = "" if "RMSE" in known else f"or, with positive=..., {', '.join(OF_ONE_CLASS)}"
        raise ParameterError(fact, f"it is one of {', '.join(map(repr, known))}", more)
    return plain[_spelt(asked)]


def _spelt(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ").replace("²", "2")


@dataclass(frozen=True)
class FoldScores:
    """The scores of the model of a fold, by name; None where there are none, and why."""

    scores: dict[str, Any] | None
    seconds: float
    error: str = ""


def held_out_scores(
    fits: Sequence[FoldModels],
    rows: MemoryRows,
    folds: Folds,
    scorer: Any,
    error_score: Any,
    own: bool,
    weight: Any = None,
) -> list[list[FoldScores]]:
    """Return the scores of every estimator on the rows that each fold holds out.

    If the score is the estimators' ``own``, on rows of weight 1, it may follow from sums.
    """
    known = _own_scores(fits, rows, folds) if own else None
    if known is not None:
        return known
    table: list[list[FoldScores]] = [[] for _ in fits]
    for f, (_, test) in enumerate(folds):
        part = _part(rows, test, weight)
        for scores, one in zip(table, fits, strict=True):
            scores.append(_scored(one.models[f], part, scorer, error_score))
    return table


def training_scores(
    one: FoldModels,
    rows: MemoryRows,
    folds: Folds,
    scorer: Any,
    error_score: Any,
    weight: Any = None,
) -> list[FoldScores]:
    """Return what the models of an estimator score on the rows that they were fitted to."""
    return [
        _scored(model, _part(rows, train, weight), scorer, error_score)
        for model, (train, _) in zip(one.models, folds, strict=True)
    ]


def _part(rows: MemoryRows, places: NDArray[np.intp], weight: Any) -> tuple[Any, Any, Any]:
    return MemoryRows(rows.X, rows.truth, weight, rows.n).at(places)


def _scored(model: Any, part: tuple[Any, Any, Any], scorer: Any, error_score: Any) -> FoldScores:
    started = perf_counter()
    if isinstance(model, Exception):
        return FoldScores(None, 0.0)
    X, y, weight = part
    try:
        found = scorer(model, X, y, **({} if weight is None else {"sample_weight": weight}))
    except Exception as error:
        if error_score == "raise":
            raise
        warn(f"a fold has no score: {error}")
        return FoldScores(None, perf_counter() - started, str(error))
    scores = found if isinstance(found, dict) else {"score": found}
    for name, score in scores.items():
        if isinstance(score, str):  # what went wrong
            warn(f"a fold has no {name}: {score.strip().splitlines()[-1]}")
    known = {
        name: error_score if isinstance(score, str) else score for name, score in scores.items()
    }
    return FoldScores(known, perf_counter() - started)


def _own_scores(
    fits: Sequence[FoldModels], rows: MemoryRows, folds: Folds
) -> list[list[FoldScores]] | None:
    """Return the own scores of all folds, from sums or from one pass over the rows.

    None where folds are scored one by one: where rows are not in one test set each, a model was
    not fitted, or a score is an error.
    """
    if not isinstance(folds, Partition) or any(one.error is not None for one in fits):
        return None
    started = perf_counter()
    scores: list[list[Any]] = [[None]] * len(fits)
    for i, one in enumerate(fits):
        if one.tested is not None and rows.weight is None:
            pairs = zip(one.models, one.tested, strict=True)
            scores[i] = [model.method().score_of_sums(model, sums) for model, sums in pairs]
    while waiting := [i for i, found in enumerate(scores) if None in found]:
        layout = fits[waiting[0]].models[0].reader_.layout
        alike = [i for i in waiting if fits[i].models[0].reader_.layout == layout]
        models = [model for i in alike for model in fits[i].models]
        tested = np.tile(np.eye(len(folds), dtype=np.intp), (len(alike), 1))
        try:
            source = models[0]._open_judged(rows.X, rows.y, None)
            judges = [model._scoring(source) for model in models]
            with fit_context(models[0]):
                found = evaluated_by_place(judges, source, folds.fold, tested)
            values = [judge.record(found[j].found) for j, judge in enumerate(judges)]
        except DataError:
            return None
        for j, i in enumerate(alike):
            scores[i] = values[j * len(folds) :][: len(folds)]
    share = (perf_counter() - started) / (len(fits) * len(folds))
    return [[FoldScores({"score": score}, share) for score in of_one] for of_one in scores]


def scores_of_groups(
    estimator: Any, sums: GroupedSums, error_score: Any
) -> tuple[FoldModels, list[FoldScores]]:
    """Return the models of all groups but one, for each, and their own scores of its sums."""
    models: list[Any] = []
    seconds, scores = [], []
    for key, others in zip(sums, sums.others(), strict=True):
        started, score = perf_counter(), None
        try:
            models.append(estimator.unfitted().fit(others))
        except DataError as error:
            models.append(type(error)(f"group {key!r}: {error.fact}", error.rule, error.next_step))
        seconds.append(perf_counter() - started)
        if not isinstance(models[-1], Exception):
            score = models[-1].method().score_of_sums(models[-1], sums[key].alone())
        known = None if score is None else {"score": score}
        missed = f"the score of group {key!r} does not follow from its sums: cross-validate rows"
        scores.append(FoldScores(known, perf_counter() - started - seconds[-1], missed))
        if known is None and error_score == "raise":
            raise models[-1] if isinstance(models[-1], Exception) else DataError(missed)
    return FoldModels(tuple(models), tuple(seconds)), scores


def named_scores(
    part: str, found: Sequence[FoldScores], error_score: Any
) -> dict[str, NDArray[np.float64]]:
    """Return the scores of every fold, by name, as scikit-learn calls them."""
    known = [one.scores for one in found if one.scores is not None]
    if not known:
        errors = [one.error.removesuffix(".") for one in found if one.error]
        raise DataError("no fold has a score", errors[0] if errors else "none was fitted")
    return {
        f"{part}_{name}": np.array(
            [error_score if one.scores is None else one.scores[name] for one in found]
        )
        for name in known[0]
    }
