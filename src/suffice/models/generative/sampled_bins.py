"""Columns far from 0: their numbers are counted in a sample of rows, from a number near their mean.

The grid of `BinnedCounts` starts at 0, so that tables that were counted apart can be added. A cell
is at most 1/256 as wide as the numbers in it are large: years, or pressures in hectopascal, lie in
very few. Where a mean is more than 64 standard deviations from 0, the rows of the calibration
sample are counted instead, on a grid that starts near the mean:

::

    origin = u · round(mean/u),   u = 2^⌊log₂ standard deviation⌋

These counts are no sums over all rows. Like the weights of columns, they follow rows that are added
and forgotten while the sample is in memory, and stay as they are where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.learnt_cuts import far_columns
from suffice.models.generative.part import FamilyColumns
from suffice.rules import rule
from suffice.statistics.batch import Batch
from suffice.statistics.binned_count_accumulator import BinnedCountAccumulator
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.block import RealBlock, converted
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.moments_and_bins import MomentsAndBins
from suffice.statistics.row_sample import RowSample
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["SampledBins"]


@dataclass(frozen=True, eq=False)
class SampledBins:
    """Counts of the rows of a sample.

    Parameters
    ----------
    columns : tuple of str
        Those far from 0, d of them.
    classes : Vocabulary
        The k labels.
    bins : BinnedCounts
        Of these classes and columns, each from its own origin.
    """

    columns: tuple[str, ...]
    classes: Vocabulary
    bins: BinnedCounts

    @rule("every class and column has counts, and columns differ")
    def _has_counts(self) -> bool:
        k, d = len(self.classes), len(set(self.columns))
        return (self.bins.k, self.bins.d, len(self.columns)) == (k, d, d)

    @classmethod
    def of(
        cls, parts: Sequence[FamilyColumns], sums: ByClass, sample: RowSample
    ) -> SampledBins | None:
        """The counts of a sample, of the columns that are far from 0 in all rows; None without.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> year, warm = [1990.0, 1995.0, 2010.0, 2015.0], list("nnyy")
        >>> model = NaiveBayes().fit({"year": year}, warm).model_
        >>> model.sampled.columns, model.sampled.bins.origin.tolist()
        (('year',), [2000.0])
        """
        far = {
            part.layout.columns[j]: origin
            for part, block in zip(parts, sums.blocks, strict=False)  # pairs may be the last
            if isinstance(block, MomentsAndBins)
            for j, origin in far_columns(block.moments)
            if j not in part.family.categories(block)  # whose values have cells of their own
        }
        if not far:
            return None
        nothing = BinnedCounts.empty(len(sums.classes), np.array(list(far.values())))
        empty = cls(tuple(far), sums.classes, nothing)
        return empty.of_rows(parts, [piece.batch for piece in sample.pieces])

    def of_rows(self, parts: Sequence[FamilyColumns], batches: Sequence[Batch]) -> Self:
        """The same counts of other rows."""
        total, at = ByClassAccumulator([BinnedCountAccumulator(self.bins.origin)]), _places(parts)
        for batch in batches:
            cells = [_numbers(batch, *at[name]) for name in self.columns]
            total.add(replace(batch, blocks=(RealBlock(np.column_stack(cells)),)))
        return replace(self, bins=total.statistic().over(self.classes).blocks[0])

    def instead(self, parts: Sequence[FamilyColumns], sums: ByClass) -> ByClass:
        """The same sums, with these counts in the place of those of the same columns."""
        index = sums.classes.index(self.classes.values, -1)
        known = np.flatnonzero(index >= 0)
        bins = self.bins.take(known).place(index[known], len(sums.classes))
        blocks, at = list(sums.blocks), _places(parts)
        for i, name in enumerate(self.columns):
            b, j = at[name]
            found = blocks[b].bins.with_columns(np.array([j]), bins, np.array([i]))
            blocks[b] = replace(blocks[b], bins=found)
        return replace(sums, blocks=tuple(blocks))


def _places(parts: Sequence[FamilyColumns]) -> dict[str, tuple[int, int]]:
    """The block and the column in it of every name."""
    return {name: (b, j) for b, p in enumerate(parts) for j, name in enumerate(p.layout.columns)}


def _numbers(batch: Batch, b: int, j: int) -> NDArray[np.float64]:
    """Column j of block b as doubles, (n,)."""
    block: Any = batch.blocks[b]
    return np.asarray(converted(block.values[:, [j]])[:, 0], np.float64)
