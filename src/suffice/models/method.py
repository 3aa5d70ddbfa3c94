"""A method: what a fit from exact sums is made of, and what is done with the sums that it keeps.

::

    reader = method.reader(rows)         how tables are read, fixed by the first one
    sums   = method.sums(reader, rows)   one pass; +, − and == belong to the sums
    model  = method.model(reader, sums)  a pure function of both

`suffice.models.from_sums.FittedFromSums` writes fit, partial_fit, forget, merge, compare, save and
load once above these functions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from numbers import Integral, Real
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from suffice.engines.engine import Engine
from suffice.errors import ForgetError, ParameterError, warn
from suffice.models.base.groups import ByColumns, ByPlace
from suffice.models.base.judge import LeaveOneOut
from suffice.models.reading import TableReader
from suffice.sums.base import FadingStatistic, tree_sum
from suffice.sums.by_class import Loss, losses
from suffice.sums.comparison import Comparison
from suffice.sums.keys import Keyed


class KeptSums(FadingStatistic, Protocol):
    """Sums that a model is a function of."""

    @property
    def is_empty(self) -> bool:
        """Return whether they are sums over no row."""
        ...


R = TypeVar("R", bound="SumsReader[Any]")
S = TypeVar("S", bound=KeptSums)


class Method(Protocol[R, S]):
    """Options of an estimator as functions; a new one is made for every fit, and keeps nothing.

    A method has `reader`, `sums`, `sums_by_group`, `alone` and `model`; the other functions have
    defaults.
    """

    @property
    def keeps_sums(self) -> bool:
        """Return whether the sums stay, as forgetting, merging and comparing need."""
        return True

    @property
    def is_of_sums(self) -> bool:
        """Return whether the model is a function of the sums: folds then follow from them."""
        return True

    @abstractmethod
    def reader(self, rows: Any, said: Any, engine: Engine) -> R:
        """Fix how tables are read.

        Parameters
        ----------
        rows : source
            The first table.
        said
            What is known of its labels or targets besides: see `open_first` of an estimator.
        engine : Engine
            Where a method may look at the rows.
        """

    @abstractmethod
    def sums(self, reader: R, rows: Any, engine: Engine, like: S | None = None) -> S:
        """Return the sums over the rows of a table, as comparable ones, ``like``, were taken."""

    @abstractmethod
    def sums_by_group(
        self, reader: R, rows: Any, engine: Engine, groups: ByColumns | ByPlace
    ) -> Keyed:
        """Return the sums over the rows of every group; see `suffice.models.base.groups`."""

    @abstractmethod
    def alone(self, reader: R, sums: Any, g: int) -> S:
        """Return the sums of one of the groups."""

    @abstractmethod
    def model(
        self, reader: R, sums: S, rows: Any = None, before: Any = None, newest: S | None = None
    ) -> Any:
        """Return the model of sums.

        Parameters
        ----------
        reader, sums
        rows : source, optional
            All rows of the sums, where they are at hand.
        before : model, optional
            The model so far, of other rows: what it has from rows that are gone stays.
        newest : optional
            The sums of the rows that have joined those of the model so far.
        """

    def restored(self, reader: R, sums: S, saved: Any) -> Any:
        """Return the model of the sums of a file, with the choices that the file holds."""
        return self.model(reader, sums)

    def require(self, sums: S, rows: Any = None) -> None:
        """Refuse sums of rows that a fit makes no sense with; a stream may begin with such rows."""
        return

    def warn_of(self, sums: Any) -> None:
        """Warn of rows that are not in the sums."""
        return

    def adopted(self, reader: R) -> R:
        """Return the reader of sums of another method with what these options say of it."""
        return reader

    @property
    def chooses(self) -> bool:
        """Return whether sums decide more than the parameters of a model."""
        return False

    def chosen_as(self, model: Any, pooled: Any) -> Any:
        """Return a model with what another one has chosen."""
        return model

    def shared(self, reader: R) -> Any:
        """Return what the sums depend on besides the rows: who agrees in it can share them."""
        return reader.layout

    def remarks(self, model: Any, of_rows: bool) -> Iterator[str]:
        """Yield what a user should know of a model; of a file, what follows from rows is known."""
        return iter(())

    def left_out(self, estimator: Any, rows: Any) -> LeaveOneOut | None:
        """Return the predictions of each training row by the model of all others.

        None without a closed form.
        """
        return None

    def score_of_sums(self, estimator: Any, sums: S) -> float | None:
        """Return the score of rows with these sums; None where it takes the rows themselves."""
        return None

    def records(self, model: Any) -> Sequence[Any]:
        """Return the records of a model that have rules."""
        return ()


class SumsReader(TableReader, Generic[S]):
    """A reader that knows what its sums, S, are about."""

    @abstractmethod
    def column(self, lost: ForgetError | Loss) -> str:
        """The column whose sums show that rows cannot be forgotten, or at a price."""

    @abstractmethod
    def check_compatible(self, statistic: S, other: Self, others: S, verb: str) -> None:
        """Refuse sums of other columns, or of columns that are read in another way.

        Parameters
        ----------
        statistic
            The sums of tables that it reads.
        other : SumsReader
            That of the other model.
        others
            Its sums.
        verb : str
            What is done to the two, such as "merged".
        """

    @abstractmethod
    def merged(self, other: Self) -> Self:
        """The reader of both models' tables."""

    def moved(self, statistic: S, wider: Self) -> S:
        """Return sums for the terms of a reader that knows more values of categories."""
        return statistic

    def widened(self, rows: Any, engine: Engine) -> Self:
        """Return the reader that knows the categories of more rows too."""
        return self

    @abstractmethod
    def compare(self, statistic: S, other: Self, others: S) -> Comparison:
        """Compare the rows of two sums."""

    def narrowed(self, statistic: S) -> Learnt[Self, S]:
        """The reader and the sums once rows are forgotten."""
        return Learnt(self, (statistic,))


class Learnt(NamedTuple, Generic[R, S]):
    """All that a model is a function of: how tables are read, and the sums over their rows."""

    reader: R
    batches: tuple[S, ...]  # the oldest first: one, or one for each batch of a window

    def followed_by(self, newest: S, decay: float, window: int | None) -> Learnt[R, S]:
        """Return the sums with one more batch.

        ::

            γS₁ + S₂            without a window, one statistic
            γS₂, γS₃, …, Sₘ₊₁   with a window of m batches
        """
        batches = self.batches
        kept = batches if window is None else batches[max(0, len(batches) - window + 1) :]
        faded = tuple(batch.scaled(decay) if decay < 1 else batch for batch in kept)
        alone = window is None
        return Learnt(self.reader, (tree_sum([*faded, newest]),) if alone else (*faded, newest))

    def without(self, gone: S, row: str) -> Learnt[R, S]:
        """Return the sums without some rows; errors call one a ``row``.

        A warning tells of variances that lost digits by it.
        """
        known = forgettable(self.batches)
        with forgetting(self.reader.column):
            rest = known - gone
        if rest.is_empty:
            raise ForgetError(
                f"no {row} would be left",
                "a model rests on one row at least",
                "delete the model instead",
            )
        for loss in losses(known, rest):
            warn(lost_digits(self.reader.column(loss), loss))
        return self.reader.narrowed(rest)

    def merged(self, other: Learnt[R, S]) -> Learnt[R, S]:
        """Return the sums of two models, the newest batch added to the newest."""
        reader = self.reader.merged(other.reader)
        one, more = self.read_by(reader), other.read_by(reader)
        pairs = zip_longest(reversed(one.batches), reversed(more.batches))
        added = [tree_sum(batch for batch in pair if batch is not None) for pair in pairs]
        return Learnt(reader, tuple(reversed(added)))

    def read_by(self, wider: R) -> Learnt[R, S]:
        """Return the sums for a reader that knows more values of categories."""
        return Learnt(wider, tuple([self.reader.moved(batch, wider) for batch in self.batches]))


def check_stream(decay: float, window: int | None) -> None:
    """Check the options of a stream."""
    if isinstance(decay, bool) or not (isinstance(decay, Real) and 0 < decay <= 1):
        raise ParameterError(f"decay={decay!r}", "decay is a number above 0, and 1 at most")
    if window is None:
        return
    if isinstance(window, bool) or not (isinstance(window, Integral) and window >= 1):
        raise ParameterError(
            f"window={window!r}",
            "a window is a number of batches, 1 or more, or None to keep all",
        )


def forgettable(batches: Sequence[S]) -> S:
    """Return the statistic that rows can be taken away from."""
    if len(batches) > 1:
        raise ForgetError(
            f"the model holds a window of {len(batches)} batches",
            "rows leave a window with their batch",
            "learn the batches again, without the rows",
        )
    return batches[0]


@contextmanager
def forgetting(name: Callable[[ForgetError], str]) -> Iterator[None]:
    """Name the column in the error of rows that cannot be forgotten: sums know its number."""
    try:
        yield
    except ForgetError as error:
        if error.column is None:
            raise
        raise ForgetError(f"column {name(error)!r}: {error.fact}", error.rule) from None


def lost_digits(column: str, loss: Loss) -> str:
    """Say which variance lost digits when large values were forgotten, and what to do."""
    others = f" (and {loss.others} more)" if loss.others else ""
    digits = f"{loss.digits} of 16 digits are" if loss.digits else "no digit is"
    fact = f"column {column!r}{others}: values far larger than those that stay were forgotten"
    return f"{fact}, and {digits} left of the variance; fit the remaining rows anew"
