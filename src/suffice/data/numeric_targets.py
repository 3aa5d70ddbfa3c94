"""Numeric targets beside the rows of a table: as an array of their own, or among its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.python_cells import require_faithful, unmasked
from suffice.data.schema import Column, held, stored_as
from suffice.data.table import free_name
from suffice.data.table_source import TableSource, beside, no_column
from suffice.errors import DataError, SchemaError
from suffice.numerics.rows import is_sparse

TARGET = "a target is a number"


def numeric_targets(y: Any) -> tuple[NDArray[Any], tuple[str, ...], bool]:
    """Targets as an array (n, t) of numbers, their names, and whether they were given as (n,)."""
    if type(y) is np.ndarray:
        values = y
    elif is_sparse(y):
        raise DataError(
            "the targets are a sparse matrix", "targets are dense numbers", "pass y.toarray()"
        )
    else:
        values = np.asarray(unmasked(y, numeric=True))
    if values.dtype.kind in "OUS":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"Unknown label type: {error}", TARGET, "a classifier learns from labels"
            ) from None
    if values.dtype.kind not in "biuf":
        raise DataError(f"y holds {values.dtype}; Complex data not supported", TARGET)
    if values.ndim not in (1, 2) or (values.ndim == 2 and not values.shape[1]):
        raise DataError(
            f"y has shape {values.shape}", "it is (n,), or (n, t) for t targets", "reshape it"
        )
    named: Any = getattr(y, "columns" if values.ndim == 2 else "name", None)
    if named is None:
        named = [f"y{j}" for j in range(values.shape[1])] if values.ndim == 2 else "y"
    names = tuple(map(str, named)) if values.ndim == 2 else (str(named),)
    if values is not y:
        require_faithful(y, values, lambda at: f"column {names[sum(at[1:])]!r}, row {at[0]}")
    return values[:, None] if values.ndim == 1 else values, names, values.ndim == 1


def with_targets(
    source: TableSource,
    values: NDArray[Any],
    names: Sequence[str],
    features: Sequence[str] | None = None,
) -> tuple[TableSource, tuple[str, ...]]:
    """Add targets (n, t) to a table in memory, under names that no other column has.

    Columns of these names give way, unless they are among the ``features`` of a model.
    """
    known = [*source.table.names, *source.table.about.ignored]
    old = [name for name in names if features is not None and name not in features]
    known = [name for name in known if name not in old]
    added: list[str] = []
    for name in names:
        added.append(free_name(name, [*known, *added]))

    columns = dict(zip(added, map(pa.array, values.T), strict=True))
    return beside(source, "target", columns, old), tuple(added)


def target_columns(source: TableSource, names: Sequence[str]) -> tuple[Column, ...]:
    """The targets among the columns of a table."""
    schema, columns = source.table.shown.schema, []
    for name in names:
        if name not in source.feature_names:
            delimited = source.table.about.format is not None
            raise no_column(name, "a target", source.feature_names, delimited)
        stored = stored_as(schema.field(name).type)
        if doubt := source.table.about.doubts.get(name):
            raise SchemaError(doubt)
        if stored in (None, "string", "time"):
            raise SchemaError(
                f"column {name!r} holds {held(schema.field(name).type)}",
                TARGET,
                "a classifier learns from labels",
            )
        columns.append(Column(name, stored, "real", "the target"))
    return tuple(columns)
