"""Open whatever a user calls a table: frames, streams, files, or a table already open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.data.file_formats import open_files
from suffice.data.frames.memory import (
    frame_table,
    in_memory_beside,
    not_text,
)
from suffice.data.python_cells import faithful, require_label_values, unmasked, warn_of_alike
from suffice.data.schema import Layout
from suffice.data.spelled import spelled
from suffice.data.table import CleanedTable, Table, free_name, require_distinct
from suffice.data.table_source import TableSource, innermost, without
from suffice.data.text_format import TextFormat
from suffice.errors import ParameterError, SchemaError, first_line, warn

LABEL, WEIGHT = "label", "weight"
CLEANED = ("ignore", "label_suffix", "label_map")


def open_table(
    data: Any,
    label: Any = None,
    weight: Any = None,
    remembered: TextFormat | None = None,
    layout: Layout | None = None,
    *,
    first: bool = True,
) -> TableSource:
    """Open a table with its label and weight, each a column name or one value per row.

    Parameters
    ----------
    data : path, folder, glob, list of these, `Table`, or anything that `frame_table` takes
        The rows.
    label, weight : str or array-like (n,), optional
        Values may be given only for a table in memory.
    remembered : TextFormat, optional
        What is known of how text is written.
    layout : Layout, optional
        How a model reads its columns.
    first : bool
        Whether strings of a frame may turn out to be numbers or dates; else only what is known
        to be written so.
    """
    own = label if isinstance(label, str) else None
    table = _table(data, own, remembered)
    if first or layout is not None:
        table = spelled(table, own, remembered, layout)
    if not table.names:
        raise SchemaError("the table has no column", "a model needs features")
    names: list[str | None] = []
    for role, given in ((LABEL, label), (WEIGHT, weight)):
        if given is None or isinstance(given, str):
            names.append(given)
            continue
        name = free_name(role, [*table.names, *table.about.ignored])
        column = _one_column(role, given)
        table = innermost(table, partial(_beside, role=role, name=name, given=column))
        names.append(name)
    label_name, weight_name = names
    source = TableSource(table, label_name, weight_name)
    if first and label_name is not None and source.engine is None:
        warn_of_alike(source.shown_labels())
    return source


def _table(data: Any, label: str | None, remembered: TextFormat | None) -> Table:
    distributed = distributed_table(data)  # first: a frame of Spark Connect has any attribute
    if distributed is not None:
        return distributed
    if isinstance(data, Table):
        return data.read_as(remembered, label)
    paths = data if isinstance(data, list | tuple) else [data]
    if all(isinstance(path, str | os.PathLike) for path in paths):
        table = open_files(data, remembered=remembered, label=label)
        about = table.about
        for remark in about.losses if remembered is None else about.remarks:
            warn(f"{remark}.")
        return table
    return frame_table(data)


def _beside(table: Table, role: str, name: str, given: Any) -> Table:
    frame = in_memory_beside(table, role)
    column = _column(role, given, frame.table.num_rows)
    return replace(frame, table=frame.table.append_column(name, column))


def _one_column(role: str, given: Any) -> Any:
    """The only column of a table; everything else as it is."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) != 2:
        return given
    if shape[1] != 1:
        raise ParameterError(
            f"the {role}s are a table of {shape[1]} columns", f"there is one {role} per row"
        )
    if isinstance(given, pa.Table):
        return given.column(0)
    if hasattr(given, "iloc"):
        return given.iloc[:, 0]
    return given[:, 0]


def _column(role: str, given: Any, rows: int) -> pa.Array[Any]:
    values = unmasked(given)
    values = faithful(values, np.asarray(values))
    if role == LABEL:
        several = values.dtype.kind in "Oc" and values.ndim == 1
        cells = values.tolist() if several else []
        require_label_values(given if isinstance(given, list | tuple) else cells)
    if values.shape != (rows,):
        raise ParameterError(
            f"{values.shape[0] if values.ndim else 1} {role}s for {rows} rows",
            f"there is one {role} per row",
        )
    try:
        return pa.array(values, from_pandas=True)
    except UnicodeError:
        raise not_text(f"the {role}s hold") from None
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise SchemaError(
            f"the {role}s mix types: {first_line(error)}",
            f"{role}s are of one type",
            "convert them",
        ) from error


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
