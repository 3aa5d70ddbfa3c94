"""The rows that a logistic regression learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.models.logistic.centred_design import CentredDesign
from suffice.statistics.batch import Batch
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["TrainingRows"]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """How batches become rows z with classes and weights.

    Parameters
    ----------
    centred : CentredDesign
        How rows z = (1, x − m) are made.
    classes : Vocabulary
        The k labels.
    class_weights : ndarray (k,)
        What the weights of the rows of a class are multiplied by.
    """

    centred: CentredDesign
    classes: Vocabulary
    class_weights: NDArray[np.float64]

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.centred.layout

    def of(self, batch: Batch) -> tuple[Batch, NDArray[np.intp]]:
        """The rows of a batch, and codes of their classes; −1 for those that a fit leaves out."""
        batch = self.centred.to_fit(batch)
        return batch, batch.learnt(self.classes)
