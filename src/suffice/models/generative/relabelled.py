"""A generative classifier under many labelings of the same rows: how many of each it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import InParts, each_batch
from suffice.families.relabelled.rows import Relabelled
from suffice.models.generative.part import FamilyColumns
from suffice.numerics import kernels
from suffice.numerics.logspace import safe_log
from suffice.statistics.batch import Batch
from suffice.statistics.labelings import Labelings
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["RelabelledRows"]

MOST_CLASSES = 64
MOST_CELLS = 4_194_304  # of a table: for more, what a fit costs beside its rows is little
SCORES = 262_144  # that are found together


@dataclass(frozen=True, eq=False)
class RelabelledRows:
    """Rows of a table in memory, as the families of a classifier read them.

    Parameters
    ----------
    parts : sequence of Relabelled
    codes : ndarray of uint8 (n,)
        Labels as they are given.
    classes : Vocabulary
    prior : callable
        P(c), (k,), from the number of rows of every class.
    """

    parts: Sequence[Relabelled]
    codes: NDArray[np.uint8]
    classes: Vocabulary
    prior: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @classmethod
    def of(
        cls,
        parts: Sequence[FamilyColumns],
        layout: Layout,
        source: InParts,
        prior: Callable[[Vocabulary, NDArray[np.float64]], NDArray[np.float64]],
    ) -> Self | None:
        """Read rows; None if labels are missing, rows have weights, or a family is to be fitted."""
        batches = [
            batch
            for split in source.splits(layout, 1)
            for batch in each_batch(split, layout, _same)
        ]
        classes = Vocabulary(())
        for batch in batches:
            classes |= batch.classes
        rows, d = sum(batch.rows for batch in batches), len(layout.columns)
        if len(classes) > MOST_CLASSES or rows * d > MOST_CELLS:
            return None
        codes = np.concatenate([batch.learnt(classes) for batch in batches])
        if codes.min(initial=0) < 0 or any(len(batch.weights) for batch in batches):
            return None
        found = []
        for b, part in enumerate(parts):
            relabelled = part.family.relabelled([batch.blocks[b] for batch in batches])
            if relabelled is None:
                return None
            found.append(relabelled)
        return cls(found, codes.astype(np.uint8), classes, lambda n: prior(classes, n))

    def hits(self, labelings: Labelings) -> NDArray[np.float64] | None:
        """How many rows of every fold are answered as they are labelled, (P, f).

        None where only fits can tell: a fold has not learnt a class, or a family says so.
        """
        sizes, folds = labelings.sizes, labelings.folds
        if not sizes.all():
            return None
        scores = [part.scores(labelings) for part in self.parts]
        shares, each = np.unique(sizes.reshape(-1, labelings.k), axis=0, return_inverse=True)
        prior = np.array([self.prior(share) for share in shares])[each.reshape(-1)]
        log_prior = safe_log(prior)
        otherwise = prior.argmax(axis=1).astype(np.uint8).reshape(len(labelings), -1)
        found = np.zeros(otherwise.shape)
        n = len(self.codes)
        step = max(16, SCORES // (len(labelings) * labelings.k))
        for first in range(0, n, step):
            out = np.empty((len(labelings), labelings.k, min(step, n - first)))
            kernels.labelings.start(log_prior, first, folds, out)
            for add in scores:
                if add is None:
                    return None
                add(first, out)
            kernels.labelings.hits(out, first, labelings.codes, folds, otherwise, found)
        return found


def _same(batch: Batch) -> Batch:
    return batch
