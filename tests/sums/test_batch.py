"""Scores of many classes are computed some rows at a time, which changes nothing."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import LogisticRegression, NaiveBayes
from suffice.errors import DataError
from suffice.sums import batch
from suffice.sums.batch import BATCH_ROWS, Batch, scored_rows


def table(n: int) -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    words = rng.choice(["u", "v"], n)
    return pa.table({"x": rng.normal(size=n) + y, "w": words, "y": [f"c{c}" for c in y]})


@pytest.mark.parametrize("make", [NaiveBayes, LogisticRegression])
def test_parts_of_batches_are_answered_as_whole_ones(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(500)
    model = make().fit(rows, "y")

    def said() -> list[Any]:
        tables = pa.concat_tables(model.predict_batches(rows, proba=True))
        probabilities = model.predict_proba(rows).tobytes()
        evaluation = model.evaluate(rows, "y")
        figures = evaluation.confusion, evaluation.log_loss, evaluation.roc_area
        return [
            model.predict(rows).tolist(),
            probabilities,
            tables.to_pydict(),
            *figures,
            model.score(rows, "y"),
        ]

    whole = said()
    monkeypatch.setattr(batch, "SCORES", 3 * 64)
    assert scored_rows(3) == 64
    assert said() == whole


def test_a_bad_cell_is_named_by_its_row_in_a_later_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(500)
    model = NaiveBayes().fit(rows, "y")
    monkeypatch.setattr(batch, "SCORES", 3 * 64)
    x = rows["x"].to_numpy().copy()
    x[300] = np.inf
    with pytest.raises(DataError, match="column 'x', row 300: inf"):
        model.predict(rows.set_column(0, "x", pa.array(x)))


def test_a_batch_is_cut_into_parts() -> None:
    assert [part.rows for part in Batch(7, ()).pieces(3)] == [3, 3, 1]
    assert [part.rows for part in Batch(0, ()).pieces(3)] == [0]
    assert scored_rows(1) == BATCH_ROWS
    assert scored_rows(10**9) == 1
