"""What an exact model is a function of: how tables are read, and the sums over their rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from suffice.errors import ForgetError, warn
from suffice.models.base.checks import forgetting
from suffice.models.base.reader import TableReader
from suffice.models.base.streams import forgettable, side_by_side, succeeded
from suffice.sums.base import FadingStatistic, tree_sum
from suffice.sums.by_class import Loss, losses
from suffice.sums.comparison import Comparison

__all__ = ["ExactReader", "KeptSums", "Learnt"]


class KeptSums(FadingStatistic, Protocol):
    """Sums that a model is a function of."""

    @property
    def is_empty(self) -> bool:
        """Whether they are sums over no row."""
        ...


S = TypeVar("S", bound=KeptSums)
R = TypeVar("R", bound="ExactReader[Any]")


class ExactReader(TableReader, Generic[S]):
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
        other : ExactReader
            That of the other model.
        others
            Its sums.
        verb : str
            What is done to the two, such as "merged".

        Raises
        ------
        SchemaError
            Naming the first difference.
        """

    @abstractmethod
    def merged(self, other: Self) -> Self:
        """The reader of both models' tables.

        Raises
        ------
        SchemaError
            If there is none.
        """

    @abstractmethod
    def compare(self, statistic: S, other: Self, others: S) -> Comparison:
        """What divides the rows of two statistics."""

    def narrowed(self, statistic: S) -> Learnt[Self, S]:
        """The reader and the sums once rows are forgotten."""
        return Learnt(self, (statistic,))


class Learnt(NamedTuple, Generic[R, S]):
    """All that a model is a function of: how tables are read, and the sums over their rows.

    Parameters
    ----------
    reader : ExactReader
    batches : tuple of statistics
        The oldest first: one, or one for each batch of a window.
    """

    reader: R
    batches: tuple[S, ...]

    @property
    def statistic(self) -> S:
        """Their sum."""
        return tree_sum(self.batches)

    def followed_by(self, newest: S, decay: float, window: int | None) -> Learnt[R, S]:
        """With one more batch; see `suffice.models.base.streams.succeeded`."""
        return Learnt(self.reader, succeeded(self.batches, newest, decay, window))

    def without(self, gone: S, row: str) -> Learnt[R, S]:
        """Without some rows; errors call one a ``row``.

        A warning tells of variances that lost digits by it.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt, or none would be left.
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

    def check_compatible(self, other: Learnt[R, S], verb: str) -> None:
        """Refuse sums of other columns; see `ExactReader.check_compatible`."""
        self.reader.check_compatible(self.statistic, other.reader, other.statistic, verb)

    def merged(self, other: Learnt[R, S]) -> Learnt[R, S]:
        """With all that another has learnt, the newest batch added to the newest."""
        return Learnt(self.reader.merged(other.reader), side_by_side(self.batches, other.batches))

    def compare(self, other: Learnt[R, S]) -> Comparison:
        """What divides the rows of both."""
        return self.reader.compare(self.statistic, other.reader, other.statistic)


def lost_digits(column: str, loss: Loss) -> str:
    """Say which variance lost digits when large values were forgotten, and what to do."""
    others = f" (and {loss.others} more)" if loss.others else ""
    digits = f"{loss.digits} of 16 digits are" if loss.digits else "no digit is"
    fact = f"column {column!r}{others}: values far larger than those that stay were forgotten"
    return f"{fact}, and {digits} left of the variance; fit the remaining rows anew"
