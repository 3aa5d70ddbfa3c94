"""The reader and the file of a classifier that counts pairs of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.errors import ForgetError, SchemaError
from suffice.models.generative.paired_columns import PairedColumns, encodings, pair_sums
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.saved import SavedGenerative
from suffice.rules import rule
from suffice.sums.by_class import ByClass, Loss
from suffice.sums.comparison import Comparison
from suffice.sums.pairs import CutBins, PairCounts


def without_pairs(sums: ByClass) -> ByClass:
    """The sums of families alone: those of pairs stand behind them."""
    return replace(sums, blocks=sums.blocks[:-1])


def paired_columns(sums: ByClass) -> PairedColumns:
    """The columns whose pairs are counted, and their bins."""
    pairs = sums.blocks[-1]
    return PairedColumns(pairs.columns, pairs.bins)


@dataclass(frozen=True)
class PairedReader(GenerativeReader):
    """A reader whose sums have one more block: the pairs of columns."""

    def with_pairs(
        self,
        sums: ByClass,
        paired: PairedColumns,
        source: TableSource | ArraySource,
        engine: Engine,
    ) -> ByClass:
        """Read the rows once more, and put their pairs behind the sums of families."""
        parts = source.parts(self.layout, engine.workers)
        found = engine.run(pair_sums, (self.parts, self.layout, paired), parts)
        return replace(sums, blocks=(*sums.blocks, *found.over(sums.classes).blocks))

    def column(self, lost: ForgetError | Loss) -> str:
        if lost.block < len(self.parts):
            return super().column(lost)
        return "a pair of columns"

    def check_compatible(self, statistic: ByClass, other: Self, others: ByClass, verb: str) -> None:
        super().check_compatible(statistic, other, others, verb)
        if paired_columns(statistic) != paired_columns(others):
            raise SchemaError(
                "the models differ: pairs of columns were counted in other bins",
                f"only counts of pairs in the same bins can be {verb}",
                "fit one model to the files of both, or in Python the other with the bins_ of this",
            )

    def compare(self, statistic: ByClass, other: Self, others: ByClass) -> Comparison:
        return super().compare(without_pairs(statistic), other, without_pairs(others))


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

    @property
    def groups(self) -> int:
        """Return the number of weights: pairs have one, the last."""
        return super().groups + 1


def _paired(sums: ByClass) -> PairedColumns | None:
    """The columns whose pairs stand behind the sums of families."""
    pairs = sums.blocks[-1] if sums.blocks else None
    return PairedColumns(pairs.columns, pairs.bins) if isinstance(pairs, PairCounts) else None
