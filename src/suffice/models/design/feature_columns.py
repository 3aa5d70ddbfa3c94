"""Columns of a linear model: which of a table are read, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from suffice.data.array_source import ArraySource
from suffice.data.schema import Column, Kind, UniformColumns
from suffice.data.table_source import TableSource
from suffice.errors import ParameterError, SchemaError

__all__ = ["feature_columns", "named_columns"]

LISTED = 20  # columns named in an error


def feature_columns(
    source: TableSource | ArraySource,
    targets: Sequence[str] = (),
    categorical: Sequence[str] | None = None,
) -> Sequence[Column]:
    """What the columns are: numbers, or categories where there are strings or dictionaries.

    Any column may be named as categorical.

    Raises
    ------
    ParameterError
        If there is no such column to be categorical.
    SchemaError
        If a column holds text.
    """
    chosen = categorical or ()
    known = () if isinstance(source, ArraySource) else source.feature_names
    if isinstance(chosen, str) or not set(chosen) <= set(known) - set(targets):
        raise ParameterError(
            f"categorical={categorical!r}",
            "it is a list of names of columns of a table, none of them a target",
            "leave it out, or list columns that the table has",
        )
    if isinstance(source, ArraySource):
        return UniformColumns(source.names, "number", "real", "as a linear model reads it")
    schema, columns = source.table.head().schema, []
    for column in source.columns():
        if column.name in targets:
            continue
        named = column.name in chosen
        if column.kind == "text" and not named:
            raise SchemaError(
                f"column {column.name!r} holds text: {column.reason}",
                "a linear model takes numbers and categories",
                "leave it out",
            )
        category = column.stored == "string" or pa.types.is_dictionary(
            schema.field(column.name).type
        )
        reason = "strings or a dictionary" if category else "as a linear model reads it"
        kind: Kind = "category" if category or named else "real"
        columns.append(replace(column, kind=kind, reason="as told" if named else reason))
    return tuple(columns)


def named_columns(columns: Sequence[str | int], known: Sequence[str]) -> list[str]:
    """Names of columns that are given by name or position.

    Raises
    ------
    SchemaError
        If there is no such column.

    Examples
    --------
    >>> named_columns(["size", 2], ["age", "size", "price"])
    ['size', 'price']
    """
    names = [known[c] if isinstance(c, int) and c < len(known) else c for c in columns]
    every = set(known)
    for name in names:
        if name not in every:
            raise SchemaError(
                f"there is no column {name!r}",
                f"the model has {', '.join(map(repr, known[:LISTED]))}",
            )
    return [str(name) for name in names]
