"""A block of rows whose labels change: permutations of labels, all folds of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.labelings import Labelings

__all__ = ["AddScores", "Relabelled"]

AddScores = Callable[[int, NDArray[np.float64]], None]
"""Adds log p(x | c) of the rows from one on to an array (P, k, rows), each by the model of its
fold."""


class Relabelled(Protocol):
    """The rows of a block, which stay as they are while their labels change."""

    def scores(self, labelings: Labelings) -> AddScores | None:
        """What the models of all folds of all labelings say of rows that they have not learnt.

        The parameters are those of a fit. None where only a fit can tell them.
        """
        ...
