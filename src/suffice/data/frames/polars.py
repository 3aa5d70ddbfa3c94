"""Polars LazyFrames: their query runs once, in streams, into a temporary Parquet file."""

from __future__ import annotations

import polars as pl

from suffice.data.files.parquet import PARQUET
from suffice.data.files.spool import SpooledTable, first_line, spooled
from suffice.data.files.temporary import TemporaryFolder, keeping
from suffice.errors import ReadError

__all__ = ["lazy_table"]


def lazy_table(frame: pl.LazyFrame) -> SpooledTable:
    """Run the query of a LazyFrame in polars' streaming engine, and keep its rows.

    The rows never are in memory together. Polars can also hand them over batch by batch
    (``collect_batches``), but then waits for a reader that may wait for polars.

    Raises
    ------
    ReadError
        If the query fails.

    Examples
    --------
    >>> lazy_table(pl.LazyFrame({"x": [1, 2, 3]}).filter(pl.col("x") > 1)).head().to_pylist()
    [{'x': 2}, {'x': 3}]
    """
    folder = TemporaryFolder()
    path = folder.path / "rows.parquet"
    with keeping(folder):
        try:
            frame.sink_parquet(path, compression="snappy")
        except pl.exceptions.PolarsError as error:
            raise ReadError(
                f"the query of the LazyFrame fails: {first_line(error)}",
                "",
                "collect() it to see more",
            ) from error
        schema, parts = PARQUET.read(path)
        return spooled(schema, parts, "the LazyFrame", folder)
