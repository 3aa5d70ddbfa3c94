"""Models judged on rows that they have not learnt, wherever the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import DataError, ParameterError
from suffice.families.options import check_boolean
from suffice.model_selection.division import (
    ByContent,
    Division,
    EqualRowsTogether,
    divided,
)
from suffice.model_selection.folds import FoldSums, Opened, is_of_sums, tell_of_fits
from suffice.model_selection.leave_one_out import (
    evaluation_in_closed_form,
    evaluation_of_sums,
)
from suffice.model_selection.scores import Score, scores_of
from suffice.model_selection.table_rows import TableRows, is_table
from suffice.model_selection.timed import Training
from suffice.models.base.answers import WithGaps, told
from suffice.models.base.judge import Judge, evaluated, evaluated_by_place, knowing_all
from suffice.models.base.options import generator
from suffice.models.classifier import Classifier
from suffice.models.estimator import Estimator
from suffice.models.reading import engine_for
from suffice.numerics.in_print import Printed, Table
from suffice.phrases import rows_of_classes

if TYPE_CHECKING:
    from suffice.model_selection.memory_rows import MemoryRows
from suffice.data.schema import Layout
from suffice.data.source import Part, Source, each_batch
from suffice.engines.engine import Engine
from suffice.sums.batch import Batch

__all__ = ["FoldEvaluations", "evaluate_folds", "evaluate_models"]


@dataclass(frozen=True, repr=False)
class FoldEvaluations(Printed):
    """The evaluation of every fold, by a model that has learnt the rows outside it.

    Parameters
    ----------
    folds : tuple of Evaluation or RegressionEvaluation
    test_share : float
        Rows that a model is judged on, for each that it has learnt; the mean over folds.
    seconds : float
        Time for fits and evaluations; of what models share, each has an equal part.
    label_scores : tuple of ndarray (n_f, 2)
        For every fold log P(y | x) and the weight of its rows, where these were asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.model_selection import evaluate_folds
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = evaluate_folds(GaussianNB(), X, y, cv=5, shuffle=True, random_state=0)
    >>> len(found.folds), found.pooled.weight, round(found.mean("error rate"), 3)
    (5, 150.0, 0.047)
    """

    folds: tuple[Any, ...]
    test_share: float
    seconds: float
    label_scores: tuple[NDArray[np.float64], ...] = ()

    @cached_property
    def pooled(self) -> Any:
        """The evaluation of the rows of all folds together."""
        return reduce(add, self.folds)

    @property
    def infinite_rows(self) -> dict[Any, float]:
        """Σw of the rows whose label had probability 0, by label; they make a log loss infinite."""
        return getattr(self.pooled, "infinite_rows", {})

    @property
    def of_single_rows(self) -> bool:
        """Whether every row was left out by itself; their evaluation is then in one piece."""
        return len(self.folds) == 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores that all folds have."""
        known = scores_of(self.folds[0])
        return tuple(name for name in known if not np.isnan(self.scores(name)).any())

    def scores(self, name: str) -> NDArray[np.float64]:
        """A score of every fold, (f,).

        Raises
        ------
        ParameterError
            If there is no such score.
        """
        return np.array([self._score(name).of(fold) for fold in self.folds])

    def mean(self, name: str) -> float:
        """The mean of a score over folds."""
        return float(self.scores(name).mean())

    def standard_error(self, name: str) -> float:
        """s/√f of a score: how far its mean may be off; NaN of single rows and infinite scores."""
        scores = self.scores(name)
        if self.of_single_rows:
            return float("nan")
        with np.errstate(invalid="ignore"):
            return float(scores.std(ddof=1) / np.sqrt(len(scores)))

    def _score(self, name: str) -> Score:
        known = scores_of(self.folds[0])
        if name not in known:
            raise ParameterError(f"the score {name!r}", f"it is one of {', '.join(known)}")
        return known[name]

    def _in_print(self, name: str) -> tuple[str, str, str]:
        """The mean of a score, and its error; of an infinite one the rows that make it so."""
        mean = self.mean(name)
        if not np.isfinite(mean):
            return f"{mean:.4g}".replace("inf", "∞"), "", rows_of_classes(self.infinite_rows)
        return f"{mean:.4g}", "±", f"{self.standard_error(name):.2g}"

    def table(self) -> Table:
        """Return the mean of every score, with its error, as a table."""
        if self.of_single_rows:
            rows = [[name, self._in_print(name)[0]] for name in self.names]
            return Table("every row by the model of all others", ["", ""], rows)
        rows = [[name, *self._in_print(name)] for name in self.names]
        return Table(f"{len(self.folds)} folds, mean ± standard error", [""] * 4, rows)


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
    """Evaluate an estimator on rows that it has not learnt, fold by fold.

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
    cv : int, "loo", "hash", ByContent, splitter or iterable of pairs, optional
        A number of folds: those of scikit-learn, stratified for classifiers and consecutive for
        regressions; 5 by default. With ``groups`` they keep groups together. ``KFold(5)`` has
        stretches of the table for classifiers too, as for rows in the order of time. "hash": by
        what the rows say, whatever their order. "loo": every row by the model of all others, as in
        `cross_validate`; its one evaluation is of all.
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
    label_scores: bool = False,
) -> dict[str, FoldEvaluations | Exception]:
    """Evaluate several estimators on the same folds; see `evaluate_folds`.

    Estimators that need the same sums share them.

    Parameters
    ----------
    estimators : mapping of str to estimator
        All classifiers, or all regressions.
    X, y, sample_weight, cv, groups, shuffle, random_state
        As for `evaluate_folds`.
    label_scores : bool
        Whether the evaluations of classifiers hold what was said of the label of every row.

    Returns
    -------
    dict
        By name; the error of an estimator that cannot learn these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import suffice
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"lda": suffice.LinearDiscriminantAnalysis(), "nb": suffice.NaiveBayes()}
    >>> found = evaluate_models(models, X, y, cv=10)
    >>> {name: round(one.mean("error rate"), 4) for name, one in found.items()}
    {'lda': 0.02, 'nb': 0.04}
    """
    check_boolean(shuffle=shuffle, label_scores=label_scores)
    if cv == "loo" or type(cv).__name__ == "LeaveOneOut":
        if shuffle:
            raise ParameterError(
                "shuffle=True and cv='loo'", "single rows have no order", "leave shuffle out"
            )
        return dict(_left_out(estimators, X, y, sample_weight, groups))
    cv = ByContent() if isinstance(cv, str) and cv == "hash" else cv
    rows = _placed(estimators, X, y, sample_weight, cv, groups)
    random = generator(random_state) if shuffle else None
    division = divided(cv, rows.n, rows.codes, rows.groups, rows.hashes, random)
    work = _Work(rows, division, label_scores)
    found: dict[str, FoldEvaluations | Exception] = {}
    waiting: dict[str, Opened] = {}
    for name, estimator in estimators.items():
        with _kept(found, name):
            if is_of_sums(estimator):
                waiting[name] = Opened.of(estimator, *rows.whole)
            else:
                found[name] = work.one_by_one(estimator)
    while waiting:
        first = next(iter(waiting.values()))
        alike = {name: one for name, one in waiting.items() if one.sums == first.sums}
        with _kept(found, *alike):
            found |= work.from_sums(alike)
        waiting = {name: one for name, one in waiting.items() if name not in alike}
    return {name: found[name] for name in estimators}


def _left_out(
    estimators: Mapping[str, Any], X: Any, y: Any, weight: Any, groups: Any
) -> Iterator[tuple[str, FoldEvaluations | Exception]]:
    """Judge estimators on every row by the model of all others."""
    if groups is not None:
        raise ParameterError("groups with cv='loo'", "single rows are left out", "use cv=10")
    rows = _placed(estimators, X, y, weight, None, None)
    for name, estimator in estimators.items():
        started, found = perf_counter(), dict[str, Any]()
        with _kept(found, name):
            judged = evaluation_in_closed_form(estimator, *rows.whole)
            if judged is None:
                judged = _one_by_one_left_out(estimator, rows)
            share = 1.0 / max(rows.n - 1, 1)
            found[name] = FoldEvaluations((judged,), share, perf_counter() - started)
        yield name, found[name]


def _one_by_one_left_out(estimator: Any, rows: TableRows | MemoryRows) -> Any:
    """The evaluation of all rows with a label, each by the model of the others."""
    known = np.ones(rows.n, np.bool_) if rows.codes is None else rows.codes >= 0
    row = np.where(known, np.cumsum(known) - 1, -1)
    if known.sum() < 2:
        raise DataError(
            "there are fewer than two rows with a label",
            "a row is judged by the model of the others",
        )
    if is_of_sums(estimator):
        return evaluation_of_sums(estimator, *rows.whole, row)
    tell_of_fits(estimator, int(known.sum()))
    return _Work(rows, Division.into(row), by_row=False).one_by_one(estimator).pooled


def _placed(
    estimators: Mapping[str, Any], X: Any, y: Any, weight: Any, cv: Any, groups: Any
) -> TableRows | MemoryRows:
    """The rows by their places, for estimators of one kind."""
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
    labelled = isinstance(first, Classifier)
    hashed = isinstance(cv, ByContent | EqualRowsTogether)
    if is_table(X) or (isinstance(cv, ByContent) and isinstance(y, str)):
        reading: dict[str, Any] | None = {} if isinstance(first, Classifier) else None
        return TableRows.of(X, y, weight, engine_for, reading, groups, hashed)
    from suffice.model_selection.memory_rows import MemoryRows  # which needs scikit-learn

    ignored = {name for estimator in estimators.values() for name in estimator._ignore}
    equal = isinstance(cv, EqualRowsTogether)
    return MemoryRows.of(X, y, weight, labelled, groups, ignored, hashed=equal)


@contextmanager
def _kept(found: dict[str, Any], *names: str) -> Iterator[None]:
    """Keep the error of models that cannot learn these rows, and go on."""
    try:
        yield
    except (DataError, ParameterError) as error:
        found |= dict.fromkeys(names, error)


@dataclass(frozen=True)
class _Work:
    """Rows and their folds, on which models are judged."""

    rows: TableRows | MemoryRows
    division: Division
    by_row: bool

    def from_sums(self, opened: Mapping[str, Opened]) -> dict[str, FoldEvaluations]:
        """Judge models that need the same sums: one pass for these, one to judge each."""
        started = perf_counter()
        first = next(iter(opened.values()))
        sums = FoldSums.of_groups(first, self.division.group, self.division.learnt)
        share = (perf_counter() - started) / len(opened)
        return {name: self._from_sums(one, sums, share) for name, one in opened.items()}

    def _from_sums(self, opened: Opened, sums: FoldSums, share: float) -> FoldEvaluations:
        started = perf_counter()
        fits = [
            self._training(f).fitted(partial(opened.fitted, statistic))
            for f, statistic in enumerate(sums.statistics)
        ]
        source = fits[0]._open_judged(*self.rows.whole)
        judges = knowing_all([fit._judge(source) for fit in fits])
        with fit_context(opened.learner):
            engine = engine_for(source)
            found = evaluated_by_place(
                judges, engine, source, self.division.group, self.division.tested
            )
        scores = self._scores(fits, self._sources(fits)) if self.by_row else ()
        return self._recorded(judges, found, share + perf_counter() - started, scores)

    def one_by_one(self, estimator: Any) -> FoldEvaluations:
        """Judge a model that is fitted to the rows of every fold."""
        started = perf_counter()
        fits = [
            self._training(f).fitted(
                partial(estimator.unfitted().fit, *self.rows.at(self.division.often(times)))
            )
            for f, times in enumerate(self.division.learnt)
        ]
        sources = self._sources(fits)
        pairs = zip(fits, sources, strict=True)
        judges = knowing_all([fit._judge(source) for fit, source in pairs])
        with fit_context(estimator):
            found = {
                f: evaluated(judge, engine_for(source), source)
                for f, (judge, source) in enumerate(zip(judges, sources, strict=True))
            }
        scores = self._scores(fits, sources) if self.by_row else ()
        return self._recorded(judges, found, perf_counter() - started, scores)

    def _training(self, f: int) -> Training:
        """The rows that a fold learns."""
        learnt = self.division.often(self.division.learnt[f]) > 0
        return Training(f, self.rows.codes, learnt)

    def _sources(self, fits: Sequence[Any]) -> list[Any]:
        """The rows that each fit is judged on."""
        return [
            fit._open_judged(*self.rows.at(self.division.often(times)))
            for fit, times in zip(fits, self.division.tested, strict=True)
        ]

    def _scores(
        self, fits: Sequence[Any], sources: Sequence[Any]
    ) -> tuple[NDArray[np.float64], ...]:
        """What each fit says of the labels of the rows that it is judged on."""
        return tuple(
            scores_of_labels(fit, fit._judge(source).layout, source, engine_for(source))
            for fit, source in zip(fits, sources, strict=True)
        )

    def _recorded(
        self,
        judges: Sequence[Judge],
        found: Mapping[int, WithGaps[Any]],
        seconds: float,
        scores: tuple[NDArray[np.float64], ...],
    ) -> FoldEvaluations:
        answered = told(found)
        division = self.division
        size = np.bincount(division.group[division.group >= 0], minlength=division.learnt.shape[1])
        share = float(((division.tested @ size) / (division.learnt @ size)).mean())
        records = tuple(judge.record(answered[f]) for f, judge in enumerate(judges))
        return FoldEvaluations(records, share, seconds, scores)


def scores_of_labels(
    fit: Classifier, layout: Layout, source: Source, engine: Engine
) -> NDArray[np.float64]:
    """Return log P(y | x) and the weight of every labelled row, (n, 2), in the order of a table.

    A class that the model does not know has −∞. Of a row with missing cells it says what it can
    say of the others.
    """
    parts = source.parts(layout, engine.workers)
    pieces = engine.map(_of_part, (fit.model_, layout), parts)
    return np.concatenate([batch for piece in pieces for batch in piece])


def _of_part(part: Part, params: tuple[Any, Layout]) -> list[NDArray[np.float64]]:
    """Kernel: the scores of a part, batch by batch."""
    model, layout = params

    def scores(batch: Batch) -> NDArray[np.float64]:
        logs, codes = model.partial_log_posterior(batch), batch.learnt(model.classes)
        own = np.where(codes >= 0, logs[np.arange(batch.rows), codes], -np.inf)
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        return np.stack([own, weights], axis=1)[batch.codes >= 0]

    return list(each_batch(part, layout, scores))
