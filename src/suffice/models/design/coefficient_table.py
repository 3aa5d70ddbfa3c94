"""Coefficients in print, every number to the digits that its error leaves it; and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.in_print import Table, probability

DIGITS = 4  # significant digits of a standard error, which its estimate is printed to
MOST_DECIMALS = 9
TERMS, TABLES = 20, 4  # that a notebook shows


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


def coefficient_tables(
    model: Any,
    outcomes: Sequence[Any],
    terms: Sequence[str],
    coefficients: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> str:
    """A table for each target or class, the terms that move it most first.

    Parameters
    ----------
    model : estimator
        Whose coefficients they are.
    outcomes : sequence of r targets or classes
        Or two classes, of which the second has the coefficients.
    terms : sequence of p str
    coefficients : ndarray (r, p)
    scale : ndarray (p,)
        Standard deviations of the terms. A bar is the coefficient times that: what one standard
        deviation of the term adds.
    """
    name = type(model).__name__
    titles = [f"{name} of {outcome}" for outcome in outcomes]
    if len(coefficients) == 1 and len(outcomes) == 2:
        titles = [f"{name} of {outcomes[1]} against {outcomes[0]}"]
    tables = []
    for title, own in zip(titles[:TABLES], coefficients, strict=False):
        moves = own * scale
        order = np.argsort(-np.abs(moves), kind="stable")[:TERMS].tolist()
        left = len(terms) - len(order)
        more = f"; {left:,} more terms" if left else ""
        header = ["term", "coefficient", "per standard deviation"]
        rows = [[terms[j], f"{own[j]:.4g}", f"{moves[j]:+.3g}"] for j in order]
        bars = moves[order].tolist()
        tables.append(Table(f"{title}{more}", header, rows, bars=bars).html())
    if left := len(titles) - len(tables):
        tables.append(Table(f"and {left:,} more", [], []).html())
    return "".join(tables)
