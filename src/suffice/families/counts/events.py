"""Counts of numbered events, or of the words of a text, and tables of terms by event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.sums.counts import Events
from suffice.sums.vocabulary import Vocabulary

__all__ = ["by_event", "event_features", "most_telling", "takes_events"]


def most_telling(
    words: tuple[Any, ...], values: NDArray[np.float64], terms: NDArray[np.float64], most: int = 20
) -> dict[Any, list[float]]:
    """The words whose terms (k, m) differ most between classes, with their values (k, m)."""
    spread = terms.max(axis=0) - terms.min(axis=0)
    order = np.lexsort((np.arange(len(spread)), -spread))[:most]
    return {words[v]: values[:, v].tolist() for v in order}


def takes_events(statistic: Any, encoding: str, d: int) -> bool:
    """Whether a statistic counts the words of a text, or d numbered events; or nothing as yet."""
    if type(statistic) is not Events:
        return False
    (events,) = statistic.vocabularies
    if not len(events) and not statistic.k:
        return True
    return statistic.d == d and (events.closed or encoding == "events")


def event_features(events: Vocabulary) -> tuple[Any, ...]:
    """The features of a form in events: columns of counts, or words of the column 0, a text."""
    return events.values if events.closed else tuple((0, word) for word in events.values)


def by_event(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Terms (k, m) as a kernel reads them: (m, k), k rounded up to whole class tiles.

    Every class tile begins at a multiple of 64 bytes, so that it is one line of the cache.
    """
    (k, m), tile = terms.shape, kernels.scores.CLASS_TILE
    width = -(-k // tile) * tile
    memory = np.zeros(m * width + tile)
    first = -memory.ctypes.data % 64 // memory.itemsize
    table = memory[first : first + m * width].reshape(m, width)
    table[:, :k] = terms.T
    return table
