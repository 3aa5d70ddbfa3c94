"""A dear candidate is judged on one fold first, and on all only if it may be among the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.ensemble.candidates import IMPOSSIBLE

__all__ = ["DEAR", "LEAST_ROWS", "is_behind"]

DEAR = ("rda",)
"""Candidates that are fitted to every fold anew, while sums of the others serve all folds."""

LEAST_ROWS = 2_000  # of a fold: fewer rows cost little, and tell little
MARGIN = 3.0  # standard errors


def is_behind(first: Any, others: Mapping[str, Any], best: int) -> bool:
    """Whether a candidate is worse than so many others on the first fold, beyond chance.

    The losses are compared row by row; the mean difference is to be 3 standard errors above 0.

    Parameters
    ----------
    first : FoldEvaluations
        Of the first fold alone.
    others : mapping of str to FoldEvaluations or Exception
        Of all folds.
    best : int
        How many are averaged.

    Source: O. Maron, A. W. Moore, Hoeffding races (NIPS 6, 1994), here with normal errors.
    """
    mine, weights = _losses(first)
    if len(mine) < LEAST_ROWS:
        return False
    better = 0
    for other in others.values():
        if isinstance(other, Exception):
            continue
        theirs, _ = _losses(other)
        apart = mine - theirs
        mean = np.average(apart, weights=weights)
        error = np.sqrt(np.average((apart - mean) ** 2, weights=weights) / len(apart))
        better += bool(mean > MARGIN * error)
    return better >= best


def _losses(found: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """−log P(y | x) of the rows of the first fold, and their weights."""
    rows = found.label_scores[0]
    return np.minimum(-rows[:, 0], IMPOSSIBLE), rows[:, 1]
