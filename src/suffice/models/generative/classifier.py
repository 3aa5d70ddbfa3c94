"""How generative classifiers learn: fit, partial_fit, forget, merge, and files of models.

Everything that is computed lives below: a source reads, an engine sums, a model scores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, Self, cast

from sklearn.utils.validation import check_is_fitted

from suffice.data.schema import BlockLayout, Column, is_decided, with_kinds
from suffice.data.source import Source
from suffice.errors import DataError, ForgetError, ParameterError, warn
from suffice.families import Family
from suffice.models.base.checks import (
    check_one_type,
    common_dtype,
    declared_labels,
    forgetting,
    unless_it_fails,
)
from suffice.models.base.streams import check_stream, forgettable, side_by_side, succeeded
from suffice.models.generative.compatible import check_compatible
from suffice.models.generative.fitted import FittedGenerative
from suffice.models.generative.model import (
    FamilyColumns,
    GenerativeModel,
    summarise,
)
from suffice.models.generative.saved import SAVED, SavedGenerative
from suffice.models.generative.undecided import carried
from suffice.phrases import Phrase, PythonOnly
from suffice.rules import check
from suffice.statistics.by_class import ByClass
from suffice.statistics.comparison import Comparison
from suffice.statistics.statistic import tree_sum
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["GenerativeClassifier"]


class GenerativeClassifier(FittedGenerative):
    """A classifier that is a function of one exact statistic.

    A subclass says by `_parts` which families model which columns, and by `_prior` what is known of
    the classes beforehand.

    Attributes
    ----------
    statistic_ : ByClass
        Exact sums over all rows learnt so far.
    batches_ : tuple of ByClass
        The statistics that it is the sum of: one, or one for each batch of a window.
    schema_ : tuple of Column
        What each column is, and why.
    parts_ : tuple of FamilyColumns
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
    prior_option = "class_prior"  # that gives the class prior
    _saved_types = SAVED
    _option_types = (Family,)
    parts_: tuple[FamilyColumns, ...]
    batches_: tuple[ByClass, ...]

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
                    Phrase(
                        "check the label column",
                        PythonOnly(", or learn from batches with partial_fit"),
                    ),
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

        New labels and categories simply join, and a column without a value so far gets its kind
        from the first rows that show one. ``classes`` is not needed: it adds classes of which
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
            if not first:
                self._settle(self._shown(source))
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
        source = self._open_labelled(X, y, sample_weight)
        model = self._knowing(self._shown(source))
        known = forgettable(model.batches_)
        gone = model._summarise(source)
        with forgetting(lambda e: model.parts_[e.block].layout.columns[cast(int, e.column)]):
            rest = known - gone
        if not len(rest.classes):
            raise ForgetError(
                "no labelled row would be left",
                "a model rests on one row at least",
                "delete the model instead",
            )
        with unless_it_fails(self):
            self.parts_, self.layout_ = model.parts_, model.layout_
            return self._set(rest)

    def merge(self, other: GenerativeClassifier) -> Self:
        """Learn what another model of the same columns and families has learnt.

        Two windows are added batch by batch, the newest to the newest.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        mine, theirs = self._alike(other, "merged")
        with unless_it_fails(self):
            self.parts_, self.layout_ = mine.parts_, mine.layout_
            self.declared_ = self.declared_ | other.declared_
            self.label_dtype_ = common_dtype(self.label_dtype_, other.label_dtype_)
            return self._set(*side_by_side(mine.batches_, theirs.batches_))

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
        mine, theirs = self._alike(other, "compared")
        names = [tuple(part.layout.columns) for part in mine.parts_]
        found = mine.statistic_.compare(theirs.statistic_, names)
        return found.with_empty(mine.layout_.undecided)

    def _alike(self, other: Any, verb: str) -> tuple[Self, GenerativeClassifier]:
        """Both models, by the columns that either has seen a value of.

        Refuse what is no fitted model of the same columns and families.
        """
        check_is_fitted(self)
        if not isinstance(other, GenerativeClassifier):
            raise ParameterError(
                f"{other!r} is no generative classifier",
                f"only fitted generative classifiers can be {verb} with one",
            )
        check_is_fitted(other)
        mine, theirs = self._knowing(other.schema_), other._knowing(self.schema_)
        check_compatible(mine.model_, theirs.model_, verb)
        return mine, theirs

    # -- columns that had no value so far

    def _shown(self, source: Source) -> Sequence[Column]:
        """What a table shows of the columns that had no value so far."""
        return source.columns(names) if (names := self.layout_.undecided) else ()

    def _knowing(self, columns: Sequence[Column]) -> Self:
        """A model that has learnt the same rows and knows what these columns are; maybe itself."""
        if not self.layout_.undecided:
            return self
        model = copy(self)
        model._settle(columns)
        parts, sums = model.parts_, tree_sum(model.batches_)
        known = sums.over(self.model_.classes)
        model.statistic_ = sums
        model.model_ = replace(self.model_, parts=parts, layout=model.layout_, statistic=known)
        return model

    def _settle(self, shown: Sequence[Column]) -> None:
        """Give the columns that had no value so far the kinds that are shown, if any are."""
        if not any(is_decided(column) for column in shown):
            return
        before, columns = self.parts_, with_kinds(self.layout_.columns, shown)
        self.parts_ = self._parts(columns)
        self.batches_ = tuple(carried(batch, before, self.parts_) for batch in self.batches_)
        blocks = tuple(part.layout for part in self.parts_)
        self.layout_ = replace(self.layout_, columns=columns, blocks=blocks)

    def _summarise(self, source: Source) -> ByClass:
        layout = self._layout()
        return self._run(summarise, (self.parts_, layout), source, layout)

    def _set(self, *learnt: ByClass) -> Self:
        batches = tuple(batch.canonical() for batch in learnt)
        statistic = tree_sum(batches)
        prior, alpha = self._prior()
        known = statistic.over(statistic.classes | self.declared_)
        model = GenerativeModel.estimate(
            self.parts_, self.layout_, known, prior, alpha, self.prior_option
        )
        self.batches_, self.statistic_, self.model_ = batches, statistic, model
        for remark in model.remarks():
            warn(remark)
        return self

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
        self._save(path, learnt)

    @classmethod
    def restored(cls, content: Any) -> Self:
        """Rebuild a model from what `save` wrote.

        Raises
        ------
        ParameterError, DataError
            If something breaks a rule.
        """
        saved = SavedGenerative.of(content)
        model = cls._restored(saved)
        model.parts_, model.declared_ = saved.parts, saved.declared
        model._set(*saved.batches)
        # Sums that were moved to other pivots may break a rule that those of the file keep.
        for record in (*model.batches_, *model.model_.parameters):
            check(record)
        return model

    def _check_saved(self, saved: Any) -> None:
        super()._check_saved(saved)
        check_stream(self.decay, self.window)
        self._reading()

    # -- reading tables

    def _settled(self, source: Source, columns: Sequence[Column]) -> tuple[BlockLayout, ...]:
        self.parts_ = self._parts(columns)
        return tuple(part.layout for part in self.parts_)
