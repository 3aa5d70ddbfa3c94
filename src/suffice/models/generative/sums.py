"""The sums that a generative classifier is a function of: kernels of a fit, one part each."""

from __future__ import annotations

from dataclasses import replace

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.models.generative.part import FamilyColumns
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.row_sample import SampledAccumulator

__all__ = ["accumulator", "read_from", "sampled", "summarise"]


def summarise(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout]) -> ByClass:
    """Kernel of a fit: the statistic of one part."""
    parts, layout = plan
    total = accumulator(parts)
    for _ in each_batch(part, layout, total.add):
        pass
    return total.statistic()


def sampled(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout, int]) -> ByClass:
    """Kernel of a fit that looks at rows again: the statistic of one part, and some rows."""
    pieces, layout, size = plan
    names = [piece.layout.columns for piece in pieces]
    total = SampledAccumulator(accumulator(pieces), names, size)
    for _ in each_batch(part, layout, total.add):
        pass
    return total.statistic()


def accumulator(parts: tuple[FamilyColumns, ...]) -> ByClassAccumulator:
    """An empty accumulator of the sums that families need."""
    return ByClassAccumulator([part.accumulator() for part in parts])


def read_from(parts: tuple[FamilyColumns, ...], sums: ByClass) -> ByClass:
    """What families read of sums, once they are settled; other blocks may follow theirs."""
    own = [part.read_from(block) for part, block in zip(parts, sums.blocks, strict=False)]
    return replace(sums, blocks=(*own, *sums.blocks[len(own) :]))
