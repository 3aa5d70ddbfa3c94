"""A grid of options, each judged on folds, from one pass for all that share their sums."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV as _GridSearchCV
from sklearn.model_selection import ParameterGrid

from suffice.errors import DataError
from suffice.families.options import check_boolean
from suffice.model_selection.cross_validation import folds_of, rows_of, warn_of_other
from suffice.model_selection.fits import FoldModels, is_of_sums, models_of_folds, require_fits
from suffice.model_selection.folds import Folds
from suffice.model_selection.scores import FoldScores, held_out_scores, training_scores
from suffice.models.estimator import Estimator


class GridSearchCV(_GridSearchCV):  # type: ignore[misc]
    """Judge every point of a grid of options on folds, and take the best.

    ::

        S(rows outside fold f) = Σ_{g ≠ f} S(fold g)

    Points that differ only in what is done with the sums share them: smoothing, priors, variance
    floors, shrinkage, penalties. The rows are summed once for all of these, whatever the number of
    points and folds.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score
        As in scikit-learn.
    return_train_score : bool
        As in scikit-learn.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_
        As in scikit-learn. ``mean_fit_time`` is a share of the pass and the time to estimate.

    Notes
    -----
    An estimator that is no function of sums, as logistic regression, is fitted to the rows of every
    fold. One that is not of suffice is searched as scikit-learn does it, with a warning.
    See `cross_validate` for what a fold decides and what all rows decide. Where no point has a
    finite score, none is chosen: a `DataError` names the class that a fold has not learnt, if that
    is why.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1e-1]}, cv=3)
    >>> search.fit(X, y).best_params_
    {'var_smoothing': 0.1}
    """

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Judge all points, and fit the best to all rows.

        Parameters
        ----------
        X, y
            As for `cross_validate`.
        groups : array-like (n,) or str, optional
            Rows that stay together; or their column.
        **params
            ``sample_weight``, to learn with, and to score with where the scorer takes weights.

        Raises
        ------
        ParameterError
            If the grid names an unknown option.
        DataError
            If no point can be fitted.
        """
        points = list(ParameterGrid(self.param_grid))
        if not isinstance(self.estimator, Estimator):
            warn_of_other(self.estimator, "GridSearchCV")
            given = params if groups is None else {**params, "groups": groups}
            found: Self = super().fit(X, y, **given)
            return found
        learners = [self.estimator.unfitted().set_params(**point) for point in points]
        check_boolean(return_train_score=self.return_train_score)
        rows = rows_of(self.estimator, X, y, params, groups)
        folds = folds_of(rows, self.cv)
        scorer, metric = self._get_scorers()
        accepts = getattr(self, "_check_scorers_accept_sample_weight", None)  # not in every version
        in_scores = rows.weight is not None and accepts is not None and accepts()
        weight = rows.weight if in_scores else None
        fits = models_of_folds(learners, rows, folds)
        require_fits(fits, self.error_score)
        own = self.scoring is None and not in_scores and all(map(is_of_sums, learners))
        tested = held_out_scores(fits, rows, folds, scorer, self.error_score, own, weight)
        learnt: Sequence[Any] = [None] * len(fits)
        if self.return_train_score:
            learnt = [
                training_scores(one, rows, folds, scorer, self.error_score, weight) for one in fits
            ]
        out = _as_scikit_learn(fits, folds, tested, learnt, self.error_score)
        self.n_splits_ = len(folds)
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            metric = self.refit
        self.cv_results_ = self._format_results(points, len(folds), out, {})
        self.scorer_ = getattr(scorer, "_scorers", scorer)
        if self.refit or not self.multimetric_:
            if not callable(self.refit):
                _require_finite(self.cv_results_[f"mean_test_{metric}"], rows.truth, folds)
            self.best_index_ = self._select_best_index(self.refit, metric, self.cv_results_)
            if not callable(self.refit):
                self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = points[self.best_index_]
        if self.refit:
            started = perf_counter()
            best = self.estimator.unfitted().set_params(**self.best_params_)
            self.best_estimator_ = best.fit(*rows.whole)
            self.refit_time_ = perf_counter() - started
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self


def _require_finite(means: NDArray[np.float64], truth: Any, folds: Folds) -> None:
    if np.isfinite(means).any():
        return
    labels, cause = np.asarray(truth), "the scores of the folds are in cv_results_"
    for f, (train, test) in enumerate(folds):
        others = np.setdiff1d(labels[test], labels[train]).tolist()
        if others and labels.dtype.kind != "f":
            cause = f"fold {f} asks for the class {others[0]!r}, which it has not learnt"
            break
    raise DataError(
        f"no point of the grid has a finite score: {cause}",
        "the best is chosen by the mean score over folds",
        "correct or leave out such labels, ask for fewer folds, or for scoring='accuracy'",
    )


def _as_scikit_learn(
    fits: Sequence[FoldModels],
    folds: Folds,
    tested: Sequence[Sequence[FoldScores]],
    learnt: Sequence[Any],
    error_score: Any,
) -> list[dict[str, Any]]:
    """Return what scikit-learn's search keeps of every point and fold: a number, or several."""
    every = [one for of_point in tested for one in of_point]
    names = next((one.scores for one in every if one.scores is not None), {"score": error_score})
    single = list(names) == ["score"]

    def kept(one: FoldScores) -> Any:
        scores = one.scores or dict.fromkeys(names, error_score)
        return scores["score"] if single else scores

    found = []
    for one, of_point, trained in zip(fits, tested, learnt, strict=True):
        for f, (_, test) in enumerate(folds):
            record = {
                "fit_time": one.seconds[f],
                "score_time": of_point[f].seconds,
                "test_scores": kept(of_point[f]),
                "n_test_samples": len(test),
            }
            if trained is not None:
                record["train_scores"] = kept(trained[f])
            found.append(record)
    return found
