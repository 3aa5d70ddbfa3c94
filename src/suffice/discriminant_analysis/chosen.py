"""Discriminant analysis whose degree of regularisation is chosen by leave-one-out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.discriminant_analysis.shared import DiscriminantAnalysis
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.regularization import Regularization, RegularizedModel
from suffice.models.generative.sampled_classifier import SampledClassifier
from suffice.models.generative.saved import SAVED, SavedGenerative
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import RowSample, Sampled
from suffice.tree import named

__all__ = ["ChosenRegularization"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedRegularized(SavedGenerative):
    """What the file of a discriminant analysis holds besides.

    Parameters
    ----------
    regularization : Regularization, optional
        What the degrees of regularisation were chosen from.
    """

    regularization: Regularization | None = None


class ChosenRegularization(SampledClassifier, DiscriminantAnalysis):
    """A discriminant analysis that keeps what its degrees of regularisation were chosen from."""

    saved = SavedRegularized
    saved_types = {**SAVED, **named(Regularization)}  # noqa: RUF012 - as all estimators have it

    @property
    def regularization_(self) -> Regularization | None:
        """The log loss of every degree that was tried; None where it was given."""
        found: Regularization | None = getattr(self._fitted(), "regularization", None)
        return found

    @property
    @abstractmethod
    def _is_chosen(self) -> bool:
        """Whether a degree is chosen by the rows."""

    @abstractmethod
    def _judged(self, model: GenerativeModel, sample: RowSample) -> Regularization | None:
        """The degrees to choose from, by rows of a sample that leave the sums of a model."""

    @property
    def _looks_again(self) -> bool:
        return self._is_chosen or super()._looks_again

    def _estimate(
        self,
        reader: GenerativeReader,
        statistic: ByClass,
        source: TableSource | ArraySource | None = None,
        tuned: bool = False,
    ) -> GenerativeModel:
        found = None
        if self._is_chosen and not tuned:
            found = self._choice(reader, self._in_rows(statistic))
            if found is not None:
                reader = replace(reader, parts=found.parts(reader.parts))
        model = super()._estimate(reader, statistic, source, tuned)
        return RegularizedModel.of(model, found) if self._is_chosen else model

    def _choice(self, reader: GenerativeReader, statistic: ByClass) -> Regularization | None:
        """What is chosen from; of earlier rows, where those of these sums are not there."""
        if isinstance(statistic, Sampled) and self._stands_for(statistic):
            model = self._model_of(reader, self._of_all_classes(reader, statistic.plain))
            return self._judged(model, statistic.sample)
        if not hasattr(self, "model_") or self.regularization_ is None:
            return None
        return replace(self.regularization_, stale=True)

    def _warnings(self) -> Iterator[str]:
        yield from super()._warnings()
        found = self.regularization_
        if found is not None and found.stale:
            names = " and ".join(n for n in ("pooling", "shrinkage") if hasattr(self, n))
            yield (
                f"{names} are those chosen by earlier rows, as no rows are kept in files; fit "
                "chooses them anew."
            )

    def _learnt(self) -> dict[str, Any]:
        return {**super()._learnt(), "regularization": self.regularization_}

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        if self._is_chosen:
            self.model_ = RegularizedModel.of(self.model_, saved.regularization)
            _ = self.model_.parameters  # refused here, if sums of an altered file have none
