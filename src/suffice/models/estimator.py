"""The one file that knows scikit-learn's contract: fit, predict, and what users do besides.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from numbers import Integral
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from suffice.data.arrays import ArraySource
from suffice.data.schema import BlockLayout, Column
from suffice.data.source import Source
from suffice.errors import DataError, ForgetError, ParameterError, SufficeWarning
from suffice.models.alike import check_alike, check_one_type
from suffice.models.contract import (
    common_dtype,
    declared_labels,
    forgetting,
    unless_it_fails,
)
from suffice.models.evaluation import Evaluation
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
from suffice.models.label_shift import LabelShift, label_shift
from suffice.models.options import generator
from suffice.models.reading_labels import ReadsLabels
from suffice.models.streaming import check_stream, forgettable, side_by_side, succeeded
from suffice.statistics.by_class import ByClass
from suffice.statistics.comparison import Comparison
from suffice.statistics.statistic import tree_sum
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["GenerativeClassifier"]


class GenerativeClassifier(ClassifierMixin, ReadsLabels):  # type: ignore[misc]
    """A classifier that is a function of one exact statistic.

    A subclass says by `_parts` which families model which columns, and holds the options that
    `_options` and `_prior` read.

    Attributes
    ----------
    statistic_ : ByClass
        Exact sums over all rows learnt so far.
    batches_ : tuple of ByClass
        The statistics that it is the sum of: one, or one for each batch of a window.
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

    decay: float = 1.0
    window: int | None = None
    fewest_classes = 2  # that a fit makes sense with
    array_dtype: str | None = None
    prior_option = "class_prior"  # that gives the class prior

    @abstractmethod
    def _parts(self, columns: Sequence[Column]) -> tuple[Part, ...]:
        """Choose a family for every column."""

    @abstractmethod
    def _prior(self) -> tuple[Prior, float]:
        """The class prior and its pseudo-count."""

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
        check_stream(self.decay, self.window)
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

        New labels and categories simply join. ``classes`` is not needed: it adds classes of which
        there is no row yet. See `fit` for the other parameters, the errors and what a table may be.

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
        check_stream(decay, window)
        first = not hasattr(self, "statistic_")
        declared = declared_labels(classes)
        with unless_it_fails(self):
            self.declared_ = declared if first else self.declared_ | declared
            source = (self._open_new if first else self._open_labelled)(X, y, sample_weight)
            given = (y,) if classes is None else (y, classes)
            self.label_dtype_ = common_dtype(self.label_dtype_, *given)
            more = self._summarise(source)
            check_one_type(declared, more.classes, "the labels in `classes`", "those of this table")
            if first:
                return self._set(more)
            known = self.model_.classes
            check_one_type(known, more.classes, "the labels learnt before", "those of this table")
            check_one_type(known, declared, "the labels learnt before", "those in `classes`")
            return self._set(*succeeded(self.batches_, more, decay, window))

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        See `fit` for the parameters.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt, or the model sees them through a window.
        """
        check_is_fitted(self)
        known = forgettable(self.batches_)
        gone = self._summarise(self._open_labelled(X, y, sample_weight))
        with forgetting(lambda e: self.parts_[e.block].layout.columns[cast(int, e.column)]):
            rest = known - gone
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

        Two windows are added batch by batch, the newest to the newest.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        self._check_alike(other, "merged")
        with unless_it_fails(self):
            self.declared_ = self.declared_ | other.declared_
            self.label_dtype_ = common_dtype(self.label_dtype_, other.label_dtype_)
            return self._set(*side_by_side(self.batches_, other.batches_))

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
        suffice.models.label_shift.LabelShift : What it says, with a test of the old prior.
        """
        model, source = self._fitted(), self._open_classes(X)
        for part in model.parts:
            if not part.family.is_distribution:
                raise ParameterError(
                    f"{part.family} gives scores", "a class prior goes with probabilities"
                )
        engine = self._engine_for(source)
        splits = source.splits(self._layout(), engine.workers)
        found = label_shift(model, engine, splits, tol, max_iter)
        if not found.converged:
            warnings.warn(
                f"the class prior has not come to rest in {max_iter} step{'s' * (max_iter > 1)}: "
                f"its log-likelihood may be {found.gap:.2g} nats below the maximum; "
                "raise max_iter.",
                SufficeWarning,
                stacklevel=2,
            )
        return found

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
        return adjusted._set(*self.batches_)

    def compare(self, other: GenerativeClassifier) -> Comparison:
        """Return what divides the rows of two models, column by column, the largest first.

        Neither reads rows again: a model holds the statistic of its rows. The result prints as a
        table, and is a record of `suffice.statistics.comparison`.

        Parameters
        ----------
        other : GenerativeClassifier
            A model of the same columns and families, of the rows to compare with.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.

        Examples
        --------
        >>> from suffice.naive_bayes import GaussianNB
        >>> before = GaussianNB().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
        >>> after = GaussianNB().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 0, 1])
        >>> print(before.compare(after))
                  Hellinger     PSI  p      missing  within  class
        (labels)     0.2391  0.2554  -
        x0           0.9994      54  -  0.0% → 0.0%  1.0000      0
        x1           0.0000       0  -  0.0% → 0.0%  1.0000      0
        """
        self._check_alike(other, "compared")
        names = [tuple(part.layout.columns) for part in self.parts_]
        return self.statistic_.compare(other.statistic_, names)

    def _check_alike(self, other: Any, verb: str) -> None:
        """Refuse what is no fitted model of the same columns and families."""
        check_is_fitted(self)
        if not isinstance(other, GenerativeClassifier):
            raise ParameterError(
                f"{other!r} is no generative classifier",
                f"only fitted generative classifiers can be {verb} with one",
            )
        check_alike(self.model_, other._fitted(), verb)

    def _summarise(self, source: Source) -> ByClass:
        return self._run(summarise, (self.parts_, self._layout()), source)

    def _set(self, *batches: ByClass) -> Self:
        statistic = tree_sum(batches)
        prior, alpha = self._prior()
        known = statistic.over(statistic.classes | self.declared_)
        model = GenerativeModel.estimate(
            self.parts_, self.layout_, known, prior, alpha, self.prior_option
        )
        self.batches_, self.statistic_, self.model_ = batches, statistic, model
        self.classes_ = self._as_labels(model.classes)
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
        labels: NDArray[Any] = self.classes_.take(codes)
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
        return self._evaluated(self._fitted(), X, y, sample_weight)

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
            One array per column: a table that `fit` and `predict` read.
        y : ndarray (n,)
            Labels.
        """
        model = self._fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise ParameterError(f"n={n!r}", "the number of rows is a whole number, 0 or more")
        rng = generator(random_state)
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
        learnt = {
            "parts": self.parts_,
            "batches": self.batches_,
            "declared": self.declared_,
        }
        self._keep(path, learnt)

    @classmethod
    def restored(cls, content: dict[str, Any]) -> Self:
        """Rebuild a model from what `save` wrote."""
        model = cls._kept(content)
        model.parts_, model.declared_ = content["parts"], content["declared"]
        return model._set(*content["batches"])

    # -- reading tables

    def _settled(self, source: Source, columns: Sequence[Column]) -> tuple[BlockLayout, ...]:
        self.parts_ = self._parts(columns)
        return tuple(part.layout for part in self.parts_)
