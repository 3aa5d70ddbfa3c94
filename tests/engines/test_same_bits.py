"""Every engine gives the bits that threads of this process give."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.sparse import random_array
from tests.laws.comparing import frozen
from tests.running import on

from suffice import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    engine,
)
from suffice.bayes import column_weights
from suffice.errors import DataError
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import MultinomialNB

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
ROWS = 33_000  # an array of so many is cut in two
CLASSIFIERS = [NaiveBayes.textbook, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
LETTERS = np.array(list("abcdefghij"))


@pytest.fixture(scope="module")
def numbers() -> Rows:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    return 1e6 + rng.normal(size=(ROWS, 4)) + y[:, None], y


@pytest.fixture(scope="module")
def mixed(numbers: Rows) -> pa.Table:
    rng = np.random.default_rng(1)
    x, y = numbers
    columns = {f"x{j}": pa.array(x[:, j], mask=rng.random(ROWS) < 0.05) for j in range(4)}
    columns["letter"] = pa.array(rng.choice(LETTERS, ROWS), mask=rng.random(ROWS) < 0.05)
    return pa.table(columns | {"kind": LETTERS[y]})


def same(model: Any, expected: Any) -> None:
    assert model.statistic_ == expected.statistic_
    assert frozen(model.model_.parameters) == frozen(expected.model_.parameters)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_classifiers_of_arrays(far: Any, make: Any, numbers: Rows) -> None:
    x, y = numbers
    model, expected = on(far, make()).fit(x, y), on(engine(threads=2), make()).fit(x, y)
    same(model, expected)
    assert np.array_equal(model.predict_proba(x[:100]), expected.predict_proba(x[:100]))
    assert np.array_equal(model.predict(x), expected.predict(x))
    assert model.evaluate(x, y) == expected.evaluate(x, y)


def test_linear_regression(far: Any, numbers: Rows) -> None:
    x, y = numbers
    model, expected = on(far, LinearRegression()).fit(x, y), LinearRegression().fit(x, y)
    assert model.statistic_ == expected.statistic_
    assert frozen(model.coef_) == frozen(expected.coef_)
    assert np.array_equal(model.predict(x[:100]), expected.predict(x[:100]))


def test_logistic_regression(far: Any, numbers: Rows) -> None:
    x, y = numbers[0] - 1e6, numbers[1]
    model, expected = on(far, LogisticRegression()).fit(x, y), LogisticRegression().fit(x, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(x[:9]), expected.predict_proba(x[:9]), 1e-10)


def test_sparse_counts(far: Any) -> None:
    rng = np.random.default_rng(2)
    x = (random_array((ROWS, 50), density=0.05, rng=rng) * 10).tocsr().floor()
    y = rng.integers(0, 2, ROWS)
    same(on(far, MultinomialNB()).fit(x, y), MultinomialNB().fit(x, y))


def test_parquet(far: Any, mixed: pa.Table, tmp_path: Path) -> None:
    rows, features = tmp_path / "rows.parquet", tmp_path / "features.parquet"
    pq.write_table(mixed, rows, row_group_size=-(-ROWS // 7))
    pq.write_table(mixed.drop(["kind"]), features, row_group_size=-(-ROWS // 7))
    model, expected = (
        on(far, NaiveBayes.textbook()).fit(rows, "kind"),
        NaiveBayes.textbook().fit(mixed, "kind"),
    )
    same(model, expected)
    answers = expected.predict_proba(mixed.drop(["kind"]))
    assert np.array_equal(model.predict_proba(features), answers)


def test_distributions_and_weights(far: Any, mixed: pa.Table, tmp_path: Path) -> None:
    """What is learnt from a sample of rows, wherever these are."""
    rows = tmp_path / "rows.parquet"
    pq.write_table(mixed, rows, row_group_size=-(-ROWS // 7))
    model, expected = on(far, NaiveBayes()).fit(rows, "kind"), NaiveBayes().fit(mixed, "kind")
    same(model, expected)
    assert column_weights(model) == column_weights(expected)
    assert not model.calibration_.stale
    features = mixed.drop(["kind"])
    assert np.array_equal(model.predict_proba(features), expected.predict_proba(features))


def test_delimited_text(far: Any, mixed: pa.Table, tmp_path: Path) -> None:
    for part in range(3):
        pa.csv.write_csv(mixed.slice(part * 11_000, 11_000), tmp_path / f"{part}.csv")
    same(
        on(far, NaiveBayes.textbook()).fit(tmp_path / "*.csv", "kind"),
        NaiveBayes.textbook().fit(mixed, "kind"),
    )


def test_many_shuffled_parts(far: Any, mixed: pa.Table, tmp_path: Path) -> None:
    few, path = mixed[:300], tmp_path / "rows.arrow"
    shuffled = few.take(np.random.default_rng(3).permutation(len(few)))
    with pa.ipc.new_file(path, few.schema) as file:
        file.write_table(shuffled, max_chunksize=3)
    same(on(far, NaiveBayes.textbook()).fit(path, "kind"), NaiveBayes.textbook().fit(few, "kind"))


def test_many_shuffled_batches(processes: Any, mixed: pa.Table) -> None:
    families = {"letter": "categorical"} | {f"x{j}": "gaussian" for j in range(4)}
    few = mixed[:180]
    model = on(processes, NaiveBayes.textbook(families))
    for rows in np.split(np.random.default_rng(4).permutation(len(few)), 60):
        model.partial_fit(few.take(rows), "kind")
    same(model, NaiveBayes.textbook(families).fit(few, "kind"))


def test_a_bad_cell_is_named_with_its_row_of_the_whole(far: Any, numbers: Rows) -> None:
    x, y = numbers[0].copy(), numbers[1]
    x[ROWS - 1, 2] = np.inf
    with pytest.raises(DataError, match=rf"column 'x2', row {ROWS - 1}: inf"):
        on(far, NaiveBayes.textbook()).fit(x, y)
