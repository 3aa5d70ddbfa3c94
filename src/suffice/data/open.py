"""Open whatever a user calls a table: frames, streams, files, or a table already open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from suffice.data.file_formats import open_files
from suffice.data.frames.memory import frame_table
from suffice.data.python_cells import warn_of_alike
from suffice.data.schema import Layout
from suffice.data.spelled import spelled
from suffice.data.table import CleanedTable, Table, require_distinct
from suffice.data.table_source import TableSource, without
from suffice.data.text_format import TextFormat
from suffice.errors import ParameterError, SchemaError, warn

CLEANED = ("ignore", "label_suffix", "label_map")


def open_table(
    data: Any,
    label: str | None = None,
    weight: str | None = None,
    remembered: TextFormat | None = None,
    layout: Layout | None = None,
    *,
    first: bool = True,
) -> TableSource:
    """Open a table whose label and weight, if it has them, are columns of these names.

    Parameters
    ----------
    data : path, folder, glob, list of these, `Table`, or anything that `frame_table` takes
        The rows.
    label, weight : str, optional
    remembered : TextFormat, optional
        What is known of how text is written.
    layout : Layout, optional
        How a model reads its columns.
    first : bool
        Whether strings of a frame may turn out to be numbers or dates; else only what is known
        to be written so.
    """
    distributed = distributed_table(data)  # first: a frame of Spark Connect has any attribute
    paths = data if isinstance(data, list | tuple) else [data]
    if distributed is not None:
        table = distributed
    elif isinstance(data, Table):
        table = data.read_as(remembered, label)
    elif all(isinstance(path, str | os.PathLike) for path in paths):
        table = open_files(data, remembered=remembered, label=label)
        about = table.about
        for remark in about.losses if remembered is None else about.remarks:
            warn(f"{remark}.")
    else:
        table = frame_table(data)
    if first or layout is not None:
        table = spelled(table, label, remembered, layout)
    if not table.names:
        raise SchemaError("the table has no column", "a model needs features")
    source = TableSource(table, label, weight)
    if first and label is not None and source.engine is None:
        warn_of_alike(source.shown_labels())
    return source


def read_csv(
    path: Any,
    *,
    ignore: Sequence[str] = (),
    label_suffix: str = "",
    label_map: Mapping[str, str] | None = None,
    **options: Any,
) -> Table:
    r"""Open delimited text that is not written the usual way.

    Parameters
    ----------
    path : path, folder, glob or list of these
        The files; gzip, bzip2, xz, zstd and lz4 are decompressed.
    ignore, label_suffix, label_map : optional
        As in `read_table`.
    **options
        Those of `suffice.data.text_format.TextFormat`: ``separator``, ``quote``, ``header``,
        ``names``, ``missing``, ``strip``, ``decimal``, ``thousands``, ``written``,
        ``skip_lines``, ``skip_last``, ``skip_bad_rows``, ``encoding``.

    Returns
    -------
    Table
        To be given to `fit` or `predict`. Nothing but its first rows is read before.

    Raises
    ------
    ReadError
        If a file cannot be read.
    ParameterError
        If an option is outside its rule.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "votes.data"
    ...     _ = file.write_text("republican ,n ,? \ndemocrat ,y ,n \n")
    ...     read_csv(file, header=False, strip=True, missing=["?"]).head().to_pylist()[0]
    {'column_1': 'republican', 'column_2': False, 'column_3': None}
    """
    known = [*(field.name for field in fields(TextFormat)), *CLEANED]
    for name in options:
        if name not in known:
            raise ParameterError(
                f"read_csv has no option {name!r}",
                f"its options are {', '.join(known)}",
                "take one of them",
            )
    return _said(open_files(path, TextFormat(**options)), ignore, (), label_suffix, label_map)


def read_excel(
    path: Any,
    sheet: str | int | None = None,
    *,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    label_suffix: str = "",
    label_map: Mapping[str, str] | None = None,
) -> Table:
    """Open a sheet of a workbook, of Excel or OpenDocument.

    Parameters
    ----------
    path : path, folder, glob or list of these
        The files. They are read whole, into memory.
    sheet : str or int, optional
        Its name, or its place from 1. By default the only one with rows.
    ignore, missing, label_suffix, label_map : optional
        As in `read_table`.

    Returns
    -------
    Table
        To be given to `fit` or `predict`.

    Raises
    ------
    ReadError
        If a file cannot be read, or has no such sheet.
    ParameterError
        If it is no workbook.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from suffice import NaiveBayes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "fruit.xlsx")
    ...     rows = pd.DataFrame({"size": [1.0, 2.0, 5.0], "kind": ["apple", "apple", "plum"]})
    ...     rows.to_excel(file, sheet_name="2024", index=False)
    ...     model = NaiveBayes().fit(read_excel(file, sheet="2024"), "kind")
    >>> model.predict({"size": [4.5]})
    array(['plum'], dtype='<U5')
    """
    return _said(open_files(path, sheet=sheet), ignore, missing, label_suffix, label_map)


def read_table(
    data: Any,
    *,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    label_suffix: str = "",
    label_map: Mapping[str, str] | None = None,
) -> Table:
    """Open anything that `fit` takes, and say what it does not tell by itself.

    Parameters
    ----------
    data : path, folder, glob, list of these, or a frame
        The rows.
    ignore : sequence of str
        Columns that are left out; a model fitted to the table goes on ignoring them.
    missing : sequence of str
        Strings that stand for a missing cell, besides null and NaN.
    label_suffix : str
        Taken off the end of every label that has it.
    label_map : mapping of str to str, optional
        New names of labels, applied after the suffix is taken off. A model fitted to the table
        goes on reading cells and labels in this way.

    Returns
    -------
    Table
        To be given to `fit` or `predict`.

    Raises
    ------
    ReadError
        If a file cannot be read.
    ParameterError
        If an option is outside its rule.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"id": [7, 8, 9], "color": ["red", "?", "blue"], "kind": ["plum.", "plum", "fig"]}
    >>> table = read_table(rows, ignore=["id"], missing=["?"], label_suffix=".")
    >>> NaiveBayes().fit(table, "kind").predict({"color": ["red", "?", "blue"]})
    array(['plum', 'plum', 'fig'], dtype='<U4')
    """
    return _said(open_table(data).table, ignore, missing, label_suffix, label_map)


def _said(
    table: Table,
    ignore: Sequence[str],
    missing: Sequence[str],
    label_suffix: str,
    label_map: Mapping[str, str] | None,
) -> Table:
    cleaned = CleanedTable(without(table, ignore), missing, label_suffix, label_map)
    return cleaned if any(cleaned.about.cleaning.values()) else cleaned.table


def distributed_table(data: Any) -> Table | None:
    """Open a Spark or Dask DataFrame where it is; None for others."""
    library = type(data).__module__.partition(".")[0]
    table: Table
    if library == "pyspark" and hasattr(data, "mapInArrow"):
        from suffice.data.frames.spark import SparkTable

        table = SparkTable(data)
    elif library == "dask" and hasattr(data, "iterrows"):
        from suffice.data.frames.dask import DaskTable

        table = DaskTable(data)
    else:
        return None
    require_distinct(table.names)
    return table
