"""Data frames of Spark and Dask: each has a table of its own, imported when one is met."""

from __future__ import annotations

from typing import Any

from suffice.data.table import Table, require_distinct

__all__ = ["distributed_table"]


def distributed_table(data: Any) -> Table | None:
    """Open a Spark or Dask DataFrame where it is; None for others.

    Raises
    ------
    SchemaError
        If columns share a name.

    Examples
    --------
    >>> distributed_table([1, 2])
    """
    table = _opened(data)
    if table is not None:
        require_distinct(table.names)
    return table


def _opened(data: Any) -> Table | None:
    library = type(data).__module__.partition(".")[0]
    if library == "pyspark" and hasattr(data, "mapInArrow"):
        from suffice.data.frames.spark import SparkTable

        return SparkTable(data)
    if library == "dask" and hasattr(data, "iterrows"):
        from suffice.data.frames.dask import DaskTable

        return DaskTable(data)
    return None
