"""Rows of tables, and what is said of those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from suffice import read_sql
from suffice.errors import ReadError

__all__ = ["message", "read", "rows"]


def read(query: str, connection: Any, parameters: Any = None) -> Any:
    """Return the rows of a query, which are asked for now."""
    return read_sql(query, connection, parameters).rows


def rows(table: Any, *names: str) -> list[dict[str, Any]]:
    """Return the rows of a table, in these columns or in all."""
    parts = table.parts(dict.fromkeys(names or table.names))
    return [row for part in parts for batch in part.record_batches() for row in batch.to_pylist()]


def message(action: Callable[[], object], kind: type[Exception] = ReadError) -> str:
    """Return the text of the error that an action raises."""
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)
