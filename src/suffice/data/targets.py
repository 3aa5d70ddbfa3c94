"""Numeric targets beside the rows of a table: as an array of their own, or among its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.array_source import ArrayPart, ArraySource
from suffice.data.frames.memory import in_memory_beside
from suffice.data.python_cells import require_faithful, unmasked
from suffice.data.schema import Column, Layout, held, stored_as
from suffice.data.source import Part, Source
from suffice.data.table_source import TableSource, no_column
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.sums.batch import Batch
from suffice.sums.block import RealBlock

TARGET = "a target is a number"


@dataclass(frozen=True)
class ArrayTargets(Source):
    """An array of features and an array of targets, whose rows belong together.

    Examples
    --------
    >>> rows = ArraySource(np.array([[1.0], [2.0]]), ("x0",))
    >>> from suffice.data.schema import BlockLayout
    >>> layout = Layout((BlockLayout("real", ("x0",)), BlockLayout("real", ("y",))), ())
    >>> (part,) = ArrayTargets(rows, np.array([[5.0], [6.0]])).parts(layout, workers=1)
    >>> [block.values.tolist() for block in next(part.batches()).blocks]
    [[[1.0], [2.0]], [[5.0], [6.0]]]
    """

    source: ArraySource  # x, with row weights
    y: NDArray[Any]  # (n, t), the targets; NaN = missing

    def columns(self, names: Sequence[str] | None = None) -> Sequence[Column]:
        """The features, or those of the given names."""
        return self.source.columns(names)

    def parts(self, layout: Layout, workers: int) -> Sequence[ArrayTargetsPart]:
        """Return the slices of the features, with the last block of the layout beside them."""
        features = replace(layout, blocks=layout.blocks[:-1])
        return [ArrayTargetsPart(s, self.y, layout) for s in self.source.parts(features, workers)]


@dataclass(frozen=True)
class ArrayTargetsPart(Part):
    """A slice of the features with their targets."""

    features: ArrayPart
    y: NDArray[Any]
    layout: Layout

    def __reduce__(self) -> tuple[type[ArrayTargetsPart], tuple[ArrayPart, NDArray[Any], Layout]]:
        # The features count their rows anew when they travel without the others.
        own = self.y[self.features.first : self.features.stop]
        return ArrayTargetsPart, (self.features, own, self.layout)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the features, with a block of targets after theirs."""
        first = self.features.first
        for batch in self.features.batches():
            targets = RealBlock(self.y[first : first + batch.rows])
            yield replace(batch, blocks=(*batch.blocks, targets))
            first += batch.rows

    @property
    def rows(self) -> int:
        return self.features.rows

    def locate(self, row: int) -> str:
        """Say where a row stands."""
        return self.features.locate(row)

    @property
    def nbytes(self) -> int:
        """Bytes of the features."""
        return self.features.nbytes


def numeric_targets(y: Any) -> tuple[NDArray[Any], tuple[str, ...], bool]:
    """Targets as an array (n, t) of numbers, their names, and whether they were given as (n,)."""
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
    columns, names = values[:, None] if values.ndim == 1 else values, _names(y, values)
    require_faithful(y, values, lambda at: f"column {names[sum(at[1:])]!r}, row {at[0]}")
    return columns, names, values.ndim == 1


def _names(y: Any, values: NDArray[Any]) -> tuple[str, ...]:
    named = getattr(y, "columns", None) if values.ndim == 2 else getattr(y, "name", None)
    if named is not None:
        return tuple(map(str, named)) if values.ndim == 2 else (str(named),)
    return tuple(f"y{j}" for j in range(values.shape[1])) if values.ndim == 2 else ("y",)


def with_targets(
    source: TableSource,
    values: NDArray[Any],
    names: Sequence[str],
    features: Sequence[str] | None = None,
) -> tuple[TableSource, tuple[str, ...]]:
    """Add targets (n, t) to a table in memory, under names that no other column has.

    Columns of these names give way, unless they are among the ``features`` of a model.
    """
    frame, added = in_memory_beside(source.table, "target"), []
    if len(values) != frame.table.num_rows:
        raise ParameterError(
            f"{len(values)} targets for {frame.table.num_rows} rows", "there is one target per row"
        )
    if features is not None:
        old = [name for name in names if name in frame.names and name not in features]
        frame = replace(frame, table=frame.table.drop_columns(old))
    for name, column in zip(names, values.T, strict=True):
        frame, own = frame.with_column(name, pa.array(column))
        added.append(own)
    return replace(source, table=frame), tuple(added)


def target_columns(source: TableSource, names: Sequence[str]) -> tuple[Column, ...]:
    """The targets among the columns of a table."""
    schema, columns = source.table.shown.schema, []
    for name in names:
        if name not in source.feature_names:
            delimited = source.table.format is not None
            raise no_column(name, "a target", source.feature_names, delimited)
        stored = stored_as(schema.field(name).type)
        if doubt := source.table.doubt(name):
            raise SchemaError(doubt)
        if stored in (None, "string", "time"):
            raise SchemaError(
                f"column {name!r} holds {held(schema.field(name).type)}",
                TARGET,
                "a classifier learns from labels",
            )
        columns.append(Column(name, stored, "real", "the target"))
    return tuple(columns)
