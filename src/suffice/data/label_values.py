"""What can be the label of a row: one value, and all labels of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.errors import SchemaError, warn

__all__ = ["is_missing", "require_label_values", "warn_of_alike"]

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


def warn_of_alike(labels: Sequence[Any]) -> None:
    """Warn of labels that differ by blanks or by case only: they look the same in a table.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     warn_of_alike(["yes", "yes ", "no"])
    >>> print(said[0].message)
    the labels 'yes' and 'yes ' differ by blanks only: strip=True reads them as one.
    """
    texts = [label for label in labels if isinstance(label, str)]
    for what, same, step in (
        ("blanks", lambda text: " ".join(text.split()), "strip=True reads them as one"),
        ("case", str.casefold, "label_map={{{1!r}: {0!r}}} reads them as one"),
    ):
        first: dict[str, str] = {}
        pairs = [(first.setdefault(same(text), text), text) for text in texts]
        alike = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if alike is not None:
            warn(
                f"the labels {alike[0]!r} and {alike[1]!r} differ by {what} only: "
                f"{step.format(*alike)}."
            )
            return
