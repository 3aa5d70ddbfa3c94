"""Drawn cells of columns that held integers, or 0 and 1, as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import LOW, Column, UniformColumns

__all__ = ["with_whole_numbers"]

LARGEST = 2.0**63


def with_whole_numbers(
    rows: Mapping[str, NDArray[Any]], columns: Sequence[Column]
) -> dict[str, NDArray[Any]]:
    """Return the rows with integers, and outcomes as numbers, where the columns held such.

    Examples
    --------
    >>> columns = (
    ...     Column("age", "integer", "real", "whole numbers"),
    ...     Column("hit", "integer", "binary", "only -1 and 1"),
    ... )
    >>> drawn = with_whole_numbers({"age": np.array([31.4]), "hit": np.array([False])}, columns)
    >>> drawn["age"], drawn["hit"]
    (array([31]), array([-1]))
    """
    found = dict(rows)
    if isinstance(columns, UniformColumns):
        return found
    for column in columns:
        drawn = found[column.name]
        if drawn.dtype == bool and column.stored in ("integer", "number") and column.reason in LOW:
            drawn = np.where(drawn, 1.0, LOW[column.reason])
        if column.stored == "integer" and drawn.dtype.kind == "f":
            nearest = np.rint(drawn)
            held = bool((np.abs(nearest) < LARGEST).all())
            drawn = nearest.astype(np.int64) if held else nearest
        found[column.name] = drawn
    return found
