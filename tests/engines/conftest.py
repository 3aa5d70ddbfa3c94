"""Engines outside this process, each started once, with two workers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests import running

from suffice import engine

Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a script to its end, and to that of every process that holds its output."""

    def run(body: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "script.py"
        path.write_text(body)
        command = [sys.executable, str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    return run


@pytest.fixture(scope="session")
def processes() -> Any:
    return running.processes()


@pytest.fixture(scope="session")
def threads() -> Iterator[Any]:
    with ThreadPoolExecutor(2) as pool:
        yield engine(pool)


@pytest.fixture(scope="session")
def dask() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield engine("dask")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two cores of this machine, reached by nobody else."""
    pyspark = pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is absent")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = pyspark.sql.SparkSession.builder.master("local[2,4]")
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}
    session = builder.config(map=quiet).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(params=["threads", "processes", "dask"])
def far(request: pytest.FixtureRequest) -> Any:
    """Each of the engines but the local one."""
    return request.getfixturevalue(request.param)
