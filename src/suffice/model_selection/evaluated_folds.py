"""Models judged on held-out rows, wherever the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import DataError, ParameterError
from suffice.families.options import check_boolean
from suffice.model_selection.fits import FoldModels, is_of_sums, models_of_folds
from suffice.model_selection.folds import (
    Folds,
    Partition,
    divided,
    is_leave_one_out,
    row_groups,
)
from suffice.model_selection.leave_one_out import evaluation_left_out, warn_of_fits
from suffice.model_selection.ranking import FoldEvaluations, RankedModels
from suffice.model_selection.rows import MemoryRows, Rows, TableRows, is_table
from suffice.models.base.answers import told
from suffice.models.base.judge import evaluated, evaluated_by_place, knowing_all
from suffice.models.base.options import generator
from suffice.models.classifier import Classifier
from suffice.models.estimator import Estimator


def evaluate_folds(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    shuffle: bool = False,
    random_state: Any = None,
) -> FoldEvaluations:
    """Evaluate an estimator on held-out rows, fold by fold.

    A model of sums is summed in one pass over all rows, and judged in another. Any other is fitted
    once for each fold. Rows are weighed in scores as in fits; those without a label are left out.

    Parameters
    ----------
    estimator : estimator
        Of suffice.
    X : table (n, d)
        Anything that `fit` takes, files larger than memory included.
    y : array-like (n,) or name of a column
    sample_weight : array-like (n,) or name of a column, optional
    cv : int, "loo", splitter or iterable of pairs, optional
        A number of folds: those of scikit-learn, stratified for classifiers and consecutive for
        regressions; 5 by default. With ``groups`` they keep groups together. ``KFold(5)`` has
        stretches of the table for classifiers too, as for rows in the order of time. "loo": every
        row by the model of all others, as in `cross_validate`; its one evaluation is of all.
    groups : array-like (n,) or name of a column, optional
        Rows that stay together. Such a column of a table is no feature.
    shuffle : bool
        Put the rows in random order before they are divided into a number of folds; with
        ``groups``, deal these at random.
    random_state : int or numpy.random.Generator, optional
        Seed of that order.

    Returns
    -------
    FoldEvaluations

    Raises
    ------
    ParameterError
        If folds break a rule, or the estimator is not of suffice.
    DataError
        If a cell breaks a rule, as in `fit`, or a fold cannot be fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluate_folds(GaussianNB(), X, y, cv=10).mean("error rate").__round__(4)
    0.0467
    """
    how: dict[str, Any] = {"groups": groups, "shuffle": shuffle, "random_state": random_state}
    found = evaluate_models({"": estimator}, X, y, sample_weight, cv=cv, **how)[""]
    if isinstance(found, Exception):
        raise found
    return found


def evaluate_models(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    shuffle: bool = False,
    random_state: Any = None,
) -> RankedModels:
    """Evaluate several estimators on the same folds; see `evaluate_folds`.

    Estimators that need the same sums share them. In print the result is a table, the best first.

    Parameters
    ----------
    estimators : mapping of str to estimator
        All classifiers, or all regressions.
    X, y, sample_weight, cv, groups, shuffle, random_state
        As for `evaluate_folds`.

    Returns
    -------
    RankedModels
        A mapping by name to `FoldEvaluations`, or to the error of an estimator that cannot be
        fitted to these rows.

    Raises
    ------
    ParameterError, DataError
        As `evaluate_folds`; that of the first estimator, if none can be fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import suffice
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"lda": suffice.LinearDiscriminantAnalysis(), "nb": suffice.NaiveBayes()}
    >>> found = evaluate_models(models, X, y, cv=10)
    >>> found.best, {name: round(one.mean("error rate"), 4) for name, one in found.items()}
    ('lda', {'lda': 0.02, 'nb': 0.04})
    """
    check_boolean(shuffle=shuffle)
    rows = _placed(estimators, X, y, sample_weight, groups)
    random = generator(random_state) if shuffle else None
    folds = divided(cv, rows.n, rows.codes, rows.groups, random)
    left_out = is_leave_one_out(cv)
    if left_out:
        for estimator in estimators.values():
            warn_of_fits(estimator, len(folds))
    others = {n: one for n, one in estimators.items() if not (left_out and is_of_sums(one))}
    fits = dict(zip(others, models_of_folds(list(others.values()), rows, folds), strict=True))
    found: dict[str, FoldEvaluations | Exception] = {}
    for name, estimator in estimators.items():
        try:
            if name not in fits:
                found[name] = _left_out(estimator, rows, folds)
                continue
            of_folds = _judged(estimator, fits[name], rows, folds)
            found[name] = replace(of_folds, folds=(of_folds.pooled,)) if left_out else of_folds
        except (DataError, ParameterError) as error:
            found[name] = error
    return RankedModels(found)


def _placed(estimators: Mapping[str, Any], X: Any, y: Any, weight: Any, groups: Any) -> Rows:
    """Return the rows of estimators of one kind."""
    for name, estimator in estimators.items():
        if not isinstance(estimator, Estimator):
            raise ParameterError(
                f"{name or 'the estimator'} is {type(estimator).__name__}",
                "models of suffice are judged here",
                "use cross_validate",
            )
    if len({isinstance(estimator, Classifier) for estimator in estimators.values()}) != 1:
        raise ParameterError(
            "the estimators are classifiers and regressions, or there is none",
            "models are compared by the same scores",
        )
    first = next(iter(estimators.values()))
    if is_table(X):
        return TableRows.of(X, y, weight, isinstance(first, Classifier), groups)
    return MemoryRows.of(X, y, weight, groups, isinstance(first, Classifier))


def _left_out(estimator: Any, rows: Rows, folds: Any) -> FoldEvaluations:
    started = perf_counter()
    found = evaluation_left_out(estimator, rows, folds.fold)
    return FoldEvaluations((found,), 1.0 / max(rows.n - 1, 1), perf_counter() - started)


def _judged(estimator: Any, fits: FoldModels, rows: Rows, folds: Folds) -> FoldEvaluations:
    if fits.error is not None:
        raise fits.error
    started, models = perf_counter(), fits.models
    with fit_context(estimator):
        if is_of_sums(estimator):
            source = models[0]._open_judged(*rows.whole)
            judges = knowing_all([model._judge(source) for model in models])
            found = evaluated_by_place(judges, source, *_groups_tested(folds, rows.n))
        else:  # the models may read rows in different ways
            pairs = zip(models, (rows.at(test) for _, test in folds), strict=True)
            opened = [model._open_judged(*test) for model, test in pairs]
            judges = knowing_all([m._judge(one) for m, one in zip(models, opened, strict=True)])
            found = {
                f: evaluated(judge, source)
                for f, (judge, source) in enumerate(zip(judges, opened, strict=True))
            }
    answered = told(found)
    records = tuple(judge.record(answered[f]) for f, judge in enumerate(judges))
    share = float(np.mean([len(test) / len(train) for train, test in folds]))
    return FoldEvaluations(records, share, sum(fits.seconds) + perf_counter() - started)


def _groups_tested(folds: Folds, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the group of every row (n,), and the groups that each fold is judged on (f, g)."""
    if isinstance(folds, Partition):
        return folds.fold, np.eye(len(folds), dtype=np.intp)
    found = row_groups([test for _, test in folds], n, n)
    assert found is not None  # there are at most n groups
    return found
