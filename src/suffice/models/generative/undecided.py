"""Columns that had no value so far: what becomes of the sums when later rows show one.

In the rows learnt before, every cell of such a column is missing, so its sums are known: they are
those of no cell. The rows of a sample stay in it: a missing cell adds nothing to their hashes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.data.encode import encode
from suffice.data.schema import Layout
from suffice.models.generative.part import FamilyColumns
from suffice.statistics.batch import Batch
from suffice.statistics.block import Block, CodedBlock, RealBlock
from suffice.statistics.by_class import ByClass
from suffice.statistics.moments_and_bins import MomentsAndBins
from suffice.statistics.row_sample import Sampled

__all__ = ["carried"]


def carried(
    sums: ByClass,
    before: tuple[FamilyColumns, ...],
    after: tuple[FamilyColumns, ...],
    layout: Layout,
) -> ByClass:
    """The same rows by parts that have further columns, in which every cell is missing.

    Parameters
    ----------
    sums : ByClass
        By the parts ``before``.
    before, after : tuple of FamilyColumns
        The columns of one part stay together, in their order.
    layout : Layout
        How tables are read from now on.
    """
    block_of = {name: b for b, part in enumerate(before) for name in part.layout.columns}
    blocks = tuple(_block(sums, part, before, block_of) for part in after)
    found = ByClass(sums.classes, sums.weight, sums.unlabelled, blocks)
    if not isinstance(sums, Sampled):
        return found
    pieces = tuple(
        piece._replace(batch=_rows(piece.batch, after, block_of, layout))
        for piece in sums.sample.pieces
    )
    return Sampled.with_sample(found, replace(sums.sample, pieces=pieces))


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


def _rows(
    batch: Batch, after: tuple[FamilyColumns, ...], block_of: dict[str, int], layout: Layout
) -> Batch:
    """Rows as they would be read now."""
    nothing = pa.nulls(batch.rows)
    names = [name for part in after for name in part.layout.columns]
    empty = pa.record_batch([nothing] * len(names), names=names)
    read = encode(empty, replace(layout, label=None, weight=None)).blocks
    blocks = []
    for part, blank in zip(after, read, strict=True):
        known = [j for j, name in enumerate(part.layout.columns) if name in block_of]
        if known:
            blank = _filled(blank, batch.blocks[block_of[part.layout.columns[known[0]]]], known)
        blocks.append(blank)
    return replace(batch, blocks=tuple(blocks))


def _filled(blank: Block, known: Any, at: list[int]) -> Any:
    """A block of missing cells with the columns of another in some places."""
    if len(at) == blank.width:
        return known
    if isinstance(blank, RealBlock):
        values = blank.values.copy()
        values[:, at] = known.values
        return RealBlock(values)
    assert isinstance(blank, CodedBlock)
    codes, vocabularies = np.array(blank.codes, np.int64), list(blank.vocabularies)
    codes[:, at] = known.codes
    for j, vocabulary in zip(at, known.vocabularies, strict=True):
        vocabularies[j] = vocabulary
    return CodedBlock(codes, tuple(vocabularies))
