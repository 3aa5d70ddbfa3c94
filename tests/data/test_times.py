"""Times from the seconds that a model reads them as, there and back."""

from __future__ import annotations

from datetime import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice
from suffice import NaiveBayes
from suffice.errors import SchemaError

N = 60
TABLE = {
    "day": np.datetime64("2024-01-01", "D") + np.arange(N),
    "point": np.datetime64("2024-01-01T10:00", "us") + np.arange(N) * np.timedelta64(7, "h"),
    "clock": [time(i % 24, i) for i in range(N)],
    "lasted": np.arange(N) * np.timedelta64(5400, "s"),
    "size": np.linspace(-1, 1, N),
}
LABELS = np.array(list("ab") * (N // 2))


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes(numbers="gaussian").fit(pa.table(TABLE), LABELS)


def test_drawn_rows_are_read_as_the_rows_of_the_fit_were(model: NaiveBayes) -> None:
    rows, labels = model.sample(200, random_state=0)
    assert [rows[name].dtype.kind for name in TABLE] == ["M", "M", "O", "m", "f"]
    again = NaiveBayes(numbers="gaussian").fit(rows, labels)
    assert [c.reason for c in again.schema_] == [c.reason for c in model.schema_]
    for name, unit in (("point", "datetime64[us]"), ("lasted", "timedelta64[us]")):
        learnt, drawn = (x[name].astype(unit).astype(np.int64) for x in (TABLE, rows))
        assert abs(drawn.mean() - learnt.mean()) < 0.2 * np.ptp(learnt)
    assert set(model.predict(rows)) <= {"a", "b"}


def test_no_time_is_out_of_range(model: NaiveBayes) -> None:
    far = suffice.NaiveBayes.textbook().fit(
        pa.table({"t": pa.array([-(10**17), 10**17] * 4, pa.timestamp("us"))}), list("aabb") * 2
    )
    rows, _ = far.sample(500, random_state=1)
    years = rows["t"].astype("datetime64[Y]").astype(int) + 1970
    assert 1 <= years.min() <= years.max() <= 9999


def test_instants_of_numpy_one_by_one_are_those_of_an_array() -> None:
    days = np.datetime64("2026-01-01") + np.arange(20)
    kind = ["a", "b"] * 10
    expected = NaiveBayes.textbook().fit({"day": days}, kind)
    for cells in (list(days), np.array(list(days), dtype=object)):
        assert NaiveBayes.textbook().fit({"day": cells}, kind).statistic_ == expected.statistic_


def test_types_that_python_has_no_value_of_are_refused_as_labels() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0], "y": pd.PeriodIndex(["2026-01", "2026-02"], freq="M")})
    with pytest.raises(SchemaError, match="column 'y' holds"):
        NaiveBayes().fit(table, "y")
