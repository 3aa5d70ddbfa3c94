"""Columns that had no value so far: what becomes of the sums when later rows show one.

In the rows learnt before, every cell of such a column is missing, so its sums are known: they are
those of no cell.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from suffice.models.generative.part import FamilyColumns
from suffice.statistics.by_class import ByClass
from suffice.statistics.moments_and_bins import MomentsAndBins

__all__ = ["carried"]


def carried(
    sums: ByClass, before: tuple[FamilyColumns, ...], after: tuple[FamilyColumns, ...]
) -> ByClass:
    """The same rows by parts that have further columns, in which every cell is missing.

    Parameters
    ----------
    sums : ByClass
        By the parts ``before``.
    before, after : tuple of FamilyColumns
        The columns of one part stay together, in their order.
    """
    block_of = {name: b for b, part in enumerate(before) for name in part.layout.columns}
    blocks = tuple(_block(sums, part, before, block_of) for part in after)
    return ByClass(sums.classes, sums.weight, sums.unlabelled, blocks)


def _block(
    sums: ByClass, part: FamilyColumns, before: tuple[FamilyColumns, ...], block_of: dict[str, int]
) -> Any:
    columns, d = part.layout.columns, len(part.layout.columns)
    known = [j for j, name in enumerate(columns) if name in block_of]
    nothing = part.accumulator().statistic().place(np.empty(0, np.intp), len(sums.classes))
    if not known:
        return nothing
    b = block_of[columns[known[0]]]
    block = sums.blocks[b]
    if len(before[b].layout.columns) == d:
        return block
    wide, at = block.widened(np.array(known), d), np.array(known)
    if isinstance(wide, MomentsAndBins):  # each from the origin of its columns
        bins = nothing.bins.with_columns(at, block.bins, np.arange(len(at)))
        return replace(wide, bins=bins)
    return wide
