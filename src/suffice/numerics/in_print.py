"""Numbers in print: tables of plain text, and p-values."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned", "probability"]

SMALLEST_P = 2e-16  # smaller p-values are printed as such, as R does


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
