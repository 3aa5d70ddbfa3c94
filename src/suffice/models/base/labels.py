"""Reading tables whose rows have labels: what all classifiers share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from suffice.data.array_labels import Labels
from suffice.data.array_source import ArraySource
from suffice.data.python_numbers import faithful
from suffice.data.schema import BlockLayout, Column, Layout, as_read
from suffice.data.source import Source, Split
from suffice.engines.batches import map_batches
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.models.base.answers import answer_tables
from suffice.models.base.checks import (
    check_labels,
    checked_weights,
    common_dtype,
    is_array,
    one_column,
)
from suffice.models.base.evaluation import Evaluation, evaluation
from suffice.models.base.tables import ReadsTables
from suffice.statistics.statistic import Statistic
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ReadsLabels"]

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")


class ReadsLabels(ReadsTables):
    """An estimator that reads tables whose rows have labels.

    A subclass says by `_described` what the columns are, and by `_settled` how they are read.

    Attributes
    ----------
    label_dtype_ : numpy.dtype or None
        What the labels learnt are stored as, if they are arrays of numbers.
    """

    label_dtype_: np.dtype[Any] | None = None

    @abstractmethod
    def _fitted(self) -> Any:
        """The model of the last fit."""

    @abstractmethod
    def _settled(self, source: Source, columns: Sequence[Column]) -> tuple[BlockLayout, ...]:
        """Settle how the columns of the first table are read."""

    def _described(self, source: Source) -> Sequence[Column]:
        """What the columns are."""
        return source.columns()

    def _reading(self) -> dict[str, Any]:
        """Options of the layout: missing tokens and label clean-up."""
        return {}

    def _layout(self) -> Layout:
        """How tables are read, with the reading options as they are now."""
        return replace(self.layout_, **self._reading())

    def _layout_to_answer(self) -> Layout:
        """How tables are read whose rows are to be answered."""
        return self._layout()

    # -- opening

    def _open_new(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Open the first table: it settles the columns and how they are read."""
        source = self._open_labelled(X, y, sample_weight, reset=True)
        self.label_dtype_ = common_dtype(y)
        columns = self._described(source)
        if not columns:
            raise SchemaError("the table has no column besides the label", "a model needs features")
        blocks = self._settled(source, columns)
        self.layout_ = Layout(
            blocks,
            as_read(columns, blocks),
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=source.ignored,
            **self._reading(),
        )
        return source

    def _open_labelled(self, X: Any, y: Any, sample_weight: Any, reset: bool = False) -> Source:
        """Open a table whose rows have labels."""
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a classifier learns from labels",
                "pass an array or the name of the label column",
            )
        return self._open_classes(X, y, sample_weight, reset)

    def _open_classes(
        self, X: Any, y: Any = None, sample_weight: Any = None, reset: bool = False
    ) -> Source:
        """Open a table of a classifier, with or without labels."""
        if not is_array(X, y, sample_weight):
            table = self._open_table(X, y, sample_weight, reset)
            if reset:
                self._settle_columns(X, table.feature_names)
            return table
        x, names = self._open_array(X, (y, sample_weight), reset)
        labels = None
        if y is not None:
            y = one_column(y)
            check_consistent_length(x, y)
            labels = Labels.of(y)
            check_labels(labels)
        if x.dtype.kind not in "biuf":
            from suffice.data.open import open_columns

            return open_columns(x, names, y, sample_weight)
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, labels, weights)

    def _as_labels(self, classes: Vocabulary) -> NDArray[Any]:
        """Labels as an array of the dtype that they came in."""
        labels = np.array(classes.values, self.label_dtype_)
        return faithful(classes.values, labels)

    # -- passing over the rows

    def _run(
        self, kernel: Callable[[Split, Any], S], params: Any, source: Source, layout: Layout
    ) -> S:
        """The sum of a kernel over a source."""
        engine = self._engine_for(source)
        return engine.run(kernel, params, source.splits(layout, engine.workers))

    def _batches(self, X: Any, kernel: Callable[[Split, Any], list[T]], params: Any) -> list[T]:
        """What a kernel makes of every batch of a table, in order."""
        source = self._open_classes(X)
        engine = self._engine_for(source)
        splits = source.splits(self._layout_to_answer(), engine.workers)
        return [batch for split in engine.map(kernel, params, splits) for batch in split]

    def predict_batches(
        self, X: Any, *, proba: bool = False, log_proba: bool = False
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

        Returns
        -------
        iterator of pyarrow.Table
            With the columns ``prediction``, ``P(c)`` and ``log P(c)``; one table at least, maybe
            without rows.

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
        model, source = self._fitted(), self._open_classes(X)
        answer = partial(model.answers, proba=proba, log_proba=log_proba)
        engine = self._engine_for(source)
        found = map_batches(engine, answer, source, self._layout_to_answer())
        return answer_tables(model.classes, found)

    def _evaluated(self, model: Any, X: Any, y: Any, sample_weight: Any) -> Evaluation:
        """How well a model predicts the labels of a table.

        Raises
        ------
        DataError
            If a label was never seen in training, or no row has a label.
        """
        source, layout = self._open_labelled(X, y, sample_weight), self._layout_to_answer()
        result = self._run(evaluation, model, source, layout)
        if not result.weight:
            raise DataError(
                "there is no labelled row whose weight is not zero",
                "an evaluation needs at least one",
                "check the label column and the weights",
            )
        return result

    # -- keeping

    def _save(self, path: str | PathLike[str], learnt: Mapping[str, Any]) -> None:
        dtype = None if self.label_dtype_ is None else self.label_dtype_.str
        super()._save(path, {"label_dtype": dtype, **learnt})

    @classmethod
    def _restored(cls, saved: Any) -> Self:
        model = super()._restored(saved)
        model.label_dtype_ = None if saved.label_dtype is None else np.dtype(saved.label_dtype)
        return model
