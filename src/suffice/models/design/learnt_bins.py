"""Bins of numbers in linear models, from counts of one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.engines.engine import Engine
from suffice.families.densities.cells import (
    binned_counts,
    cells_of_column,
    far_columns,
    learnt_cuts,
)
from suffice.models.design.matrix import Design
from suffice.models.design.remarks import weight_missing
from suffice.sums.batch import Batch
from suffice.sums.bins import BinnedCountAccumulator, MomentsAndBinsAccumulator
from suffice.sums.block import RealBlock, converted
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.counts import CountAccumulator
from suffice.sums.pairs import CutBins
from suffice.sums.row_sample import Sampled, SampledAccumulator

ROWS = 4096  # distinct ones, that say what one row weighs

Numbers: TypeAlias = NDArray[np.float64]


def with_learnt_bins(
    design: Design,
    layout: Layout,
    engine: Engine,
    parts: Sequence[Part],
    complete: bool,
    with_missing: bool,
) -> Design:
    """Cut every number of a design into bins.

    The cuts are those of `suffice.families.densities.cells`, of counts by class on the grid
    of `suffice.sums.bins`. Columns far from 0 take a second pass, on a grid that
    starts near their mean. A column that shows one cell of the grid is one bin. Counts are in
    units of what one row weighs, `suffice.sums.row_sample.Sampled.row_weight`.

    ``complete`` leaves out rows with a missing cell; ``with_missing`` gives missing cells of a
    column a term, where rows show some.
    """
    sums = engine.run(value_sums, (layout, complete), parts)
    if not sums.weight.value.sum():  # who sums over the rows says why there are none
        nothing = CutBins(np.empty(0))
        return replace(design, bins=dict.fromkeys(design.numbers, nothing))
    missing = weight_missing(sums, layout)
    bins = _bins(design, layout, engine, parts, complete, sums) if len(design.numbers) else {}
    own = tuple(name for name in design.columns if name in missing and with_missing)
    return replace(design, bins=bins, missing=own)


def _bins(
    design: Design,
    layout: Layout,
    engine: Engine,
    parts: Sequence[Part],
    complete: bool,
    sums: ByClass,
) -> dict[str, CutBins]:
    block = sums.blocks[0]
    found, names = block.bins, tuple(design.numbers)
    far = far_columns(block.moments)
    if len(far):
        rows = block.moments.one_class
        plan = layout, complete, far, rows.mean[0, far], np.sqrt(rows.variance[0, far])
        again = engine.run(far_counts, plan, parts).over(sums.classes).blocks[0]
        found = found.with_columns(far, again, np.arange(len(far)))
    assert isinstance(sums, Sampled)
    bins, weight = {}, sums.row_weight
    for j, name in enumerate(names):
        cells = cells_of_column(found, j)
        cells = cells._replace(counts=cells.counts / weight)
        cuts = learnt_cuts(cells)[0] if len(cells.low) > 1 else np.empty(0, np.intp)
        bins[name] = binned_counts(cells, cuts)[0]
    return bins


ACCUMULATORS: dict[str, Callable[[int], Any]] = {
    "real": MomentsAndBinsAccumulator,
    "category": CountAccumulator,
}


def value_sums(part: Part, plan: tuple[Layout, bool]) -> ByClass:
    """Kernel: how numbers lie, and what categories show, in every class; texts are left out.

    ``plan`` is the layout, and whether rows with a missing cell are left out.
    """
    layout, complete = plan
    summed = [b for b in layout.blocks if b.encoding in ACCUMULATORS]
    sums = ByClassAccumulator([ACCUMULATORS[b.encoding](len(b.columns)) for b in summed])
    total = SampledAccumulator(sums, [b.columns for b in summed], ROWS)

    def add(batch: Batch) -> None:
        batch = batch.complete_rows() if complete else batch
        total.add(replace(batch, blocks=batch.blocks[: len(summed)]))

    for _ in each_batch(part, layout, add):
        pass
    return total.statistic()


def far_counts(
    part: Part, plan: tuple[Layout, bool, NDArray[np.intp], Numbers, Numbers]
) -> ByClass:
    """Kernel: how the numbers of some columns lie, each on a grid of its own origin and unit."""
    layout, complete, columns, origin, unit = plan
    total = ByClassAccumulator([BinnedCountAccumulator(origin, unit)])

    def add(batch: Batch) -> None:
        batch = batch.complete_rows() if complete else batch
        numbers: Any = batch.blocks[0]
        cells = np.ascontiguousarray(converted(numbers.values[:, columns]), np.float64)
        total.add(replace(batch, blocks=(RealBlock(cells),)))

    for _ in each_batch(part, layout, add):
        pass
    return total.statistic()
