"""What all classifiers do: they read tables whose rows have labels, predict these, and are judged.

A subclass says by `_described` and `_settled` what the columns of the first table are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.records import RecordReader
from suffice.data.schema import Layout
from suffice.data.source import Part
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine, map_batches
from suffice.errors import ParameterError, SchemaError, warn
from suffice.models.base.accuracy import Hits, accuracy_told, hits, of_rows
from suffice.models.base.checks import common_dtype
from suffice.models.base.costs import by_costs, checked_costs, expected_costs
from suffice.models.base.estimator import Estimator
from suffice.models.base.evaluated_rows import evaluation, tell_of_unknown
from suffice.models.base.evaluation import Evaluation
from suffice.models.base.groups import ByGroup, group_layout, sum_by_group
from suffice.models.base.judge import Judge
from suffice.models.base.options import Unanswerable, check_unanswerable
from suffice.models.base.partial_answers import (
    WithGaps,
    answer_complete,
    class_tables_with_gaps,
    of_complete,
    told,
)
from suffice.models.base.predictions import prediction_tables
from suffice.models.base.proba_intervals import Ends, beside_interval, predict_proba_interval
from suffice.models.base.reader import LabelReader
from suffice.models.base.unseen_values import FEWEST, warn_of_unseen
from suffice.phrases import rows_in_print
from suffice.sums.batch import Batch, scored_rows

__all__ = ["Classifier"]

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

    scikit_learn_mixins: ClassVar[tuple[str, ...]] = ("ClassifierMixin",)
    poor_score: ClassVar[bool] = False  # whether scikit-learn is not to expect much of it
    costs: Any = None
    reader_: LabelReader

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.poor_score
        return tags

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, sorted, (k,)."""
        return self.reader_.labels(self.model_.classes)

    @property
    def label_dtype_(self) -> np.dtype[Any] | None:
        """What the labels learnt are stored as, if they are arrays of numbers."""
        return self.reader_.label_dtype

    # -- predicting

    @abstractmethod
    def _codes(self, X: Any) -> NDArray[np.intp]:
        """Code of the most probable class of every row, (n,)."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a label for every row, (n,): the most probable, or that of least expected cost."""
        costs = self._costs(self.costs)
        if costs is None:
            codes = self._codes(X)
        else:
            codes = expected_costs(self.predict_proba(X), costs).argmin(axis=1)
        labels: NDArray[Any] = self.classes_.take(codes)
        return labels

    def _costs(self, given: Any) -> NDArray[np.float64] | None:
        """The costs of decisions, checked; None if every error is equally bad."""
        return None if given is None else checked_costs(given, len(self.model_.classes))

    @property
    def target_names_(self) -> tuple[str, ...]:
        """The column that is predicted; none if labels came without the name of one."""
        label = self.layout_.label
        return () if label is None else (label,)

    def predict_batches(
        self,
        X: Any,
        *,
        proba: bool = False,
        log_proba: bool = False,
        interval: str | None = None,
        level: float = 0.95,
        unanswerable: Unanswerable = "error",
    ) -> Iterator[pa.Table]:
        """Answer a table of any size batch by batch, in order, as Arrow tables.

        The answers are those of `predict`, `predict_proba` and `predict_log_proba`. Memory does
        not grow with the rows. With one worker in this process a batch is read when it is asked
        for; other engines answer whole parts of the table.

        Parameters
        ----------
        X : table (n, d)
        proba, log_proba : bool
            Whether P(c | x) and log P(c | x) of every class are answered too.
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
        check_unanswerable(unanswerable, proba=proba, log_proba=log_proba)
        model, source = self._fitted(), self._open(X)
        answer: Any = partial(model.answers, proba=proba, log_proba=log_proba)
        costs = self._costs(self.costs)
        if costs is not None:
            answer = partial(by_costs, costs, model.answers, proba=proba, log_proba=log_proba)
        if interval is not None:
            answer = beside_interval(self, answer, interval, level)
        answered = partial(map_batches, self._engine_for(source))
        how = source, self._layout_to_answer(), scored_rows(len(model.classes))
        warn_of_unseen(model.known_values, *how[:2])
        complete = self._complete_rows(interval is not None)
        if unanswerable == "error" or complete is None:
            return prediction_tables(model.classes, answered(answer, *how))
        answer = partial(answer_complete, complete, answer)
        return class_tables_with_gaps(model.classes, answered(answer, *how))

    predict_proba_interval = predict_proba_interval

    @abstractmethod
    def _interval_ends(self, level: float, draws: int, random_state: Any) -> Ends:
        """What gives the ends of the intervals of a batch; with 0 draws in closed form."""

    def _of_answered(
        self, kernel: Callable[[Part, Any], Any], unanswerable: Unanswerable
    ) -> Callable[[Part, Any], WithGaps[Any]]:
        """The kernel that leaves out rows without an answer, if these are to be empty."""
        check_unanswerable(unanswerable)
        complete = self._complete_rows() if unanswerable == "empty" else None
        return partial(of_complete, kernel=kernel, complete=complete)

    def _complete_rows(self, interval: bool = False) -> Callable[[Batch], NDArray[np.bool_]] | None:
        """What tells the rows of a batch that have an answer, or an interval; None if all have."""
        return None

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the fraction of rows whose label is predicted.

        Rows without a label are left out. A label that is none of ``classes_`` is an error, as in
        scikit-learn, and a warning counts such rows.
        """
        source = self._open_labelled(X, y, sample_weight)
        judge = self._scoring(source)
        warn_of_unseen(judge.model.known_values, source, judge.layout)
        found: Hits = self._run(judge.kernel, judge.model, source, judge.layout).found
        return accuracy_told(of_rows(found))

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
        chosen = self.costs if costs is None else costs
        return self._evaluated(X, y, sample_weight, chosen, unanswerable, ranked=True)

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
        model = self._fitted()
        chosen = self._costs(self.costs if costs is None else costs)
        kernel = self._of_answered(partial(evaluation, costs=chosen, ranked=True), unanswerable)
        source = self._open_labelled(X, y, sample_weight)
        known = self._layout_to_answer()
        warn_of_unseen(model.known_values, source, known)
        taken = (known.label, source.label, source.weight)
        layout, at = group_layout(known, source, by, taken)
        engine = self._engine_for(source)
        parts = source.parts(layout, engine.workers)
        found = sum_by_group(kernel, model, engine, parts, at, len(known.blocks))
        groups = told(found)
        tell_of_unknown(model.classes, groups.values())
        return ByGroup(by, groups)

    def _evaluated(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        costs: Any,
        unanswerable: Unanswerable = "error",
        *,
        ranked: bool = False,
    ) -> Evaluation:
        model = self._fitted()
        judged = partial(evaluation, costs=self._costs(costs), ranked=ranked)
        kernel = self._of_answered(judged, unanswerable)
        source = self._open_labelled(X, y, sample_weight)
        layout = self._layout_to_answer()
        warn_of_unseen(model.known_values, source, layout)
        found = self._run(kernel, model, source, layout)
        result: Evaluation = of_rows(told({"all": found})["all"])
        tell_of_unknown(model.classes, [result])
        return result

    def _judge(self, source: Any) -> Judge:
        """What the evaluation of a table needs; rows without an answer are left out of it."""
        kernel = partial(evaluation, costs=self._costs(self.costs), ranked=True)
        return Judge(self._of_answered(kernel, "empty"), self._fitted(), self._layout_to_answer())

    def _scoring(self, source: Any) -> Judge:
        """What `score` needs of a table."""
        kernel = partial(hits, costs=self._costs(self.costs))
        judge = self._of_answered(kernel, "error"), self._fitted(), self._layout_to_answer()
        return Judge(*judge, accuracy_told)

    def _open_judged(self, X: Any, y: Any, sample_weight: Any) -> TableSource | ArraySource:
        """Open rows with their labels, to be answered and judged."""
        return self._open_labelled(X, y, sample_weight)

    def _warn_of_unlabelled(self, rows: float) -> None:
        """Warn of rows that a fit leaves out, as they have no label."""
        if rows:
            verb = "is" if rows == 1 else "are"
            warn(f"{rows_in_print(rows)} without a label {verb} left out.")

    # -- reading

    def _open_labelled(
        self, X: Any, y: Any, sample_weight: Any, first: bool = False
    ) -> TableSource | ArraySource:
        """Open a table whose rows have labels."""
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a classifier learns from labels",
                "pass an array or the name of the label column",
            )
        return self._open(X, y, sample_weight, first=first)

    def _open_first(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, TableSource | ArraySource]:
        """Open the first table, and say how all that follow are read."""
        source = self._open_labelled(X, y, sample_weight, first=True)
        if not self.n_features_in_:
            raise SchemaError("the table has no column besides the label", "a model needs features")
        return replace(self._settled(source), label_dtype=common_dtype(y)), source

    @abstractmethod
    def _settled(self, source: TableSource | ArraySource) -> LabelReader:
        """How tables are read that are like the first."""

    def _reading(self) -> dict[str, Any]:
        """Options of the layout: missing tokens and label clean-up."""
        return {}

    def _layout(self) -> Layout:
        """How tables are read, with the reading options as they are now."""
        return self.reader_.with_options(**self._reading()).layout

    def _record_reader(self) -> RecordReader | None:
        layout = self.reader_.layout
        as_fitted = all(getattr(layout, name) == now for name, now in self._reading().items())
        return self.reader_.records if as_fitted else None

    def _layout_to_answer(self) -> Layout:
        """How tables are read whose rows are to be answered."""
        return self._layout()

    def _to_answer(
        self, X: Any, fewest: int = FEWEST
    ) -> tuple[TableSource | ArraySource, Engine, Sequence[Part]]:
        """Rows to be answered, the engine that reads them, and their parts.

        Say which columns are mostly unseen, of those with ``fewest`` values or more.
        """
        source, layout = self._open(X), self._layout_to_answer()
        engine = self._engine_for(source)
        parts = source.parts(layout, engine.workers)
        warn_of_unseen(self.model_.known_values, source, layout, fewest)
        return source, engine, parts

    def _batches(
        self,
        X: Any,
        kernel: Callable[[Part, Any], list[T]],
        params: Any,
        fewest: int = FEWEST,
    ) -> list[T]:
        """What a kernel makes of every batch of a table, in order; see `_to_answer`."""
        _, engine, parts = self._to_answer(X, fewest)
        return [batch for part in engine.map(kernel, params, parts) for batch in part]

    # -- keeping

    @classmethod
    def restored(cls, content: Any) -> Self:
        """Rebuild a model; costs are those of its classes."""
        model = super().restored(content)
        model._costs(model.costs)
        return model

    def _learnt(self) -> dict[str, Any]:
        self._costs(self.costs)  # with others no file could be read
        dtype = self.reader_.label_dtype
        return {"label_dtype": None if dtype is None else dtype.str}
