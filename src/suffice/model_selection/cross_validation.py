"""Cross-validation from one pass: a statistic of every group of rows, a model of every fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.families.options import check_boolean
from suffice.model_selection.folds import FoldSums, Opened, is_of_sums, tell_of_fits
from suffice.model_selection.leave_one_out import (
    answered_left_out,
    require_row_scores,
    validated_left_out,
)
from suffice.model_selection.own_scores import own_scores
from suffice.model_selection.pairs import Folds
from suffice.model_selection.refits import refits
from suffice.model_selection.rows import Rows, named_scores
from suffice.model_selection.scikit_learn import folds_of, is_leave_one_out, scorer_of
from suffice.model_selection.table_rows import is_table
from suffice.model_selection.table_scores import table_scores
from suffice.model_selection.timed import Training, timed
from suffice.models.estimator import Estimator

__all__ = ["Fitted", "cross_val_predict", "cross_val_score", "cross_validate", "fitted_folds"]

IMPOSSIBLE = {"predict_proba": 0.0, "predict_log_proba": -np.inf}  # what a class not learnt has


@dataclass(frozen=True)
class Fitted:
    """The model of a fold, or the error of its fit.

    Parameters
    ----------
    model : estimator or Exception
    seconds : float
        What the fit took; of models from one pass, an equal share of it.
    """

    model: Any
    seconds: float


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Score an estimator on rows that it has not learnt, fold by fold, from one pass over the rows.

    ::

        S(rows outside fold f) = Σ_{g ≠ f} S(fold g)

    A model of exact sums is a function of S, so it is the one that `fit` learns from these rows.
    Each row is summed once, whatever the number of folds.

    Parameters
    ----------
    estimator : estimator
        Of suffice. One that is no function of sums, as logistic regression, is fitted to the rows
        of every fold. A `GridSearchCV` of models of sums
        chooses anew in every fold, and sums no row again. Anything else, such as a pipeline, is
        handed to scikit-learn's function, with a warning.
    X : table (n, d)
        An array, a frame, a dict of columns, an Arrow table. Of files, and of tables in an engine,
        see `evaluate_folds`: ``y``, groups and weights are then columns, and scores are names.
    y : array-like (n,) or (n, t), or str
        Labels or targets, or their column.
    groups : array-like (n,) or str, optional
        Rows that stay together, for splitters that ask for it, such as ``GroupKFold``; or their
        column, which is no feature. A number of folds divides them, with a warning; of a file, it
        keeps them together, as in `evaluate_folds`.
    scoring : str, callable, sequence or mapping, optional
        As in scikit-learn. Default: the estimator's own score.
    cv : int, splitter, iterable or "loo", optional
        As in scikit-learn: a number of folds, stratified for classifiers and consecutive for
        regressions; 5 by default. ``KFold(5)`` has stretches of the rows for both. "loo", or
        ``LeaveOneOut()``, leaves out every row: in closed form, in time linear in n, for Gaussians,
        discriminants and least squares; else by n models.
    params : mapping, optional
        ``{"sample_weight": w}``: weights to learn with.
    return_train_score, return_estimator, return_indices : bool
        As in scikit-learn.
    error_score : "raise" or number
        What a score is whose fold cannot be fitted.
    n_jobs, verbose, pre_dispatch
        Taken for the sake of scikit-learn's signature; the pass has the threads of the estimator.

    Returns
    -------
    dict
        ``test_score`` (or one entry for each name), ``fit_time``, ``score_time`` (folds,), and what
        else was asked for.

    Raises
    ------
    ParameterError
        If folds or scores break a rule.
    DataError
        If a cell breaks a rule, as in `fit`.

    Notes
    -----
    What a column is, category or number, and which columns there are, is decided on all rows, once;
    a fit to the rows of one fold alone might decide otherwise where a rule is nearly met.

    Leave-one-out takes a row out with all its weight; the only row of its class is scored by a
    model without the class. Scores are of single rows; those of all rows together, such as R², are
    in `evaluate_folds`.

    Source: M. Stone, Cross-validatory choice and assessment of statistical predictions, Journal of
    the Royal Statistical Society B 36 (1974).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_validate(GaussianNB(), X, y)["test_score"].round(4)
    array([0.9333, 0.9667, 0.9333, 0.9333, 1.    ])
    """
    if not is_known(estimator, X, cv):
        from sklearn.model_selection import cross_validate as function

        handed_over(estimator, "cross_validate")
        found: dict[str, Any] = function(
            estimator,
            X,
            y,
            groups=groups,
            scoring=scoring,
            cv=cv,
            n_jobs=n_jobs,
            verbose=verbose,
            params=params,
            pre_dispatch=pre_dispatch,
            return_train_score=return_train_score,
            return_estimator=return_estimator,
            return_indices=return_indices,
            error_score=error_score,
        )
        return found
    check_boolean(return_train_score=return_train_score, return_estimator=return_estimator)
    check_boolean(return_indices=return_indices)
    if is_table(X):
        if return_train_score or return_estimator or return_indices:
            raise ParameterError(
                "the rows are read from a table",
                "training scores, estimators and places are of rows in memory",
                "leave these options out",
            )
        weight = sample_weight_of(params)
        return dict(table_scores(estimator, X, y, groups, scoring, cv, weight))
    table = Rows.of(X, y, groups)
    if is_leave_one_out(cv):
        if isinstance(cv, str):
            require_row_scores(estimator, scoring)
        weight = sample_weight_of(params)
        if not (return_train_score or return_estimator):
            closed = validated_left_out(estimator, table, weight, scoring, return_indices)
            if closed is not None:
                return closed
        tell_of_fits(estimator, table.n)
    scorer = scorer_of(estimator, scoring, raises=error_score == "raise")
    folds = folds_of(estimator, table.X, table.truth, table.groups, cv, table.n)
    fits = fitted_folds(estimator, table, folds, params, error_score)
    tested = None
    if scoring is None and is_of_sums(estimator):
        tested = own_scores([fit.model for fit in fits], range(len(fits)), table, folds)
    if tested is None:
        tested = table.scored(fits, [test for _, test in folds], scorer, error_score)
    answer: dict[str, Any] = {
        "fit_time": np.array([fit.seconds for fit in fits]),
        "score_time": np.array([found.seconds for found in tested]),
    }
    answer |= named_scores("test", tested, error_score)
    if return_train_score:
        learnt = table.scored(fits, [train for train, _ in folds], scorer, error_score)
        answer |= named_scores("train", learnt, error_score)
    if return_estimator:
        answer["estimator"] = [fit.model for fit in fits]
    if return_indices:
        answer["indices"] = {"train": [f[0] for f in folds], "test": [f[1] for f in folds]}
    return answer


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
) -> NDArray[np.float64]:
    """Return the score of every fold, (folds,); see `cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from suffice import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> cross_val_score(LinearRegression(), X, y, cv=3).round(4)
    array([0.4693, 0.4873, 0.5095])
    """
    if not (scoring is None or callable(scoring) or isinstance(scoring, str)):
        raise ParameterError(
            f"scoring={scoring!r}", "this function returns one score", "use cross_validate"
        )
    found = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=scoring,
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        pre_dispatch=pre_dispatch,
        error_score=error_score,
    )
    scores: NDArray[np.float64] = found["test_score"]
    return scores


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> NDArray[Any]:
    """Return what is answered for every row by the model that has not learnt it.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch
        As in `cross_validate`; every row is to be in one test set, and in one only.
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}
        What to ask the models.

    Returns
    -------
    ndarray (n,) or (n, k)
        In the order of the rows; of the probabilities, classes in the order of all sorted labels.
        A class that a model has not learnt is impossible to it, and a warning names its fold.

    Raises
    ------
    DataError
        If a fold cannot be fitted, or knows two classes of more, and ``decision_function`` is asked
        for.
    ParameterError
        If the test sets do not divide the rows, or the estimator has no such method.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_predict(GaussianNB(), X, y, cv=10, method="predict_proba").shape
    (150, 3)
    """
    if not hasattr(estimator, method):
        raise ParameterError(
            f"{type(estimator).__name__} has no {method}", "it is a method of the estimator"
        )
    if not is_known(estimator, X, cv):
        from sklearn.model_selection import cross_val_predict as function

        handed_over(estimator, "cross_val_predict")
        asked: NDArray[Any] = function(
            estimator,
            X,
            y,
            groups=groups,
            cv=cv,
            n_jobs=n_jobs,
            verbose=verbose,
            params=params,
            pre_dispatch=pre_dispatch,
            method=method,
        )
        return asked
    table = Rows.of(X, y, groups)
    if is_leave_one_out(cv):
        weight = sample_weight_of(params)
        found = answered_left_out(estimator, table, weight, [method])
        if found is not None:
            return found[0]
    folds = folds_of(estimator, table.X, table.truth, table.groups, cv, table.n)
    fits = fitted_folds(estimator, table, folds, params, "raise")
    places = [test for _, test in folds]
    tested = np.bincount(np.concatenate(places), minlength=table.n)
    if (tested != 1).any():
        row = int((tested != 1).argmax())
        raise ParameterError(
            f"row {row} is in {tested[row]} test sets", "every row is answered once", "use KFold"
        )
    pairs = zip(fits, places, strict=True)
    answers = [getattr(fit.model, method)(table.part(test).x) for fit, test in pairs]
    if method != "predict" and hasattr(fits[0].model, "classes_"):
        known = [fit.model.classes_ for fit in fits]
        every = _all_labels(known, table.truth)
        shown = list(zip(known, answers, strict=True))
        _check_classes(every, shown, method)
        answers = [over_all_classes(every, *pair, method) for pair in shown]
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.concatenate(answers)[order]


def _all_labels(known: Sequence[NDArray[Any]], truth: Any) -> NDArray[Any]:
    """The sorted labels of all rows; of those that models know, where a fit cleans labels."""
    learnt, given = np.unique(np.concatenate(known)), np.unique(np.asarray(truth))
    return given if np.isin(learnt, given).all() else learnt


def _check_classes(
    every: NDArray[Any], answers: Sequence[tuple[NDArray[Any], NDArray[Any]]], method: str
) -> None:
    """Warn of the first fold whose model has not learnt a class.

    Raises
    ------
    DataError
        If its answers have no column for every class that it knows.
    """
    fewer = [f for f, (known, _) in enumerate(answers) if len(known) < len(every)]
    for f in fewer:
        known, answer = answers[f]
        others = ", ".join(map(repr, np.setdiff1d(every, known).tolist()))
        fact = (
            f"the model of fold {f} has learnt {len(known)} of {len(every)} classes, not {others}"
        )
        if answer.ndim == 1:
            raise DataError(
                fact,
                f"{method} of two classes is one number, which has no place among {len(every)}",
                "use method='predict_proba', or folds whose training rows have every class",
            )
        if f == fewer[0]:
            warn(f"{fact}: these are impossible to it.")


def handed_over(estimator: Any, function: str) -> None:
    """Say that scikit-learn fits an estimator fold by fold."""
    ours = isinstance(estimator, Estimator)
    reason = "is no function of sums" if ours else "is not an estimator of suffice"
    warn(
        f"{type(estimator).__name__} {reason}; {function} of scikit-learn fits it anew for every "
        "fold."
    )


def fitted_folds(
    estimator: Estimator,
    table: Rows,
    folds: Folds,
    params: Mapping[str, Any] | None,
    error_score: Any,
) -> list[Fitted]:
    """The model of every fold, in the order of the folds."""
    weight = sample_weight_of(params)
    if hasattr(estimator, "_fitted_nested"):
        models = estimator._fitted_nested(table, folds, weight, error_score)
    elif is_of_sums(estimator):
        models = from_sums(estimator, table, folds, weight, error_score)
    else:
        (models,) = refits([estimator], table, folds, weight, error_score)
    fits = [Fitted(*model) for model in models]
    require_one([fit.model for fit in fits])
    return fits


def from_sums(
    estimator: Any, table: Rows, folds: Folds, weight: Any, error_score: Any
) -> list[tuple[Any, float]]:
    """The models of all folds from one pass, and the seconds that each took."""
    started = perf_counter()
    opened = Opened.of(estimator, table.X, table.y, weight)
    sums = FoldSums.of_folds(opened, folds, table.n)
    share = (perf_counter() - started) / len(folds)
    return [
        timed(
            partial(opened.fitted, statistic), error_score, share, Training(f, table.truth, train)
        )
        for f, (statistic, (train, _)) in enumerate(zip(sums.statistics, folds, strict=True))
    ]


def require_one(models: Sequence[Any]) -> None:
    """Refuse folds none of which was fitted."""
    errors = [model for model in models if isinstance(model, Exception)]
    if len(errors) == len(models):
        raise errors[0]


def sample_weight_of(params: Mapping[str, Any] | None) -> Any:
    """The weights to learn with.

    Raises
    ------
    ParameterError
        If something else is to be passed on.
    """
    given = dict(params or {})
    weight = given.pop("sample_weight", None)
    if given:
        raise ParameterError(
            f"params has {next(iter(given))!r}", "a fit takes 'sample_weight' besides the rows"
        )
    return weight


def is_known(estimator: Any, X: Any, cv: Any) -> bool:
    """Whether the models of folds are ours: those of an estimator, or of a search of sums."""
    if isinstance(estimator, Estimator):
        return True
    nested = hasattr(estimator, "_fitted_nested") and estimator.is_of_sums
    return nested and not is_table(X) and not is_leave_one_out(cv)


def over_all_classes(
    every: NDArray[Any], known: NDArray[Any], answer: NDArray[Any], method: str
) -> NDArray[Any]:
    """An answer (n, k) with a column for every class; what a model has not learnt is impossible.

    Parameters
    ----------
    every, known : ndarray
        Sorted labels: all, and those that the model has learnt.
    answer : ndarray (n, k) or (n,)
        Labels, (n,), stay as they are.
    method : str
        What was asked.

    Examples
    --------
    >>> every, known = np.array([1, 2, 3]), np.array([1, 3])
    >>> over_all_classes(every, known, np.array([[0.5, 0.5]]), "predict_proba")
    array([[0.5, 0. , 0.5]])
    """
    if len(known) == len(every) or answer.ndim == 1:
        return answer
    least = np.finfo(answer.dtype).min
    whole = np.full((len(answer), len(every)), IMPOSSIBLE.get(method, least))
    whole[:, np.searchsorted(every, known)] = answer
    return whole
