"""First rows of a table: kept while they are small, read again where they are not."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from suffice import LinearRegression, NaiveBayes
from suffice.data import table as tables
from suffice.data.files import stored
from suffice.data.open import open_table
from suffice.data.table import Table
from suffice.data.table_views import WithoutColumns

RNG = np.random.default_rng(0)
N = 500
ROWS = pa.table(
    {
        "size": RNG.normal(size=N),
        "hue": RNG.choice(["red", "green"], N),
        "none": pa.nulls(N, pa.string()),
        "count": RNG.integers(0, 9, N),
        "kind": RNG.choice(["a", "b"], N),
    }
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:columns without a value:suffice.errors.SufficeWarning"
)


@pytest.fixture(params=["csv", "parquet", "feather"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    path = tmp_path / f"rows.{request.param}"
    match request.param:
        case "csv":
            pa.csv.write_csv(ROWS, path)
        case "parquet":
            pa.parquet.write_table(ROWS, path, row_group_size=120)
        case "feather":
            pa.feather.write_feather(ROWS, path, compression="uncompressed")
    return open_table(path).table


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch, opened: Table) -> list[Table]:
    """Each time that first rows were read."""
    found: list[Table] = []
    own = type(opened)._head.fget

    def counted(table: Table) -> pa.RecordBatch:
        found.append(table)
        return own(table)

    monkeypatch.setattr(type(opened), "_head", property(counted))
    return found


def test_small_first_rows_are_read_once(opened: Table, reads: list[Table]) -> None:
    assert opened.head() is opened.head()
    NaiveBayes().fit(opened, "kind")
    assert reads == [opened]


def test_large_first_rows_are_let_go_and_change_nothing(
    opened: Table, reads: list[Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = NaiveBayes().fit(ROWS, "kind")
    monkeypatch.setattr(tables, "KEPT", 1_000)
    model = NaiveBayes().fit(opened, "kind")
    assert reads == [opened]
    assert not [one for one in vars(opened).values() if isinstance(one, pa.RecordBatch)]
    assert [c.kind for c in model.schema_] == [c.kind for c in expected.schema_]
    new = ROWS.drop_columns(["kind"])
    np.testing.assert_array_equal(model.predict_proba(new), expected.predict_proba(new))
    NaiveBayes.textbook().fit(opened, "kind")
    assert len(reads) == 1
    assert opened.head().num_rows == N
    assert len(reads) == 2


def test_columns_that_are_left_out_are_those_of_the_same_rows(
    opened: Table, reads: list[Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "KEPT", 1_000)
    part = WithoutColumns(opened, ("hue", "none"))
    LinearRegression().fit(WithoutColumns(part, ("kind",)), "size")
    NaiveBayes().fit(part, "kind")
    assert len(reads) <= 2
    schema, rows, empty = opened.shown
    assert part.shown == (pa.schema([schema.field(name) for name in part.names]), rows, set())
    assert empty == {"none"}


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_large_first_rows_are_read_some_columns_at_a_time(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"rows.{suffix}"
    if suffix == "parquet":
        pa.parquet.write_table(ROWS, path, row_group_size=120)
    else:
        pa.feather.write_feather(ROWS, path, compression="uncompressed")
    expected, whole = open_table(path).table.shown, NaiveBayes().fit(path, "kind")
    read: list[list[str]] = []
    own = stored.first_rows
    monkeypatch.setattr(
        stored,
        "first_rows",
        lambda batches, schema: (read.append(schema.names), own(batches, schema))[1],
    )
    monkeypatch.setattr(stored, "KEPT", 1_000)
    monkeypatch.setattr(stored, "TOGETHER", 2 * stored.NUMBER * N)
    table = open_table(path).table
    assert table.shown == expected
    groups = len(read)
    assert groups == (3 if suffix == "parquet" else 5)  # which does not tell its rows
    assert [name for names in read for name in names] == ROWS.column_names
    assert NaiveBayes().fit(table, "kind").statistic_ == whole.statistic_
    assert len(read) == 2 * groups
