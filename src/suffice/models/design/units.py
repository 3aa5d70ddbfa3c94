"""What coefficients are per: units of dates and times, and values that others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from suffice.data.schema import Column, UniformColumns
from suffice.models.design.normal_equations import Weights
from suffice.models.design.terms import Terms

MOST_NAMED = 8


def measures(terms: Terms, columns: Sequence[Column]) -> tuple[str, ...]:
    """Lines that say what coefficients are compared with, and per what they are.

    Examples
    --------
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> measures(Terms(("hue",), ("price",), {"hue": Vocabulary(("blue", "red"))}), ())
    ('Categories are compared with hue[blue].',)
    """
    names = terms.reference_terms
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    compared = f"Categories are compared with {', '.join(names[:MOST_NAMED])}{more}."
    return (*([compared] if names else []), *units(columns))


def units(columns: Sequence[Column]) -> tuple[str, ...]:
    """A line for every column of times: the unit that its numbers are in.

    Examples
    --------
    >>> from suffice.data.schema import DATES
    >>> units([Column("sold", "time", "real", DATES), Column("size", "number", "real", "numbers")])
    ('sold: dates, in seconds since 1970-01-01',)
    """
    if isinstance(columns, UniformColumns):
        return ()
    return tuple(f"{c.name}: {c.reason}" for c in columns if c.stored == "time")


class HasWeights(Protocol):
    """The rows of a fit, as sums or as they are."""

    @property
    def weights(self) -> Weights:
        """What the weights of rows are, besides their sum."""
        ...

    @property
    def rows(self) -> float:
        """Weight of the rows."""
        ...


def said_of_weights(equations: HasWeights) -> tuple[str, ...]:
    """Lines that say what weights add up to, and what they were taken for, if there are any."""
    weights, total = equations.weights, equations.rows
    if weights.precisions:
        return (
            f"Weights are precisions, known up to a factor (weights_are: precisions). Sum of "
            f"weights: {total:g}",
        )
    if not weights.count or (weights.count == total and not weights.fractional):
        return ()
    line = f"A weight is so many copies of its row (weights_are: copies). Sum of weights: {total:g}"
    if not weights.fractional:
        return (line,)
    return (
        line,
        f"{weights.fractional:,} of the weights are no whole numbers: if they are inverse "
        "variances, weights_are: precisions gives errors that do not depend on their scale.",
    )
