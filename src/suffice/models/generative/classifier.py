"""How generative classifiers learn: fit, partial_fit, forget, merge, and files of models.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.schema import Column
from suffice.data.table_source import TableSource
from suffice.data.table_views import WithColumns
from suffice.engines.fit_context import fit_context
from suffice.errors import DataError
from suffice.families import Family
from suffice.families.density import Chosen
from suffice.models.base.checks import check_among, check_one_type, declared_labels
from suffice.models.base.class_weights import ClassWeight, check_class_weight
from suffice.models.base.costs import expected_costs
from suffice.models.base.exact import ExactEstimator
from suffice.models.base.learnt import Learnt
from suffice.models.base.leave_one_out import LeaveOneOut
from suffice.models.base.options import check_booleans
from suffice.models.base.streams import check_stream
from suffice.models.base.weightless import require_weights
from suffice.models.generative.advice import advice
from suffice.models.generative.class_prior import class_prior
from suffice.models.generative.fitted import FittedGenerative
from suffice.models.generative.in_notebook import notebook_tables
from suffice.models.generative.leave_one_out import GenerativeLeftOut
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.prior_factors import prior_factors
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.saved import SAVED, SavedGenerative
from suffice.numerics.logspace import log_normalise, normalise
from suffice.statistics.by_class import ByClass
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["GenerativeClassifier"]

Rows = TableSource | ArraySource


class GenerativeClassifier(FittedGenerative, ExactEstimator[GenerativeReader, ByClass, Rows]):
    """A classifier that is a function of one exact statistic.

    A subclass says by `_parts` which families model which columns, and by `_prior` what is known of
    the classes beforehand.

    What a fit leaves is said in `ExactEstimator`, `Classifier` and at the properties themselves.
    """

    class_weight: ClassWeight = None
    decay: float = 1.0
    window: int | None = None
    fewest_classes = 2  # that a fit makes sense with
    prior_option = "class_prior"  # that gives the class prior
    model_name, row_name = "generative classifier", "labelled row"
    saved, saved_types, saved_options = SavedGenerative, SAVED, (Family,)
    reader_type: ClassVar[type[GenerativeReader]] = GenerativeReader
    reader_: GenerativeReader
    statistic_: ByClass
    batches_: tuple[ByClass, ...]

    def _notebook_tables(self) -> str:
        return notebook_tables(type(self).__name__, self.model_, self.class_count_)

    @property
    def parts_(self) -> tuple[FamilyColumns, ...]:
        """Families and the columns that they model."""
        return self.reader_.parts

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        return self.reader_.columns

    @abstractmethod
    def _parts(self, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
        """Choose a family for every column."""

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting everything learnt before.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a dict of columns; a path, glob or list of paths (Parquet,
            Arrow IPC, CSV, TSV); or what `suffice.read_csv` returns.
        y : array-like (n,) or str
            Labels, or the name of the column that holds them. A row without a label is left out
            and counted.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column. In the sums, weight 2 is the row
            twice. Where a class learns from a sample of its rows (it has ``row_weight_``), weights
            are relative: all of them times 100, or every row twice, change no answer. Elsewhere
            pseudo-counts, and formulas with a number of rows, count Σw.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a cell breaks a rule (it is named by column and row), or there is only one class.
        ParameterError
            If an option is outside its rule.
        """
        self._check_options()
        with fit_context(self):
            reader, source = self._open_first(X, y, sample_weight)
            statistic = self._summarise(reader, source)
            require_weights(source, statistic.classes, self.fewest_classes)
            self._require_rows(statistic)
            self._set(Learnt(reader, (statistic,)))
            self.forgotten_ = ()
            self._warn_of_unlabelled(float(statistic.unlabelled.value))
            return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        decay: float | None = None,
        window: int | None = None,
    ) -> Self:
        """Learn from more rows; the result is that of one `fit` of all of them.

        New labels and categories simply join. What a column is, the first table says: in a column
        of 0 and 1 alone, another number is refused later. ``classes`` is not needed: it adds
        classes of which there is no row yet, and every label of these rows has then to be among the
        classes given. In classes with scikit-learn's names, a later call that gives them gives all
        that are known, each once. See `fit` for the other parameters, the errors and what a table
        may be.

        A stream may fade, or be seen through a window; a batch is what one call learns. With both,
        the result is that of one `fit` of the last batches, each with its weight.

        Parameters
        ----------
        decay : float, optional
            γ, above 0 and at most 1: before this batch joins, every weight learnt is multiplied by
            it. A batch of age a (0 for the newest) then weighs γᵃ, to a relative error of 2⁻¹⁰⁰,
            and without any where γ is a power of 2. Default: the option of the estimator, or 1.
        window : int, optional
            Keep only so many batches, this one included; what was learnt before there was a window
            counts as one batch. Default: the option of the estimator, or all.
        """
        decay = self.decay if decay is None else decay
        window = self.window if window is None else window
        self._check_options()
        check_stream(decay, window)
        declared, labels = declared_labels(classes), (y,) if classes is None else (y, classes)
        with fit_context(self):
            joined = partial(self._joined, labels=labels, declared=declared)
            return self._learn_more(X, y, sample_weight, decay, window, joined)

    def adjust_prior(self, X: Any, *, tol: float = 1e-6, max_iter: int = 1000) -> Self:
        """Return the same model with the class prior that rows without labels suggest.

        It is given as an option of the new model (``class_prior`` or ``priors``), so the model
        keeps it when it learns or is saved. See `label_shift`.

        Examples
        --------
        >>> from suffice.naive_bayes import BernoulliNB
        >>> model = BernoulliNB(alpha=0).fit([[1], [1], [0], [1], [0], [0]], list("aaabbb"))
        >>> new = [[1], [1], [1], [1], [1], [0], [0], [0], [0]]  # 5/9 = 2/3 π + 1/3 (1 − π)
        >>> model.adjust_prior(new).class_prior_.round(4)
        array([0.6667, 0.3333])
        """
        found = self.label_shift(X, tol=tol, max_iter=max_iter)
        prior = dict(zip(found.classes, found.prior.tolist(), strict=True))
        adjusted: Self = copy(self).set_params(**{self.prior_option: prior})
        adjusted.class_weight = None  # the prior is known now
        return adjusted._set(Learnt(self.reader_, self.batches_))

    def _check_options(self) -> None:
        check_booleans(self)
        check_stream(self.decay, self.window)
        if self.class_weight is not None:
            check_class_weight(self.class_weight)

    def _require_classes(self, statistic: ByClass) -> None:
        """Refuse rows of fewer classes than a fit makes sense with."""
        if 0 < len(statistic.classes.values) < self.fewest_classes:
            raise DataError(
                f"there is one class: every label is {statistic.classes.values[0]!r}",
                "a classifier needs two classes or more",
                "check the label column",
            )

    def _require_rows(self, statistic: ByClass) -> None:
        """Refuse rows that a fit makes no sense with; a stream may begin with such rows."""
        self._require_classes(statistic)

    def _fitted_to(self, learnt: Learnt[GenerativeReader, ByClass]) -> Self:
        self._require_rows(learnt.statistic)
        return super()._fitted_to(learnt)

    def _sums_of(self, reader: GenerativeReader) -> Any:
        return reader.layout, tuple(
            [part.family.sums(part.layout.encoding) for part in reader.parts]
        )

    def _sums_by_place(
        self, reader: GenerativeReader, source: Rows, group: NDArray[np.intp]
    ) -> list[ByClass]:
        return reader.summarise_by_place(source, self._engine_for(source), group)

    def _leave_one_out(self, source: Rows) -> LeaveOneOut:
        parts = zip(self.parts_, self.model_.statistic.blocks, strict=True)
        families = [part.family.leave_one_out(block) for part, block in parts]
        layout = self.reader_.layout
        model = GenerativeLeftOut(self.model_, layout, families, self._class_prior)
        judge = replace(self._judge(source), model=model, layout=layout)
        return LeaveOneOut(judge, model.answers, self._of_logs())

    def _class_prior(self, statistic: ByClass) -> NDArray[np.float64]:
        """P(c) of the classes of a statistic."""
        self._require_classes(statistic)
        prior, alpha = self._prior()
        factors = prior_factors(self.class_weight, statistic, prior, self.prior_option)
        weight = statistic.weight.value
        counted = weight if factors is None else factors * weight
        return class_prior(counted, statistic.classes, prior, alpha, self.prior_option)

    def _of_logs(self) -> dict[str, Callable[[NDArray[np.float64]], NDArray[Any]]]:
        """What is predicted from log P(x, c), (n, k), by the name of the method."""
        prior, costs = self.model_.prior, self._costs(self.costs)

        def proba(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            return normalise(logs.copy(order="K"), prior)[0]

        def labels(logs: NDArray[np.float64]) -> NDArray[Any]:
            if costs is None:
                codes = np.empty(len(logs), np.intp)
                self.model_.best(logs, codes)
            else:
                codes = expected_costs(proba(logs), costs).argmin(axis=1)
            return np.asarray(self.classes_.take(codes))

        return {
            "predict": labels,
            "predict_proba": proba,
            "predict_log_proba": lambda logs: log_normalise(logs, self.model_.log_prior)[0],
            "predict_joint_log_proba": lambda logs: logs,
        }

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        source = self._open_labelled(X, y, sample_weight)
        if isinstance(source, TableSource) and isinstance(source.table, WithColumns):
            return replace(source, table=source.table.table)  # which is refused
        return source

    def _up_to_date(self, reader: GenerativeReader) -> GenerativeReader:
        return reader.with_options(**self._reading())

    def _summarise(self, reader: GenerativeReader, source: Rows) -> ByClass:
        return reader.summarise(source, self._engine_for(source))

    def _joined(
        self,
        reader: GenerativeReader,
        statistic: ByClass,
        labels: Sequence[Any],
        declared: Vocabulary,
    ) -> GenerativeReader:
        """The reader once further labels are known; refuse labels of another type."""
        more = statistic.classes
        self._warn_of_unlabelled(float(statistic.unlabelled.value))
        check_one_type(declared, more, "the labels in `classes`", "those of this table")
        if declared.values:
            check_among(more, declared | reader.declared)
        if hasattr(self, "statistic_"):
            known = self.model_.classes
            check_one_type(known, more, "the labels learnt before", "those of this table")
            check_one_type(known, declared, "the labels learnt before", "those in `classes`")
        return replace(reader.with_labels(*labels), declared=reader.declared | declared)

    def _estimate(
        self,
        reader: GenerativeReader,
        statistic: ByClass,
        source: Rows | None = None,
        tuned: bool = False,
    ) -> GenerativeModel:
        return self._model_of(reader, self._of_all_classes(reader, statistic))

    def _of_all_classes(self, reader: GenerativeReader, statistic: ByClass) -> ByClass:
        """The same sums over all labels, those included of which there is no row."""
        return statistic.over(reader.classes(statistic)) if reader.declared.values else statistic

    def _model_of(self, reader: GenerativeReader, known: ByClass) -> GenerativeModel:
        """The model of sums over rows of all classes that are known."""
        prior, alpha = self._prior()
        factors = None
        if self.class_weight is not None:
            factors = prior_factors(self.class_weight, known, prior, self.prior_option)
        named = prior, alpha, self.prior_option
        return GenerativeModel.estimate(reader.parts, reader.layout, known, *named, factors)

    @property
    def advice_(self) -> tuple[str, ...]:
        """What in the rows learnt is probably not meant: constants, identifiers, rare classes."""
        return tuple(advice(self))

    def _records(self) -> Sequence[Any]:
        return self.model_.parameters

    def _warnings(self) -> Iterator[str]:
        return self.model_.remarks()

    def _decisions(self) -> Iterator[str]:
        return self.model_.decisions()

    # -- reading tables

    def _described(self, source: Rows) -> Sequence[Column]:
        """What the columns of the first table are."""
        return source.columns()

    def _settled(self, source: Rows) -> GenerativeReader:
        columns, options = self._described(source), self._reading()
        parts = self._parts(columns)
        blocks = tuple(part.layout for part in parts)
        return self.reader_type.of(source, columns, blocks, options, parts=parts)

    # -- keeping

    def _learnt(self) -> dict[str, Any]:
        reader, chosen = self.reader_, tuple(map(Chosen.of, self.model_.parameters))
        learnt = {"parts": reader.parts, "batches": self.batches_, "declared": reader.declared}
        more = {"chosen": chosen if any(chosen) else (), "forgotten": self.forgotten_}
        return {**super()._learnt(), **learnt, **{k: v for k, v in more.items() if v}}

    def _check_saved(self, saved: Any) -> None:
        super()._check_saved(saved)
        self._check_options()
        self._reading()

    def _restore_tuned(self, saved: SavedGenerative) -> None:
        self.model_ = replace(self.model_, chosen=saved.chosen)

    def _restore(self, saved: SavedGenerative) -> None:
        of_file = saved.layout, saved.format, saved.dtype, saved.parts, saved.declared
        single = saved.single_precision
        reader = self.reader_type(*of_file, single=single)
        self.forgotten_ = saved.forgotten
        self._restore_sums(Learnt(reader, saved.batches), saved)
