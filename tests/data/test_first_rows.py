"""First rows of a table: kept while they are small, read again where they are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from suffice import LinearRegression, NaiveBayes, read_table

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


@pytest.fixture(params=["parquet", "feather"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / f"rows.{request.param}"
    match request.param:
        case "parquet":
            pa.parquet.write_table(ROWS, path, row_group_size=120)
        case "feather":
            pa.feather.write_feather(ROWS, path, compression="uncompressed")
    return read_table(path)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch, opened: Any) -> list[Any]:
    """Each time that first rows were read."""
    found: list[Any] = []
    own = type(opened)._head.fget

    def counted(table: Any) -> pa.RecordBatch:
        found.append(table)
        return own(table)

    monkeypatch.setattr(type(opened), "_head", property(counted))
    return found


def test_small_first_rows_are_read_once(opened: Any, reads: list[Any]) -> None:
    assert opened.head() is opened.head()
    NaiveBayes().fit(opened, "kind")
    assert not reads  # opening has read them


def test_large_first_rows_are_let_go_and_change_nothing(
    opened: Any, reads: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = NaiveBayes().fit(ROWS, "kind")
    monkeypatch.setattr("suffice.data.table.KEPT", 1_000)
    vars(opened).pop("_kept", None)
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
    opened: Any, reads: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.data.table.KEPT", 1_000)
    part = read_table(opened, ignore=["hue", "none"])
    LinearRegression().fit(read_table(part, ignore=["kind"]), "size")
    NaiveBayes().fit(part, "kind")
    assert len(reads) <= 2
    schema, rows, empty = opened.shown
    assert part.shown == (pa.schema([schema.field(name) for name in part.names]), rows, set())
    assert empty == {"none"}
