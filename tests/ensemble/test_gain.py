"""What `AutoClassifier` would gain, estimated from the sample of a fitted naive Bayes."""

import numpy as np
import pyarrow as pa
import pytest

from suffice import AutoClassifier, NaiveBayes
from suffice.ensemble.candidates import Roles
from suffice.ensemble.gain import Gain, gain_of_average
from suffice.ensemble.sampled_rows import sampled_rows

NOTHING = Roles(None, None, (), "ignore", None, None)


def rows(n: int, seed: int, together: bool) -> tuple[pa.Table, np.ndarray]:
    """Two columns that tell the class only together, or each by itself, and one of words."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n))
    y = np.where(rng.random(n) < 0.1, 1 - (a ^ b), a ^ b) if together else rng.integers(0, 2, n)
    size = a + 0.1 * rng.normal(size=n) if together else y + rng.normal(size=n)
    mask = rng.random(n) < 0.05
    table = {"size": pa.array(size, mask=mask), "hue": np.array(["red", "green"])[b], "count": a}
    return pa.table(table), y


def log_loss(model: NaiveBayes | AutoClassifier, table: pa.Table, y: np.ndarray) -> float:
    return -float(model.predict_log_proba(table)[np.arange(len(y)), y].mean())


def test_a_gain_is_about_that_on_new_rows() -> None:
    table, y = rows(2_000, 0, together=True)
    model = NaiveBayes().fit(table, y)
    found = gain_of_average(model, NOTHING)
    new, truth = rows(2_000, 1, together=True)
    auto = AutoClassifier().fit(table, y)
    assert found is not None
    assert found.is_sure
    assert found.log_loss == pytest.approx(log_loss(model, new, truth), abs=0.04)
    assert found.log_loss_of_average == pytest.approx(log_loss(auto, new, truth), abs=0.04)
    assert found.rows == -(-model.statistic_.sample.rows // 3)


def test_nothing_is_gained_where_naive_bayes_is_right() -> None:
    table, y = rows(600, 2, together=False)
    model = NaiveBayes().fit(table, y)
    found = gain_of_average(model, NOTHING)
    assert found is not None
    assert not found.is_sure
    assert found.rows == model.statistic_.sample.rows


@pytest.mark.parametrize("n", [4_000, 20_000])
def test_one_fold_of_many_is_asked_and_each_half_of_it_judges_the_other(n: int) -> None:
    table, y = rows(n, 4, together=True)
    model = NaiveBayes().fit(table, y)
    found = gain_of_average(model, NOTHING)
    assert found is not None
    assert found.is_sure
    new, truth = rows(2_000, 5, together=True)
    assert found.log_loss == pytest.approx(log_loss(model, new, truth), abs=0.04)
    assert found.rows == pytest.approx(model.statistic_.sample.rows / 4, rel=0.02)


def test_rows_of_equal_cells_are_learnt_or_asked_together() -> None:
    def repeated(n: int, seed: int) -> tuple[pa.Table, np.ndarray]:
        rng = np.random.default_rng(seed)
        cells = rng.integers(0, 3, (n, 5))
        odds = np.exp(2 * (cells @ [1.0, -0.7, 0.5, 0.0, 0.3] - 1.1))
        table = pa.table({f"c{j}": np.array([*"pqr"])[cells[:, j]] for j in range(5)})
        return table, (rng.random(n) < odds / (1 + odds)).astype(int)

    table, y = repeated(10_000, 0)  # of 243 rows that differ, most with both labels
    model = NaiveBayes().fit(table, y)
    found = gain_of_average(model, NOTHING)
    assert found is not None
    assert found.log_loss == pytest.approx(log_loss(model, *repeated(4_000, 1)), abs=0.03)
    assert gain_of_average(NaiveBayes().fit(table.select(["c0", "c1"]), y), NOTHING) is None


def test_it_depends_on_the_rows_alone() -> None:
    table, y = rows(400, 3, together=True)
    order = np.random.default_rng(0).permutation(400)
    model = NaiveBayes().partial_fit(table.take(order[:150]), y[order[:150]])
    model.partial_fit(table.take(order[150:]), y[order[150:]])
    expected = gain_of_average(NaiveBayes().fit(table, y), NOTHING)
    assert gain_of_average(model, NOTHING) == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_estimated() -> None:
    table, y = rows(120, 4, together=True)
    assert gain_of_average(NaiveBayes().fit(table, y), NOTHING) is not None
    assert gain_of_average(NaiveBayes().fit(table[:90], y[:90]), NOTHING) is None
    assert gain_of_average(NaiveBayes.textbook().fit(table, y), NOTHING) is None
    wide = np.random.default_rng(0).normal(size=(120, 1_001))
    assert gain_of_average(NaiveBayes().fit(wide, y), NOTHING) is None


def test_a_gain_is_sure_beyond_two_standard_errors() -> None:
    assert Gain(0.5, 0.4, 0.04, 100).is_sure
    assert not Gain(0.5, 0.4, 0.06, 100).is_sure
    assert not Gain(0.4, 0.5, 0.01, 100).is_sure


def test_rows_of_a_sample_are_those_of_the_table() -> None:
    table = pa.table(
        {
            "size": pa.array([1.5, None, 2.5]),
            "count": pa.array([300, 5, None], pa.int64()),
            "old": pa.array([True, None, False]),
            "one": pa.array([0, 1, 1], pa.int64()),
            "hue": pa.array(["red", None, "blue"]),
            "note": pa.array(["so it is so", None, "it is"]),
        }
    )
    model = NaiveBayes({"note": "multinomial"}).fit(table, ["a", "b", "c"])
    both = sampled_rows(model.statistic_.sample, model.layout_)
    assert both is not None
    found, labels, _ = both
    in_order = found.select(table.column_names).sort_by("one").to_pylist()
    words = {"so it is so": "so so it is"}
    expected = [row | {"note": words.get(row["note"], row["note"])} for row in table.to_pylist()]
    assert sorted(in_order, key=str) == sorted(expected, key=str)
    again = NaiveBayes({"note": "multinomial"}).fit(found, labels)
    assert [c.kind for c in again.schema_] == [
        {c.name: c.kind for c in model.schema_}[name] for name in found.column_names
    ]
