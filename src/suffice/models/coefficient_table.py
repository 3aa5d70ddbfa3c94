"""Coefficients in print: one row each, and every number to the digits that its error leaves it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["aligned", "probability", "row"]

SMALLEST_P = 2e-16  # smaller p-values are printed as such, as R does
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


def probability(p: float) -> str:
    """A p-value to three digits.

    Examples
    --------
    >>> probability(0.04321), probability(0.0)
    ('0.0432', '<2e-16')
    """
    return f"<{SMALLEST_P:.0g}" if p < SMALLEST_P else f"{p:.3g}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right.

    Examples
    --------
    >>> aligned([["", "t"], ["size", "-24.53"]])
    ['           t', 'size  -24.53']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
