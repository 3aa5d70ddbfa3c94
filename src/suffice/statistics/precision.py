"""How sums are held: as whole numbers, as pairs of doubles, or as doubles."""

from __future__ import annotations

from typing import Any, Literal

from suffice.errors import ParameterError
from suffice.phrases import Option, Phrase
from suffice.statistics.exact_moments import ExactMoments, ExactMomentsAccumulator
from suffice.statistics.moments import Moments, MomentsAccumulator

__all__ = [
    "FORMERLY_EXACT",
    "AnyMoments",
    "PrecisionOfMoments",
    "PrecisionOfProducts",
    "check_precision_of_moments",
    "check_precision_of_products",
    "moments_accumulator",
]

PrecisionOfMoments = Literal["pairs", "exact"]
PrecisionOfProducts = Literal["pairs", "double"]
AnyMoments = Moments | ExactMoments
FORMERLY_EXACT = {"former_values": {"exact": "pairs"}}
"""Of a field: pairs of products were called exact before there were exact moments."""


def check_precision_of_moments(precision: Any) -> None:
    """Refuse what is no form of the sums of single columns.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if precision not in ("pairs", "exact"):
        raise ParameterError(
            Option.of("precision", precision), "precision is 'pairs' or 'exact' for single columns"
        )


def check_precision_of_products(precision: Any) -> None:
    """Refuse what is no form of the sums of products of columns.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if precision == "exact":
        raise ParameterError(
            Option.of("precision", precision),
            "products of columns are summed as pairs of doubles, of 106 bits, or as doubles",
            Phrase("use ", Option.of("precision", "pairs")),
        )
    if precision not in ("pairs", "double"):
        raise ParameterError(
            Option.of("precision", precision), "precision is 'pairs' or 'double' for products"
        )


def moments_accumulator(
    precision: PrecisionOfMoments, d: int
) -> MomentsAccumulator | ExactMomentsAccumulator:
    """An empty accumulator of the moments of d columns."""
    return ExactMomentsAccumulator(d) if precision == "exact" else MomentsAccumulator(d)
