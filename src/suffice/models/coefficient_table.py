"""Coefficients in print: one row each, and every number to the digits that its error leaves it."""

from __future__ import annotations

import numpy as np

from suffice.numerics.in_print import probability

__all__ = ["row"]

DIGITS = 4  # significant digits of a standard error, which its estimate is printed to
MOST_DECIMALS = 9


def row(term: str, estimate: float, error: float, statistic: float, p: float) -> list[str]:
    """A coefficient, its standard error, its test statistic and p-value as cells.

    Examples
    --------
    >>> row("size", -0.950049, 0.038733, -24.5279, 5.1e-88)
    ['size', '-0.95005', '0.03873', '-24.53', '<2e-16']
    """
    decimals = DIGITS - 1 - int(np.floor(np.log10(error))) if error > 0.0 else None
    form = f".{DIGITS + 2}g"
    if decimals is not None and decimals <= MOST_DECIMALS:
        form = f".{max(decimals, 0)}f"
    numbers = f"{estimate:{form}}", f"{error:{form}}"
    return [term, *numbers, f"{statistic:.2f}", probability(p)]
