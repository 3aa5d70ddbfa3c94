"""Leave-one-out: every row is predicted by the model of all others.

Gaussians, discriminants and least squares have a closed form, in time linear in the rows. Sums of
any other model are the total minus the row, in blocks of rows; what is no function of sums is
fitted to all rows but one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from operator import add
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import engine_for, fit_context, map_batches
from suffice.errors import DataError, ParameterError, warn
from suffice.model_selection.fits import BLOCK, is_of_sums, sums_without
from suffice.model_selection.rows import MemoryRows, Rows
from suffice.models.base.answers import WithGaps, told
from suffice.models.base.judge import (
    LeaveOneOut,
    evaluated,
    evaluated_by_place,
    knowing_all,
)
from suffice.models.classifier import Classifier
from suffice.models.opened import Opened
from suffice.numerics.elementary import log


def warn_of_fits(estimator: Any, rows: int) -> None:
    """Say what leave-one-out costs where it is a fit for every row."""
    if not is_of_sums(estimator):
        warn(
            f"{rows} models are fitted, each to {rows - 1} rows, as {type(estimator).__name__} "
            "has no closed form of leave-one-out; cv=10 fits 10."
        )


def _closed_form(estimator: Any, rows: Rows) -> tuple[Any, LeaveOneOut] | None:
    """Open all rows, and return what predicts each from the others; None where nothing does."""
    if not is_of_sums(estimator):
        return None
    try:
        opened = Opened.of(estimator, *rows.whole)
        fitted = opened.fitted(opened.sums())
        source = fitted._open_judged(*rows.whole)
        others = opened.method.left_out(fitted, source)
    except (DataError, ParameterError):
        return None
    return None if others is None else (source, others)


def evaluation_left_out(estimator: Any, rows: Rows, row: NDArray[np.intp]) -> Any:
    """Return the evaluation of all rows, each by the model of sums of the others.

    ``row`` is the number of every row to be judged (n,), 0 to g − 1; −1 for others.
    """
    closed = _closed_form(estimator, rows)
    if closed is not None:
        source, others = closed
        with suppress(DataError):  # a sum loses its digits without one of the rows
            return others.judge.record(told({0: evaluated(others.judge, source)})[0])
    opened = Opened.of(estimator, *rows.whole)
    whole = opened.fitted(opened.sums())
    source, groups = whole._open_judged(*rows.whole), int(row.max()) + 1
    every, sums = whole._judge(source), sums_without(opened, row, groups)
    with fit_context(opened.learner):

        def blocks() -> Iterator[WithGaps[Any]]:
            for first in range(0, groups, BLOCK):
                fits = [opened.fitted(one) for one in islice(sums, BLOCK)]
                judges = knowing_all([every, *(fit._judge(source) for fit in fits)])[1:]
                own = np.where((row >= first) & (row < first + BLOCK), row - first, -1)
                tested = np.eye(len(fits), dtype=np.intp)
                yield from evaluated_by_place(judges, source, own, tested).values()

        found = reduce(add, blocks())
    return every.record(told({0: found})[0])


def predictions_left_out(
    estimator: Any, rows: MemoryRows, methods: Sequence[str]
) -> list[NDArray[Any]] | None:
    """Return predictions, by some methods, of every row by the model of all others.

    None without a closed form for each of them.
    """
    closed = _closed_form(estimator, rows)
    if closed is None or not set(methods) <= set(closed[1].methods):
        return None
    source, others = closed
    answers = np.concatenate(
        list(map_batches(engine_for(source), others.answer, source, others.judge.layout))
    )
    if np.isnan(answers).any():  # without a row a sum loses its digits
        return None
    lone = 0 if rows.codes is None else int((np.bincount(rows.codes) == 1).sum())
    if lone:
        warn(
            f"{lone} {'classes have' if lone > 1 else 'class has'} a single row, which is answered "
            "by a model without its class."
        )
    return [others.methods[method](answers) for method in methods]


def scores_left_out(estimator: Any, rows: MemoryRows, scoring: Any) -> dict[str, Any] | None:
    """Return scores of every row, as `cross_validate` does; None without a closed form."""
    names = _names(estimator, scoring)
    if not names or not set(names.values()) <= set(ROW_SCORES):
        return None
    started = perf_counter()
    needed = list(dict.fromkeys(ROW_SCORES[score][0] for score in names.values()))
    answered = predictions_left_out(estimator, rows, needed)
    if answered is None:
        return None
    answers, truth = dict(zip(needed, answered, strict=True)), np.asarray(rows.truth)
    share = np.full(rows.n, (perf_counter() - started) / rows.n)
    found: dict[str, Any] = {"fit_time": share, "score_time": np.zeros(rows.n)}
    for name, score in names.items():
        method, of = ROW_SCORES[score]
        found[f"test_{name}"] = of(truth, answers[method])
    return found


def require_row_scores(estimator: Any, scoring: Any) -> None:
    """Refuse a score that single rows do not have."""
    for name in _names(estimator, scoring).values():
        if name not in ROW_SCORES:
            raise ParameterError(
                f"the score {name!r} with cv='loo'",
                f"a score of one row is one of {', '.join(ROW_SCORES)}",
                "use evaluate_folds(cv='loo'), whose scores are of all rows together",
            )


def _names(estimator: Any, scoring: Any) -> dict[str, str]:
    """Return scores by the name they are returned under; none of a function."""
    if callable(scoring):
        return {}
    if scoring is None:
        return {"score": "accuracy" if isinstance(estimator, Classifier) else "r2"}
    if isinstance(scoring, str):
        return {"score": scoring}
    given = scoring.items() if isinstance(scoring, Mapping) else ((one, one) for one in scoring)
    return {str(name): str(score) for name, score in given}


def _accuracy(truth: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(truth.reshape(-1) == labels, np.float64)


def _log_loss(truth: NDArray[Any], proba: NDArray[np.float64]) -> NDArray[np.float64]:
    codes = np.unique(truth, return_inverse=True)[1].reshape(-1)
    return log(proba[np.arange(len(codes)), codes])


def _of_errors(
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """Return a score that is minus a mean over targets of what errors cost."""

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
"""Scores of single rows: the method that predicts them, and a function of truth and prediction."""
