"""How a generative classifier reads tables: families and their columns, labels, and what is known.

It says whether another model's sums are of the same columns, and what divides the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, cast

from suffice.data.schema import Layout
from suffice.errors import ForgetError
from suffice.models.generative.compatible import Side, check_compatible
from suffice.models.generative.part import FamilyColumns
from suffice.models.method import Learnt, SumsReader
from suffice.models.reading import LabelReader
from suffice.sums.batch import NO_CLASSES
from suffice.sums.by_class import ByClass, Loss
from suffice.sums.comparison import Comparison
from suffice.sums.vocabulary import Vocabulary

__all__ = ["GenerativeReader"]


@dataclass(frozen=True)
class GenerativeReader(LabelReader, SumsReader[ByClass]):
    """How tables are read, and which families model their columns.

    Parameters
    ----------
    parts : tuple of FamilyColumns
        Families and the columns that they model.
    declared : Vocabulary
        Labels of which there may be no row.
    lenient : bool
        Whether a third value of a binary column counts as missing in rows to be answered.
    """

    parts: tuple[FamilyColumns, ...] = ()
    declared: Vocabulary = NO_CLASSES
    lenient: bool = False

    @property
    def to_answer(self) -> Layout:
        """How tables are read whose rows are to be answered."""
        return self.layout.answering if self.lenient else self.layout

    def classes(self, statistic: ByClass) -> Vocabulary:
        """All labels, those included of which there is no row."""
        return statistic.classes | self.declared

    def column(self, lost: ForgetError | Loss) -> str:
        """The column that an error is about."""
        return self.parts[lost.block].column(cast(int, lost.column))

    def narrowed(self, statistic: ByClass) -> Learnt[Self, ByClass]:
        """The reader and the sums without terms of categories that no row shows any more."""
        if all(part.design is None for part in self.parts):
            return super().narrowed(statistic)
        pairs = zip(self.parts, statistic.blocks, strict=True)
        parts, blocks = zip(*(part.narrowed(block) for part, block in pairs), strict=True)
        return Learnt(replace(self, parts=parts), (replace(statistic, blocks=blocks),))

    def check_compatible(self, statistic: ByClass, other: Self, others: ByClass, verb: str) -> None:
        """Refuse sums of other columns, families or labels, or read in another way."""
        mine = Side(self.parts, self.layout, self.classes(statistic))
        check_compatible(mine, Side(other.parts, other.layout, other.classes(others)), verb)

    def merged(self, other: Self) -> Self:
        """The reader of both models' tables."""
        both = self.with_labels(other.label_dtype)
        return replace(both, declared=self.declared | other.declared)

    def compare(self, statistic: ByClass, other: Self, others: ByClass) -> Comparison:
        """What divides the rows of two statistics."""
        found: Comparison = statistic.compare(others, [p.terms for p in self.parts])
        return found
