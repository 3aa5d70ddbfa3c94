"""The one file that knows scikit-learn's contract: fit, predict, and what users do besides.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from os import PathLike
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from suffice.data.arrays import ArraySource
from suffice.data.schema import Column, Layout
from suffice.data.source import Source, Split
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, SufficeWarning
from suffice.models.contract import unless_it_fails
from suffice.models.evaluation import Evaluation, evaluation
from suffice.models.evidence import Evidence
from suffice.models.forms import (
    LinearForm,
    QuadraticForm,
    feature_order,
    features_of,
    linear_form,
    quadratic_form,
    stacked,
)
from suffice.models.generative import (
    Answer,
    GenerativeModel,
    Part,
    Prior,
    answers,
    best,
    evidence,
    joint,
    log_posterior,
    posterior,
    room,
    summarise,
)
from suffice.models.model_file import TYPES, portable, unportable
from suffice.models.reading import ReadsTables
from suffice.persist import write_model
from suffice.statistics.by_class import ByClass
from suffice.statistics.statistic import Statistic
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["GenerativeClassifier"]

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")


class GenerativeClassifier(ClassifierMixin, ReadsTables):  # type: ignore[misc]
    """A classifier that is a function of one exact statistic.

    A subclass says by `_parts` which families model which columns, and holds the options that
    `_options` and `_prior` read.

    Attributes
    ----------
    statistic_ : ByClass
        Exact sums over all rows learnt so far.
    schema_ : tuple of Column
        What each column is, and why.
    parts_ : tuple of Part
        Families and the columns that they model.
    classes_ : ndarray (k,)
        Labels, sorted.
    class_count_, class_prior_ : ndarray (k,)
        Σw of the rows of each class, and P(c).
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)
        Only when the columns have names.
    """

    fewest_classes = 2  # that a fit makes sense with
    array_dtype: str | None = None

    @abstractmethod
    def _parts(self, columns: Sequence[Column]) -> tuple[Part, ...]:
        """Choose a family for every column."""

    @abstractmethod
    def _prior(self) -> tuple[Prior, float]:
        """The class prior and its pseudo-count."""

    def _reading(self) -> dict[str, Any]:
        """Options of the layout: missing tokens and label clean-up."""
        return {}

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting everything learnt before.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a path, glob or list of paths (Parquet, Arrow IPC, CSV, TSV);
            or what `suffice.read_csv` returns.
        y : array-like (n,) or str
            Labels, or the name of the column that holds them. A row without a label is left out
            and counted.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column.

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
        with unless_it_fails(self):
            self.declared_ = Vocabulary(())
            statistic = self._summarise(self._open_new(X, y, sample_weight))
            if 0 < len(statistic.classes) < self.fewest_classes:
                raise DataError(
                    f"there is one class: every label is {statistic.classes.values[0]!r}",
                    "a classifier needs two classes or more",
                    "check the label column, or learn from batches with partial_fit",
                )
            return self._set(statistic)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows; the result is that of one `fit` of all of them.

        New labels and categories simply join. ``classes`` is not needed: it adds classes of which
        there is no row yet. See `fit` for the other parameters, the errors and what a table may be.
        """
        first = not hasattr(self, "statistic_")
        declared = Vocabulary.of(() if classes is None else np.unique(classes).tolist())
        with unless_it_fails(self):
            self.declared_ = declared if first else self.declared_ | declared
            if first:
                return self._set(self._summarise(self._open_new(X, y, sample_weight)))
            more = self._summarise(self._open_labelled(X, y, sample_weight))
            return self._set(self.statistic_ + more)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        See `fit` for the parameters.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt.
        """
        check_is_fitted(self)
        gone = self._summarise(self._open_labelled(X, y, sample_weight))
        try:
            rest = self.statistic_ - gone
        except ForgetError as error:
            if error.column is None:
                raise
            name = self.parts_[error.block].layout.columns[error.column]
            raise ForgetError(f"column {name!r}: {error.fact}", error.rule) from None
        if not len(rest.classes):
            raise ForgetError(
                "no labelled row would be left",
                "a model rests on one row at least",
                "delete the model instead",
            )
        with unless_it_fails(self):
            return self._set(rest)

    def merge(self, other: GenerativeClassifier) -> Self:
        """Learn what another model of the same columns and families has learnt.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        check_is_fitted(self)
        if not isinstance(other, GenerativeClassifier):
            raise ParameterError(
                f"{other!r} is no model", "only fitted models of suffice can be merged"
            )
        check_is_fitted(other)
        if self.parts_ != other.parts_:
            raise SchemaError(
                f"the models differ: {_difference(self.parts_, other.parts_)}",
                "only models of the same columns and families can be merged",
                "fit both with the same `families`",
            )
        with unless_it_fails(self):
            self.declared_ = self.declared_ | other.declared_
            return self._set(self.statistic_ + other.statistic_)

    def _summarise(self, source: Source) -> ByClass:
        return self._run(summarise, (self.parts_, self._layout()), source)

    def _set(self, statistic: ByClass) -> Self:
        prior, alpha = self._prior()
        known = statistic.over(statistic.classes | self.declared_)
        model = GenerativeModel.estimate(self.parts_, self.layout_, known, prior, alpha)
        self.statistic_, self.model_ = statistic, model
        self.classes_ = np.array(model.classes.values)
        for remark in model.remarks():
            warnings.warn(remark, SufficeWarning, stacklevel=3)
        return self

    # -- predicting

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c) = log P(c) + Σ log p(x_j | c), (n, k).

        Missing cells are left out: exact marginalisation. −∞ means impossible.
        """
        return self._answers(X, joint)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k), by log-sum-exp; the prior where no class is possible."""
        return self._answers(X, log_posterior)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return self._answers(X, posterior)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of every row, (n,)."""
        codes = self._answers(X, best)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def explain(self, X: Any) -> Evidence:
        """Return what every column contributes to every class, row by row."""
        contributions = self._answers(X, evidence)
        model = self.model_
        return Evidence(
            tuple(self.layout_.names), model.classes.values, model.log_prior, contributions
        )

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
        suffice.models.forms.LinearForm : For what it offers, and an example.
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
        suffice.models.forms.QuadraticForm : For what it offers, and an example.
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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted.

        Rows without a label are left out.
        """
        return self.evaluate(X, y, sample_weight).accuracy

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Evaluation:
        """Return accuracy, log loss, Brier score and the confusion table of labelled rows.

        Raises
        ------
        DataError
            If a label was never seen in training, or no row has a label.
        """
        model = self._fitted()
        result = self._run(evaluation, model, self._open_labelled(X, y, sample_weight))
        if not result.weight:
            raise DataError(
                "there is no labelled row whose weight is not zero",
                "an evaluation needs at least one",
                "check the label column and the weights",
            )
        return result

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Σ w log P(x, y) over the labelled rows of a table."""
        return self.evaluate(X, y, sample_weight).log_likelihood

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: those of the families, and k − 1 if the prior is estimated.

        2D + 1 for D binary columns and two classes; a full joint table has 2(2^D − 1) + 1.
        """
        estimated = self._prior()[0] in ("empirical", "smoothed")
        return self._fitted().n_free + (len(self.classes_) - 1 if estimated else 0)

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
            One array per column.
        y : ndarray (n,)
            Labels.
        """
        model = self._fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise ParameterError(f"n={n!r}", "the number of rows is a whole number, 0 or more")
        rng = np.random.default_rng(random_state)
        codes = rng.choice(len(model.prior), size=n, p=model.prior)
        return model.sample(codes, rng), self.classes_[codes]

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """Σw of the rows of each class, (k,)."""
        return self.model_.statistic.weight.value

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        return self.model_.prior

    def _fitted(self) -> GenerativeModel:
        check_is_fitted(self)
        model: GenerativeModel = self.model_
        return model

    def _answers(self, X: Any, answer: Answer) -> NDArray[Any]:
        """Answer for every row, in order; say how many rows no class could have produced."""
        model, source = self._fitted(), self._open_classes(X)
        engine = self._engine_for(source)
        splits = source.splits(self._layout(), engine.workers)
        place = None
        if isinstance(source, ArraySource) and engine.in_process:
            place = room(answer, source.x.shape[0], len(model.classes))
        task = (model, answer, place)
        parts = [part for split in engine.map(answers, task, splits) for part in split]
        impossible = sum(count for _, count in parts)
        if impossible:
            warnings.warn(
                f"{impossible} of {sum(len(rows) for rows, _ in parts)} rows are impossible under "
                "every class; they were answered by the class prior. "
                "Smoothing (alpha > 0) avoids this.",
                SufficeWarning,
                stacklevel=3,
            )
        if place is not None:
            return place
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows, _ in parts], axis=-1).T

    def _batches(self, X: Any, kernel: Callable[[Split, Any], list[T]], params: Any) -> list[T]:
        """What a kernel makes of every batch of a table, in order."""
        source = self._open_classes(X)
        engine = self._engine_for(source)
        splits = source.splits(self._layout(), engine.workers)
        return [batch for split in engine.map(kernel, params, splits) for batch in split]

    def _run(self, kernel: Callable[[Split, Any], S], params: Any, source: Source) -> S:
        engine = self._engine_for(source)
        return engine.run(kernel, params, source.splits(self._layout(), engine.workers))

    def _layout(self) -> Layout:
        """How tables are read, with the reading options as they are now."""
        return replace(self.layout_, **self._reading())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags

    # -- keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads; nothing in it is executed.

        The file holds the statistic, so a loaded model can learn, merge and forget.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        """
        self._fitted()
        content = {
            "params": portable(self.get_params(deep=False)),
            "parts": self.parts_,
            "layout": self.layout_,
            "statistic": self.statistic_,
            "named": hasattr(self, "feature_names_in_"),
            "declared": self.declared_,
            "format": self.format_,
        }
        write_model(path, type(self).__name__, content, types=TYPES)

    @classmethod
    def restored(cls, content: dict[str, Any]) -> Self:
        """Rebuild a model from what `save` wrote."""
        model = cls(**unportable(content["params"]))
        model.parts_, model.layout_ = content["parts"], content["layout"]
        model.declared_, model.format_ = content["declared"], content["format"]
        names = [column.name for column in model.schema_]
        model.n_features_in_ = len(names)
        if content["named"]:
            model.feature_names_in_ = np.array(names, dtype=object)
        return model._set(content["statistic"])

    # -- reading tables

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        columns: Sequence[Column] = self.layout_.columns
        return columns

    def _open_new(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Open the first table: it settles the columns and how they are read."""
        source = self._open_labelled(X, y, sample_weight, reset=True)
        columns = self._described(source)
        if not columns:
            raise SchemaError("the table has no column besides the label", "a model needs features")
        self.parts_ = self._parts(columns)
        self.layout_ = Layout(
            tuple(part.layout for part in self.parts_),
            columns,
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=getattr(getattr(source, "table", None), "ignored", ()),
            **self._reading(),
        )
        return source

    def _described(self, source: Source) -> Sequence[Column]:
        """What the columns are."""
        return source.columns()


def _difference(mine: tuple[Part, ...], theirs: tuple[Part, ...]) -> str:
    """Name the first column that two models read or model in different ways."""
    pairs = [{c: part for part in parts for c in part.layout.columns} for parts in (mine, theirs)]
    for name in pairs[0] | pairs[1]:
        a, b = (side.get(name) for side in pairs)
        if a is None or b is None:
            return f"column {name!r} is in one of them only"
        if (a.family, a.layout.encoding) != (b.family, b.layout.encoding):
            return f"column {name!r} is {a.family} in one and {b.family} in the other"
    return "the same columns are grouped in different ways"
