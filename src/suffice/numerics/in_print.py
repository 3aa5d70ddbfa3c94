"""In print: tables of plain text, lists, p-values, bounds, and shares that are explained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "NAMED",
    "aligned",
    "bound",
    "criterion",
    "explained",
    "listed",
    "probability",
    "steps",
]

NAMED = 5  # columns that a message names; of the others it says how many they are
SMALLEST_P = 2e-16  # smaller p-values are printed as such, as R does


def probability(p: float) -> str:
    """A p-value to three digits.

    Examples
    --------
    >>> probability(0.04321), probability(0.0)
    ('0.0432', '<2e-16')
    """
    return f"<{SMALLEST_P:.0g}" if p < SMALLEST_P else f"{p:.3g}"


def bound(value: float) -> str:
    """A positive number, rounded up to one digit: no more than that.

    Examples
    --------
    >>> bound(1.29e-12), bound(2e-12), bound(9.5e-13)
    ('2e-12', '2e-12', '1e-12')
    """
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.0e}"


def criterion(value: float) -> str:
    """A log-likelihood, AIC or BIC: of two models the difference tells, so two decimals at least.

    Examples
    --------
    >>> criterion(-123456.789), criterion(0.01234567)
    ('-123456.79', '0.01235')
    """
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4g}"


def explained(unexplained: float) -> str:
    """R², from 1 − R²: to four digits, where it is nearly 1 by what it lacks.

    Examples
    --------
    >>> explained(0.4559), explained(3.25e-18), explained(0.0)
    ('0.5441', '1 − 3.25e-18', '1')
    """
    return f"1 − {unexplained:.3g}" if 0 < unexplained < 5e-5 else f"{1 - unexplained:.4g}"


def listed(items: Iterable[str], most: int = 10) -> str:
    """The first items, and how many more there are.

    Examples
    --------
    >>> listed("abc"), listed("abcdef", most=4)
    ('a, b, c', 'a, b, c, d and 2 more')
    """
    every = list(items)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


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


def steps(columns: Mapping[str, Sequence[float]], most: int = 10) -> list[str]:
    """Lines of a table of many rows: the first, the last, and some between, evenly spaced.

    Examples
    --------
    >>> steps({"alpha": [1.0, 0.5, 0.25], "RSS": [8.0, 7.5, 7.25]}, most=2)
    ['alpha   RSS', '1         8', '0.25   7.25']
    """
    n = len(next(iter(columns.values())))
    shown = sorted({round(i * (n - 1) / (most - 1)) for i in range(most)}) if n > most else range(n)
    return aligned([[*columns], *([f"{c[i]:.4g}" for c in columns.values()] for i in shown)])
