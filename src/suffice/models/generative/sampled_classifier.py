"""Generative classifiers that learn something from a sample of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import Engine
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.column_weights import SAMPLE_ROWS
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.saved import SavedGenerative
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import Sampled

__all__ = ["SampledClassifier"]

SAMPLE_CELLS = 2**22  # 32 MB of doubles
FEWEST_ROWS = 256  # of tables of any width


class SampledClassifier(GenerativeClassifier):
    """A generative classifier with a sample of the rows that it learns from.

    The sample goes along with the sums: rows that are added join it, and rows that are forgotten
    leave it. It is in memory only.

    Weights are relative: the model is one of sums in which one row of the sample weighs 1, with all
    copies of it. All weights times 100, or a table written twice, change nothing that is judged by
    rows that leave these sums.

    Attributes
    ----------
    row_weight_ : float
        What one row weighs in the sums; of earlier rows where the sample is not there. 1 where
        nothing is learnt from a sample.
    """

    row_weight_: float = 1.0

    @property
    def _is_of_sums(self) -> bool:
        return super()._is_of_sums and not self._looks_again

    @property
    def _looks_again(self) -> bool:
        """Whether something is learnt from a sample of the rows."""
        return False

    def _sampled(
        self, reader: GenerativeReader, source: TableSource | ArraySource, engine: Engine
    ) -> Sampled:
        if isinstance(engine, CheckpointedEngine):
            engine = engine.engine  # no file holds rows
        found = reader.sample(source, engine, _sample_rows(reader))
        assert isinstance(found, Sampled)
        return found

    def _summarise(self, reader: GenerativeReader, source: TableSource | ArraySource) -> ByClass:
        if not self._looks_again:
            return super()._summarise(reader, source)
        engine = self._engine_for(source)
        if not isinstance(engine, CheckpointedEngine):
            return self._sampled(reader, source, engine)
        # The checkpoint keeps the sums; the rows of the sample are chosen in another reading, which
        # starts anew after a stop.
        sums = reader.summarise(source, engine)
        return Sampled.with_sample(sums, self._sampled(reader, source, engine).sample)

    def _in_rows(self, statistic: ByClass) -> ByClass:
        """The same sums, in which one row weighs 1."""
        if not self._looks_again:
            self.row_weight_ = 1.0
        elif isinstance(statistic, Sampled) and self._stands_for(statistic):
            self.row_weight_ = statistic.row_weight
        weight = self.row_weight_
        if weight == 1:
            return statistic
        if not isinstance(statistic, Sampled):
            return statistic.scaled(1 / weight)
        sample = replace(statistic.sample, unit=weight)
        return Sampled.with_sample(statistic.plain.scaled(1 / weight), sample)

    def _stands_for(self, rows: Sampled) -> bool:
        """Whether a sample is still one of all rows: forgetting may have emptied it."""
        sample = rows.sample
        return sample.rows >= sample.size / 2 or sample.weight >= rows.rows * (1 - 1e-9)

    def _learnt(self) -> dict[str, Any]:
        batches = tuple(b.plain if isinstance(b, Sampled) else b for b in self.batches_)
        weight = {"row_weight": self.row_weight_} if self.row_weight_ != 1 else {}
        return {**super()._learnt(), "batches": batches, **weight}

    def _restore(self, saved: SavedGenerative) -> None:
        self.row_weight_ = saved.row_weight
        super()._restore(saved)


def _sample_rows(reader: GenerativeReader) -> int:
    """How many rows a sample has at most: fewer where they are wide."""
    dense = [part.layout for part in reader.parts if part.layout.encoding != "sparse"]
    columns = sum(len(layout.columns) for layout in dense)
    return min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_CELLS // max(1, columns)))
