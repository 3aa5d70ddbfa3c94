"""The rows that a logistic regression learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.statistics.batch import Batch
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["TrainingRows", "farthest"]


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
        batch = self.centred.to_fit(batch) if self.centred.leaves_out else batch
        return batch, batch.learnt(self.classes)


def farthest(split: Split, params: tuple[TrainingRows, NDArray[np.float64]]) -> float:
    """Kernel: the largest |z/s|² of a row; the second of ``params`` is 1/s."""
    rows, inverse_scale = params

    def of(batch: Batch) -> float:
        batch, codes = rows.of(batch)
        largest = 0.0
        for z, part in rows.centred.pieces(batch, False, codes >= 0):
            squares = (z * z)[part] @ inverse_scale**2
            largest = max(largest, float(squares.max(initial=0.0)))
        return largest

    return max(each_batch(split, rows.layout, of))
