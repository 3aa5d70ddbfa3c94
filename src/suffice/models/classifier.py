"""The base of classifiers: they read tables of labelled rows, predict labels, and are judged.

A subclass answers a batch by its model (`Classifier._codes`, `predict_proba`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.engine import engine_for, map_batches
from suffice.errors import ParameterError, SchemaError, warn
from suffice.models.base.answers import (
    answer_complete,
    by_costs,
    checked_costs,
    expected_costs,
    prediction_tables,
    tables_with_gaps,
)
from suffice.models.base.evaluated_rows import evaluation, tell_of_unknown
from suffice.models.base.evaluation import Evaluation
from suffice.models.base.groups import ByGroup
from suffice.models.base.judge import Hits, Judge, accuracy_told, hits, of_answered, of_rows
from suffice.models.base.options import Unanswerable, check_level, check_unanswerable
from suffice.models.base.proba_intervals import Ends, beside, check_interval
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.models.design.formula import targets_of
from suffice.models.estimator import Estimator, answers_by_batch, fitted
from suffice.models.reading import LabelReader, common_dtype, open_rows
from suffice.phrases import rows_in_print
from suffice.sums.batch import Batch, scored_rows

T = TypeVar("T")


class Classifier(Estimator):
    """An estimator of labels.

    Attributes
    ----------
    reader_ : LabelReader
        How tables are read, and what the labels are stored as.
    classes_ : ndarray (k,)
        Labels, sorted.
    """

    costs: Any = None
    reader_: LabelReader

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, sorted, (k,)."""
        return self.reader_.labels(self.model_.classes)

    # -- predicting

    @abstractmethod
    def _codes(self, X: Any) -> NDArray[np.intp]:
        """Code of the most probable class of every row, (n,)."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a label for every row, (n,): the most probable, or that of least expected cost."""
        costs = costs_of(self, self.costs)
        if costs is None:
            codes = self._codes(X)
        else:
            codes = expected_costs(self.predict_proba(X), costs).argmin(axis=1)
        labels: NDArray[Any] = self.classes_.take(codes)
        return labels

    @property
    def target_names_(self) -> tuple[str, ...]:
        """The column that is predicted; none if labels came without the name of one."""
        label = self.reader_.layout.label
        return () if label is None else (label,)

    def predict_batches(
        self,
        X: Any,
        *,
        proba: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        unanswerable: Unanswerable = "error",
    ) -> Iterator[pa.Table]:
        """Answer a table of any size batch by batch, in order, as Arrow tables.

        The answers are those of `predict` and `predict_proba`. Memory does not grow with the rows.
        With one worker in this process a batch is read when it is asked for; other engines answer
        whole parts of the table.

        Parameters
        ----------
        X : table (n, d)
        proba : bool
            Whether P(c | x) of every class is answered too.
        interval : {"confidence"}, optional
            Add the ends of `predict_proba_interval` for every class, of this ``level``.
        unanswerable : {"error", "empty"}
            What becomes of a row that the model has no answer for, as it lacks a cell or shows an
            unknown category: an error, or an empty answer, with a warning that counts them. Models
            that leave missing cells out of account answer every row.

        Returns
        -------
        iterator of pyarrow.Table
            Of ``prediction``, ``P(c)`` and so on; one table at least, maybe without rows.

        Raises
        ------
        DataError
            If a cell breaks a rule, when its batch is read.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [7.0]], list("aabb"))
        >>> for table in model.predict_batches([[1.5], [6.0]]):
        ...     print(table.to_pydict())
        {'prediction': ['a', 'b']}
        """
        check_unanswerable(unanswerable, proba=proba)
        model, source = fitted(self), open_rows(self, X)
        answer: Any = partial(model.answers, proba=proba)
        costs = costs_of(self, self.costs)
        if costs is not None:
            answer = partial(by_costs, costs, model.answers, proba=proba)
        if interval is not None:
            check_interval(interval, level)
            ends = self._interval_ends(level)
            answer = partial(beside, answer, ends, model.classes.values)
        answered = partial(map_batches, engine_for(source))
        how = source, self.reader_.to_answer, scored_rows(len(model.classes))
        warn_of_unseen(model.known_values, *how[:2])
        complete = self._complete_rows(interval is not None)
        if unanswerable == "error" or complete is None:
            return prediction_tables(model.classes, answered(answer, *how))
        answer = partial(answer_complete, complete, answer)
        parts = answered(answer, *how)
        return tables_with_gaps(lambda found: found.table(model.classes), parts)

    def predict_proba_interval(
        self,
        X: Any,
        level: float = 0.95,
    ) -> NDArray[np.float64]:
        """Return an interval for P(c | x), as parameters are estimated from finitely many rows.

        ::

            L_c = log P(c | x)/(1 − P(c | x)),  the log-odds of a class against the rest
            interval: E L_c ± Φ⁻¹((1 + level)/2) √Var L_c, taken back to probabilities

        It is the uncertainty of the parameters if the model is right. It is not the error of a
        model that is wrong, nor how often a prediction is: columns that depend on each other make
        naive Bayes too sure, and its intervals too.

        Mean and variance are those of the exact posterior: Dirichlet for categories and the class
        prior, Beta, Gamma, Normal-inverse-gamma, and Normal-inverse-Wishart for discriminant
        analysis. For logistic regression they are the estimate and its covariance matrix. An
        improper posterior, such as that of a count of 0 without smoothing, gives (0, 1).

        Parameters
        ----------
        X : table (n, d)
            As `predict_proba` takes it.
        level : float
            Posterior probability of the interval, between 0 and 1; L_c is taken as normal.

        Returns
        -------
        ndarray (n, k, 2)
            The ends, from 0 to 1, classes in the order of ``classes_``.

        Raises
        ------
        ParameterError
            If an option is outside its rule, or the model has no posterior.
        DataError
            As `predict_proba` does; by a logistic regression also if a cell is missing.

        Source: A. Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), sections 3.3 to 3.6 for
        the posteriors and 4.1 for the normal approximation.

        Examples
        --------
        >>> from suffice.naive_bayes import BernoulliNB
        >>> X, y = [[0], [0], [0], [1], [1], [1]] * 5, list("aaabbb") * 5
        >>> model = BernoulliNB().fit(X, y)
        >>> model.predict_proba([[1]]).round(3)
        array([[0.059, 0.941]])
        >>> model.predict_proba_interval([[1]]).round(3)
        array([[[0.003, 0.322],
                [0.678, 0.997]]])
        """
        check_level(level)
        k = len(fitted(self).classes)
        found = answers_by_batch(self, X, self._interval_ends(float(level)))
        return np.concatenate(found) if found else np.zeros((0, k, 2))

    @abstractmethod
    def _interval_ends(self, level: float) -> Ends:
        """Return what gives the ends of the intervals of a batch."""

    def _complete_rows(self, interval: bool = False) -> Callable[[Batch], NDArray[np.bool_]] | None:
        """Return a test of the rows that have an answer, or an interval; None if all have."""
        return None

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the fraction of rows whose label is predicted.

        Rows without a label are left out. A label that is none of ``classes_`` is an error, as in
        scikit-learn, and a warning counts such rows.
        """
        source = self._open_judged(X, y, sample_weight)
        found: Hits = replace(self._scoring(source), record=of_rows).of(source)
        return accuracy_told(found)

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        unanswerable: Unanswerable = "error",
    ) -> Evaluation:
        """Return accuracy, log loss, Brier score and the confusion table of labelled rows.

        Its log-likelihood is that of rows and labels; of a logistic regression, that of the labels
        given the columns.

        A label that is none of ``classes_`` is an error, and joins the classes of the evaluation;
        the log loss is then infinite, and a warning counts such rows.

        Parameters
        ----------
        X : table (n, d)
        y : array (n,) or name of a column
        sample_weight : array (n,) or name of a column, optional
        costs : array (k, k), optional
            Instead of those of the model: ``costs[i][j]`` is the cost of answering label j where i
            is true. The label answered is the one of least expected cost.
        unanswerable : {"error", "empty"}
            As in `predict_batches`; rows with an empty answer are left out, with a warning that
            counts them.

        Raises
        ------
        DataError
            If no row has a label, or every label is none of ``classes_``.
        ParameterError
            If the costs are no such table.
        """
        source = self._open_judged(X, y, sample_weight)
        found: Evaluation = of_rows(self._judge(source, unanswerable, costs).of(source))
        tell_of_unknown(self.model_.classes, [found])
        return found

    def evaluate_by(
        self,
        X: Any,
        y: Any,
        by: str,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        unanswerable: Unanswerable = "error",
    ) -> ByGroup[Evaluation]:
        """Evaluate the rows of every value of a column, in one pass.

        Parameters
        ----------
        X : table (n, d)
            With named columns.
        y : array (n,) or name of a column
        by : str
            A column, which the model may read or not.
        sample_weight : array (n,) or name of a column, optional
        costs : array (k, k), optional
        unanswerable : {"error", "empty"}
            As in `evaluate`.

        Returns
        -------
        ByGroup
            Evaluations by value.

        Raises
        ------
        DataError
            If every label is none of ``classes_``, or the column has more than 1,000 values.
        """
        source: Any = self._open_judged(X, y, sample_weight)
        judge = self._judge(source, unanswerable, costs)
        taken = judge.layout.label, source.label, source.weight
        groups = judge.by_group(source, by, taken)
        tell_of_unknown(self.model_.classes, groups.values())
        return groups

    def _judge(self, source: Any, unanswerable: Unanswerable = "empty", costs: Any = None) -> Judge:
        chosen = costs_of(self, self.costs if costs is None else costs)
        kernel = partial(evaluation, costs=chosen, ranked=True)
        judge = of_answered(self, kernel, unanswerable), fitted(self), self.reader_.to_answer
        return Judge(*judge)

    def _scoring(self, source: Any) -> Judge:
        kernel = partial(hits, costs=costs_of(self, self.costs))
        judge = of_answered(self, kernel, "error"), fitted(self), self.reader_.to_answer
        return Judge(*judge, accuracy_told)

    def _open_judged(self, X: Any, y: Any, sample_weight: Any) -> TableSource | ArraySource:
        """Open a further table whose rows have labels."""
        check_is_fitted(self)
        y = label_of_formula(self) if y is None else y
        return open_rows(self, X, y, sample_weight)

    # -- reading

    def _open_first(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TableSource | ArraySource, np.dtype[Any] | None]:
        """Open the first rows with their labels, and say in which dtype these came."""
        y = label_of_formula(self) if y is None else y
        rows = open_rows(self, X, y, sample_weight, first=True)
        if not self.n_features_in_:
            raise SchemaError("the table has no column besides the label", "a model needs features")
        return rows, common_dtype(y)

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> TableSource | ArraySource:
        return self._open_judged(X, y, sample_weight)


def costs_of(classifier: Classifier, given: Any) -> NDArray[np.float64] | None:
    """Return costs of decisions, checked; None if every error is equally bad."""
    return None if given is None else checked_costs(given, len(classifier.model_.classes))


def label_of_formula(classifier: Classifier) -> str:
    """Return the column of labels that the left side of a formula names."""
    named = targets_of(classifier)
    if named is None:
        raise ParameterError(
            f"{type(classifier).__name__} requires y to be passed, but the target y is None",
            "a classifier learns from labels",
            "pass an array or the name of the label column",
        )
    if isinstance(named, list):
        raise ParameterError(
            f"the formula's left side is {' + '.join(named)}",
            "a classifier predicts one column",
            "fit a model to each",
        )
    return named


def warn_of_unlabelled(rows: float) -> None:
    """Warn of rows that a fit leaves out, as they have no label."""
    if rows:
        verb = "is" if rows == 1 else "are"
        warn(f"{rows_in_print(rows)} without a label {verb} left out.")
