"""Spark in particular: how it starts, Spark Connect, and sums that meet on the executors."""

from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from suffice.errors import EngineError, ParameterError

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
Run = Callable[[str], CompletedProcess[str]]

NO_JAVA = """
import os
os.environ |= {"JAVA_HOME": "/nowhere", "PATH": "/nowhere"}
from suffice.engines.spark import SparkEngine
from suffice.errors import EngineError
try:
    SparkEngine().workers
except EngineError as error:
    print(error)
"""

CONNECT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from suffice import NaiveBayes, set_engine
from suffice.engines.spark import SparkEngine
rng = np.random.default_rng(0)
table = pa.table({"x": rng.normal(size=3_000), "kind": rng.choice(["ham", "spam"], 3_000)})
model, engine = NaiveBayes.textbook().fit(table, "kind"), SparkEngine(remote="local[2]")
with set_engine(engine):
    assert NaiveBayes.textbook().fit(table, "kind").statistic_ == model.statistic_
assert (engine.workers, engine.in_process) == (2, False)
frame = SparkSession.getActiveSession().createDataFrame(table)
assert "connect" in type(frame).__module__
assert NaiveBayes.textbook().fit(frame, "kind").statistic_ == model.statistic_
assert (model.predict(frame.select("x")) == model.predict(table.select(["x"]))).all()
SparkSession.getActiveSession().stop()
print("as in memory")
"""


def test_a_session_is_local_or_remote() -> None:
    library = pytest.importorskip("suffice.engines.spark", reason="Spark is not installed")
    with pytest.raises(ParameterError, match="leave one of them out"):
        library.SparkEngine(master="yarn", remote="sc://host")


def test_without_java(run: Run) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    said = run(NO_JAVA).stdout
    assert "Spark does not start at 'local[" in said
    assert "install Java or set JAVA_HOME" in said


def test_spark_connect(run: Run, spark: Any) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpc: pip install 'pyspark[connect]'")
    done = run(CONNECT)
    assert "as in memory" in done.stdout, done.stderr


def test_many_results_are_added_on_the_executors(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.engines.spark.RESULTS", 1)
    splits = [chr(97 + i % 26) for i in range(19)]
    assert spark.run(str.__mul__, 3, splits) == "".join(split * 3 for split in splits)


def test_large_results_are_added_on_the_executors(spark: Any) -> None:
    ones = np.ones(4 << 20)
    assert np.array_equal(spark.run(np.multiply, ones, [1.0, 2.0, 4.0, 8.0, 16.0]), 31 * ones)


def test_workers_without_this_library(spark: Any) -> None:
    from suffice.engines.spark import _given_up

    error = _given_up(RuntimeError("x\nModuleNotFoundError: No module named 'suffice'\n"))
    assert isinstance(error, EngineError)
    assert "name their Python by PYSPARK_PYTHON" in str(error)
