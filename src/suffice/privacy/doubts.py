"""What the doubts tell that sets of classes rest on, and doubts that tell less.

Each is 1 − P(c | x) of one row, to the last bit. Whoever has a row can look whether it is there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suffice.models.base.label_sets import Doubts
from suffice.privacy.finding import Finding

__all__ = ["rounded_doubts", "told_by_doubts"]

STEP = 2.0**-10  # of doubts that are rounded


def told_by_doubts(doubts: Doubts, m: float) -> Iterator[Finding]:
    """Say whether doubts are those of single rows, or of fewer than m."""
    q = len(doubts.quantiles) - 1
    if q > 0 and (doubts.rows < m * q or (doubts.quantiles % STEP).any()):
        told = f"{q + 1:,} quantiles of 1 - P(class) of {doubts.rows:g} rows"
        yield Finding("doubts of rows", None, None, told, 1.0)


def rounded_doubts(doubts: Doubts, m: float) -> Doubts:
    """The same at levels m rows apart, rounded upwards: sets are as large or larger.

    Examples
    --------
    >>> rows = Doubts.of(np.linspace(0.5, 1, 101), np.ones(101))
    >>> rounded_doubts(rows, 20).quantiles.tolist()
    [0.0, 0.1005859375, 0.2001953125, 0.30078125, 0.400390625, 1.0]
    """
    levels, q = len(doubts.quantiles) - 1, int(doubts.rows // m)
    if levels < 1 or q < 1:
        return Doubts(np.zeros(0), doubts.rows)
    q = min(q, levels)
    at = np.ceil(np.arange(q + 1) / q * levels - 1e-9).astype(np.intp)
    found = np.minimum(np.ceil(doubts.quantiles[at] / STEP) * STEP, 1.0)
    found[0], found[-1] = 0.0, 1.0  # those of single rows
    return Doubts(found, doubts.rows)
