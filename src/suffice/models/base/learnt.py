"""What an exact model is a function of: how tables are read, and the sums over their rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

from suffice.errors import ForgetError, warn
from suffice.models.base.checks import forgetting
from suffice.models.base.reader import TableReader
from suffice.models.base.streams import forgettable, side_by_side, succeeded
from suffice.phrases import Option, Phrase
from suffice.statistics.comparison import Comparison
from suffice.statistics.lost_digits import Loss, losses
from suffice.statistics.statistic import tree_sum

__all__ = ["ExactReader", "Learnt"]


class ExactReader(TableReader):
    """A reader that knows what its sums are about."""

    @abstractmethod
    def column(self, place: ForgetError | Loss) -> str:
        """The column whose sums show that rows cannot be forgotten, or at a price."""

    @abstractmethod
    def check_compatible(self, statistic: Any, other: Any, others: Any, verb: str) -> None:
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
    def merged(self, other: Any) -> Self:
        """The reader of both models' tables.

        Raises
        ------
        SchemaError
            If there is none.
        """

    @abstractmethod
    def compare(self, statistic: Any, other: Any, others: Any) -> Comparison:
        """What divides the rows of two statistics."""

    def narrowed(self, statistic: Any) -> Learnt:
        """The reader and the sums once rows are forgotten."""
        return Learnt(self, (statistic,))


class Learnt(NamedTuple):
    """All that a model is a function of: how tables are read, and the sums over their rows.

    Parameters
    ----------
    reader : ExactReader
    batches : tuple of statistics
        The oldest first: one, or one for each batch of a window.
    """

    reader: Any
    batches: tuple[Any, ...]

    @property
    def statistic(self) -> Any:
        """Their sum."""
        return tree_sum(self.batches)

    def followed_by(self, newest: Any, decay: float, window: int | None) -> Learnt:
        """With one more batch; see `suffice.models.base.streams.succeeded`."""
        return Learnt(self.reader, succeeded(self.batches, newest, decay, window))

    def without(self, gone: Any, row: str) -> Learnt:
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
        narrowed: Learnt = self.reader.narrowed(rest)
        return narrowed

    def check_compatible(self, other: Learnt, verb: str) -> None:
        """Refuse sums of other columns; see `ExactReader.check_compatible`."""
        self.reader.check_compatible(self.statistic, other.reader, other.statistic, verb)

    def merged(self, other: Learnt) -> Learnt:
        """With all that another has learnt, the newest batch added to the newest."""
        return Learnt(self.reader.merged(other.reader), side_by_side(self.batches, other.batches))

    def compare(self, other: Learnt) -> Comparison:
        """What divides the rows of both."""
        found: Comparison = self.reader.compare(self.statistic, other.reader, other.statistic)
        return found


def lost_digits(column: str, loss: Loss) -> Phrase:
    """Say which variance lost digits when large values were forgotten, and what to do."""
    others = f" (and {loss.others} more)" if loss.others else ""
    digits = f"{loss.digits} of 16 digits are" if loss.digits else "no digit is"
    fact = f"column {column!r}{others}: values far larger than those that stay were forgotten"
    exact = Phrase(", or with ", Option("precision", "'exact'"), ", which loses none")
    return Phrase(
        f"{fact}, and {digits} left of the variance; fit the remaining rows anew",
        exact if loss.single else "",
    )
