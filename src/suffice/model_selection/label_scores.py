"""What a fitted classifier says of the labels of rows, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import InParts, Split, each_batch
from suffice.engines.engine import Engine
from suffice.models.base.classifier import Classifier
from suffice.statistics.batch import Batch

__all__ = ["scores_of_labels"]


def scores_of_labels(
    fit: Classifier, layout: Layout, source: InParts, engine: Engine
) -> NDArray[np.float64]:
    """Return log P(y | x) and the weight of every labelled row, (n, 2), in the order of a table.

    A class that the model does not know has −∞. Of a row with missing cells it says what it can
    say of the others.
    """
    splits = source.splits(layout, engine.workers)
    parts = engine.map(_of_split, (fit.model_, layout), splits)
    return np.concatenate([batch for part in parts for batch in part])


def _of_split(split: Split, params: tuple[Any, Layout]) -> list[NDArray[np.float64]]:
    """Kernel: the scores of a split, batch by batch."""
    model, layout = params

    def scores(batch: Batch) -> NDArray[np.float64]:
        logs, codes = model.partial_log_posterior(batch), batch.learnt(model.classes)
        own = np.where(codes >= 0, logs[np.arange(batch.rows), codes], -np.inf)
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        return np.stack([own, weights], axis=1)[batch.codes >= 0]

    return list(each_batch(split, layout, scores))
