"""Rows of a table of any kind, by their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["rows_at"]


def rows_at(table: Any, rows: NDArray[np.intp]) -> Any:
    """The rows of an array or frame at these places."""
    if table is None or isinstance(table, str):
        return table
    if isinstance(table, Mapping):
        return {name: rows_at(column, rows) for name, column in table.items()}
    if isinstance(table, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return table.take(pa.array(rows))
    if isinstance(table, np.ndarray):
        return table[rows]
    if isinstance(table, list):
        return [table[row] for row in rows.tolist()]
    from suffice.model_selection.scikit_learn import items_at  # it takes seconds to import

    return items_at(table, rows)
