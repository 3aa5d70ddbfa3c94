"""A batch: up to 65,536 rows as typed blocks, the only thing that travels inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from suffice.numerics.arrays import Floats, Ints
from suffice.sums.block import Block, joined
from suffice.sums.vocabulary import Vocabulary

NO_CODES: Ints = np.empty(0, np.intp)
BATCH_ROWS = 65_536  # the most rows of a batch
SCORES = 1 << 21  # the most scores (n, k) that are computed at a time
NO_WEIGHTS: Floats = np.empty(0)
NO_CLASSES = Vocabulary(())
LIGHTEST, HEAVIEST = 1e-100, 1e100  # beyond, a weight times a square underflows or overflows
WEIGHT_ROUNDING = 1e-9  # fraction of a sum of weights in which passes over the same rows may differ
WEIGHT_RULE = f"a weight is 0, or from {LIGHTEST:g} to {HEAVIEST:g}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of a table.

    Parameters
    ----------
    rows : int
        n.
    blocks : tuple of Block
        One per `BlockLayout`, n rows each.
    codes : ndarray of int (n,), or empty when there is no label
        Codes into ``classes``; −1 = missing label.
    classes : Vocabulary
        The labels that the codes stand for, in this batch only.
    weights : ndarray (n,), or empty when every row weighs one
        Row weights, 0 or from 1e-100 to 1e100.
    groups : ndarray of int (n,), or empty when rows are not summed by group
        The group of every row; −1 for rows that are in none.
    """

    rows: int
    blocks: tuple[Block, ...]
    codes: Ints = field(default_factory=lambda: NO_CODES)
    classes: Vocabulary = field(default_factory=lambda: NO_CLASSES)
    weights: Floats = field(default_factory=lambda: NO_WEIGHTS)
    groups: Ints = field(default_factory=lambda: NO_CODES)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of batches of the same columns, one after the other; all have weights."""
        some = [batch for batch in batches if batch.rows] or batches[-1:]
        if len(some) == 1:
            return some[0]
        some = [batch.pruned() for batch in some]  # most of what a batch shows is not in its rows
        classes = Vocabulary.of(value for batch in some for value in batch.classes.values)
        of = [np.append(classes.index(batch.classes.values, -1), -1)[batch.codes] for batch in some]
        columns = zip(*(batch.blocks for batch in some), strict=True)
        return cls(
            sum(batch.rows for batch in some),
            tuple(map(joined, columns)),
            np.concatenate(of),
            classes,
            np.concatenate([batch.weights for batch in some]),
        )

    def cut(self, start: int, stop: int) -> Batch:
        blocks = tuple([block.cut(start, stop) for block in self.blocks])
        return self._chosen(slice(start, stop), stop - start, blocks)

    def pieces(self, rows: int) -> Iterator[Batch]:
        """Cut it into pieces of so many rows at most, in order; one at least."""
        if self.rows <= rows:
            yield self
            return
        for start in range(0, self.rows, rows):
            yield self.cut(start, min(start + rows, self.rows))

    def take(self, rows: Ints) -> Batch:
        return self._chosen(rows, len(rows), tuple([block.take(rows) for block in self.blocks]))

    def _chosen(self, rows: Ints | slice, n: int, blocks: tuple[Block, ...]) -> Batch:
        """Return n of the rows, whose blocks were chosen."""
        of_rows: tuple[Any, ...] = self.codes, self.weights, self.groups
        codes, weights, groups = [part[rows] if part.size else part for part in of_rows]
        return Batch(n, blocks, codes, self.classes, weights, groups)

    def pruned(self) -> Batch:
        """Return the rows without the labels, categories and words that none of them shows."""
        classes, codes = self.classes.shown(self.codes)
        blocks = tuple(block.pruned() for block in self.blocks)
        return replace(self, blocks=blocks, codes=codes, classes=classes)

    def complete_rows(self) -> Batch:
        """Return the rows; those with a missing cell have no class."""
        missing = np.any([block.missing.any(axis=1) for block in self.blocks], axis=0)
        return replace(self, codes=np.where(missing, -1, self.codes))

    def learnt(self, classes: Vocabulary) -> Ints:
        """Codes into other ``classes``, (n,); −1 where a row has no label there, or no weight."""
        codes = self.codes
        if self.classes != classes:
            codes = np.append(classes.index(self.classes.values, -1), -1)[codes]
        return np.where(self.weights > 0, codes, -1) if len(self.weights) else codes


def scored_rows(k: int) -> int:
    """Rows that are scored at a time under k classes: as many scores as `SCORES`, 16 MB."""
    return max(1, min(BATCH_ROWS, SCORES // max(1, k)))


def unfit_weight(weights: Floats) -> int | None:
    """The first row whose weight breaks `WEIGHT_RULE`, or None."""
    fit = (weights == 0) | ((weights >= LIGHTEST) & (weights <= HEAVIEST))
    return None if fit.all() else int(fit.argmin())
