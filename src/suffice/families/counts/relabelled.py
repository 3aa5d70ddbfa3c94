"""Categories under many labelings: counts by class and fold, and scores by tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.relabelled.rows import AddScores
from suffice.numerics import kernels
from suffice.numerics.logspace import safe_log
from suffice.statistics.block import CodedBlock, IntegerBlock
from suffice.statistics.labelings import Labelings
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["RelabelledCodes", "ScoresOfColumn", "outcome_scores", "value_scores"]

MOST_INDICATORS = 8_388_608  # of all values of all rows, 64 MB
ABREAST = kernels.scores.CLASS_TILE

ScoresOfColumn = Callable[[int, Vocabulary, NDArray[np.float64]], NDArray[np.float64] | None]
"""What the values of a column say, log p (k, models, m), from its number, its values, and how often
each class showed each of them where a model learnt, (k, models, m). None where only a fit can tell.
"""


@dataclass(frozen=True, eq=False)
class RelabelledCodes:
    """Categories by the place of each value among those of all columns.

    Parameters
    ----------
    scores_of : callable
        See `ScoresOfColumn`.
    vocabularies : sequence of d Vocabulary
    places : ndarray of int32 (n, d)
        The last place of a column stands for missing cells.
    indicators : ndarray (n, T)
        1 at each of these places.
    """

    scores_of: ScoresOfColumn
    vocabularies: Sequence[Vocabulary]
    places: NDArray[np.int32]
    indicators: NDArray[np.float64]

    @classmethod
    def of(cls, scores_of: ScoresOfColumn, blocks: Sequence[Any]) -> Self | None:
        """The rows of blocks; None if they are texts, or show too many values."""
        if not all(isinstance(block, CodedBlock | IntegerBlock) for block in blocks):
            return None
        coded = [block.coded() for block in blocks]
        vocabularies = coded[0].vocabularies
        for block in coded[1:]:
            pairs = zip(vocabularies, block.vocabularies, strict=True)
            vocabularies = tuple(mine | theirs for mine, theirs in pairs)
        codes = np.concatenate([block.recode(vocabularies) for block in coded])
        sizes = np.array([len(v) for v in vocabularies], np.intp)
        offsets = np.concatenate([[0], np.cumsum(sizes + 1)])
        places = (np.where(codes < 0, sizes, codes) + offsets[:-1]).astype(np.int32)
        wide = -(-int(offsets[-1]) // ABREAST) * ABREAST
        if len(places) * wide > MOST_INDICATORS:
            return None
        indicators = np.zeros((len(places), wide))
        np.put_along_axis(indicators, places.astype(np.intp), 1.0, axis=1)
        return cls(scores_of, vocabularies, places, indicators)

    def scores(self, labelings: Labelings) -> AddScores | None:
        """See `suffice.families.relabelled.rows.Relabelled`."""
        k, models = labelings.k, len(labelings) * labelings.f
        counts = labelings.learnt(labelings.sums(self.indicators)).reshape(models, k, -1)
        table = np.zeros((models, counts.shape[2], -(-k // ABREAST) * ABREAST))
        start = 0
        for j, vocabulary in enumerate(self.vocabularies):
            stop = start + len(vocabulary)
            of_column = np.ascontiguousarray(counts[:, :, start:stop].transpose(1, 0, 2))
            found = self.scores_of(j, vocabulary, of_column)
            if found is None:
                return None
            table[:, start:stop, :k] = found.transpose(1, 2, 0)
            start = stop + 1

        def add(first: int, out: NDArray[np.float64]) -> None:
            kernels.labelings.add_table(self.places, first, labelings.folds, table, out)

        return add


def value_scores(
    counts: NDArray[np.float64],
    known: NDArray[np.bool_],
    m: NDArray[np.intp],
    probabilities: Callable[[NDArray[np.float64], int], NDArray[np.float64]],
    smooth: bool,
) -> NDArray[np.float64]:
    """Log probabilities of the values of one column.

    Parameters
    ----------
    counts : ndarray (k, models, m)
    known : ndarray of bool (models, m)
        Values that a model has a probability for; others are left out, or have that of a value that
        no row showed.
    m : ndarray of int (models,)
        How many values share the probability.
    probabilities : callable
        Of counts (k, ..., m + 1), the last of them 0, and a number of values.
    smooth : bool
        Whether values that no row showed have a probability.
    """
    with_unseen = np.concatenate([counts, np.zeros_like(counts[..., :1])], axis=2)
    theta = np.empty_like(with_unseen)
    for number in np.unique(m).tolist():
        alike = np.flatnonzero(m == number)
        theta[:, alike] = probabilities(with_unseen[:, alike], number)
    log_theta = safe_log(theta)
    unseen = log_theta[..., -1:] if smooth else np.zeros_like(log_theta[..., -1:])
    return np.where(known, log_theta[..., :-1], unseen)


def outcome_scores(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log probabilities (k, models, 2) of two outcomes, as rows of them are scored."""
    log_theta = safe_log(theta)
    impossible = np.isneginf(log_theta)
    terms = np.where(impossible, 0.0, log_theta)
    terms[..., 1] = terms[..., 0] + (terms[..., 1] - terms[..., 0])
    return np.where(impossible, -np.inf, terms)
