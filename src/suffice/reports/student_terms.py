"""Columns that are Student-t in every class, in few numbers: the terms of a page that are largest.

::

    log p(x | c) = G_i + ½ log s − (ν_i + 1)/2 · log(1 + s(x − m)²)

of m, s and the kind i, that classes and columns of as many rows share.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from suffice.numerics.elementary import log_of

__all__ = ["Kind", "digits_before_point", "with_student_terms"]

DIGITS = 15  # of s
PLACES = 13  # of m, in standard deviations
SAME = 9  # decimal places of G

Kind = tuple[float, float]


def with_student_terms(terms: list[dict[str, Any]]) -> list[Kind]:
    """Write terms in place that are Student-t in every class; return the kinds.

    ``student`` has m, s, i, and the low part of m if there is one, of every class. A kind is
    −(ν + 1)/2 and G.
    """
    known: dict[tuple[float, float], int] = {}
    kinds: list[Kind] = []
    for term in terms:
        found = [_student(tree) for tree in term.get("by", ())]
        if not found or None in found:
            continue
        rows = []
        for m, low, s, power, constant in filter(None, found):
            base = constant - 0.5 * log_of(s)
            key = power, round(base, SAME)
            if key not in known:
                known[key] = len(kinds)
                kinds.append((power, base))
            places = max(0, PLACES + digits_before_point(sqrt(s * -power)))
            short = round(m, places) if low == 0 else m
            rows.append([short, float(f"{s:.{DIGITS}g}"), known[key], *([low] if low else [])])
        del term["by"]
        term["student"] = rows
    return kinds


def _student(tree: Any) -> tuple[float, float, float, float, float] | None:
    """m, its low part, s, −(ν + 1)/2 and the constant of a tree, if it is one of such a density."""
    match tree:
        case ["+", float(c), ["*", float(p), ["log1p", ["*", float(s), ["square", about]]]]]:
            pass
        case _:
            return None
    match about:
        case ["x", int()]:
            return 0.0, 0.0, s, p, c
        case ["+", ["x", int()], float(m)]:
            return -m, 0.0, s, p, c
        case ["+", ["x", int()], float(m), float(low)]:
            return -m, -low, s, p, c
    return None


def digits_before_point(number: float) -> int:
    """How many digits a positive number has before its point; of 0.001 less than none.

    Examples
    --------
    >>> digits_before_point(999.0), digits_before_point(0.5), digits_before_point(0.001)
    (3, 0, -2)
    """
    return int(f"{number:e}".partition("e")[2]) + 1
