"""A part of a table: columns, and the family that models them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.data.schema import BlockLayout
from suffice.families import Family
from suffice.rules import rule
from suffice.statistics.binned_counts import YEAR_2000
from suffice.statistics.moments_and_bins import MomentsAndBinsAccumulator
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

    def accumulator(self) -> Accumulator:
        """An empty accumulator of the sums that the family needs."""
        columns, dates = self.layout.columns, self.layout.from_2000
        found = self.family.accumulator(self.layout.encoding, len(columns))
        if dates and isinstance(found, MomentsAndBinsAccumulator):
            found.bin_from(np.array([YEAR_2000 * (name in dates) for name in columns]))
        return found
