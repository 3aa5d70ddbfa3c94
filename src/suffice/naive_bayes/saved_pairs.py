"""What the file of a classifier that counts pairs of columns holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from suffice.models.generative.paired_columns import PairedColumns, encodings
from suffice.models.generative.saved import SavedGenerative
from suffice.models.generative.weighted import group_sizes
from suffice.rules import rule
from suffice.sums.by_class import ByClass
from suffice.sums.pairs import CutBins, PairCounts

__all__ = ["SavedPairs"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedPairs(SavedGenerative):
    """The sums of naive Bayes, and behind them those of pairs, in the same bins in every batch."""

    @rule("there is a row, and every family has a statistic of its columns in every batch")
    def _has_statistics(self) -> bool:
        plain = tuple(replace(batch, blocks=batch.blocks[:-1]) for batch in self.batches)
        return SavedGenerative._has_statistics.kept_by(replace(self, batches=plain))

    @rule("pairs are those of columns of the model, in the same bins in every batch")
    def _has_pairs(self) -> bool:
        first = _paired(self.batches[0])
        if first is None or any(_paired(batch) != first for batch in self.batches):
            return False
        read = encodings(self.parts)
        if len(set(first.columns)) < len(first.columns) or not set(first.columns) <= set(read):
            return False
        pairs = zip(first.columns, first.bins, strict=True)
        return all((read[name] == "real") == isinstance(bins, CutBins) for name, bins in pairs)

    @rule("every column has a weight of 0 or more, and pairs have one, where there are weights")
    def _has_weights(self) -> bool:
        given = self.calibration
        if given is None:
            return True
        groups = sum(group_sizes(self.parts)) + 1
        return len(given.weights) == groups and bool((given.weights[:-1] >= 0).all())


def _paired(sums: ByClass) -> PairedColumns | None:
    """The columns whose pairs stand behind the sums of families."""
    pairs = sums.blocks[-1] if sums.blocks else None
    return PairedColumns(pairs.columns, pairs.bins) if isinstance(pairs, PairCounts) else None
