"""What can be the label of a row: one value, and all labels of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.errors import SchemaError

__all__ = ["is_missing", "require_label_values"]

NESTED = (tuple, list, dict, set, frozenset, np.ndarray)
BOOLEANS = (bool, np.bool_)


def is_missing(value: Any) -> bool:
    """Tell whether a cell is None, NaN, NaT or pandas.NA."""
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def require_label_values(cells: Sequence[Any]) -> None:
    """Refuse labels that hold several values, and Booleans among other labels: 1 equals True.

    Raises
    ------
    SchemaError
        Naming the label, or the types.

    Examples
    --------
    >>> require_label_values([1, True])
    Traceback (most recent call last):
        ...
    suffice.errors.SchemaError: the labels mix types: bool, int; labels are of one type; convert \
them.
    """
    kinds = set(map(type, cells))
    if not any(issubclass(kind, NESTED + BOOLEANS) for kind in kinds):
        return
    kinds = {type(cell) for cell in cells if not is_missing(cell)}
    nested = next((kind for kind in kinds if issubclass(kind, NESTED)), None)
    if nested is not None:
        row = next(i for i, cell in enumerate(cells) if type(cell) is nested)
        raise SchemaError(
            f"label, row {row}: {cells[row]!r}",
            "a label is one value: a string, a whole number, a Boolean or a date",
            "join its parts into one string",
        )
    names = sorted({kind.__name__ for kind in kinds})
    if len(names) > 1 and any(issubclass(kind, BOOLEANS) for kind in kinds):
        raise SchemaError(
            f"the labels mix types: {', '.join(names)}", "labels are of one type", "convert them"
        )
