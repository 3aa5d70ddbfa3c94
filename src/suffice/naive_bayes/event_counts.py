"""What the naive Bayes classifiers of counted events share."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import COUNT_RULE
from suffice.errors import DataError
from suffice.models.generative.classifier import Rows
from suffice.models.generative.reader import GenerativeReader
from suffice.naive_bayes.discrete import Discrete
from suffice.sums.by_class import ByClass
from suffice.sums.counts import Events

__all__ = ["EventCounts"]


class EventCounts(Discrete):
    """What the classes for counted events have in common: numbers that are 0 or more."""

    input_tags = ("sparse", "positive_only")

    def _summarise(self, reader: GenerativeReader, source: Rows) -> ByClass:
        try:
            return super()._summarise(reader, source)
        except DataError as error:
            if error.rule != COUNT_RULE:
                raise
            known = f"Negative values in data passed to {type(self).__name__} (input X)"
            raise DataError(error.fact, f"{known}: {COUNT_RULE}") from None

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """Σwx of every event, (k, d)."""
        return cast(Events, self._sums).count.value
