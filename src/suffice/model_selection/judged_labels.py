"""Rows without a label, which no classifier can be judged by."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.data.label_values import is_missing
from suffice.errors import DataError

__all__ = ["require_labels"]


def require_labels(y: Any) -> None:
    """Refuse a row without a label.

    Raises
    ------
    DataError
        Naming the first.
    """
    y = np.asarray(y)
    if y.ndim != 1 or y.dtype.kind in "biuSU":
        return
    for row in [i for i, label in enumerate(y.tolist()) if is_missing(label)][:1]:
        raise DataError(
            f"label, row {row}: {y[row]}",
            "a row is judged by its label",
            "leave out rows without one, or use evaluate_folds, which does so",
        )
