"""Sums of the log probabilities of words drawn from every class: what texts are compared with.

A multinomial model of texts does not say how long they are. So a text of N words is compared with
texts of N words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.multinomial import MultinomialParameters
from suffice.numerics.logspace import safe_log
from suffice.statistics.batch import Batch

__all__ = ["WordSums", "lengths_of", "text_parts", "unknown_words"]

MOST_WORDS = 2**24  # drawn for one length of texts, but for 100 texts at least
BLOCK = 64  # words drawn at a time


@dataclass(frozen=True)
class WordSums:
    """Texts drawn from every class, of any length.

    The words of a text do not depend on how many of them are asked for, nor on other lengths: so
    what is said of a row does not depend on its neighbours.

    Parameters
    ----------
    seed : int
    texts : int
        M, how many are drawn from a class; fewer of long ones.
    """

    seed: int
    texts: int

    def number(self, length: int) -> int:
        """How many texts of so many words are drawn."""
        return min(self.texts, max(100, MOST_WORDS // max(length, 1)))

    def sums(
        self, parameters: MultinomialParameters, part: int, lengths: Sequence[int]
    ) -> dict[int, NDArray[np.float64]]:
        """Σ log θ of the words of texts of each class, (k, M), by the length of the texts."""
        by_class = [self._of_class(row, part, c, lengths) for c, row in enumerate(parameters.theta)]
        return {n: np.stack([found[n] for found in by_class]) for n in set(lengths)}

    def _of_class(
        self, theta: NDArray[np.float64], part: int, c: int, lengths: Sequence[int]
    ) -> dict[int, NDArray[np.float64]]:
        asked = sorted(set(lengths))
        found = {0: np.zeros(self.number(0))} if asked[0] == 0 else {}
        asked = [n for n in asked if n]
        ends, terms = np.cumsum(theta), safe_log(theta)
        sums = np.zeros(self.number(asked[0]) if asked else 0)
        for block in range(-(-asked[-1] // BLOCK) if asked else 0):
            first = block * BLOCK
            ahead = [n for n in asked if n > first]
            sums = sums[: self.number(ahead[0])]
            random = np.random.default_rng([self.seed, part, c, block])
            chance = random.random((len(sums), BLOCK)) * ends[-1]
            drawn = terms[np.minimum(np.searchsorted(ends, chance, "right"), len(ends) - 1)]
            running = sums[:, None] + np.cumsum(drawn, axis=1)
            for n in ahead:
                if n <= first + BLOCK:
                    found[n] = running[: self.number(n), n - first - 1].copy()
            sums = running[:, -1]
        return found


def text_parts(parameters: Sequence[Any]) -> list[int]:
    """Which parts of a model are texts whose words are drawn one by one."""
    return [
        b
        for b, found in enumerate(parameters)
        if isinstance(found, MultinomialParameters) and not found.events.closed
    ]


def lengths_of(parameters: Sequence[Any], batch: Batch) -> NDArray[np.intp]:
    """How many known words every text of a row has, (n, texts); 0 where it is missing."""
    found = [np.zeros((batch.rows, 0))]
    for b in text_parts(parameters):
        block: Any = batch.blocks[b]
        words = block.merged().counts(parameters[b].events).sum(axis=1)
        found.append(np.where(block.missing, 0.0, np.reshape(words, (-1, 1))))
    return np.concatenate(found, axis=1).astype(np.intp)


def unknown_words(parameters: Sequence[Any], batch: Batch) -> NDArray[np.intp]:
    """How many words of the texts of a row no training row showed, (n,)."""
    found = np.zeros(batch.rows, np.intp)
    for b in text_parts(parameters):
        block: Any = batch.blocks[b]
        unknown = block.reindex(parameters[b].events) == len(parameters[b].events)
        row = np.repeat(np.arange(block.rows), np.diff(block.indptr))
        found += np.bincount(row[unknown], minlength=batch.rows)
    return found
