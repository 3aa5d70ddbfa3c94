"""The content of the file of a generative classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from suffice.families import family_named, family_names
from suffice.families.density import Chosen
from suffice.models.base.forgotten import ARE_DIGESTS, Forgotten, are_digests
from suffice.models.base.saved import LAYOUT, SavedClassifier
from suffice.models.design.formula import Formula
from suffice.models.design.matrix import Design
from suffice.models.design.words import Words
from suffice.models.generative.calibration import Calibration
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.sampled_bins import SampledBins
from suffice.rules import FINITE, POSITIVE, rule
from suffice.sums.bins import MomentsAndBins
from suffice.sums.by_class import ByClass
from suffice.sums.register import STATISTICS
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

FAMILIES = tuple(type(family_named(name)) for name in family_names())
SAVED = {
    **LAYOUT,
    **named(
        *FAMILIES,
        *STATISTICS,
        Calibration,
        Chosen,
        Design,
        Formula,
        SampledBins,
        Words,
        Part=FamilyColumns,
    ),
}
"""The types that the file of a generative classifier may hold."""

FEW = 4_096  # columns that a matrix may have without a row that shows them


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedGenerative(SavedClassifier):
    """The content of the file of a generative classifier: the sums."""

    parts: tuple[FamilyColumns, ...]
    # what the model is a function of: one, or one for each batch of a window
    batches: tuple[ByClass, ...]
    declared: Vocabulary  # labels of which there may be no row
    calibration: Calibration | None = None  # how much each column counts
    sampled: SampledBins | None = None  # counts of numbers in a sample of the rows
    # what the family of each part has chosen; empty where none has
    chosen: tuple[Chosen | None, ...] = ()
    forgotten: Forgotten = ()  # sets of rows that were forgotten: of each a key and a digest
    row_weight: Annotated[float, POSITIVE, FINITE] = 1.0  # what one row weighs in the sums

    @property
    def labels(self) -> tuple[Vocabulary, ...]:
        return *(batch.classes for batch in self.batches), self.declared

    @property
    def groups(self) -> int:
        """Return the number of weights, where there are some."""
        return sum(part.groups for part in self.parts)

    @rule("the table is read as the families of its columns ask for")
    def _has_layout(self) -> bool:
        return self.layout.blocks == tuple(part.layout for part in self.parts)

    @rule("there is a row, and every family has a statistic of its columns in every batch")
    def _has_statistics(self) -> bool:
        if not any(len(batch.classes) for batch in self.batches):
            return False
        return all(
            len(batch.blocks) == len(self.parts)
            and all(map(FamilyColumns.takes, self.parts, batch.blocks))
            for batch in self.batches
        )

    @rule("columns that no row shows are few, where each pair of them has a place")
    def _has_rows(self) -> bool:
        return all(
            any(batch.blocks[b].total.any() for batch in self.batches)
            for b, part in enumerate(self.parts)
            if part.family.joint and len(part.layout.columns) > FEW
        )

    @rule("choices are of the columns of their part")
    def _has_chosen(self) -> bool:
        pairs = zip(self.chosen, self.parts, strict=False)
        of_columns = all(c is None or len(c.shape) == len(p.layout.columns) for c, p in pairs)
        return of_columns and len(self.chosen) in (0, len(self.parts))

    @rule(ARE_DIGESTS)
    def _has_digests(self) -> bool:
        return are_digests(self.forgotten)

    @rule("every column has a weight of 0 or more, where there are weights")
    def _has_weights(self) -> bool:
        if self.calibration is None:
            return True
        weights = self.calibration.weights
        return len(weights) == self.groups and bool((weights >= 0).all())

    @rule("numbers that a sample counts are of columns whose numbers are counted in bins")
    def _has_sampled(self) -> bool:
        binned = {
            name
            for b, part in enumerate(self.parts)
            if all(isinstance(batch.blocks[b], MomentsAndBins) for batch in self.batches)
            for name in part.layout.columns
        }
        return self.sampled is None or set(self.sampled.columns) <= binned

    @rule("words are those of a column of strings, and events of numbers are numbered")
    def _has_events(self) -> bool:
        for b, part in enumerate(self.parts):
            if part.layout.encoding == "events":
                first = next(c for c in self.layout.columns if c.name == part.layout.columns[0])
                found = (v for batch in self.batches for v in batch.blocks[b].vocabularies)
                if any(v.closed != (first.stored == "number") for v in found if len(v)):
                    return False
        return True
