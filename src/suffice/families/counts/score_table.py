"""Where the scores of values lie, for the kernel that adds them up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ScoreTable"]


class ScoreTable(NamedTuple):
    """Log θ by code, as `kernels.scores.add_table` reads it."""

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    offsets: NDArray[np.int64]
    table: NDArray[np.float64]
