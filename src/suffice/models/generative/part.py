"""A part of a table: columns, and the family that models them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.data.schema import BlockLayout
from suffice.families import Family
from suffice.rules import rule
from suffice.statistics.binned_counts import YEAR_2000
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.statistic import Accumulator

__all__ = ["FamilyColumns"]


@dataclass(frozen=True)
class FamilyColumns:
    """One family and the columns that it models."""

    family: Family
    layout: BlockLayout

    @rule("the family can read cells in this way")
    def _is_readable(self) -> bool:
        return self.layout.encoding in self.family.encodings

    def accumulator(self, settled: bool = False) -> Accumulator:
        """An empty accumulator of the sums that the family needs, or once ``settled`` fewer."""
        columns, dates = self.layout.columns, self.layout.dates
        found = self.family.accumulator(self.layout.encoding, len(columns))
        if dates and isinstance(found, MomentsAndBinsAccumulator):
            found.bin_from(np.array([YEAR_2000 * (name in dates) for name in columns]))
        if settled and isinstance(found, MomentsAndBinsAccumulator):
            found.bin_only(self.family.binned(len(columns)))
        return found

    def read_from(self, block: Any) -> Any:
        """What of a statistic the family reads; counts of which it has no need are left out."""
        if not isinstance(block, MomentsAndBins):
            return block
        return replace(block, bins=block.bins.only(self.family.binned(block.d)))
