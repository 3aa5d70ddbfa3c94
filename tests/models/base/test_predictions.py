"""Predictions batch by batch are those of the methods that answer a whole table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import BernoulliNB, GaussianNB

CLASSIFIERS = [
    suffice.NaiveBayes.textbook(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    LogisticRegression(),
]


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(150_000, 3))


def joined(tables: Any) -> dict[str, np.ndarray]:
    table = pa.concat_tables(tables)
    return {name: table[name].to_numpy() for name in table.column_names}


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("threads", [1, 2])
def test_classifiers(model: Any, threads: int, x: np.ndarray) -> None:
    y = np.array(["no", "yes", "perhaps"])[np.digitize(x[:, 0] + x[:, 1], [-1, 1])]
    model.fit(x[:2_000], y[:2_000])
    engine = suffice.engine("local", threads=threads)
    with suffice.set_engine(engine):
        found = joined(model.predict_batches(x, proba=True))
    labels = model.classes_.tolist()
    assert list(found) == ["prediction", *(f"P({c})" for c in labels)]
    np.testing.assert_array_equal(found["prediction"], model.predict(x))
    shares = np.column_stack([found[f"P({c})"] for c in labels])
    np.testing.assert_array_equal(shares, model.predict_proba(x))


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=["linear", "ridge"])
@pytest.mark.parametrize("kind", ["prediction", "confidence"])
def test_regressors(model: Any, targets: int, kind: Any, x: np.ndarray) -> None:
    y = np.sin(x[:2_000, :targets])
    model.fit(x[:2_000], y[:, 0] if targets == 1 else y)
    found = joined(model.predict_batches(x, interval=kind, level=0.9))
    ends = model.predict_interval(x, kind, 0.9).reshape(len(x), targets, 2)
    answers = np.concatenate([model.predict(x).reshape(len(x), targets, 1), ends], axis=2)
    np.testing.assert_array_equal(
        np.column_stack(list(found.values())), answers.reshape(len(x), -1)
    )
    assert len(joined(model.predict_batches(x))) == targets


def test_a_table_without_rows_has_an_answer_without_rows(tmp_path: Path) -> None:
    rows = pa.table({"x": [1.0, 2.0, 4.0], "y": ["a", "b", "b"]})
    pq.write_table(rows.slice(0, 0), tmp_path / "none.parquet")
    (table,) = (
        suffice.NaiveBayes.textbook().fit(rows, "y").predict_batches(tmp_path / "none.parquet")
    )
    assert (table.num_rows, table.column_names) == (0, ["prediction"])


def test_impossible_rows_are_counted_at_the_end() -> None:
    model = BernoulliNB(alpha=0).fit([[1, 0], [0, 1]], [0, 1])
    answers = model.predict_batches([[1, 1], [0, 1], [0, 0]], proba=True)
    with pytest.warns(SufficeWarning, match="^2 of 3 rows are impossible under every class"):
        (table,) = answers
    assert table.to_pydict() == {
        "prediction": [0, 1, 0],
        "P(0)": [0.5, 0.0, 0.5],
        "P(1)": [0.5, 1.0, 0.5],
    }


def test_what_is_wrong_with_the_options_is_said_at_once() -> None:
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    with pytest.raises(ParameterError, match=r"^kind='both'"):
        model.predict_batches([[1.0]], interval="both")


def test_a_bad_cell_is_named_when_its_batch_is_read() -> None:
    model = GaussianNB().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    answers = model.predict_batches([[1.0], [np.inf]])
    with pytest.raises(DataError, match=r"^column 'x0', row 1: inf"):
        next(answers)
