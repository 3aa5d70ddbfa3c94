"""The learning rate η of gradient descent, and how it falls from epoch to epoch."""

from __future__ import annotations

import math
from typing import Literal

__all__ = ["LearningRate", "learning_rate"]

LearningRate = Literal["auto", "line_search", "averaged", "constant", "decaying"]
AVERAGED_DECAY = 0.01  # how fast the rate of averaged steps falls


def learning_rate(
    rate: LearningRate, epoch: int, steepness: float, eta0: float | None, decay: float
) -> float:
    """η in an epoch t.

    ::

        η₀                  constant
        η₀ / (1 + δt)       decaying
        η₀ / √(1 + t/100)   averaged

    Parameters
    ----------
    rate : {"constant", "decaying", "averaged"}
    epoch : int
        t, from 0.
    steepness : float
        The mean of h|z|², h(1 + p): where no η₀ is given, it is half the inverse.
    eta0 : float, optional
        η₀.
    decay : float
        δ.

    Examples
    --------
    >>> [learning_rate("decaying", t, 4.0, 0.5, 0.25) for t in (0, 4)]
    [0.5, 0.25]
    """
    first = 0.5 / steepness if eta0 is None else float(eta0)
    if rate == "averaged":
        return first / math.sqrt(1.0 + AVERAGED_DECAY * epoch)
    return first / (1.0 + decay * epoch) if rate == "decaying" else first
