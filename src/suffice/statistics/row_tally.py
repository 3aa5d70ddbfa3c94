"""How many rows there are, whatever they weigh: what sums of weights do not tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.elementary import log

__all__ = ["LOG_UNIT", "UNKNOWN", "Tally", "gathered", "scaled_tally", "tallied", "tally_sum"]

Tally = NDArray[np.int64]
"""Of every group, (g, 3): rows, rows whose weight is no whole number, and Σ log w in units.

Of sums of which these are not known, (0, 3).
"""

LOG_UNIT = 2.0**-32
"""Whole numbers of it add up to the same in any order, to 1e-10 of a row."""

UNKNOWN: Tally = np.empty((0, 3), np.int64)


def tallied(group: NDArray[np.intp], weights: NDArray[np.float64], groups: int) -> Tally:
    """The tally of rows of the groups (n,), of which -1 is none, with weights (n,) or (0,).

    Examples
    --------
    >>> tallied(np.array([0, 1, 0]), np.array([1.0, 2.5, 2.0]), 2)[:, :2]
    array([[2, 0],
           [1, 1]])
    """
    found = np.zeros((groups, 3), np.int64)
    known = group >= 0
    if not len(weights):
        found[:, 0] = np.bincount(group[known], minlength=groups)
        return found
    known &= weights > 0
    group, weights = group[known], weights[known]
    logs = np.rint(log(weights) / LOG_UNIT).astype(np.int64)
    parts = np.ones_like(logs), (weights != np.rint(weights)).astype(np.int64), logs
    np.add.at(found, group, np.stack(parts, axis=1))
    return found


def gathered(tally: Tally, place: NDArray[np.intp], groups: int) -> Tally:
    """The same at their places among other groups; several may go to one."""
    if len(tally) != len(place):
        return UNKNOWN
    found = np.zeros((groups, 3), np.int64)
    np.add.at(found, place, tally)
    return found


def tally_sum(one: Tally, other: Tally, sign: float = 1.0) -> Tally:
    """The sum, or the difference, of the tallies of the same groups."""
    return one + int(sign) * other if len(one) == len(other) else UNKNOWN


def scaled_tally(tally: Tally, factor: float) -> Tally:
    """The tally of rows whose weights are multiplied: as many rows, of other logarithms."""
    found = tally.copy()
    if factor > 0:
        found[:, 2] += found[:, 0] * np.int64(round(float(log(np.float64(factor))) / LOG_UNIT))
    return found
