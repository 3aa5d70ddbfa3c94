"""Models that are functions of exact sums: learning more, forgetting, merging, comparing.

What differs from one kind of model to another stands in its reader and in `_estimate`; what is done
with sums in `suffice.models.base.learnt`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import chain
from operator import methodcaller
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource, to_learn
from suffice.data.targets import ArrayTargets
from suffice.engines.engine import fit_context
from suffice.errors import ParameterError, warn
from suffice.families.family import FOLDS_INSTEAD
from suffice.models.base.estimator import Estimator
from suffice.models.base.forgotten import (
    DigestingEngine,
    Forgotten,
    joined,
    refuse_again,
    remembered,
    without,
)
from suffice.models.base.learnt import ExactReader, KeptSums, Learnt
from suffice.models.base.leave_one_out import LeaveOneOut
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.base.streams import forgettable
from suffice.rules import check
from suffice.sums.base import tree_sum
from suffice.sums.comparison import Comparison

__all__ = ["ExactEstimator"]


R = TypeVar("R", bound=ExactReader[Any])
S = TypeVar("S", bound=KeptSums)
T = TypeVar("T", bound=TableSource | ArraySource | ArrayTargets)


class ExactEstimator(Estimator, Generic[R, S, T]):
    """An estimator that is a function of one exact statistic.

    Its readers are of type R, their sums of type S, and the rows that they read of type T.

    Attributes
    ----------
    reader_ : ExactReader
        How tables are read.
    statistic_ : FadingStatistic
        Exact sums over all rows learnt so far.
    batches_ : tuple of FadingStatistic
        The statistics that it is the sum of: one, or one for each batch of a window.
    model_ : object
        Everything that follows from them.
    forgotten_ : tuple of bytes
        Keyed digests of the last 1,000 sets of rows that were forgotten, the latest last: see
        `forget`. Set it to ``()`` to drop them.
    """

    model_name: ClassVar[str]  # what errors call such a model
    row_name: ClassVar[str]  # what they call a row that it learns from
    reader_: R
    statistic_: S
    batches_: tuple[S, ...]
    forgotten_: Forgotten = ()

    # -- what a kind of model says

    @abstractmethod
    def _open_first(self, X: Any, y: Any, sample_weight: Any) -> tuple[R, T]:
        """The reader that the first table settles, and the rows of that table."""

    @abstractmethod
    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> T:
        """The rows of another table."""

    @abstractmethod
    def _summarise(self, reader: R, source: T) -> S:
        """The sums over the rows of a table."""

    @abstractmethod
    def _sums_by_place(self, reader: R, source: T, group: NDArray[np.intp]) -> list[S]:
        """The sums over the rows of every group; see `suffice.models.base.fold_sums`."""

    @abstractmethod
    def _estimate(
        self, reader: R, statistic: S, source: T | None = None, tuned: bool = False
    ) -> Any:
        """The model of a statistic.

        Parameters
        ----------
        source : optional
            All rows of the statistic, where they are at hand.
        tuned : bool
            Whether what the estimator chooses by itself is known already.
        """

    @abstractmethod
    def _records(self) -> Sequence[Any]:
        """The records of the model that have rules."""

    def _warnings(self) -> Iterator[str]:
        """What a user should know of the model, in sentences."""
        return iter(())

    def _decisions(self) -> Iterator[str]:
        """What was decided for the user while learning, in sentences; a file is read without."""
        return iter(())

    def _require_sums(self) -> None:
        """Refuse what needs sums where none were kept."""

    def _check_options(self) -> None:
        """Refuse options that no fit can work with."""

    def _sums_of(self, reader: R) -> Any:
        """What the sums depend on besides the rows: estimators that agree in it can share them."""
        return reader.layout

    @property
    def _is_of_sums(self) -> bool:
        """Whether, with these options, the model is a function of the sums alone."""
        return True

    def _leave_one_out(self, source: T) -> LeaveOneOut:
        """What the models of all other rows say of each row that was learnt.

        Raises
        ------
        ParameterError
            If there is no closed form.
        """
        raise ParameterError(
            f"leave-one-out of {type(self).__name__}",
            "there is no closed form: without a row, the model has to be fitted again",
            FOLDS_INSTEAD,
        )

    def _up_to_date(self, reader: R) -> R:
        """A reader of earlier rows, with options of reading that may have changed since."""
        return reader

    def _score_of_sums(self, rows: S) -> float | None:
        """The own score of rows with these sums, or None where it takes the rows themselves."""
        return None

    def _fitted_to(self, learnt: Learnt[R, S]) -> Self:
        """The estimator that `fit` makes of rows with these sums; this one stays as it is."""
        return copy(self)._set(learnt.reader.narrowed(learnt.statistic))

    # -- learning

    def _set(self, learnt: Learnt[R, S], source: T | None = None, tuned: bool = False) -> Self:
        """Estimate the model of what was learnt, and keep both."""
        batches: tuple[S, ...] = tuple(map(methodcaller("canonical"), learnt.batches))
        statistic = batches[0] if len(batches) == 1 else tree_sum(batches)
        self.model_ = self._estimate(learnt.reader, statistic, source, tuned)
        self.reader_, self.batches_, self.statistic_ = learnt.reader, batches, statistic
        for sentence in chain(self._warnings(), () if tuned else self._decisions()):
            warn(sentence)
        return self

    def forget(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, again: bool = False
    ) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        Labels, and values of categories, that no row shows any more are unknown.

        Sums do not tell which rows they are of: rows that were never learnt, but could have been,
        are taken away like others. What the model remembers are the sets of rows that it has
        forgotten, the last 1,000, in memory and in its file: a set that comes again is refused, in
        whatever order and from whatever source. `merge` joins what both models remember, and
        `partial_fit` of such a set ends its being remembered.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        again : bool
            Whether the rows may be a set that was forgotten before, as if there were two of each.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt, were forgotten before, or are seen through a
            window.
        """
        check_is_fitted(self)
        self._require_sums()
        source = to_learn(self._open_more(X, y, sample_weight))
        learnt = Learnt(self.reader_, self.batches_)
        forgettable(learnt.batches)  # refused before a row is read
        gone, total = self._digested(self._up_to_date(learnt.reader), source)
        if not again:
            refuse_again(self.forgotten_, total)
        rest = learnt.without(gone, self.row_name)
        known = self.statistic_
        with fit_context(self):
            try:
                return self._set(rest)
            finally:
                if self.statistic_ is not known:  # a warning may have been made an error
                    self.forgotten_ = remembered(self.forgotten_, total)

    def _digested(self, reader: R, source: T) -> tuple[S, int]:
        """The sums over further rows, and the sum of their hashes."""
        engine, reading = DigestingEngine(self._engine_for(source), []), copy(self)
        reading._engine = engine
        more = reading._summarise(reader, source)
        (total,) = engine.found
        return more, total

    def merge(self, other: Self) -> Self:
        """Learn what another model of the same columns has learnt.

        Two windows are added batch by batch, the newest to the newest.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        mine, theirs = self._both(other, "merged")
        both = mine.merged(theirs)
        forgotten = joined(self.forgotten_, other.forgotten_)
        with fit_context(self):
            self._set(both)
        self.forgotten_ = forgotten
        return self

    def compare(self, other: Self) -> Comparison:
        """Return what divides the rows of two models, column by column, the largest first.

        Neither reads rows again: a model holds the statistic of its rows. Numeric targets are
        columns like the others; the categories of a linear model are compared by their
        fractions, and may have other values. The result prints as a table, and is a record of
        `suffice.sums.comparison`.

        Parameters
        ----------
        other : ExactEstimator
            A model of the same columns, and families or targets, of the rows to compare with.

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
                  Hellinger     PSI  p  missing  within  class
        (labels)     0.2391  0.2554  -
        x0           0.9994      54  -    0.0 %  1.0000      0
        x1           0.0000       0  -    0.0 %  1.0000      0
        <BLANKLINE>
        3 and 3 rows; within: the class that differs most

        >>> from suffice.linear_model import LinearRegression
        >>> before = LinearRegression().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
        >>> after = LinearRegression().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 1, 1])
        >>> print(before.compare(after))
            Hellinger  PSI  p  missing
        x0     0.9994   54  -    0.0 %
        x1     0.0000    0  -    0.0 %
        y      0.0000    0  -    0.0 %
        <BLANKLINE>
        3 and 3 rows
        """
        mine, theirs = self._both(other, "compared")
        return mine.compare(theirs)

    def _learn_more(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        decay: float,
        window: int | None,
        joined: Callable[[R, S], R] | None = None,
    ) -> Self:
        """Learn from a batch; the first one settles how tables are read.

        Parameters
        ----------
        joined : function, optional
            Gives the reader once the rows of the batch are summed. Default: it stays.
        """
        if hasattr(self, "statistic_"):
            source = to_learn(self._open_more(X, y, sample_weight))
            before, forgotten = Learnt(self.reader_, self.batches_), self.forgotten_
            reader = self._up_to_date(before.reader)
            if forgotten:
                more, total = self._digested(reader, source)
                forgotten = without(forgotten, total)
            else:
                more = self._summarise(reader, source)
        else:
            reader, source = self._open_first(X, y, sample_weight)
            before, forgotten = Learnt[R, S](reader, ()), ()
            more = self._summarise(reader, source)
        if joined is not None:
            before = before._replace(reader=joined(before.reader, more))
        learnt = before.followed_by(more, decay, window)
        self._set(learnt, source=source if learnt.batches[0] is more else None)
        self.forgotten_ = forgotten
        return self

    def _both(self, other: Any, verb: str) -> tuple[Learnt[R, S], Learnt[R, S]]:
        """What either model has learnt.

        Raises
        ------
        ParameterError
            If the other is no fitted model of this kind that has sums.
        SchemaError
            If the two do not read the same columns in the same way.
        """
        check_is_fitted(self)
        if not (isinstance(other, ExactEstimator) and other.model_name == self.model_name):
            raise ParameterError(
                f"{other!r} is no {self.model_name}",
                f"only fitted {self.model_name}s can be {verb} with one",
            )
        check_is_fitted(other)
        self._require_sums()
        other._require_sums()
        mine = Learnt(self.reader_, self.batches_)
        theirs = Learnt(other.reader_, other.batches_)
        mine.check_compatible(theirs, verb)
        return mine, theirs

    # -- keeping

    def _restore_sums(self, learnt: Learnt[R, S], saved: Any) -> None:
        """Take over what was learnt, as a file holds it, and check what follows."""
        self._set(learnt, tuned=True)
        self._restore_tuned(saved)
        # Sums that were moved to other pivots may break a rule that those of the file keep.
        for record in (*self.batches_, *self._records()):
            check(record)

    def _restore_tuned(self, saved: Any) -> None:
        """Take over what rows have settled, and their sums do not tell."""
