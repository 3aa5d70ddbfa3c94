"""First rows of a table: kept while they are small, read again where they are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
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
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    path = tmp_path / f"rows.{request.param}"
    match request.param:
        case "parquet":
            pa.parquet.write_table(ROWS, path, row_group_size=120)
        case "feather":
            pa.feather.write_feather(ROWS, path, compression="uncompressed")
    return path


def test_small_first_rows_are_read_once(path: Path) -> None:
    opened = read_table(path)
    assert opened.head() is opened.head()


def test_large_first_rows_are_let_go_and_change_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = NaiveBayes().fit(ROWS, "kind")
    line = LinearRegression().fit(ROWS.select(["size", "count"]), "size")
    monkeypatch.setattr("suffice.data.table.KEPT", 1_000)
    opened = read_table(path)
    model = NaiveBayes().fit(opened, "kind")
    new = ROWS.drop_columns(["kind"])
    np.testing.assert_array_equal(model.predict_proba(new), expected.predict_proba(new))
    assert [c.kind for c in model.schema_] == [c.kind for c in expected.schema_]
    part = read_table(read_table(opened, ignore=["hue", "none"]), ignore=["kind"])
    assert LinearRegression().fit(part, "size").coef_.tolist() == line.coef_.tolist()
    assert not [one for one in vars(opened).values() if isinstance(one, pa.RecordBatch)]
    assert opened.head().num_rows == N
