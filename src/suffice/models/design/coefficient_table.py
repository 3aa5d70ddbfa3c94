"""Coefficients in print: one row each, and every number to the digits that its error leaves it."""

from __future__ import annotations

import numpy as np

from suffice.numerics.in_print import probability

__all__ = ["header", "percents", "row", "rows_left_out"]

DIGITS = 4  # significant digits of a standard error, which its estimate is printed to
MOST_DECIMALS = 9


def percents(level: float) -> tuple[str, str]:
    """Titles of the ends of central intervals.

    Examples
    --------
    >>> percents(0.9)
    ('5 %', '95 %')
    """
    return f"{100 * (1 - level) / 2:.4g} %", f"{100 * (1 + level) / 2:.4g} %"


def header(statistic: str, level: float) -> list[str]:
    """Titles of the columns that `row` fills."""
    tests = f"{statistic} value", f"Pr(>|{statistic}|)"
    return ["", "Estimate", "Std. Error", *tests, *percents(level)]


def rows_left_out(weight: float) -> list[str]:
    """The line that says how many rows were left out, if some were."""
    return [f"Rows left out for missing cells: {weight:g}"] if weight else []


def row(
    term: str, estimate: float, error: float, statistic: float, p: float, *ends: float
) -> list[str]:
    """A coefficient, its standard error, test statistic, p-value and interval as cells.

    Examples
    --------
    >>> row("size", -0.950049, 0.038733, -24.5279, 5.1e-88, -1.02615, -0.87395)
    ['size', '-0.95005', '0.03873', '-24.53', '<2e-16', '-1.02615', '-0.87395']
    >>> row("size", -0.950049, *[float("nan")] * 5)
    ['size', '-0.950049', '', '', '', '', '']
    """
    decimals = DIGITS - 1 - int(np.floor(np.log10(error))) if error > 0.0 else None
    form = f".{DIGITS + 2}g"
    if decimals is not None and decimals <= MOST_DECIMALS:
        form = f".{max(decimals, 0)}f"
    tests = "" if np.isnan(statistic) else f"{statistic:.2f}", "" if np.isnan(p) else probability(p)
    cells = ["" if np.isnan(value) else f"{value:{form}}" for value in (error, *ends)]
    return [term, f"{estimate:{form}}", cells[0], *tests, *cells[1:]]
