"""Coefficients as a notebook shows them, with bars in units that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.in_html import html_table

__all__ = ["coefficient_tables"]

TERMS, TABLES = 20, 4  # that are shown


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
        tables.append(html_table(f"{title}{more}", header, rows, moves[order].tolist()))
    if left := len(titles) - len(tables):
        tables.append(html_table(f"and {left:,} more", [], []))
    return "".join(tables)
