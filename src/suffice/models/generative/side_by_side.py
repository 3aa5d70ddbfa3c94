"""Models that read the same rows, scored together: as if the classes of all were those of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.families import Parameters
from suffice.models.base.accuracy import Hits, hits, such_label
from suffice.models.base.evaluated_rows import UNKNOWN, label_codes
from suffice.models.base.partial_answers import WithGaps
from suffice.models.generative.model import GenerativeModel
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.batch import Batch

__all__ = ["SideBySide", "hits_together"]

SCORES = 131_072  # that are found together, 1 MB
MOST_CLASSES = 256


@dataclass(frozen=True)
class SideBySide:
    """G models with the same k classes and parts.

    Parameters
    ----------
    models : sequence of GenerativeModel
    parameters : sequence of Parameters
        Of every part, over G · k classes.
    """

    models: Sequence[GenerativeModel]
    parameters: Sequence[Parameters]

    @classmethod
    def of(cls, models: Sequence[GenerativeModel]) -> Self | None:
        """Put models side by side; None if they differ in more than numbers."""
        first = models[0]
        for model in models:
            changed = model.calibration is not None or model.sampled is not None
            if type(model) is not GenerativeModel or changed or model.classes != first.classes:
                return None
        if len(first.classes) > MOST_CLASSES:
            return None
        found = []
        for parts in zip(*(model.parameters for model in models), strict=True):
            together = parts[0].side_by_side(parts)
            if together is None:
                return None
            found.append(together)
        return cls(models, found)

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.models[0].layout

    def count(self, batch: Batch, found: NDArray[np.float64]) -> None:
        """Add to ``found`` (G, 1) how many rows each model answers as they are labelled."""
        codes, g, k = (
            label_codes(batch, self.models[0]),
            len(self.models),
            len(self.models[0].prior),
        )
        if (codes < 0).any():
            batch, codes = batch.take(np.flatnonzero(codes >= 0)), codes[codes >= 0]
        log_prior = np.concatenate([model.log_prior for model in self.models])[:, None]
        otherwise = np.array([[model.prior.argmax()] for model in self.models], np.uint8)
        step = max(1, SCORES // (g * k))
        all_scores = np.empty((g * k, min(step, len(codes))))
        for first in range(0, len(codes), step):
            part = batch.cut(first, min(first + step, len(codes)))
            out = all_scores[:, : part.rows]
            out[:] = log_prior
            for parameters, block in zip(self.parameters, part.blocks, strict=True):
                parameters.add_discriminants(block, out.T)
            labels = np.tile(codes[first : first + step].astype(np.uint8), (g, 1))
            scores = out.reshape(g, k, part.rows)
            kernels.labelings.hits(scores, 0, labels, np.zeros_like(labels), otherwise, found)


def hits_together(split: Split, model: SideBySide) -> list[WithGaps[Hits]]:
    """Kernel of the accuracies of models: as `hits` of each."""
    found, rows, unknown, such = np.zeros((len(model.models), 1)), 0, 0, None

    def add(batch: Batch) -> None:
        nonlocal rows, unknown, such
        codes = label_codes(batch, model.models[0])
        model.count(batch, found)
        rows += int((codes != -1).sum())
        unknown, such = unknown + int((codes == UNKNOWN).sum()), such or such_label(batch, codes)

    batches = list(split.batches())
    if any(len(batch.weights) for batch in batches):
        return [WithGaps(hits(split, one), 0) for one in model.models]
    for _ in each_batch(split, model.layout, add):
        pass
    counts = [DoubleDouble.of([rows - hit, hit]) for hit in found[:, 0].tolist()]
    return [WithGaps(Hits(count, unknown, such), 0) for count in counts]
