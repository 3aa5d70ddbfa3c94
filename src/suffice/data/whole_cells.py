"""Drawn numbers of columns that hold integers, as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, UniformColumns

__all__ = ["with_whole_numbers"]

LARGEST = 2.0**63


def with_whole_numbers(
    rows: Mapping[str, NDArray[Any]], columns: Sequence[Column]
) -> dict[str, NDArray[Any]]:
    """The same rows; numbers in columns that held integers are the integers nearest to them.

    Examples
    --------
    >>> age = Column("age", "integer", "real", "whole numbers")
    >>> with_whole_numbers({"age": np.array([31.4, 52.7])}, [age])["age"]
    array([31, 53])
    """
    found = dict(rows)
    if isinstance(columns, UniformColumns):
        return found
    for column in columns:
        drawn = found[column.name]
        if column.stored == "integer" and drawn.dtype.kind == "f":
            nearest = np.rint(drawn)
            held = bool((np.abs(nearest) < LARGEST).all())
            found[column.name] = nearest.astype(np.int64) if held else nearest
    return found
