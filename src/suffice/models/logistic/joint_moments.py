"""Co-moments of the terms of a logistic regression, which tell the terms that depend on others."""

from __future__ import annotations

from dataclasses import replace

from suffice.data.source import Split, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.comoments_accumulator import ComomentsAccumulator

__all__ = ["joint_moments"]


def joint_moments(split: Split, centred: CentredDesign) -> ByClass:
    """Kernel: co-moments of the terms, of all classes together."""
    total = ByClassAccumulator([ComomentsAccumulator(centred.width - 1, pooled=True)])

    def add(batch: Batch) -> None:
        batch = centred.to_fit(batch)
        for start, x in centred.tables(batch):
            part = batch.cut(start, start + len(x))
            total.add(replace(part, blocks=(RealBlock(x.astype(float, copy=False)),)))

    for _ in each_batch(split, centred.layout, add):
        pass
    return total.statistic()
