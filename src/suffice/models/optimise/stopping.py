"""When a solver gets no further."""

from __future__ import annotations

import numpy as np

from suffice.models.optimise.tolerances import LOSS_ROUNDING

__all__ = ["StallDetector"]

STALLED = 10  # steps without progress


class StallDetector:
    """Notices that neither the loss nor its gradient gets smaller: what is left is rounding.

    Examples
    --------
    >>> detector = StallDetector()
    >>> [detector.has_stalled(loss=1.0, gradient_norm=1e-16) for _ in range(12)].index(True)
    11
    """

    def __init__(self) -> None:
        self._loss = self._gradient_norm = np.inf
        self._waited = 0

    def has_stalled(self, loss: float, gradient_norm: float) -> bool:
        """Take note of one more step; whether the last ones have led no further."""
        lower = loss < self._loss - LOSS_ROUNDING * abs(loss)
        self._waited = 0 if lower or gradient_norm < self._gradient_norm / 2 else self._waited + 1
        self._loss = min(loss, self._loss)
        self._gradient_norm = min(gradient_norm, self._gradient_norm)
        return self._waited > STALLED
