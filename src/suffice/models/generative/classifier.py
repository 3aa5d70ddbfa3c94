"""Generative classifiers: fit, partial_fit, forget, merge, predictions, and files of models.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.drawn_cells import as_held
from suffice.data.source import ArraySource
from suffice.data.table import WithColumns
from suffice.data.table_source import TableSource
from suffice.engines.engine import is_here
from suffice.errors import ParameterError, warn
from suffice.families import Family
from suffice.families.density import Chosen
from suffice.models.base.answers import impossible_rows
from suffice.models.base.checks import ClassWeight, check_among, check_same_classes
from suffice.models.base.options import generator
from suffice.models.base.proba_intervals import Ends
from suffice.models.base.scikit_learn import available_if
from suffice.models.base.unseen_values import FEWEST
from suffice.models.classifier import Classifier, costs_of, warn_of_unlabelled
from suffice.models.estimator import Kind, answers_by_batch, fitted
from suffice.models.explanation import Asked, Evidence
from suffice.models.from_sums import FittedFromSums
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.proba_intervals import ends_of
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.row_answers import (
    Prediction,
    best,
    evidence,
    joint,
    log_posterior,
    marginals,
    posterior,
)
from suffice.models.generative.saved import SAVED, SavedGenerative
from suffice.models.grouped_sums import GroupedSums
from suffice.models.method import Learnt
from suffice.models.reading import declared_labels, in_precision, is_named, row_by_name
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, RealBlock
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import Sampled
from suffice.sums.vocabulary import check_one_type

FEW_ROWS = 256  # that are answered by the thread that asks

Rows = TableSource | ArraySource


class GenerativeClassifier(Classifier, FittedFromSums[GenerativeReader, ByClass]):
    """A classifier that is a function of one exact statistic.

    A subclass has options, and gives them as a `GenerativeMethod`.

    What a fit leaves is said in `FittedFromSums`, `Classifier` and at the properties themselves.
    """

    kind = Kind(
        name="generative classifier",
        row="labelled row",
        mixins=("ClassifierMixin",),
        dtype=None,
        in_single=False,
        saved=SavedGenerative,
        types=SAVED,
        records=(Family,),
        tables=lambda self: self.schema_._repr_html_(),
    )
    class_weight: ClassWeight = None
    model_: GenerativeModel
    reader_: GenerativeReader
    statistic_: ByClass
    batches_: tuple[ByClass, ...]

    @abstractmethod
    def method(self) -> GenerativeMethod: ...

    # -- learning

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
        """Fit to more rows; the result is that of one `fit` of all of them.

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
        declared, said = declared_labels(classes), (y,) if classes is None else (y, classes)

        def joined(
            method: GenerativeMethod, reader: GenerativeReader, sums: ByClass
        ) -> GenerativeReader:
            """The reader once further labels are known; refuse labels of another type."""
            more = sums.classes
            warn_of_unlabelled(float(sums.unlabelled.value))
            check_one_type(declared, more, "the labels in `classes`", "those of this table")
            if declared.values:
                check_among(more, declared | reader.declared)
            if hasattr(self, "statistic_"):
                known = self.model_.classes
                check_one_type(known, more, "the labels learnt before", "those of this table")
                check_one_type(known, declared, "the labels learnt before", "those in `classes`")
                if declared.values and method.same_classes:
                    check_same_classes(classes, self.classes_)
            return replace(reader.with_labels(*said), declared=reader.declared | declared)

        return self._learn_more(X, y, sample_weight, decay, window, joined)

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        source = super()._open_more(X, y, sample_weight)
        if isinstance(source, TableSource) and isinstance(table := source.table, WithColumns):
            return source if table.cells else replace(source, table=table.table)  # refused then
        return source

    # -- answering

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c) = log P(c) + Σ log p(x_j | c), (n, k).

        Missing cells are left out: exact marginalisation. −∞ means impossible.
        """
        return as_asked(self, X, self._predictions(X, joint))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k), by log-sum-exp; the prior where no class is possible."""
        return as_asked(self, X, self._predictions(X, log_posterior))

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
        return as_asked(self, X, self._predictions(X, posterior))

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._predictions(X, best)

    def explain(self, X: Any) -> Evidence:
        """Return what every column contributes to every class, row by row."""
        contributions = self._predictions(X, evidence)
        model = self.model_
        return Evidence(
            tuple(self.reader_.layout.names),
            model.classes.values,
            model.log_prior,
            contributions,
            asked=Asked(copy(self), X),
        )

    @available_if(lambda self: self.kind.is_density)
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
        model: GenerativeModel = fitted(self)
        model.refuse_pairs("log p(x)")
        for part in model.parts:
            if not part.family.is_distribution:
                rule = "log p(x) is of families that are distributions"
                raise ParameterError(f"{part.family} gives scores", rule)
        answer = partial(marginals, replace(model, calibration=None))
        return as_asked(self, X, np.concatenate(answers_by_batch(self, X, answer)))

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: those of the families, and k − 1 if the prior is estimated.

        2D + 1 for D binary columns and two classes; a full joint table has 2(2^D − 1) + 1.
        """
        prior = self.method().prior
        estimated = isinstance(prior, str) and prior != "uniform"
        model: GenerativeModel = fitted(self)
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
        model = fitted(self)
        model.refuse_pairs("a draw of rows")
        if not (isinstance(n, Integral) and n >= 0):
            raise ParameterError(f"n={n!r}", "the number of rows is a whole number, 0 or more")
        rng = generator(random_state)
        codes = rng.choice(len(model.prior), size=n, p=model.prior)
        drawn = as_held(model.sample(codes, rng), model.layout.columns)
        return drawn, self.classes_[codes]

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """Σw of the rows of each class, (k,)."""
        fitted(self)
        weight: NDArray[np.float64] = self.statistic_.over(self.model_.classes).weight.value
        return weight

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        return self.model_.prior

    def _predictions(self, X: Any, answer: Prediction) -> NDArray[Any]:
        """Answer for every row, in order; say how many rows no class could have produced."""
        model = fitted(self)
        with suppress(BadCell):  # which is found again below, where its column has a name
            few = Batch(len(X), (RealBlock(X),)) if is_few(self, X) else row_by_name(self, X)
            if few is not None:
                found, impossible = answer(model, few)
                if impossible:
                    warn(impossible_rows(impossible, few.rows))
                return found
        fewest = 1 if answer is evidence else FEWEST
        pieces = answers_by_batch(self, X, partial(answer, model), fewest)
        impossible = sum(count for _, count in pieces)
        if impossible:
            warn(impossible_rows(impossible, sum(len(rows) for rows, _ in pieces)))
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows, _ in pieces], axis=-1).T

    def _interval_ends(self, level: float) -> Ends:
        prior = self.method().prior if self.class_weight != "balanced" else "uniform"
        model: GenerativeModel = fitted(self)
        model.refuse_pairs("an interval")
        return ends_of(model, prior, level)

    # -- keeping

    def _kept(self) -> dict[str, Any]:
        costs_of(self, self.costs)  # with others no file could be read
        reader, model = self.reader_, self.model_
        chosen = tuple(map(Chosen.of, model.parameters))
        plain = tuple(one.plain if isinstance(one, Sampled) else one for one in self.batches_)
        more = {
            "calibration": model.calibration,
            "sampled": model.sampled,
            "chosen": chosen if any(chosen) else (),
            "forgotten": self.forgotten_,
            "row_weight": model.row_weight if model.row_weight != 1 else None,
        }
        return {
            **self._kept_reader(reader),
            "batches": plain,
            **{name: value for name, value in more.items() if value is not None and value != ()},
        }

    def _columns_of(self, sums: GroupedSums) -> dict[str, Any]:
        of_groups = sums.sums
        found = {"n": of_groups.rows}
        for label, weight in zip(of_groups.classes.values, of_groups.weight.value.T, strict=True):
            found[f"n_{label}"] = weight
        return found

    def _kept_reader(self, reader: GenerativeReader) -> dict[str, Any]:
        return {
            "label_dtype": None if reader.label_dtype is None else reader.label_dtype.str,
            "parts": reader.parts,
            "declared": reader.declared,
        }

    def _reader_of(self, saved: SavedGenerative) -> GenerativeReader:
        method, single = self.method(), saved.single_precision
        of_file = saved.layout, saved.format, saved.dtype, saved.parts, saved.declared
        method.check_parts(saved.parts)
        return method.reader_type(*of_file, method.lenient, single=single)

    def _restore(self, saved: SavedGenerative) -> None:
        learnt = Learnt(self._reader_of(saved), saved.batches)
        self._set(self.method(), learnt, saved=saved)
        costs_of(self, self.costs)


def as_asked(
    classifier: GenerativeClassifier, X: Any, answers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return answers in single precision where the class has them in that of the rows."""
    return in_precision(classifier.reader_, X, answers) if classifier.kind.in_single else answers


def is_few(classifier: GenerativeClassifier, X: Any) -> bool:
    """Return whether a table is an array of a few rows of numbers, which are answered at once.

    The same is computed as for many rows: no row depends on others. What is saved is looking
    for the kind of table, opening it, and splitting it among workers.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and 0 < X.shape[0] <= FEW_ROWS
        and X.shape[1] == classifier.n_features_in_
        and not is_named(classifier)
        and classifier.reader_.takes_numbers_as_they_are
        and is_here()
    )
