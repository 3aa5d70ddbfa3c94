"""A part of a table: columns, and the family that models them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout
from suffice.families import Family
from suffice.families.family import LeaveOneOut
from suffice.models.design.matrix import Design
from suffice.models.generative.terms import (
    TermAccumulator,
    TermParameters,
    TermsLeftOut,
    shown_terms,
    term_values,
)
from suffice.rules import rule
from suffice.sums.base import Accumulator
from suffice.sums.bins import YEAR_2000, MomentsAndBins, MomentsAndBinsAccumulator

__all__ = ["FamilyColumns"]


@dataclass(frozen=True)
class FamilyColumns:
    """One family and the columns that it models.

    Parameters
    ----------
    family : Family
    layout : BlockLayout
    design : Design, optional
        The terms that the columns become, where some are categories and the family is one of
        numbers.
    """

    family: Family
    layout: BlockLayout
    design: Design | None = None

    @rule("the family can read cells in this way")
    def _is_readable(self) -> bool:
        if self.design is None:
            return self.layout.encoding in self.family.encodings
        return self.layout.encoding == "mixed" and "real" in self.family.encodings

    @rule("terms are those of the columns, each of one of them")
    def _has_terms(self) -> bool:
        design = self.design
        if design is None:
            return True
        of_columns = tuple(design.columns) == tuple(self.layout.columns)
        return of_columns and bool(design.categories) and design.is_of_cells and not design.bins

    @property
    def terms(self) -> Sequence[str]:
        """The names of what the family models: columns, or terms."""
        return self.layout.columns if self.design is None else self.design.terms

    def column(self, place: int) -> str:
        """The column of one of these."""
        return str(self.layout.columns[place] if self.design is None else self.design.column(place))

    def takes(self, statistic: Any) -> bool:
        """Whether a statistic is one of the family and its columns."""
        encoding = self.layout.encoding if self.design is None else "real"
        return self.family.takes(statistic, encoding, len(self.terms))

    def numbers(self, block: Any) -> NDArray[Any]:
        """Rows as the numbers that the family models, NaN where a cell is missing."""
        return block.values if self.design is None else term_values(self.design, block)

    def leave_one_out(self, statistic: Any) -> LeaveOneOut:
        """Log-likelihoods of rows by the estimates of all others, from the sums of all.

        Raises
        ------
        ParameterError
            If there is no closed form.
        """
        found = self.family.leave_one_out(statistic)
        return found if self.design is None else TermsLeftOut(found, self.design)

    def narrowed(self, statistic: Any) -> tuple[FamilyColumns, Any]:
        """The part and the sums without the terms of values that no row shows."""
        if self.design is None:
            return self, statistic
        fewer = shown_terms(self.design, statistic)
        if fewer == self.design:
            return self, statistic
        return replace(self, design=fewer), statistic.marginal(self.design.places_of(fewer))

    def parameters(self, found: Any) -> Any:
        """What the family estimated, as parameters of the columns."""
        return found if self.design is None else TermParameters(found, self.design)

    def accumulator(self, settled: bool = False) -> Accumulator:
        """An empty accumulator of the sums that the family needs, or once ``settled`` fewer."""
        if self.design is not None:
            sums = self.family.accumulator("real", len(self.design))
            return TermAccumulator(sums, self.design)
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
