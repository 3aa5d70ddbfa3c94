"""What the doubts tell that sets of classes rest on.

Each is 1 − P(c | x) of one row, to the last bit. Whoever has a row can look whether it is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from suffice.models.base.label_sets import Doubts
from suffice.privacy.finding import Finding

__all__ = ["told_by_doubts"]


def told_by_doubts(doubts: Doubts) -> Iterator[Finding]:
    """Say that quantiles of doubts are those of single rows."""
    q = len(doubts.quantiles) - 1
    if q > 0:
        told = f"{q + 1:,} quantiles of 1 - P(class) of {doubts.rows:g} rows"
        yield Finding("doubts of rows", None, None, told, 1.0)
