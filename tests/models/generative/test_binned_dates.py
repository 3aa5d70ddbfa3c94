"""Dates are binned from 2000-01-01, where cells are finer than from 1970."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import AODE, NaiveBayes, load
from suffice.sums.bins import YEAR_2000

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


def table(n: int, seed: int, late: bool = True) -> pa.Table:
    rng = np.random.default_rng(seed)
    sold = np.datetime64("2003-01-01") + rng.integers(0, 8000, n).astype("m8[D]")
    paid = sold + rng.integers(1, 90, n).astype("m8[D]")
    return pa.table(
        {
            "sold": sold,
            "size": rng.normal(size=n),
            "paid": paid if late else pa.nulls(n, pa.date32()),
            "kind": np.where(sold.astype("M8[M]").astype(int) % 12 < 6, "spring", "autumn"),
        }
    )


def origins(model: Any) -> dict[str, float]:
    blocks = zip(model.model_.parts, model.statistic_.blocks, strict=False)
    pairs = (zip(p.layout.columns, b.bins.origin.tolist(), strict=True) for p, b in blocks)
    return {name: origin for both in pairs for name, origin in both}


@pytest.mark.parametrize("make", [NaiveBayes, lambda: NaiveBayes({"sold": "density"}), AODE])
def test_dates_start_at_2000_and_other_numbers_at_0(make: Any, tmp_path: Path) -> None:
    rows = table(300, 0)
    model = make().fit(rows, "kind")
    assert origins(model) == {"sold": YEAR_2000, "size": 0.0, "paid": YEAR_2000}
    model.save(tmp_path / "model")
    asked = rows.drop(["kind"])
    assert load(tmp_path / "model").predict_proba(asked).tolist() == (
        model.predict_proba(asked).tolist()
    )
    moments = rows.set_column(0, "sold", rows["sold"].cast(pa.timestamp("us")))
    assert origins(make().fit(moments, "kind"))["sold"] == YEAR_2000
    of_day = rows.set_column(0, "sold", pa.array((np.arange(300) % 7).astype("i4"), pa.time32("s")))
    assert origins(make().fit(of_day, "kind"))["sold"] == 0


def test_the_sums_of_parts_are_those_of_all_rows() -> None:
    first, second = table(200, 1, late=False), table(200, 2)
    expected = NaiveBayes(calibration="none").fit(pa.concat_tables([first, second]), "kind")
    model = NaiveBayes(calibration="none").partial_fit(first, "kind")
    assert model.partial_fit(second, "kind").statistic_ == expected.statistic_
    merged = NaiveBayes(calibration="none").fit(first, "kind")
    merged = merged.merge(NaiveBayes(calibration="none").fit(second, "kind"))
    assert merged.statistic_ == expected.statistic_
    assert expected.forget(first, "kind").statistic_.blocks == (
        NaiveBayes(calibration="none").fit(second, "kind").statistic_.blocks
    )
