"""Sums of the first rows of a table, for one number of rows after the other, and their models."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

import numpy as np

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.errors import DataError, ParameterError
from suffice.models.base.learnt import Learnt
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.sums import accumulator
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["RunningSums", "bound_of", "knowing", "learnt", "running_sums", "without"]


def bound_of(size: int, fold: range) -> int:
    """Where the first ``size`` rows outside a fold end."""
    return size + len(fold) if size > fold.start else size


def running_sums(
    splits: Iterable[Split], parts: tuple[FamilyColumns, ...], layout: Layout, bounds: Sequence[int]
) -> dict[int, ByClass]:
    """The statistic of the first b rows for every bound b, from one ordered pass over the rows.

    Raises
    ------
    ParameterError
        If there are fewer rows than the last bound.
    """
    running = RunningSums(parts, bounds)
    for split in splits:
        for _ in each_batch(split, layout, running.add):
            if not running.bounds:
                return running.sums
    if running.bounds:
        raise ParameterError(
            f"train_sizes has {running.bounds[-1]}",
            f"there are {running.rows} rows to learn from",
        )
    return running.sums


class RunningSums:
    """Sums over the rows up to each bound, every batch cut there."""

    def __init__(self, parts: tuple[FamilyColumns, ...], bounds: Sequence[int]) -> None:
        self.parts, self.bounds, self.rows = parts, deque(bounds), 0
        self.sums: dict[int, ByClass] = {}
        self._piece = self._empty()
        self._total = self._piece.statistic()
        self._close()

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch, and close a sum wherever its last row is among them."""
        start = 0
        while self.bounds and start < batch.rows:
            stop = min(batch.rows, start + self.bounds[0] - self.rows)
            try:
                self._piece.add(batch.cut(start, stop))
            except BadCell as bad:
                bad.row += start
                raise
            self.rows += stop - start
            start = stop
            self._close()

    def _close(self) -> None:
        """End the piece if it ends at a bound."""
        if self.bounds and self.bounds[0] == self.rows:
            self._total += self._piece.statistic()
            self._piece = self._empty()
            self.sums[self.bounds.popleft()] = self._total

    def _empty(self) -> ByClassAccumulator:
        return accumulator(self.parts)


def without(fold: range, size: int, first: Mapping[int, ByClass]) -> ByClass:
    """The statistic of the first ``size`` rows outside a fold."""
    some = first[bound_of(size, fold)]
    return some - (first[fold.stop] - first[fold.start]) if size > fold.start else some


def learnt(
    learner: GenerativeClassifier, reader: GenerativeReader, statistic: ByClass, size: int
) -> GenerativeClassifier:
    """Return the model of the first rows: what a learner makes of their statistic."""
    if not len(statistic.classes):
        raise DataError(
            f"none of the first {size} rows has a label and a weight that is not zero",
            "a model needs at least one",
            "begin with a larger size",
        )
    return copy(learner)._set(Learnt(reader, (statistic,)))


def knowing(model: GenerativeModel, classes: Vocabulary) -> GenerativeModel:
    """Return the same model, to which other classes are known, and impossible."""
    every = model.classes | classes
    if every == model.classes:
        return model
    prior = np.zeros(len(every))
    prior[every.index(model.classes.values, -1)] = model.prior
    statistic = model.statistic.over(every)
    return GenerativeModel.estimate(model.parts, model.layout, statistic, prior.tolist(), 0.0)
