"""Cross-validation with scikit-learn's names: models of folds, and their scores or predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import model_selection as scikit_learn
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state

from suffice.errors import DataError, ParameterError, warn
from suffice.families.options import check_boolean
from suffice.model_selection.fits import FoldModels, is_of_sums, models_of_folds, require_fits
from suffice.model_selection.folds import Folds, divided, is_leave_one_out
from suffice.model_selection.leave_one_out import (
    predictions_left_out,
    require_row_scores,
    scores_left_out,
    warn_of_fits,
)
from suffice.model_selection.rows import MemoryRows
from suffice.model_selection.scores import (
    FoldScores,
    held_out_scores,
    named_scores,
    scores_of_groups,
    training_scores,
)
from suffice.models.classifier import Classifier
from suffice.models.estimator import Estimator
from suffice.models.from_sums import FittedFromSums
from suffice.models.grouped_sums import GroupedSums

IMPOSSIBLE = {"predict_proba": 0.0, "predict_log_proba": -np.inf}  # what a class not learnt has


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
    """Score an estimator on held-out rows, fold by fold, from one pass over the rows.

    ::

        S(rows outside fold f) = Σ_{g ≠ f} S(fold g)

    A model of exact sums is a function of S, so it is the one that `fit` makes of these rows.
    Each row is summed once, whatever the number of folds.

    Parameters
    ----------
    estimator : estimator
        Of suffice. One that is no function of sums, as logistic regression, is fitted to the rows
        of every fold. Anything else, such as a pipeline or a search, is handed to scikit-learn's
        function, with a warning.
    X : table (n, d), or GroupedSums
        An array, a frame, a dict of columns, an Arrow table. `evaluate_folds` takes files. Of sums
        by group, groups are the folds, and R² of a linear model follows from them: no row is read,
        and ``y``, ``groups``, ``scoring``, ``cv`` and ``params`` are left out.
    y : array-like (n,) or (n, t), or str
        Labels or targets, or their column.
    groups : array-like (n,) or str, optional
        Rows that stay together, for splitters that ask for it, such as ``GroupKFold``; or their
        column, which is no feature. A number of folds divides them, with a warning.
    scoring : str, callable, sequence or mapping, optional
        As in scikit-learn. Default: the estimator's own score.
    cv : int, splitter, iterable or "loo", optional
        As in scikit-learn: a number of folds, stratified for classifiers and consecutive for
        regressions; 5 by default. ``KFold(5)`` has stretches of the rows for both. "loo", or
        ``LeaveOneOut()``, leaves out every row: in closed form, in time linear in n, for Gaussians,
        discriminants and least squares; else by n models. If these are n fits, a warning says so
        before they begin.
    params : mapping, optional
        ``{"sample_weight": w}``: weights to fit with.
    return_train_score, return_estimator, return_indices : bool
        As in scikit-learn.
    error_score : "raise" or number
        What a score is whose fold cannot be fitted.
    n_jobs, verbose, pre_dispatch
        Without effect; the pass has the threads of `set_engine`.

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
    if not isinstance(estimator, Estimator):
        fold_by_fold: dict[str, Any] = by_scikit_learn("cross_validate", locals())
        return fold_by_fold
    check_boolean(return_train_score=return_train_score, return_estimator=return_estimator)
    check_boolean(return_indices=return_indices)
    if isinstance(X, GroupedSums):
        given = {"y": y, "groups": groups, "scoring": scoring, "cv": cv, "params": params}
        asked = {"return_train_score": return_train_score, "return_indices": return_indices}
        given |= {name: value or None for name, value in asked.items()}
        return _over_groups(estimator, X, given, error_score, return_estimator)
    rows = rows_of(estimator, X, y, params, groups)
    folds = folds_of(rows, cv)
    scorer = check_scoring(estimator, scoring, raise_exc=error_score == "raise")
    answer: dict[str, Any] | None = None
    if is_leave_one_out(cv):
        if isinstance(cv, str):
            require_row_scores(estimator, scoring)
        if not (return_train_score or return_estimator):
            answer = scores_left_out(estimator, rows, scoring)
        if answer is None:
            warn_of_fits(estimator, len(folds))
    if answer is None:
        (fits,) = models_of_folds([estimator], rows, folds)
        require_fits([fits], error_score)
        own = scoring is None and is_of_sums(estimator)
        (tested,) = held_out_scores([fits], rows, folds, scorer, error_score, own)
        answer = _answer(fits, tested, error_score)
        if return_train_score:
            trained = training_scores(fits, rows, folds, scorer, error_score)
            answer |= named_scores("train", trained, error_score)
        if return_estimator:
            answer["estimator"] = list(fits.models)
    if return_indices:
        answer["indices"] = {"train": [f[0] for f in folds], "test": [f[1] for f in folds]}
    return answer


def _over_groups(
    estimator: Any,
    sums: GroupedSums,
    given: Mapping[str, Any],
    error_score: Any,
    return_estimator: bool,
) -> dict[str, Any]:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name} is given with sums",
                "the groups of sums are the folds, and there are no rows",
                f"leave {name} out, or give the rows",
            )
    if not isinstance(estimator, FittedFromSums):
        raise ParameterError(
            f"{type(estimator).__name__} and sums", "it is fitted to rows", "give the rows"
        )
    fits, tested = scores_of_groups(estimator, sums, error_score)
    require_fits([fits], error_score)
    answer = _answer(fits, tested, error_score)
    return answer | ({"estimator": list(fits.models)} if return_estimator else {})


def _answer(fits: FoldModels, tested: Sequence[FoldScores], error_score: Any) -> dict[str, Any]:
    seconds = {"fit_time": fits.seconds, "score_time": [one.seconds for one in tested]}
    times = {name: np.array(values) for name, values in seconds.items()}
    return times | named_scores("test", tested, error_score)


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
    scores: NDArray[np.float64] = cross_validate(**locals())["test_score"]
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
    """Return the prediction of every row by a model of the folds that do not hold it.

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
    if not isinstance(estimator, Estimator):
        asked: NDArray[Any] = by_scikit_learn("cross_val_predict", locals())
        return asked
    rows = rows_of(estimator, X, y, params, groups)
    folds = folds_of(rows, cv)
    if is_leave_one_out(cv):
        found = predictions_left_out(estimator, rows, [method])
        if found is not None:
            return found[0]
        warn_of_fits(estimator, len(folds))
    places = [test for _, test in folds]
    tested = np.bincount(np.concatenate(places), minlength=rows.n)
    if (tested != 1).any():
        row = int((tested != 1).argmax())
        raise ParameterError(
            f"row {row} is in {tested[row]} test sets", "every row is answered once", "use KFold"
        )
    (fits,) = models_of_folds([estimator], rows, folds)
    require_fits([fits], "raise")
    models = fits.models
    answers = [
        getattr(model, method)(rows.at(test)[0]) for model, test in zip(models, places, strict=True)
    ]
    if method != "predict" and hasattr(models[0], "classes_"):
        answers = _over_all_classes([m.classes_ for m in models], answers, rows.truth, method)
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.concatenate(answers)[order]


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    train_sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: Mapping[str, Any] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Score models of the first rows of every training set; each row is summed once.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, params, error_score
        As in `cross_validate`; ``scoring`` is one score.
    train_sizes : array-like (S,)
        Numbers of rows, or fractions of the first training set.
    shuffle, random_state
        Put the rows of every training set in random order first, as scikit-learn does.
    return_times : bool
        Return seconds too.
    exploit_incremental_learning, n_jobs, pre_dispatch, verbose
        Without effect: sums are always taken over.

    Returns
    -------
    train_sizes_abs : ndarray of int (S,)
        Increasing, each once.
    train_scores, test_scores : ndarray (S, folds)
    fit_times, score_times : ndarray (S, folds)
        Where asked for.

    Raises
    ------
    ParameterError
        If a size is outside its rule.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> sizes, _, scores = learning_curve(GaussianNB(), X, y, shuffle=True, random_state=0)
    >>> sizes
    array([ 12,  39,  66,  93, 120])
    >>> scores.mean(axis=1).round(3)
    array([0.793, 0.94 , 0.953, 0.947, 0.953])
    """
    if not isinstance(estimator, Estimator):
        found: tuple[NDArray[Any], ...] = by_scikit_learn("learning_curve", locals())
        return found
    check_boolean(shuffle=shuffle, return_times=return_times)
    rows = rows_of(estimator, X, y, params, groups)
    folds = folds_of(rows, cv)
    scorer = check_scoring(estimator, scoring, raise_exc=error_score == "raise")
    sizes = _sizes(np.asarray(train_sizes), len(folds[0][0]))
    if shuffle:
        random = check_random_state(random_state)
        folds = [(random.permutation(train), test) for train, test in folds]
    parts = [(train[:size], test) for size in sizes for train, test in folds]
    (fits,) = models_of_folds([estimator], rows, parts)
    require_fits([fits], error_score)
    (tested,) = held_out_scores([fits], rows, parts, scorer, error_score, own=False)
    learnt = training_scores(fits, rows, parts, scorer, error_score)
    shape = len(sizes), len(folds)
    curves = [
        named_scores("curve", scores, error_score)["curve_score"].reshape(shape)
        for scores in (learnt, tested)
    ]
    if return_times:
        curves.append(np.reshape(fits.seconds, shape))
        curves.append(np.reshape([one.seconds for one in tested], shape))
    return np.array(sizes), *curves


def by_scikit_learn(function: str, given: Mapping[str, Any]) -> Any:
    warn_of_other(given["estimator"], function)
    return getattr(scikit_learn, function)(**given)


def warn_of_other(estimator: Any, function: str) -> None:
    """Warn that scikit-learn fits an estimator fold by fold."""
    warn(
        f"{type(estimator).__name__} is not an estimator of suffice; {function} of scikit-learn "
        "fits it anew for every fold."
    )


def rows_of(
    estimator: Estimator, X: Any, y: Any, params: Mapping[str, Any] | None, groups: Any
) -> MemoryRows:
    """Return rows in memory, each with its label."""
    others = dict(params or {})
    weight = others.pop("sample_weight", None)
    if others:
        raise ParameterError(
            f"params has {next(iter(others))!r}", "a fit takes 'sample_weight' besides the rows"
        )
    rows = MemoryRows.of(X, y, weight, groups, isinstance(estimator, Classifier))
    if rows.codes is not None and (rows.codes < 0).any():
        row = int(rows.codes.argmin())
        raise DataError(
            f"label, row {row}: {np.asarray(rows.truth)[row]}",
            "a row is judged by its label",
            "leave out rows without one, or use evaluate_folds, which does so",
        )
    return rows


def folds_of(rows: MemoryRows, cv: Any) -> Folds:
    """Divide rows as scikit-learn does, whose numbers of folds do not keep groups together."""
    groups = rows.groups
    if groups is not None and (cv is None or isinstance(cv, int)):
        warn(
            f"groups are given, and {cv or 5} folds do not keep them together; "
            f"cv=GroupKFold({cv or 5}) does."
        )
        groups = None
    targets = None if rows.codes is not None else rows.truth
    return divided(cv, rows.n, rows.codes, groups, targets=targets)


def _over_all_classes(
    known: Sequence[NDArray[Any]], answers: Sequence[NDArray[Any]], truth: Any, method: str
) -> list[NDArray[Any]]:
    """Return answers (n, k) with a column for every class; impossible are those not learnt."""
    learnt, given = np.unique(np.concatenate(known)), np.unique(np.asarray(truth))
    every = given if np.isin(learnt, given).all() else learnt  # a fit may clean labels
    fewer = [f for f, classes in enumerate(known) if len(classes) < len(every)]
    if not fewer:
        return list(answers)
    f = next((f for f in fewer if answers[f].ndim == 1), fewer[0])
    others = ", ".join(map(repr, np.setdiff1d(every, known[f]).tolist()))
    fact = f"the model of fold {f} has learnt {len(known[f])} of {len(every)} classes, not {others}"
    if answers[f].ndim == 1:
        raise DataError(
            fact,
            f"{method} of two classes is one number, which has no place among {len(every)}",
            "use method='predict_proba', or folds whose training rows have every class",
        )
    warn(f"{fact}: these are impossible to it.")
    found = []
    for classes, answer in zip(known, answers, strict=True):
        least = np.finfo(answer.dtype).min
        found.append(np.full((len(answer), len(every)), IMPOSSIBLE.get(method, least)))
        found[-1][:, np.searchsorted(every, classes)] = answer
    return found


def _sizes(asked: NDArray[Any], most: int) -> list[int]:
    """Return numbers of rows to fit, increasing, of ``most`` that there are."""
    fraction = asked.dtype.kind == "f"
    known = asked.ndim == 1 and asked.size > 0 and asked.dtype.kind in "iuf"
    if not known or not ((asked > 0) & (asked <= (1 if fraction else most))).all():
        rule = "above 0 and at most 1" if fraction else f"1 to {most}, the rows to learn from"
        raise ParameterError(
            f"train_sizes={asked.tolist()!r}",
            f"each is a number of rows, or a fraction of them: here {rule}",
        )
    rows = np.clip((asked * most).astype(int), 1, most) if fraction else asked
    return [int(size) for size in np.unique(rows)]
