"""Workers that die, stand still or are cut off, while a model learns, answers or is judged."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import NaiveBayes
from suffice.engines.engine import Engine
from suffice.testing import check_faults

EXHAUSTIVE = 50


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A file of twenty splits."""
    rng = np.random.default_rng(0)
    numbers, words = rng.normal(size=2_000), rng.choice(list("abc"), 2_000)
    table = pa.table({"x": numbers, "z": words, "y": rng.integers(0, 2, 2_000)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    return tmp_path / "rows.parquet"


def test_workers_die_or_stand_still(far: Engine, rows: Path) -> None:
    kept = ("SIGKILL", "SIGSTOP")  # the other tests need their workers
    done = check_faults(far, NaiveBayes.textbook, rows, "y", 2, faults=kept, stopped=0.5)
    assert done.total() == 2


@pytest.mark.parametrize("fault", ["memory", "disk"])
def test_workers_have_no_room(far: Engine, rows: Path, fault: str) -> None:
    assert check_faults(far, NaiveBayes.textbook, rows, "y", 1, faults=[fault]).total() == 1


def test_processes_that_are_cut_off(processes: Engine, rows: Path) -> None:
    done = check_faults(processes, NaiveBayes.textbook, rows, "y", 1, faults=["sockets"])
    assert done.total() == 1


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("name", ["processes", "ray", "spark"])
def test_many_faults(name: str, rows: Path, request: pytest.FixtureRequest) -> None:
    engine: Any = request.getfixturevalue(name)
    done = check_faults(engine, NaiveBayes.textbook, rows, "y", EXHAUSTIVE, stopped=30.0)
    print(f"\n{name}", *sorted(done.items()), sep="\n")
    assert done.total() == EXHAUSTIVE


@pytest.mark.exhaustive
def test_many_faults_of_dask(rows: Path) -> None:
    """A cluster for each run, as Dask does not replace workers that are cut off."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from suffice.engines.dask import DaskEngine

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    done: Counter[tuple[str, str]] = Counter()
    for run in range(EXHAUSTIVE):
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
            done += check_faults(DaskEngine(), NaiveBayes.textbook, rows, "y", 1, run, stopped=30.0)
    print("\ndask", *sorted(done.items()), sep="\n")
    assert done.total() == EXHAUSTIVE
