"""Columns in one block of memory are the same columns."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice.data.files.parquet import ColumnMemory
from suffice.data.open import open_table

COLUMNS = [
    pa.array([1.5, None, -0.0, 7.0]),
    pa.array([1, 2, 3, 4], pa.int8()),
    pa.array([None, None, None, None], pa.float32()),
    pa.array([True, False, None, True]),
    pa.array(["a", "b", None, "a"]),
    pa.array(["a", "b", None, "a"]).dictionary_encode(),
    pa.array([datetime(2020, 1, 1), None, datetime(1960, 1, 1), datetime(2020, 1, 1)]),
    pa.array([1, 2, 3, 4], pa.decimal128(5, 0)),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_cells_are_the_same(column: pa.Array) -> None:
    chunked = pa.chunked_array([column])
    memory = ColumnMemory(4, [pa.float64(), column.type])
    for _ in range(3):  # the last ones may find no room
        assert memory.moved(chunked).equals(chunked)
    part = pa.chunked_array([column.slice(1)])
    assert ColumnMemory(4, [column.type]).moved(part).equals(part)


def test_row_groups_are_read_as_they_were_written(tmp_path: Path) -> None:
    table = pa.table({f"c{j}": column for j, column in enumerate(COLUMNS) if j != 5})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    source = open_table(tmp_path / "a.parquet").table
    splits = source.splits(dict.fromkeys(source.names))
    rows = [row for split in splits for part in split.record_batches() for row in part.to_pylist()]
    assert rows == table.to_pylist()
