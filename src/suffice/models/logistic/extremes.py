"""The first pass of a reproducible fit: exact sums, and what no cell and no weight is beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.numerics import kernels
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock, converted
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.count_accumulator import CountAccumulator
from suffice.statistics.exact_moments import ExactMomentsAccumulator

__all__ = ["BoundedSums", "Extremes", "bounded_sums"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Extremes:
    """The least and the largest number of q columns, and of the weights; and how many rows."""

    least: Array
    largest: Array
    lightest: float
    heaviest: float
    rows: int

    @classmethod
    def of_no_rows(cls, q: int) -> Self:
        """Those of q columns."""
        return cls(np.full(q, np.inf), np.full(q, -np.inf), np.inf, 0.0, 0)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
            min(self.lightest, other.lightest),
            max(self.heaviest, other.heaviest),
            self.rows + other.rows,
        )

    def reach(self, centred: CentredDesign) -> Array:
        """A bound of |x_j − m_j| of every term, (F,); that of indicators is 1."""
        design, mean = centred.design, centred.mean
        reach = np.ones(len(mean))
        if len(design.numbers):
            at = design.places(design.numbers) if design.categories else slice(None)
            reach[at] = np.maximum(self.largest - mean[at], mean[at] - self.least)
        return reach


@dataclass(frozen=True, eq=False)
class BoundedSums:
    """Moments and counts of every column in every class, and the extremes of rows that have one."""

    sums: ByClass
    extremes: Extremes

    def __add__(self, other: Self) -> Self:
        return type(self)(self.sums + other.sums, self.extremes + other.extremes)


def bounded_sums(split: Split, plan: tuple[Layout, bool]) -> BoundedSums:
    """Kernel of the first pass of a reproducible fit; ``plan`` is that of `first_pass`."""
    layout, complete = plan
    accumulators: dict[str, Any] = {"real": ExactMomentsAccumulator, "category": CountAccumulator}
    total = ByClassAccumulator([accumulators[b.encoding](len(b.columns)) for b in layout.blocks])
    numbers = sum(len(b.columns) for b in layout.blocks if b.encoding == "real")
    extremes = Extremes.of_no_rows(numbers)

    def add(batch: Batch) -> Extremes:
        batch = batch.complete_rows() if complete else batch
        total.add(batch)
        return _of_batch(batch, numbers)

    for found in each_batch(split, layout, add):
        extremes += found
    return BoundedSums(total.statistic(), extremes)


def _of_batch(batch: Batch, numbers: int) -> Extremes:
    found, codes = Extremes.of_no_rows(numbers), batch.codes
    weights = batch.weights if len(batch.weights) else np.ones(min(batch.rows, 1))
    some = weights[weights > 0]
    if len(batch.weights):
        codes = np.where(weights > 0, codes, -1)
    if numbers:
        block = cast(RealBlock, batch.blocks[0])
        x = np.ascontiguousarray(converted(block.values), np.float64)
        kernels.exact_logistic.widen(x, codes, found.least, found.largest)
    lightest, heaviest = some.min(initial=np.inf), some.max(initial=0.0)
    rows = int(np.count_nonzero(codes >= 0))
    return Extremes(found.least, found.largest, float(lightest), float(heaviest), rows)
