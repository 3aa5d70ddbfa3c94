"""Whole numbers beyond 2^53, wherever they come from: exact, or refused by name, never rounded."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.stats import norm

from suffice import (
    BayesClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    load,
    read_sql,
)
from suffice.errors import DataError
from suffice.linear_model import GradientDescent, LogisticRegression, Ridge
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

B = 2**53
ROWS = 40
HELD = np.stack([np.arange(ROWS) % 7, np.arange(ROWS)], axis=1)
LOST = HELD.copy()
LOST[5, 1] = B + 1
Y = np.arange(ROWS) % 2
END = (
    "; a whole number beyond 2^53 is taken if a double holds it, and never rounded; subtract a "
    "constant from the column; if it names things, make it a category or strings."
)


def message(action: Callable[[], object], kind: type[Exception] = DataError) -> str:
    with pytest.raises(kind) as caught:
        action()
    return str(caught.value)


SGD: dict[str, Any] = {"solver": "sgd", "descent": GradientDescent(passes=2)}
ESTIMATORS = [
    GaussianNB(),
    MultinomialNB(),
    ComplementNB(),
    NaiveBayes.textbook(),
    NaiveBayes.textbook(families={"x1": "poisson"}),
    NaiveBayes.textbook(families={"x0": "multivariate_gaussian", "x1": "multivariate_gaussian"}),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    LogisticRegression(),
    LogisticRegression(solver="gradient"),
    LogisticRegression(**SGD),
    LinearRegression(),
    LinearRegression(**SGD),
    LinearRegression(incomplete="gaussian"),
    Ridge(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
class TestArrays:
    def test_a_whole_number_is_not_rounded(self, estimator: Any) -> None:
        estimator.fit(HELD, Y)
        for name in ("predict", "predict_proba", "explain", "score", "fit"):
            rows = (LOST, Y) if name in ("fit", "score") else (LOST,)
            if hasattr(estimator, name):
                said = message(lambda name=name, rows=rows: getattr(estimator, name)(*rows))
                assert said == f"column 'x1', row 5: 9007199254740993{END}", name

    def test_what_doubles_hold_is_taken(self, estimator: Any) -> None:
        far = HELD.copy()
        far[:, 1] = B + 2 * far[:, 1]
        one = estimator.fit(far, Y).predict(far)
        np.testing.assert_array_equal(estimator.fit(far.astype(np.float64), Y).predict(far), one)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (GaussianNB(), "partial_fit"),
        (GaussianNB(), "forget"),
        (LinearDiscriminantAnalysis(), "transform"),
    ],
)
def test_other_readings(estimator: Any, name: str) -> None:
    estimator.fit(HELD, Y)
    rows = (LOST, Y) if name in ("partial_fit", "forget") else (LOST,)
    assert message(lambda: getattr(estimator, name)(*rows)) == (
        f"column 'x1', row 5: 9007199254740993{END}"
    )


@pytest.mark.parametrize(
    "rows",
    [
        LOST.astype(np.uint64),
        np.asfortranarray(LOST),
        LOST.astype(object),
        [[int(a), b + 0.5 if i else int(b)] for i, (a, b) in enumerate(LOST.tolist())],
        sparse.csr_matrix(LOST),
    ],
    ids=["uint64", "columns", "objects", "lists", "sparse"],
)
def test_arrays_of_every_kind(rows: Any) -> None:
    if isinstance(rows, list):
        rows[5][1] = B + 1
    for estimator in (GaussianNB(), MultinomialNB(), LogisticRegression(), LinearRegression()):
        assert message(lambda model=estimator: model.fit(rows, Y)) == (
            f"column 'x1', row 5: 9007199254740993{END}"
        )


@pytest.mark.parametrize("text", [False, True])
def test_more_than_64_bits(text: bool) -> None:
    rows = [[2**70 + 1], [3]] * 20
    table: Any = {"x0": [row[0] for row in rows]}
    for given in (table, pd.DataFrame(table)) if text else (rows,):
        assert message(lambda rows=given: GaussianNB().fit(rows, Y)).startswith(
            "column 'x0', row 0: 1180591620717411303425; a whole number "
        )


def frames(tmp_path: Path) -> dict[str, Any]:
    table = pa.table({"x": LOST[:, 0], "id": LOST[:, 1], "y": Y})
    pq.write_table(table, tmp_path / "t.parquet")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x, id, y)")
    cells = zip(*table.to_pydict().values(), strict=True)
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", cells)
    return {
        "dict": table.to_pydict(),
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "unsigned": table.set_column(1, "id", table["id"].cast(pa.uint64())),
        "decimal": table.set_column(1, "id", table["id"].cast(pa.decimal128(20, 0))),
        "parquet": tmp_path / "t.parquet",
        "sql": read_sql("SELECT * FROM t", connection),
    }


@pytest.mark.parametrize(
    "kind", ["dict", "pandas", "polars", "arrow", "unsigned", "decimal", "parquet", "sql"]
)
def test_frames_files_and_databases(tmp_path: Path, kind: str) -> None:
    table = frames(tmp_path)[kind]
    row = {"parquet": "row 6 of t.parquet", "sql": "row 6 of the query"}.get(kind, "row 5")
    expected = f"column 'id', {row}: 9007199254740993{END}"
    assert message(lambda: NaiveBayes.textbook().fit(table, "y")) == expected
    assert message(lambda: LinearRegression().fit(table, "id")) == expected
    assert message(lambda: LinearRegression().fit(table, "y")) == expected
    weighted = NaiveBayes.textbook()
    assert message(lambda: weighted.fit(table, "y", sample_weight="id")) == expected


class TestTargetsAndWeights:
    @pytest.mark.parametrize(
        "y",
        [
            LOST[:, 1],
            LOST[:, 1].astype(np.uint64),
            LOST[:, 1].astype(object),
            [0.5, *LOST[1:, 1].tolist()],
            pd.Series(LOST[:, 1], name="y"),
        ],
        ids=["int64", "uint64", "objects", "list", "series"],
    )
    @pytest.mark.parametrize("x", [HELD, pd.DataFrame(HELD, columns=["x0", "x1"])])
    def test_targets(self, x: Any, y: Any) -> None:
        expected = f"column 'y', row 5: 9007199254740993{END}"
        assert message(lambda: LinearRegression().fit(x, y)) == expected
        assert message(lambda: Ridge().fit(x, y)) == expected
        assert message(lambda: LinearRegression(solver="sgd").fit(x, y)) == expected

    def test_the_second_of_two_targets(self) -> None:
        assert message(lambda: LinearRegression().fit(HELD, LOST)) == (
            f"column 'y1', row 5: 9007199254740993{END}"
        )

    @pytest.mark.parametrize("weights", [LOST[:, 1], LOST[:, 1].tolist(), (0.5, *LOST[1:, 1])])
    def test_weights(self, weights: Any) -> None:
        assert message(lambda: GaussianNB().fit(HELD, Y, sample_weight=weights)) == (
            "sample_weight, row 5: 9007199254740993; a whole number beyond 2^53 is taken if a "
            "double holds it, and never rounded; scale the weights."
        )
        with pytest.raises(DataError, match="sample_weight: 9007199254740993; "):
            GaussianNB().fit(HELD, Y, sample_weight=B + 1)


class TestNamesKeepTheirValues:
    """Labels and categories are names: every one of its own."""

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([B, B + 1] * 20),
            np.array([2**63, 2**63 + 1] * 20, np.uint64),
            [B, B + 1] * 20,
            [2**70, 2**70 + 1] * 20,
            [-1, 2**63, 2**63 + 1, -1] * 10,
            pd.Series([B, B + 1] * 20),
        ],
        ids=["int64", "uint64", "list", "long", "signs", "series"],
    )
    @pytest.mark.parametrize("make", [GaussianNB, LogisticRegression])
    def test_labels(self, labels: Any, make: Any, tmp_path: Path) -> None:
        expected = sorted({int(label) for label in labels})
        model = make().fit(HELD, labels)
        assert model.classes_.tolist() == expected
        assert set(model.predict(HELD).tolist()) <= set(expected)
        model.save(tmp_path / "m")
        assert load(tmp_path / "m").classes_.tolist() == expected

    def test_missing_labels_do_not_make_doubles_of_the_others(self) -> None:
        labels = pd.Series([B, B + 1, None, B] * 10, dtype="Int64")
        model = GaussianNB().fit(HELD, labels)
        assert model.classes_.tolist() == [B, B + 1]
        assert model.class_count_.tolist() == [20, 10]

    def test_labels_of_two_dtypes(self) -> None:
        model = GaussianNB().partial_fit(HELD, np.array([B, B + 1] * 20))
        model.partial_fit(HELD, np.array([7] * 40, np.uint64))
        assert model.classes_.tolist() == [7, B, B + 1]

    def test_labels_beside_a_table(self) -> None:
        model = NaiveBayes.textbook().fit({"x": HELD[:, 1]}, [B, B + 1] * 20)
        assert model.classes_.tolist() == [B, B + 1]
        with pytest.raises(DataError, match="the labels mix types"):
            NaiveBayes.textbook().fit({"x": HELD[:, 1]}, [float(B), B + 1] * 20)

    @pytest.mark.parametrize("kind", ["int64", "uint64", "frame", "csv"])
    def test_categories(self, kind: str, tmp_path: Path) -> None:
        ids = [B + 1 + i % 4 for i in range(ROWS)]
        name = "id" if kind in ("frame", "csv") else "x0"
        model = NaiveBayes.textbook(families={name: "categorical"})
        if kind == "csv":
            path = tmp_path / "t.csv"
            path.write_text("id,y\n" + "".join(f"{i},{y}\n" for i, y in zip(ids, Y, strict=True)))
            model.fit(path, "y")
        elif kind == "frame":
            model.fit(pd.DataFrame({"id": ids, "y": Y}), "y")
        else:
            model.fit(np.array(ids, kind)[:, None], Y)
        (counts,) = model.statistic_.blocks
        assert counts.vocabularies[0].values == (B + 1, B + 2, B + 3, B + 4)

    def test_identifiers_of_twenty_digits(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        rows = "".join(f"{10**19 + i % 2},{i % 2}\n" for i in range(ROWS))
        path.write_text("id,y\n" + rows)
        model = NaiveBayes.textbook().fit(path, "y")
        assert model.predict(path).tolist() == Y.tolist()
        assert model.schema_[0].stored == "string"

    def test_codes_are_counted_from_0(self) -> None:
        with pytest.raises(DataError, match="9007199254740994 values from 0 to 9007199254740993"):
            CategoricalNB().fit(LOST, Y)


def test_a_threshold_tells_whole_numbers_apart() -> None:
    x = np.array([[B], [B + 1]])
    for rows in (x, sparse.csr_matrix(x)):
        model = BernoulliNB(binarize=float(B)).fit(rows, [0, 1])
        assert model.feature_count_.tolist() == [[0.0], [1.0]]


def test_known_densities() -> None:
    best = BayesClassifier({"a": norm(B, 0.1), "b": norm(B + 2, 0.1)})
    assert best.predict([B, B + 2]).tolist() == ["a", "b"]
    for x in (np.array([[B], [B + 1]]), [0.5, B + 1]):
        assert message(lambda rows=x: best.predict(rows)).startswith(
            "column 'x0', row 1: 9007199254740993; a whole number "
        )


def test_nanoseconds_do_not_vanish() -> None:
    times = 1_700_000_000_000_000_000 + np.arange(ROWS) * 1_000
    frame = pd.DataFrame({"t": pd.to_datetime(times), "y": Y})
    NaiveBayes.textbook().fit(frame, "y")
    late = frame.assign(t=frame["t"] + pd.to_timedelta(1, "ns"))
    assert message(lambda: NaiveBayes.textbook().fit(late, "y")) == (
        "column 't', row 0: '2023-11-14T22:13:20.000000001'; a time is read as a double in "
        "seconds, and these lie 2.4e-07 apart here; round the column to us, or subtract a time "
        "that is near."
    )
    NaiveBayes.textbook().fit(late.assign(t=late["t"] - late["t"][0]), "y")
