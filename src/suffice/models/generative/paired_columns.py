"""Columns counted in pairs, their bins, and the pass over the rows that counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.errors import ParameterError
from suffice.families.densities.cells import binned_counts, cells_of_column, learnt_cuts
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.elementary import log
from suffice.sums.batch import Batch
from suffice.sums.bins import MomentsAndBins
from suffice.sums.block import BadCell, Block, RealBlock, require_finite
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.counts import Counts
from suffice.sums.pairs import ColumnBins, CutBins, PairCountAccumulator, ValueBins, pair_bytes
from suffice.sums.vocabulary import Vocabulary

PAIRED = ("real", "binary", "outcome", "category")  # encodings of single cells that have bins
MOST_COLUMNS = 100
MOST_BYTES = 256e6  # of the counts of pairs


class PairedColumns(NamedTuple):
    """Columns and their bins."""

    columns: tuple[str, ...]
    bins: tuple[ColumnBins, ...]


def learnt_bins(parts: tuple[FamilyColumns, ...], sums: ByClass) -> PairedColumns:
    """Choose the columns that tell most of the class, and their bins, from the sums of one pass.

    Numbers are cut by `learnt_cuts`; a category is a bin. What a column tells is its mutual
    information with the class, less what as many bins tell by chance:

    ::

        Σ_cb p(c, b) log p(c, b) / (p(c) p(b)) − (k − 1)(m − 1)/(2 n)

    A column whose counts do not fit into `MOST_BYTES` beside those of better ones is left out.
    """
    found = []
    for part, block in zip(parts, sums.blocks, strict=True):
        if part.layout.encoding not in PAIRED:
            continue
        ignored = set(part.family.left_out(block).tolist())
        for j, name in enumerate(part.layout.columns):
            if j not in ignored and (binned := _binned(block, j)) is not None:
                found.append((_told(binned[1]), name, binned[0]))
    found.sort(key=lambda one: -one[0])
    chosen: dict[str, ColumnBins] = {}
    for _, name, bins in found:
        size = len(bins) + sum(map(len, chosen.values()))
        if len(chosen) < MOST_COLUMNS and pair_bytes(len(sums.classes), size) <= MOST_BYTES:
            chosen[name] = bins
    order = [name for part in parts for name in part.layout.columns if name in chosen]
    return PairedColumns(tuple(order), tuple(chosen[name] for name in order))


def _binned(block: Any, j: int) -> tuple[ColumnBins, NDArray[np.float64]] | None:
    """The bins of a column, and counts (k, m); None where it has no two, or no bins at all."""
    if isinstance(block, MomentsAndBins):
        cells = cells_of_column(block.bins, j)
        if len(cells.low) < 2:
            return None
        cuts, _ = learnt_cuts(cells)
        return binned_counts(cells, cuts) if len(cuts) else None
    if isinstance(block, Counts) and len(block.vocabularies[j]) > 1:
        return ValueBins(Vocabulary(block.vocabularies[j].values)), block.column(j)
    return None


def _told(counts: NDArray[np.float64]) -> float:
    """Mutual information of class and bin in nats, less what chance gives."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n = counts.sum()
    if not n:
        return 0.0
    p = counts / n
    alone = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    told = (p * log(np.where(p > 0, p, 1.0) / np.where(p > 0, alone, 1.0))).sum()
    k, m = counts.shape
    return float(told - (k - 1) * (m - 1) / (2 * n))


def encodings(parts: tuple[FamilyColumns, ...]) -> dict[str, str]:
    """Return the encodings of the columns that may be counted in pairs, by name."""
    binned = [part for part in parts if part.layout.encoding in PAIRED]
    return {str(name): part.layout.encoding for part in binned for name in part.layout.columns}


def given_bins(parts: tuple[FamilyColumns, ...], bins: Mapping[Any, Any]) -> PairedColumns:
    """Bins that the user gives: ascending cuts of numbers, or values, by the name of the column."""
    read = encodings(parts)
    found: dict[str, ColumnBins] = {}
    for key, given in bins.items():
        name = str(key)
        if name not in read:
            known = ", ".join(map(repr, read))
            rule = f"the columns that can be counted in pairs are {known}"
            raise ParameterError(f"bins names the column {name!r}", rule)
        found[name] = _cuts(name, given) if read[name] == "real" else _values(name, given)
    order = [name for name in read if name in found]
    return PairedColumns(tuple(order), tuple(found[name] for name in order))


def _cuts(name: str, given: Any) -> CutBins:
    try:
        cuts = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        cuts = np.full(1, np.nan)
    if not (cuts.ndim == 1 and np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
        raise ParameterError(
            f"bins of the column {name!r} are {given!r}",
            "those of numbers are the cuts between them, ascending",
        )
    return CutBins(cuts)


def _values(name: str, given: Any) -> ValueBins:
    try:
        return ValueBins(Vocabulary.of(np.asarray(given, object).tolist()))
    except TypeError:
        raise ParameterError(
            f"bins of the column {name!r} are {given!r}",
            "those of a category are its values",
        ) from None


@dataclass(frozen=True)
class PairedRows:
    """Columns of several blocks of a batch, side by side."""

    rows: int  # n
    blocks: tuple[Block, ...]
    at: tuple[tuple[int, int], ...]  # the block and the column in it of each

    def column(self, j: int) -> Block:
        b, own = self.at[j]
        block: Any = self.blocks[b]
        found: Block = block.column(own)
        if isinstance(found, RealBlock):
            try:
                require_finite(found.values)
            except BadCell as bad:
                bad.block, bad.column = b, own
                raise
        return found


def paired_rows(
    parts: tuple[FamilyColumns, ...], columns: tuple[str, ...], batch: Batch
) -> PairedRows:
    """The cells of the columns that are counted in pairs."""
    at = {name: (b, j) for b, p in enumerate(parts) for j, name in enumerate(p.layout.columns)}
    return PairedRows(batch.rows, batch.blocks, tuple(at[name] for name in columns))


def pair_sums(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout, PairedColumns]) -> ByClass:
    """Kernel of a second pass: the pairs of bins in one part."""
    parts, layout, paired = plan
    total = ByClassAccumulator([PairCountAccumulator(*paired)])

    def add(batch: Batch) -> None:
        rows: Any = paired_rows(parts, paired.columns, batch)
        total.add(replace(batch, blocks=(rows,)))

    for _ in each_batch(part, layout, add):
        pass
    return total.statistic()
