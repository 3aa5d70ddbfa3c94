"""Frames of Spark and Dask: the model of the same rows in memory, to the last bit."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.laws.comparing import frozen
from tests.running import on

from suffice import LinearRegression, NaiveBayes
from suffice.data.open import open_table
from suffice.data.schema import Layout
from suffice.engines.engine import LocalEngine
from suffice.errors import DataError, EngineError, ParameterError, ReadError, SchemaError
from suffice.linear_model import LogisticRegression
from suffice.model_selection import evaluate_folds

ROWS = 3_000
FEATURES = ["size", "letter", "count"]
Make = Callable[[pd.DataFrame], Any]
QUIET = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.choice(["ham", "spam"], ROWS)
    columns = {
        "size": 1e6 + rng.normal(size=ROWS) + (kind == "spam"),
        "letter": rng.choice(list("abcdef"), ROWS),
        "count": rng.integers(0, 1_000, ROWS),
        "times": rng.integers(0, 3, ROWS).astype(float),
        "kind": kind,
    }
    frame = pd.DataFrame(columns)
    frame.loc[rng.random(ROWS) < 0.05, "size"] = np.nan
    frame.loc[rng.random(ROWS) < 0.05, "letter"] = None
    return frame


@pytest.fixture(scope="session")
def in_spark(spark: Any) -> Make:
    def make(frame: pd.DataFrame) -> Any:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        return spark.createDataFrame(table).repartition(5).cache()

    return make


@pytest.fixture(scope="session")
def in_dask(dask: Any) -> Make:
    dataframe = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    return lambda frame: dataframe.from_pandas(frame, npartitions=5)


@pytest.fixture(params=["dask", pytest.param("spark", marks=QUIET)])
def make(request: pytest.FixtureRequest) -> Make:
    """Cut a frame into five parts and hand it to a library."""
    fixture: Make = request.getfixturevalue(f"in_{request.param}")
    return fixture


def gathered(frame: Any) -> Any:
    """The rows in memory, in the order of the library."""
    return frame.toArrow() if hasattr(frame, "toArrow") else frame.compute()


def test_the_engine_is_that_of_the_frame(make: Make, rows: pd.DataFrame) -> None:
    frame = make(rows)
    model = NaiveBayes.textbook().fit(frame, "kind", sample_weight="times")
    expected = NaiveBayes.textbook().fit(rows, "kind", sample_weight="times")
    assert model.schema_ == expected.schema_
    assert model.statistic_ == expected.statistic_
    assert frozen(model.model_.parameters) == frozen(expected.model_.parameters)
    assert model.evaluate(frame, "kind") == expected.evaluate(rows, "kind")


def test_answers_come_in_the_order_of_the_frame(make: Make, rows: pd.DataFrame) -> None:
    model = NaiveBayes.textbook().fit(rows[[*FEATURES, "kind"]], "kind")
    frame = make(rows[FEATURES])
    in_memory = gathered(frame)
    assert np.array_equal(model.predict(frame), model.predict(in_memory))
    assert np.array_equal(model.predict_proba(frame), model.predict_proba(in_memory))


def test_regressions_read_a_frame_more_than_once(make: Make, rows: pd.DataFrame) -> None:
    numbers = rows[["size", "count", "kind"]].dropna()
    linear = LinearRegression().fit(make(numbers[["size", "count"]]), "size")
    assert (
        linear.statistic_ == LinearRegression().fit(numbers[["size", "count"]], "size").statistic_
    )
    logistic = LogisticRegression().fit(make(numbers), "kind")
    expected = LogisticRegression().fit(numbers, "kind")
    np.testing.assert_allclose(logistic.coef_, expected.coef_, rtol=1e-10)


def test_partitions_may_be_empty(make: Make, rows: pd.DataFrame) -> None:
    few = rows[:3].assign(kind=["ham", "spam", "ham"])
    model, expected = (NaiveBayes.textbook().fit(table, "kind") for table in (make(few), few))
    assert model.statistic_ == expected.statistic_


def test_a_frame_without_rows(make: Make, rows: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="there is no labelled row"):
        NaiveBayes.textbook().fit(make(rows[:0]), "kind")


def test_a_bad_cell_is_named(make: Make, rows: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"column 'size', row \d+ of partition \d: inf"):
        NaiveBayes.textbook().fit(make(rows.assign(size=np.inf)), "kind")


def test_labels_are_named_not_given(make: Make, rows: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="give the name of their column"):
        NaiveBayes.textbook().fit(make(rows[FEATURES]), rows["kind"])


# Spark --------------------------------------------------------------------------------------------


@QUIET
def test_rows_in_spark_stay_there(in_spark: Make, rows: pd.DataFrame) -> None:
    frame = in_spark(rows)
    found = on(LocalEngine(1), NaiveBayes.textbook()).fit(
        frame, "kind"
    )  # read in Spark all the same
    assert found.statistic_ == NaiveBayes.textbook().fit(rows, "kind").statistic_
    (part,) = open_table(frame.select("kind"), "kind").parts(Layout((), (), "kind"), workers=2)
    with pytest.raises(EngineError, match="asked for outside of Spark"):
        pickle.dumps(part)


@QUIET
def test_names_that_sql_would_read_otherwise(in_spark: Make, rows: pd.DataFrame) -> None:
    names = {"size": "size.in`kB`", "letter": "the letter"}
    odd = rows[["size", "letter", "kind"]].rename(columns=names)
    assert (
        NaiveBayes.textbook().fit(in_spark(odd), "kind").statistic_
        == NaiveBayes.textbook().fit(odd, "kind").statistic_
    )
    with pytest.raises(SchemaError, match="column 'size' is there twice"):
        NaiveBayes.textbook().fit(in_spark(rows).select("size", "kind", "size"), "kind")


@QUIET
def test_a_query_that_fails(in_spark: Make, rows: pd.DataFrame) -> None:
    frame = in_spark(rows).selectExpr("kind", "raise_error('no size') AS size")
    with pytest.raises(ReadError, match=r"the Spark DataFrame cannot be read: .*no size"):
        NaiveBayes.textbook().fit(frame, "kind")
    late = "if(id = 69999, raise_error('too late'), id) AS size"
    numbers = frame.sparkSession.range(0, 70_000, 1, 1).selectExpr("id % 2 = 0 AS kind", late)
    with pytest.raises(EngineError, match=r"Spark does not get through: .*too late"):
        NaiveBayes.textbook().fit(numbers, "kind")


# Dask ---------------------------------------------------------------------------------------------


def test_a_persisted_frame(in_dask: Make, rows: pd.DataFrame) -> None:
    frame, expected = in_dask(rows).persist(), NaiveBayes.textbook().fit(rows, "kind")
    assert NaiveBayes.textbook().fit(frame, "kind").statistic_ == expected.statistic_
    assert on("local", NaiveBayes.textbook()).fit(frame, "kind").statistic_ == expected.statistic_


def test_a_column_keeps_its_type(in_dask: Make, rows: pd.DataFrame) -> None:
    import dask.dataframe

    # Dask turns objects into strings, unless it is told not to.
    halves = [rows[["letter", "kind"]], pd.DataFrame({"letter": [1, "a"], "kind": ["ham", "spam"]})]
    meta = pd.DataFrame({"letter": pd.Series(dtype=object), "kind": pd.Series(dtype=object)})
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dask.dataframe.from_map(lambda half: halves[half], [0, 1], meta=meta)
    with pytest.raises(SchemaError, match=r"column 'letter', partition 1: .*convert it"):
        NaiveBayes.textbook().fit(frame, "kind")


def test_folds_are_made_of_rows_in_the_order_of_the_frame(
    make: Make, rows: pd.DataFrame, request: pytest.FixtureRequest
) -> None:
    frame = make(rows[[*FEATURES, "kind"]])
    if "spark" in request.node.name:
        with pytest.raises(ParameterError, match="the rows of a Spark DataFrame have no order"):
            evaluate_folds(NaiveBayes.textbook(), frame, "kind", cv=4)
        return
    found = evaluate_folds(NaiveBayes.textbook(), frame, "kind", cv=4)
    assert found.folds == evaluate_folds(NaiveBayes.textbook(), gathered(frame), "kind", cv=4).folds
