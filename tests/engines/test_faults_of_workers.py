"""Workers that die, stand still or are cut off, while a model learns, answers or is judged."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.laws.fault_laws import check_faults

from suffice import NaiveBayes
from suffice.engines.engine import Engine


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
