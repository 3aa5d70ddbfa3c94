"""Splits travel light: with their own rows, or the path of a file."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy.sparse import random_array
from tests.laws.comparing import frozen

from suffice import NaiveBayes
from suffice.data.open import open_table
from suffice.data.schema import BlockLayout, Column, Layout
from suffice.data.source import ArraySource, Labels

ROWS = 40_000
REAL = Layout((BlockLayout("real", ("x0", "x1")),), (Column("x0", "number", "real", ""),) * 2)


def travelled(part: Any) -> Any:
    """Send a part, and check that it arrives with its rows and no others."""
    there = pickle.loads(pickle.dumps(part))
    assert there.count() == part.count()
    assert there.locate(3) == part.locate(3)
    for mine, its in zip(part.batches(), there.batches(), strict=True):
        assert frozen(mine) == frozen(its)
    again = pickle.dumps(there)
    assert frozen(list(pickle.loads(again).batches())) == frozen(list(part.batches()))
    return len(again), len(pickle.dumps(part))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_slice_of_an_array_takes_its_own_rows(order: Any) -> None:
    rng = np.random.default_rng(0)
    x = np.asarray(rng.normal(size=(ROWS, 2)), order=order)
    labels = Labels.of(rng.integers(0, 3, ROWS))
    source = ArraySource(x, ("x0", "x1"), labels, rng.random(ROWS))
    parts = source.parts(REAL, 2)
    assert len(parts) == 2
    for part in parts:
        for size in travelled(part):
            assert size < (2 + 1 + 1) * 8 * ROWS / 2 + 2_000


def test_a_slice_of_a_sparse_matrix_takes_its_own_rows() -> None:
    x = random_array((ROWS, 50), density=0.1, rng=np.random.default_rng(1)).tocsr()
    names = tuple(f"w{j}" for j in range(50))
    layout = Layout(
        (BlockLayout("events", names),), tuple(Column(n, "number", "text", "") for n in names)
    )
    for part in ArraySource(x, names).parts(layout, 2):
        for size in travelled(part):
            assert size < 0.52 * (x.data.nbytes + x.indices.nbytes + x.indptr.nbytes) + 20_000


def test_targets_beside_an_array_travel_with_their_rows() -> None:
    rng = np.random.default_rng(2)
    layout = replace(REAL, blocks=(*REAL.blocks, BlockLayout("real", ("y",))))
    x, y = rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, 1))
    source = ArraySource(x, ("x0", "x1"), targets=y)
    for part in source.parts(layout, 2):
        for size in travelled(part):
            assert size < 3 * 8 * ROWS / 2 + 2_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "x": pa.array(rng.normal(size=ROWS), mask=rng.random(ROWS) < 0.1),
            "letter": pa.array(rng.choice(list("abc"), ROWS)).dictionary_encode(),
            "kind": rng.choice(["yes", "no"], ROWS),
        }
    )


def test_a_slice_of_a_frame_takes_its_own_rows(table: pa.Table) -> None:
    layout = NaiveBayes.textbook().fit(table, "kind").reader_.layout
    frame = open_table(table, "kind").table
    from suffice.data.table_source import TableSource

    parts = TableSource(replace(frame, part_rows=1_000), "kind").parts(layout, 2)
    assert len(parts) == ROWS // 1_000
    for part in parts[::13]:
        for size in travelled(part):
            assert size < 25_000


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_a_part_of_a_file_takes_its_path(table: pa.Table, suffix: str, tmp_path: Path) -> None:
    write: dict[str, Callable[[pa.Table, Path], None]] = {
        ".parquet": lambda rows, path: pq.write_table(rows, path, row_group_size=5_000),
        ".arrow": lambda rows, path: pa.feather.write_feather(rows, path, chunksize=5_000),
        ".csv": pa.csv.write_csv,
    }
    path = tmp_path / f"rows{suffix}"
    plain = table.set_column(1, "letter", table["letter"].cast(pa.string()))
    write[suffix](plain, path)
    layout = NaiveBayes.textbook().fit(path, "kind").reader_.layout
    for part in open_table(path, "kind").parts(layout, 2):
        for size in travelled(part):
            assert size < 2_500
