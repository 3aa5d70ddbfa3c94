"""A grid of options, each judged on folds, from one pass for all that share their sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV as _GridSearchCV
from sklearn.model_selection import ParameterGrid

from suffice.errors import DataError, ParameterError, SchemaError, warn
from suffice.families.options import check_boolean
from suffice.model_selection.cross_validation import (
    handed_over,
    require_one,
    sample_weight_of,
)
from suffice.model_selection.folds import FoldSums, Opened, is_of_sums
from suffice.model_selection.nested import Nested, inner_folds
from suffice.model_selection.own_scores import own_scores
from suffice.model_selection.pairs import Folds
from suffice.model_selection.refits import refits
from suffice.model_selection.rows import ChosenRows, Rows, Scored
from suffice.model_selection.scikit_learn import folds_of
from suffice.model_selection.timed import Training, timed
from suffice.models.estimator import Estimator

__all__ = ["GridSearchCV"]


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
    See `cross_validate` for what a fold decides and what all rows decide, and for a search inside
    a cross-validation. Where no point has a finite score, none is chosen: a `DataError` names the
    class that a fold has not learnt, if that is why.

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
        learners = self._learners()
        strange = [learner for learner in learners if not isinstance(learner, Estimator)]
        if strange:
            handed_over(strange[0], "GridSearchCV")
            given = params if groups is None else {**params, "groups": groups}
            found: Self = super().fit(X, y, **given)
            return found
        check_boolean(return_train_score=self.return_train_score)
        table = Rows.of(X, y, groups)
        folds = folds_of(self.estimator, table.X, table.truth, table.groups, self.cv, table.n)
        weight = sample_weight_of(params)
        self._choose(table, folds, learners, weight)
        if self.refit:
            started = perf_counter()
            best = _with(self.estimator, self.best_params_)
            self._keep(best.fit(table.X, table.y, sample_weight=weight), perf_counter() - started)
        return self

    def _learners(self) -> list[Any]:
        """An estimator for every point of the grid."""
        return [_with(self.estimator, point) for point in ParameterGrid(self.param_grid)]

    @property
    def is_of_sums(self) -> bool:
        """Whether the search follows from sums, so that it can be made for many training sets."""
        return isinstance(self.estimator, Estimator) and all(map(is_of_sums, self._learners()))

    def _fitted_nested(
        self, table: Rows, folds: Folds, weight: Any, error_score: Any
    ) -> list[tuple[Any, float]]:
        """A search in every training set, or its error, and the seconds that it took."""
        nested = Nested(folds, inner_folds(self.estimator, table, folds, self.cv), table.n)

        def search(f: int) -> GridSearchCV:
            found: GridSearchCV = clone(self)

            def sums(opened: Opened) -> list[Any]:
                return nested.sums(opened, f)[:-1]

            found._choose(table, nested.inner[f], found._learners(), weight, sums)
            if found.refit:
                started = perf_counter()
                best = _with(found.estimator, found.best_params_)
                opened = Opened.of(best, table.X, table.y, weight)
                model = opened.fitted(nested.sums(opened, f)[-1])
                found._keep(model, perf_counter() - started)
            return found

        return [timed(partial(search, f), error_score, 0.0) for f in range(len(folds))]

    def _choose(
        self,
        table: Rows,
        folds: Folds,
        learners: Sequence[Any],
        weight: Any,
        sums: Callable[[Opened], Sequence[Any]] | None = None,
    ) -> None:
        """Judge all points on folds, whose sums may be known, and find the best."""
        points = list(ParameterGrid(self.param_grid))
        scorer, metric = self._get_scorers()
        self.n_splits_ = len(folds)
        accepts = getattr(self, "_check_scorers_accept_sample_weight", None)  # not in every version
        in_scores = weight is not None and accepts is not None and accepts()
        judged = _Judged(
            table,
            folds,
            scorer,
            self.error_score,
            self.return_train_score,
            weight if in_scores else None,
            self.scoring is None and not in_scores,
        )
        out = judged.of_all(learners, weight, sums)
        results = self._format_results(points, len(folds), out, {})
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            metric = self.refit
        self.cv_results_ = results
        if self.refit or not self.multimetric_:
            if not callable(self.refit):
                _require_finite(results[f"mean_test_{metric}"], table.truth, folds)
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = points[self.best_index_]
        self.scorer_ = getattr(scorer, "_scorers", scorer)

    def _keep(self, best: Any, seconds: float) -> None:
        """The best estimator, fitted to all rows."""
        self.best_estimator_, self.refit_time_ = best, seconds
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _require_finite(means: NDArray[np.float64], truth: Any, folds: Folds) -> None:
    """Refuse to choose among points none of which has a finite score.

    Raises
    ------
    DataError
        Naming a class that a fold has not learnt, if that is so.
    """
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


def _with(estimator: Any, point: dict[str, Any]) -> Any:
    """An estimator with the options of a point of the grid.

    Raises
    ------
    ParameterError
        If it has no such option.
    """
    known = estimator.get_params()
    for name in point:
        if name not in known:
            raise ParameterError(
                f"the grid names {name!r}, which is no option of {type(estimator).__name__}",
                f"its options are {', '.join(known)}",
            )
    if not hasattr(estimator, "unfitted"):
        return estimator  # scikit-learn sets its options
    return estimator.unfitted().set_params(**point)


@dataclass(frozen=True)
class _Judged:
    """What scikit-learn's search keeps of every point and fold.

    Parameters
    ----------
    table : Rows
    folds : Folds
    scorer : callable
    error_score : "raise" or number
    trained : bool
        Whether models are scored on the rows that they learnt, too.
    weight : array-like (n,), optional
        What rows weigh in a score.
    own : bool
        Whether the score is the estimator's own.
    """

    table: Rows
    folds: Folds
    scorer: Any
    error_score: Any
    trained: bool
    weight: Any = None
    own: bool = False

    def of_all(
        self,
        learners: Sequence[Any],
        weight: Any,
        known: Callable[[Opened], Sequence[Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """Judge every learner on every fold, learner by learner; sums of folds may be known."""
        opened = [
            self._opened(learner, weight) if is_of_sums(learner) else None for learner in learners
        ]
        fits: dict[int, list[tuple[Any, float]]] = {}
        groups: list[tuple[list[int], Any]] = []
        waiting = {i: one for i, one in enumerate(opened) if isinstance(one, Opened)}
        while waiting:
            first = next(iter(waiting.values()))
            alike = [i for i, one in waiting.items() if one.sums == first.sums]
            started = perf_counter()
            sums = FoldSums(known(first)) if known else self._sums(first)
            groups.append((alike, sums.tested if weight is None else None))
            share = (perf_counter() - started) / (len(alike) * len(self.folds))
            for i in alike:
                same = waiting.pop(i)
                fits[i] = [
                    timed(
                        partial(same.fitted, statistic),
                        self.error_score,
                        share,
                        Training(f, self.table.truth, train),
                    )
                    for f, (statistic, (train, _)) in enumerate(
                        zip(sums.statistics, self.folds, strict=True)
                    )
                ]
        apart = [i for i, one in enumerate(opened) if one is None]
        if apart:
            of_rows = [learners[i] for i in apart]
            models = refits(of_rows, self.table, self.folds, weight, self.error_score)
            fits |= zip(apart, models, strict=True)
        for i, one in enumerate(opened):
            if isinstance(one, Exception):
                fits[i] = [(one, 0.0)] * len(self.folds)
        require_one([model for found in fits.values() for model, _ in found])
        tested = self._own_scores(groups, fits)
        found = {}
        for f, (train, test) in enumerate(self.folds):
            if not all((i, f) in tested for i in fits):
                held_out = self.table.part(test, self.weight)
                for i in fits:
                    model = fits[i][f][0]
                    tested[i, f] = held_out.scored(model, self.scorer, self.error_score)
            learnt = self.table.part(train, self.weight) if self.trained else None
            for i in fits:
                found[i, f] = self._found(*fits[i][f], tested[i, f], learnt) | {
                    "n_test_samples": len(test)
                }
        out = [found[i, f] for i in range(len(learners)) for f in range(len(self.folds))]
        return _filled(out, self.error_score)

    def _sums(self, opened: Opened) -> FoldSums:
        return FoldSums.of_folds(opened, self.folds, self.table.n)

    def _own_scores(
        self,
        groups: Sequence[tuple[list[int], Any]],
        fits: Mapping[int, Sequence[tuple[Any, float]]],
    ) -> dict[tuple[int, int], Scored]:
        """The own score of all models, where that is asked for and all have one."""
        if not self.own or sum(len(alike) for alike, _ in groups) < len(fits):
            return {}
        known: dict[tuple[int, int], Scored] = {}
        folds = range(len(self.folds))
        for alike, sums in groups:
            models = [fits[i][f][0] for i in alike for f in folds]
            scores = own_scores(models, [*folds] * len(alike), self.table, self.folds, sums)
            if scores is None:
                return {}
            known |= zip(product(alike, folds), scores, strict=True)
        return known

    def _opened(self, learner: Any, weight: Any) -> Opened | Exception:
        """The table as a learner reads it, or the error that an option brings."""
        try:
            return Opened.of(learner, self.table.X, self.table.y, weight)
        except (ParameterError, DataError, SchemaError) as error:
            if self.error_score == "raise":
                raise
            warn(f"a point of the grid was not fitted: {error}")
            return error

    def _found(
        self, model: Any, seconds: float, tested: Scored, learnt: ChosenRows | None
    ) -> dict[str, Any]:
        """What is kept of one model."""
        found = {
            "fit_time": seconds,
            "score_time": tested.seconds,
            "test_scores": tested.scores,
        }
        if learnt is not None:
            trained = learnt.scored(model, self.scorer, self.error_score)
            found["train_scores"] = trained.scores
        return found


def _filled(out: list[dict[str, Any]], error_score: Any) -> list[dict[str, Any]]:
    """Scores as scikit-learn keeps them: a number, or numbers by name, wherever there are none."""
    known = (one["test_scores"] for one in out if one["test_scores"] is not None)
    names = next(known, {"score": error_score})
    single = list(names) == ["score"]
    for one in out:
        for part in ("test_scores", "train_scores"):
            if part in one:
                scores = one[part] or dict.fromkeys(names, error_score)
                one[part] = scores["score"] if single else scores
    return out
