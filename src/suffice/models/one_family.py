"""A classifier whose columns are all modelled by one family, as scikit-learn's are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from scipy.sparse import issparse

from suffice.data.arrays import ArraySource
from suffice.data.schema import Alike, Column, Kind
from suffice.data.source import Source
from suffice.families import Family
from suffice.models.estimator import GenerativeClassifier
from suffice.models.generative import Part
from suffice.models.naive_bayes import whole
from suffice.statistics.block import Encoding

__all__ = ["OneFamilyClassifier"]

KINDS: dict[Encoding, Kind] = {
    "real": "real",
    "count": "real",
    "binary": "binary",
    "category": "category",
}


class OneFamilyClassifier(GenerativeClassifier):
    """All columns in one family; a single class is accepted, as scikit-learn does."""

    fewest_classes = 1
    array_dtype: str | None = "numeric"

    @abstractmethod
    def _family(self) -> Family:
        """The family, from the parameters."""

    def _parts(self, columns: Sequence[Column]) -> tuple[Part, ...]:
        return whole(self._family(), columns)

    def _described(self, source: Source) -> Sequence[Column]:
        if not isinstance(source, ArraySource):
            return source.columns()
        threshold = self._reading().get("threshold")
        # Cells that are not stored are left alone where 0 is the outcome 0.
        stored = issparse(source.x) and (threshold is None or threshold >= 0)
        kind: Kind = "text" if stored else KINDS[self._family().encodings[0]]
        return Alike(source.names, "number", kind, f"as {type(self).__name__} reads it")

    @property
    def _estimates(self) -> Any:
        (parameters,) = self.model_.parameters
        return parameters

    @property
    def _sums(self) -> Any:
        (block,) = self.model_.statistic.blocks
        return block
