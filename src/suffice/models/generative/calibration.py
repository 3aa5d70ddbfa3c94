"""Weights of columns: how much of what each one says is counted.

::

    log p(c | x) = log π_c + Σ_j w_j log p(x_j | c) + const,   w_j ≥ 0

Naive Bayes adds up what columns say as if none repeated another, and is too sure where some do.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.label_sets import Doubts
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.weighted import group_sizes
from suffice.numerics.in_print import listed
from suffice.rules import FINITE, NONNEGATIVE, Shape

__all__ = ["Calibration", "CalibrationName"]

CalibrationName = Literal["none", "temperature", "weights"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Weights, and what they are worth.

    Parameters
    ----------
    weights : ndarray (g,)
        One for every column, in the order of the parts; one for a text, and for columns that are
        modelled together. A last one is that of pairs of columns, where these are counted.
    rows : float
        Σw of the rows that they were learnt from.
    before, after : float
        Log loss of these rows, in nats a row, each taken out of the sums: with weights of 1, and
        with these. The weights know the labels of these rows.
    doubts : ndarray (q + 1,)
        The quantiles of `Doubts` of these rows.
    stale : bool
        Whether rows were learnt or forgotten since.
    """

    weights: Annotated[NDArray[np.float64], Shape("g"), FINITE]
    rows: Annotated[float, NONNEGATIVE]
    before: Annotated[float, FINITE]
    after: Annotated[float, FINITE]
    doubts: Annotated[NDArray[np.float64], Shape("q"), NONNEGATIVE]
    stale: bool = False

    def __repr__(self) -> str:
        weights = listed([f"{weight:.2f}" for weight in self.weights.tolist()])
        return (
            f"weights of columns: {weights}{' (of earlier rows)' if self.stale else ''}\n"
            f"log loss: {self.before:.4f} nats a row with weights of 1, {self.after:.4f} with "
            f"these, of {self.rows:g} rows"
        )

    @classmethod
    def none(cls, usual: NDArray[np.float64]) -> Calibration:
        """The weights that a model has where there was no row to learn others from."""
        return cls(usual, 0.0, 0.0, 0.0, np.zeros(0))

    def of_parts(self, parts: tuple[FamilyColumns, ...]) -> list[NDArray[np.float64]]:
        """The weights of every part."""
        ends = np.cumsum([0, *group_sizes(parts)])
        return [self.weights[a:b] for a, b in pairwise(ends.tolist())]

    @property
    def label_doubts(self) -> Doubts:
        """How doubtful the classes of the rows were."""
        return Doubts(self.doubts, self.rows)
