"""A hash of what a row says: the same whatever the order of rows and columns, and their storage.

::

    h(row) = Σ_j h(name of j, value of j)  mod 2⁶⁴

Equal integers, floats, decimals and Booleans have one hash, −0 is 0, a dictionary is its values,
times have one unit, and a missing cell adds nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.schema import stored_as
from suffice.sums.row_sample import mixed
from suffice.sums.vocabulary import hash_of


def row_hashes(batch: pa.RecordBatch) -> NDArray[np.uint64]:
    """The hash of every row, (n,).

    Examples
    --------
    >>> row_hashes(pa.record_batch({"x": [None, float("nan")]}))
    array([0, 0], dtype=uint64)
    """
    total = np.zeros(batch.num_rows, np.uint64)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        is_missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        hashes = mixed(_of_cells(column) + hash_of(name))
        total += np.where(is_missing, np.uint64(0), hashes)
    return total


def _of_cells(column: pa.Array[Any]) -> NDArray[np.uint64]:
    """A number of 64 bits for every cell; equal values have equal ones."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_cells(column.dictionary_decode())
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_temporal(kind):
        column = _in_microseconds(column)
    elif stored_as(kind) not in ("integer", "number", "boolean"):
        coded = column.dictionary_encode()
        values = coded.dictionary.to_pylist()
        hashes = np.array([*map(hash_of, values), 0], np.uint64)
        cells: NDArray[np.uint64] = hashes[coded.indices.fill_null(len(values)).to_numpy()]
        return cells
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    doubles = column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
    bits: NDArray[np.uint64] = np.add(doubles, 0.0).view(np.uint64)  # −0 + 0 is 0
    return bits


def _in_microseconds(column: pa.Array[Any]) -> pa.Array[Any]:
    kind = column.type
    if pa.types.is_time(kind):
        to: pa.DataType = pa.time64("us")
    elif pa.types.is_duration(kind):
        to = pa.duration("us")
    else:
        to = pa.timestamp("us", getattr(kind, "tz", None))
    return column.cast(to, safe=False).cast(pa.int64())
