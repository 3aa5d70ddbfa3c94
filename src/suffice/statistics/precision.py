"""How sums are held: as whole numbers, as pairs of doubles, or as doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from suffice.errors import ParameterError
from suffice.phrases import Option
from suffice.statistics.comoments import Comoments
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.exact_comoments import ExactComoments
from suffice.statistics.exact_comoments_accumulator import ExactComomentsAccumulator
from suffice.statistics.exact_moments import ExactMoments, ExactMomentsAccumulator
from suffice.statistics.moments import Moments, MomentsAccumulator

__all__ = [
    "MOMENTS_ACCUMULATORS",
    "AnyComoments",
    "AnyMoments",
    "PrecisionOfMoments",
    "PrecisionOfProducts",
    "check_precision_of_products",
    "comoments_accumulator",
]

PrecisionOfMoments = Literal["pairs", "exact"]
PrecisionOfProducts = Literal["pairs", "exact", "double"]
AnyMoments = Moments | ExactMoments
AnyComoments = Comoments | ExactComoments
MOMENTS_ACCUMULATORS: dict[
    PrecisionOfMoments, Callable[[int], MomentsAccumulator | ExactMomentsAccumulator]
] = {"pairs": MomentsAccumulator, "exact": ExactMomentsAccumulator}
"""Makers of empty accumulators of the moments of d columns."""


def check_precision_of_products(precision: Any) -> None:
    """Refuse what is no form of the sums of products of columns.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if precision not in get_args(PrecisionOfProducts):
        raise ParameterError(
            Option.of("precision", precision),
            "precision is 'pairs', 'exact' or 'double' for products",
        )


def comoments_accumulator(
    precision: PrecisionOfProducts, d: int, pooled: bool = False
) -> ComomentsAccumulator | ExactComomentsAccumulator:
    """An empty accumulator of the co-moments of d columns."""
    if precision == "exact":
        return ExactComomentsAccumulator(d, pooled)
    return ComomentsAccumulator(d, pooled, exact=precision == "pairs")
