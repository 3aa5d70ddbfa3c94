"""Leave-one-out from closed forms: every row is answered by the model of all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.engines.fit_context import fit_context
from suffice.errors import ParameterError, warn
from suffice.families.left_out.rows import FOLDS_INSTEAD
from suffice.model_selection.all_classes import over_all_classes
from suffice.model_selection.folds import FoldSums, Opened, is_of_sums
from suffice.model_selection.judged_labels import require_labels
from suffice.models.base.checks import labels_of
from suffice.models.base.classifier import Classifier
from suffice.models.base.judge import evaluated
from suffice.models.base.leave_one_out import LeaveOneOut, answers_left_out
from suffice.models.base.partial_answers import told
from suffice.numerics.elementary import log

if TYPE_CHECKING:
    from suffice.model_selection.rows import Rows

__all__ = ["LeftOut", "answered_left_out", "scores_left_out", "validated_left_out", "where_closed"]

T = TypeVar("T")


@dataclass(frozen=True)
class LeftOut:
    """A model of all rows, and what follows for those of all but one.

    Parameters
    ----------
    opened : Opened
        The rows to learn from.
    fitted : ExactEstimator
        Which has learnt them all.
    source : object
        The same rows, to be answered.
    rows : LeaveOneOut
    """

    opened: Opened
    fitted: Any
    source: Any
    rows: LeaveOneOut

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> LeftOut:
        """Learn all rows.

        Raises
        ------
        ParameterError
            If there is no closed form.
        """
        if not is_of_sums(estimator):
            raise ParameterError(
                f"leave-one-out of {type(estimator).__name__}",
                "there is no closed form: with these options it is no function of sums alone",
                FOLDS_INSTEAD,
            )
        opened = Opened.of(estimator, X, y, sample_weight)
        learner = opened.learner
        with fit_context(learner):
            fitted = opened.fitted(learner._summarise(opened.reader, opened.source))
        source = fitted._open_judged(X, y, sample_weight)
        return cls(opened, fitted, source, fitted._leave_one_out(source))

    def answers(self) -> NDArray[np.float64]:
        """What is said of every row, in order, (n, ...); NaN where there is no closed form."""
        layout = self.rows.judge.layout
        with fit_context(self.fitted):
            engine = self.fitted._engine_for(self.source)
            splits = self.source.splits(layout, engine.workers)
            found = engine.map(answers_left_out, (self.rows.answer, layout), splits)
            parts = [part for of_split in found for part in of_split]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def evaluation(self) -> Any:
        """The evaluation of all rows."""
        with fit_context(self.fitted):
            engine = self.fitted._engine_for(self.source)
            found = evaluated(self.rows.judge, engine, self.source)
        return self.rows.judge.record(told({0: found})[0])

    def refitted(self, row: int, n: int) -> Any:
        """The model of all rows but one, from their sums."""
        others = np.delete(np.arange(n), row)
        return self.opened.fitted(FoldSums.of(self.opened, [others], n).statistics[0])


def answered_left_out(
    estimator: Any, table: Rows, sample_weight: Any, methods: Sequence[str]
) -> list[NDArray[Any]]:
    """What methods answer to every row of a table in memory, by the model of all others.

    Rows without a closed form are answered by a model that is fitted to the others.

    Raises
    ------
    DataError
        If a row has no label.
    """
    if isinstance(estimator, Classifier):
        require_labels(table.truth)
    left = LeftOut.of(estimator, table.X, table.y, sample_weight)
    known = left.rows.methods
    for method in methods:
        if method not in known:
            raise ParameterError(
                f"method={method!r} with cv='loo'",
                f"closed forms are known of {', '.join(known)}",
                "use one of these, or cv=10",
            )
    answers = left.answers()
    found = [known[method](answers) for method in methods]
    _tell_of_lone_rows(left.fitted, table.truth)
    doubtful = np.flatnonzero(np.isnan(answers).reshape(table.n, -1).any(axis=1))
    for row in doubtful.tolist():
        model = left.refitted(row, table.n)
        x = table.part(np.array([row])).x
        for method, answer in zip(methods, found, strict=True):
            one = getattr(model, method)(x)
            if hasattr(model, "classes_"):
                one = over_all_classes(left.fitted.classes_, model.classes_, one, method)
            answer[row] = one[0]
    return found


def _tell_of_lone_rows(fitted: Any, truth: Any) -> None:
    """Warn of classes that a single row shows."""
    if not isinstance(fitted, Classifier):
        return
    lone = int((np.bincount(np.maximum(labels_of(truth).codes(slice(None)), 0)) == 1).sum())
    if lone:
        warn(
            f"{lone} {'classes have' if lone > 1 else 'class has'} a single row, which is answered "
            "by a model without its class."
        )


def where_closed(cv: Any, asked: Callable[[], T]) -> T | None:
    """What closed forms answer; None where there is none, and a splitter allows for fits.

    Raises
    ------
    ParameterError
        If there is none, and ``cv="loo"``.
    """
    try:
        return asked()
    except ParameterError:
        if isinstance(cv, str):
            raise
        return None


def validated_left_out(
    estimator: Any, table: Rows, sample_weight: Any, scoring: Any, indices: bool, more: bool
) -> dict[str, Any]:
    """What `cross_validate` returns: scores of every row.

    Raises
    ------
    ParameterError
        If there is no closed form, a score is none of single rows, or ``more`` is asked for.
    """
    if more:
        raise ParameterError(
            "training scores or estimators with cv='loo'",
            "no model is fitted for each row",
            "leave these options out, or use cv=10",
        )
    names = _names(estimator, scoring)
    started = perf_counter()
    scores = scores_left_out(estimator, table, sample_weight, list(names.values()))
    share = np.full(table.n, (perf_counter() - started) / table.n)
    found: dict[str, Any] = {"fit_time": share, "score_time": np.zeros(table.n)}
    found |= {f"test_{name}": scores[score] for name, score in names.items()}
    if indices:
        rows = np.arange(table.n)
        found["indices"] = {
            "train": [np.delete(rows, row) for row in rows],
            "test": [rows[row : row + 1] for row in rows],
        }
    return found


def _names(estimator: Any, scoring: Any) -> dict[str, str]:
    """Scores by the name they are returned under."""
    if scoring is None:
        return {"score": "accuracy" if isinstance(estimator, Classifier) else "r2"}
    if isinstance(scoring, str):
        return {"score": scoring}
    given = scoring.items() if isinstance(scoring, Mapping) else ((one, one) for one in scoring)
    return {str(name): str(score) for name, score in given}


def scores_left_out(
    estimator: Any, table: Rows, sample_weight: Any, names: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Scores of every row, by name, (n,) each.

    Raises
    ------
    ParameterError
        If a score is none of single rows.
    """
    for name in names:
        if name not in ROW_SCORES:
            raise ParameterError(
                f"the score {name!r} with cv='loo'",
                f"a score of one row is one of {', '.join(ROW_SCORES)}",
                "use evaluate_folds(cv='loo'), whose scores are of all rows together",
            )
    needed = list(dict.fromkeys(ROW_SCORES[name][0] for name in names))
    found = answered_left_out(estimator, table, sample_weight, needed)
    answers = dict(zip(needed, found, strict=True))
    truth = np.asarray(table.truth)
    return {name: _scored(name, truth, answers) for name in names}


def _scored(
    name: str, truth: NDArray[Any], answers: dict[str, NDArray[Any]]
) -> NDArray[np.float64]:
    method, score = ROW_SCORES[name]
    return score(truth, answers[method])


def _accuracy(truth: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(truth.reshape(-1) == labels, np.float64)


def _log_loss(truth: NDArray[Any], proba: NDArray[np.float64]) -> NDArray[np.float64]:
    codes = np.unique(truth, return_inverse=True)[1].reshape(-1)
    return log(proba[np.arange(len(codes)), codes])


def _of_errors(
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """A score that is minus a mean over targets of what errors cost."""

    def score(truth: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
        costs = of(truth - predicted).reshape(len(truth), -1)
        return np.asarray(-costs.mean(axis=1))

    return score


ROW_SCORES: dict[str, tuple[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]]] = {
    "accuracy": ("predict", _accuracy),
    "neg_log_loss": ("predict_proba", _log_loss),
    "neg_mean_squared_error": ("predict", _of_errors(np.square)),
    "neg_mean_absolute_error": ("predict", _of_errors(np.abs)),
    "neg_root_mean_squared_error": ("predict", _of_errors(np.abs)),
}
"""What single rows score: the method that answers them, and what is made of its answer."""
