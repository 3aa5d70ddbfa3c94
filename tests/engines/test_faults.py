"""What goes wrong on workers: they die, kernels raise, versions differ."""

import operator
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.laws.engine_laws import check_engine, check_lost_worker
from tests.running import on

from suffice import NaiveBayes
from suffice.data.open import open_table
from suffice.engines import executor
from suffice.engines.engine import Engine
from suffice.errors import EngineError, ReadError
from suffice.models.generative.part import summarise


def test_the_laws_of_engines(far: Engine) -> None:
    check_engine(far)


def test_parameters_of_any_size(far: Engine) -> None:
    for length in (1, 100_000, 5_000_000):
        expected = "".join(part + "-" * length for part in "abc")
        assert far.run(operator.add, "-" * length, "abc") == expected  # type: ignore[arg-type]


def test_workers_that_are_killed(dask: Engine, tmp_path: Path) -> None:
    check_lost_worker(dask, *a_pass(tmp_path))


def a_pass(tmp_path: Path) -> tuple[Any, Any, Sequence[Any]]:
    """A kernel, its parameters, and twenty parts."""
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=2_000), "y": rng.integers(0, 2, 2_000)})
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=100)
    model = NaiveBayes.textbook().fit(path, "y")
    parts = open_table(path, "y").parts(model.reader_.layout, 2)
    assert len(parts) == 20
    # Parameters so large that they are shared, and lost with the worker that holds them.
    layout = replace(model.reader_.layout, label_map={f"label {i}": "none" for i in range(50_000)})
    return summarise, (model.model_.parts, layout), parts


def test_a_file_that_breaks_off(far: Engine, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    long = "a" * 60  # the first rows, which the caller reads, go well
    path.write_text("x,y\n" + f"1,{long}\n" * 90_000 + "1,a,b\n")
    with pytest.raises(ReadError, match=r"line 90002 of rows\.csv"):
        on(far, NaiveBayes.textbook()).fit(path, "y")


def test_another_version(processes: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "__version__", "99.0")
    met = r"suffice 99\.0 and suffice 0\.\d+\.\d+ were to work together"
    for call in (processes.run, lambda *task: list(processes.map(*task))):
        with pytest.raises(EngineError, match=met):
            call(sum, 0, [[1], [2], [3]])  # type: ignore[operator, arg-type, list-item]
    monkeypatch.undo()
    assert processes.run(sum, 0, [[1], [2], [3]]) == 6  # type: ignore[arg-type, list-item]


def test_an_exception_of_another_library(far: Engine) -> None:
    with pytest.raises(ValueError, match=r"invalid literal for int\(\) with base 10: 'z'"):
        list(far.map(int, 10, ["z"]))  # type: ignore[arg-type, list-item]
