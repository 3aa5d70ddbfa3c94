"""Spark in particular: Spark Connect, sums that meet on the executors, and workers that die."""

import os
import signal
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes, set_engine
from suffice.errors import EngineError, ParameterError

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
Run = Callable[[str], CompletedProcess[str]]

CONNECT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from suffice import NaiveBayes
rng = np.random.default_rng(0)
table = pa.table({"x": rng.normal(size=3_000), "kind": rng.choice(["ham", "spam"], 3_000)})
model = NaiveBayes.textbook().fit(table, "kind")
session = SparkSession.builder.remote("local[2]").getOrCreate()
frame = session.createDataFrame(table)
assert "connect" in type(frame).__module__
assert NaiveBayes.textbook().fit(frame, "kind").statistic_ == model.statistic_
assert (model.predict(frame.select("x")) == model.predict(table.select(["x"]))).all()
session.stop()
print("as in memory")
"""


def rows(n: int = 1_000) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.normal(size=n), "kind": rng.choice(["ham", "spam"], n)})


def test_rows_outside_of_spark_are_refused(spark: Any) -> None:
    message = "rows that are not in Spark; it reads Spark DataFr"
    with set_engine("spark"), pytest.raises(ParameterError, match=message):
        NaiveBayes.textbook().fit(rows(), "kind")


def test_spark_connect(run: Run, spark: Any) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpc: pip install 'pyspark[connect]'")
    done = run(CONNECT)
    assert "as in memory" in done.stdout, done.stderr


@pytest.mark.parametrize(("name", "limit"), [("RESULTS", 1), ("PIECE", 100)])
def test_many_and_large_results_are_added_on_the_executors(
    spark: Any, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    monkeypatch.setattr(f"suffice.engines.spark.{name}", limit)
    table = rows()
    frame = spark.createDataFrame(table).repartition(19).cache()
    model = NaiveBayes.textbook().fit(frame, "kind")
    assert model.statistic_ == NaiveBayes.textbook().fit(table, "kind").statistic_


def test_a_worker_that_is_killed_is_replaced(spark: Any, tmp_path: Any) -> None:
    path = tmp_path / "died"

    def die_once(batches: Any) -> Any:
        if not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    table = rows()
    frame = (
        spark.createDataFrame(table).repartition(3).mapInArrow(die_once, "x double, kind string")
    )
    model = NaiveBayes.textbook().fit(frame, "kind")
    assert model.statistic_ == NaiveBayes.textbook().fit(table, "kind").statistic_
    assert path.exists()


def test_workers_without_this_library(spark: Any) -> None:
    from suffice.engines.spark import _given_up

    error = _given_up(RuntimeError("x\nModuleNotFoundError: No module named 'suffice'\n"))
    assert isinstance(error, EngineError)
    assert "name their Python by PYSPARK_PYTHON" in str(error)
