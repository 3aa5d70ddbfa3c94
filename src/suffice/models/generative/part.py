"""A part of a table: columns, and the family that models them."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.data.schema import BlockLayout
from suffice.families import Family
from suffice.rules import rule

__all__ = ["FamilyColumns"]


@dataclass(frozen=True)
class FamilyColumns:
    """One family and the columns that it models."""

    family: Family
    layout: BlockLayout

    @rule("the family can read cells in this way")
    def _is_readable(self) -> bool:
        return self.layout.encoding in self.family.encodings
