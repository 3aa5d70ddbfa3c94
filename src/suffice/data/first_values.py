"""The first values of columns that the first rows leave empty: a pass over these columns alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import chain
from typing import Any

import pyarrow as pa

from suffice.data.table import BATCH_ROWS, first_promoted
from suffice.data.text_cells import infer

__all__ = ["first_values"]


@singledispatch
def first_values(table: Any, names: Sequence[str]) -> Mapping[str, pa.Array[Any]]:
    """Return the first 65,536 values of some columns of a table, in the order of its rows.

    They come without nulls, in stored or inferred types; a column without any value is not there.
    A kind of table whose rows cannot be read here registers how it finds them.

    Examples
    --------
    >>> from suffice.data.frames.memory import frame_table
    >>> table = frame_table(pa.table({"x": [None, 5], "y": pa.nulls(2)}))
    >>> {name: values.to_pylist() for name, values in first_values(table, ["x", "y"]).items()}
    {'x': [5]}
    """
    splits = table.splits(dict.fromkeys(names, pa.string() if table.guesses else None))
    found: dict[str, list[pa.RecordBatch]] = {name: [] for name in names}
    wanted = dict.fromkeys(names, BATCH_ROWS)
    for batch in chain.from_iterable(split.record_batches() for split in splits):
        for name, rows in tuple(wanted.items()):
            values = batch.column(name).drop_null()
            if len(values):
                found[name].append(pa.record_batch({name: values}))
            wanted[name] = rows - len(values)
            if wanted[name] <= 0:
                del wanted[name]
        if not wanted:
            break
    shown = {name: parts for name, parts in found.items() if parts}
    return {name: _joined(name, parts, table.guesses) for name, parts in shown.items()}


def _joined(name: str, parts: Sequence[pa.RecordBatch], guesses: bool) -> pa.Array[Any]:
    """The values of one column, in a type for all."""
    values = first_promoted(parts, pa.schema([])).column(name)
    if guesses:
        return infer(values)
    return values
