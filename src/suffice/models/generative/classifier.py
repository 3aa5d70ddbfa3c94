"""Generative classifiers: fit, partial_fit, forget, merge, predictions, and files of models.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.schema import Column
from suffice.data.table_source import TableSource
from suffice.data.table_views import WithColumns
from suffice.data.whole_cells import with_whole_numbers
from suffice.engines.choice import is_here
from suffice.engines.engine import fit_context
from suffice.errors import DataError, ParameterError, warn
from suffice.families import Family
from suffice.families.density import Chosen
from suffice.models.base.checks import check_among, check_one_type, declared_labels
from suffice.models.base.class_weights import ClassWeight, check_class_weight
from suffice.models.base.classifier import Classifier
from suffice.models.base.costs import expected_costs
from suffice.models.base.evidence import Evidence
from suffice.models.base.exact import ExactEstimator
from suffice.models.base.learnt import Learnt
from suffice.models.base.leave_one_out import LeaveOneOut
from suffice.models.base.options import check_booleans, generator
from suffice.models.base.predictions import impossible_rows
from suffice.models.base.scikit_learn import available_if
from suffice.models.base.streams import check_stream
from suffice.models.base.unseen_values import FEWEST
from suffice.models.base.weightless import require_weights
from suffice.models.generative.advice import advice
from suffice.models.generative.class_prior import Prior, class_prior
from suffice.models.generative.discriminant_functions import (
    LinearForm,
    QuadraticForm,
    linear_form,
    quadratic_form,
)
from suffice.models.generative.form_features import feature_order, features_of, stacked
from suffice.models.generative.in_notebook import notebook_tables
from suffice.models.generative.label_shift import LabelShift, label_shift
from suffice.models.generative.leave_one_out import GenerativeLeftOut
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.prior_factors import prior_factors
from suffice.models.generative.proba_intervals import ends_of
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.row_answers import (
    Prediction,
    best,
    buffer_for,
    evidence,
    joint,
    log_posterior,
    marginals,
    posterior,
    predictions,
)
from suffice.models.generative.saved import SAVED, SavedGenerative
from suffice.numerics.logspace import log_normalise, normalise
from suffice.sums.batch import NO_CLASSES, NO_CODES, NO_WEIGHTS, Batch
from suffice.sums.block import BadCell, RealBlock
from suffice.sums.by_class import ByClass
from suffice.sums.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["GenerativeClassifier"]

FEW_ROWS = 256  # that are answered by the thread that asks

Rows = TableSource | ArraySource


def _batch(x: NDArray[np.float64]) -> Batch:
    """Rows of numbers without labels and weights."""
    return Batch(len(x), (RealBlock(x),), NO_CODES, NO_CLASSES, NO_WEIGHTS)


class GenerativeClassifier(Classifier, ExactEstimator[GenerativeReader, ByClass, Rows]):
    """A classifier that is a function of one exact statistic.

    A subclass says by `_parts` which families model which columns, and by `_prior` what is known of
    the classes beforehand.

    What a fit leaves is said in `ExactEstimator`, `Classifier` and at the properties themselves.
    """

    array_dtype: ClassVar[str | None] = None
    answers_in_single: ClassVar[bool] = False  # as scikit-learn does, rows of single precision
    has_density: ClassVar[bool] = True  # p(x) is a probability
    model_: GenerativeModel
    class_weight: ClassWeight = None
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
        decay: float = 1.0,
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
        decay : float
            γ, above 0 and at most 1: before this batch joins, every weight learnt is multiplied by
            it. A batch of age a (0 for the newest) then weighs γᵃ, to a relative error of 2⁻¹⁰⁰,
            and without any where γ is a power of 2.
        window : int, optional
            Keep only so many batches, this one included; what was learnt before there was a window
            counts as one batch. Default: all.
        """
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
        families = [part.leave_one_out(block) for part, block in parts]
        layout = self.reader_.layout
        model = GenerativeLeftOut(self.model_, layout, families, self._class_prior)
        judge = replace(self._judge(source), model=model, layout=layout)
        return LeaveOneOut(judge, model.answers, self._of_logs())

    def _class_prior(self, statistic: ByClass) -> NDArray[np.float64]:
        """P(c) of the classes of a statistic."""
        self._require_classes(statistic)
        prior = self._prior()
        factors = prior_factors(self.class_weight, statistic, prior, self.prior_option)
        weight = statistic.weight.value
        counted = weight if factors is None else factors * weight
        return class_prior(counted, statistic.classes, prior, self.prior_option)

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
        prior = self._prior()
        factors = None
        if self.class_weight is not None:
            factors = prior_factors(self.class_weight, known, prior, self.prior_option)
        named = prior, self.prior_option
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

    # -- answering

    @abstractmethod
    def _prior(self) -> Prior:
        """The class prior by the options."""

    def _completed(self, table: TableSource) -> TableSource:
        """With the identifiers that it lacks: they say nothing, and so may be absent."""
        absent = tuple(n for n in self._fitted().identifiers if n not in table.table.names)
        return replace(table, table=WithColumns(table.table, absent)) if absent else table

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c) = log P(c) + Σ log p(x_j | c), (n, k).

        Missing cells are left out: exact marginalisation. −∞ means impossible.
        """
        return self._in_precision(X, self._predictions(X, joint))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k), by log-sum-exp; the prior where no class is possible."""
        return self._in_precision(X, self._predictions(X, log_posterior))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``.

        One row may be given by name, as every estimator takes it that was fitted to columns with
        names: a dict of cells, a pandas Series, or a list of these. A name that is not there is a
        missing cell.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> rows = {"size": [1.0, 1.2, 5.0, 5.5], "hue": ["red", "red", "blue", "red"]}
        >>> model = NaiveBayes().fit(rows, list("aabb"))
        >>> model.predict({"size": 5.2}), model.predict([{"hue": "red", "size": 1.1}, {"size": 6}])
        (array(['b'], dtype='<U1'), array(['a', 'b'], dtype='<U1'))
        """
        return self._in_precision(X, self._predictions(X, posterior))

    def _in_precision(self, X: Any, answers: NDArray[Any]) -> NDArray[Any]:
        return super()._in_precision(X, answers) if self.answers_in_single else answers

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._predictions(X, best)

    def explain(self, X: Any) -> Evidence:
        """Return what every column contributes to every class, row by row."""
        contributions = self._predictions(X, evidence)
        model = self.model_
        return Evidence(
            tuple(self.layout_.names), model.classes.values, model.log_prior, contributions
        )

    @available_if(lambda self: self.has_density)
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log p(x), (n,): how likely a row is, whatever its class.

        ::

            log p(x) = log Σ_c P(c) p(x | c)

        It is the log-likelihood of the row as a draw from the mixture of the classes, by
        log-sum-exp; low of rows that are unlike the training rows. Columns count once, without
        weights. A missing cell is marginalised, so rows that lack other cells have other scales.
        Of words and counts it is the probability of these events, given how many there are.

        Parameters
        ----------
        X : table (n, d)

        Returns
        -------
        ndarray (n,)
            In nats; −∞ of a row that is impossible under every class.

        Raises
        ------
        ParameterError
            If a family gives scores that are no probabilities, as `Complement` does.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> model = GaussianNB().fit([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1])
        >>> model.score_samples([[0.0], [9.0], [30.0]]).round(2)
        array([  -1.61,   -2.11, -201.61])
        """
        model = self._densities("log p(x) is of families that are distributions")
        return self._in_precision(X, np.concatenate(self._batches(X, marginals, model)))

    def _densities(self, rule: str) -> GenerativeModel:
        """Return the model as densities, without weights of columns.

        Raises
        ------
        ParameterError
            If a family is no distribution, with the rule.
        """
        model: GenerativeModel = self._fitted()
        for part in model.parts:
            if not part.family.is_distribution:
                raise ParameterError(f"{part.family} gives scores", rule)
        return replace(model, calibration=None)

    _interval_ends = ends_of

    def linear_form(self, reference: Any = None) -> LinearForm:
        """Return weights and intercepts with log P(a | x) − log P(b | x) linear in features φ(x).

        For outcomes, categories, counts and words, and for numbers whose variance the classes
        share: ``Gaussian("mle", shared=True)``.

        Parameters
        ----------
        reference : label, optional
            A class to measure the others against: its weights and intercept become 0.

        Raises
        ------
        ParameterError
            If the model is not linear, naming a column that is not; if an event is impossible
            under a class; or if there is no such class.

        See Also
        --------
        suffice.models.generative.discriminant_functions.LinearForm : With an example.
        """
        return linear_form(self._fitted(), reference)

    def quadratic_form(self, reference: Any = None) -> QuadraticForm:
        """Return the model's log-ratios of classes as quadratic functions of features φ(x).

        As `linear_form`, also for Gaussians whose variances differ from class to class
        (``estimation="mle"`` or ``"map"``).

        Raises
        ------
        ParameterError
            As `linear_form` does.

        See Also
        --------
        suffice.models.generative.discriminant_functions.QuadraticForm : With an example.
        """
        return quadratic_form(self._fitted(), reference)

    def form_features(self, X: Any) -> NDArray[np.float64] | csr_array:
        """Return the features φ(x) of `linear_form` and `quadratic_form`, (n, F).

        Numbers and counts as they are, outcomes as 0 and 1, an indicator for every category, a
        count (or an indicator) for every word: sparse where there are categories or words. A
        category that is missing or was never seen has no indicator, and a missing count is 0,
        which says what the model says; any other missing cell is refused.

        Raises
        ------
        ParameterError
            If the model has no form.
        DataError
            If a cell is missing and the form has no place for that.
        """
        model = self._fitted()
        phi: NDArray[np.float64] | csr_array
        phi = stacked(self._batches(X, features_of, (model, feature_order(model))))
        return phi

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Σ w log P(x, y) over the labelled rows of a table."""
        return self.evaluate(X, y, sample_weight).log_likelihood

    def label_shift(self, X: Any, *, tol: float = 1e-6, max_iter: int = 1000) -> LabelShift:
        """Return the class prior of rows without labels, if the classes look as they did.

        Expectation-maximisation (Saerens, Latinne and Decaestecker 2002, eqs. 2.6-2.9) over the
        posteriors of the rows: the likelihood of π never falls. Rows are read once where their
        posteriors fit into memory, else in every step.

        Parameters
        ----------
        X : table (n, d)
            As `predict` takes it; rows of the population to come.
        tol : float
            Stop when the log-likelihood is within so many nats of its maximum.
        max_iter : int
            The most steps; a warning says so if they do not suffice.

        Raises
        ------
        DataError
            If there is no row.
        ParameterError
            If the model is no distribution, or an option is outside its rule.

        See Also
        --------
        suffice.models.generative.label_shift.LabelShift : With a test of the old prior.
        """
        model = self._densities("a class prior goes with probabilities")
        _, engine, parts = self._to_answer(X)
        found = label_shift(model, engine, parts, tol, max_iter)
        if not found.converged:
            warn(
                f"the class prior has not come to rest in {max_iter} step{'s' * (max_iter > 1)}: "
                f"its log-likelihood may be {found.gap:.2g} nats below the maximum; "
                "raise max_iter."
            )
        return found

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: those of the families, and k − 1 if the prior is estimated.

        2D + 1 for D binary columns and two classes; a full joint table has 2(2^D − 1) + 1.
        """
        prior = self._prior()
        estimated = isinstance(prior, str) and prior != "uniform"
        model: GenerativeModel = self._fitted()
        return model.n_free + (len(self.classes_) - 1 if estimated else 0)

    def sample(
        self, n: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """Draw rows from the fitted model.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int or numpy.random.Generator, optional
            Seed.

        Returns
        -------
        X : dict of str to ndarray (n,)
            One array per column: a table that `fit` and `predict` read. In a column of integers
            numbers are rounded.
        y : ndarray (n,)
            Labels.
        """
        model = self._fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise ParameterError(f"n={n!r}", "the number of rows is a whole number, 0 or more")
        rng = generator(random_state)
        codes = rng.choice(len(model.prior), size=n, p=model.prior)
        drawn = with_whole_numbers(model.sample(codes, rng), model.layout.columns)
        return drawn, self.classes_[codes]

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """Σw of the rows of each class, (k,)."""
        self._fitted()
        weight: NDArray[np.float64] = self.statistic_.over(self.model_.classes).weight.value
        return weight

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        return self.model_.prior

    def _is_few(self, X: Any) -> bool:
        """Whether a table is an array of a few rows of numbers, which are answered at once.

        The same is computed as for many rows: no row depends on others. What is saved is looking
        for the kind of table, opening it, and splitting it among workers.
        """
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and 0 < X.shape[0] <= FEW_ROWS
            and X.shape[1] == self.n_features_in_
            and not self._is_named()
            and self.reader_.takes_numbers_as_they_are
            and is_here()
        )

    def _predictions(self, X: Any, answer: Prediction) -> NDArray[Any]:
        """Answer for every row, in order; say how many rows no class could have produced."""
        model = self._fitted()
        with suppress(BadCell):  # which is found again below, where its column has a name
            few = _batch(X) if self._is_few(X) else self._row(X)
            if few is not None:
                found, impossible = answer(model, few, None)
                if impossible:
                    warn(impossible_rows(impossible, few.rows))
                return found
        source, engine, parts = self._to_answer(X, 1 if answer is evidence else FEWEST)
        out = None
        if isinstance(source, ArraySource) and engine.in_process:
            out = buffer_for(answer, source.x.shape[0], len(model.classes))
        task = (model, answer, out)
        pieces = [piece for part in engine.map(predictions, task, parts) for piece in part]
        impossible = sum(count for _, count in pieces)
        if impossible:
            warn(impossible_rows(impossible, sum(len(rows) for rows, _ in pieces)))
        if out is not None:
            return out
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows, _ in pieces], axis=-1).T

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
