"""What a fitted generative classifier says: predictions, evidence, scores, samples, forms."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.data.table_views import WithColumns
from suffice.data.whole_cells import with_whole_numbers
from suffice.engines.choice import is_here
from suffice.errors import ParameterError, warn
from suffice.models.base.classifier import Classifier
from suffice.models.base.evidence import Evidence
from suffice.models.base.options import generator
from suffice.models.base.predictions import impossible_rows
from suffice.models.base.scikit_learn import available_if
from suffice.models.base.unseen_values import FEWEST
from suffice.models.generative.class_prior import Prior
from suffice.models.generative.discriminant_functions import (
    LinearForm,
    QuadraticForm,
    linear_form,
    quadratic_form,
)
from suffice.models.generative.form_features import feature_order, features_of, stacked
from suffice.models.generative.label_shift import LabelShift, label_shift
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.proba_intervals import ends_of
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
from suffice.statistics.batch import NO_CLASSES, NO_CODES, NO_WEIGHTS, Batch
from suffice.statistics.block import BadCell, RealBlock

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["FittedGenerative"]

FEW_ROWS = 256  # that are answered by the thread that asks


def _batch(x: NDArray[np.float64]) -> Batch:
    """Rows of numbers without labels and weights."""
    return Batch(len(x), (RealBlock(x),), NO_CODES, NO_CLASSES, NO_WEIGHTS)


class FittedGenerative(Classifier):
    """A generative classifier, as its sums left it.

    Attributes
    ----------
    model_ : GenerativeModel
        All that a prediction needs.
    """

    array_dtype: ClassVar[str | None] = None
    answers_in_single: ClassVar[bool] = False  # as scikit-learn does, rows of single precision
    has_density: ClassVar[bool] = True  # p(x) is a probability
    model_: GenerativeModel

    @abstractmethod
    def _prior(self) -> tuple[Prior, float]:
        """The class prior and its pseudo-count."""

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
        _, engine, splits = self._to_answer(X)
        found = label_shift(model, engine, splits, tol, max_iter)
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
        prior, _ = self._prior()
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
            and is_here(self._engine)
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
        source, engine, splits = self._to_answer(X, 1 if answer is evidence else FEWEST)
        out = None
        if isinstance(source, ArraySource) and engine.in_process:
            out = buffer_for(answer, source.x.shape[0], len(model.classes))
        task = (model, answer, out)
        parts = [part for split in engine.map(predictions, task, splits) for part in split]
        impossible = sum(count for _, count in parts)
        if impossible:
            warn(impossible_rows(impossible, sum(len(rows) for rows, _ in parts)))
        if out is not None:
            return out
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows, _ in parts], axis=-1).T
