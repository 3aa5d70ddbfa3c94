"""Folds on engines: the evaluations of the local engine, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import LinearRegression, NaiveBayes, read_table, set_engine
from suffice.model_selection import evaluate_folds


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 900)
    table = pa.table(
        {
            "size": pa.array(rng.normal(size=900) + y, mask=rng.random(900) < 0.1),
            "letter": rng.choice(list("abc"), 900),
            "doctor": rng.integers(0, 9, 900),
            "cost": rng.normal(size=900),
            "kind": np.array(["ham", "spam"])[y],
        }
    )
    path = tmp_path_factory.mktemp("folds") / "rows.parquet"
    pq.write_table(table, path, row_group_size=200)
    return path


def test_classifiers(far: Any, path: Path) -> None:
    for options in ({"cv": 3}, {"cv": 3, "groups": "doctor"}):
        here = evaluate_folds(NaiveBayes.textbook(), path, "kind", **options)
        with set_engine(far):
            there = evaluate_folds(NaiveBayes.textbook(), path, "kind", **options)
        assert there.folds == here.folds


def test_regressions(far: Any, path: Path) -> None:
    table = read_table(path, ignore=("size", "kind"))
    here = evaluate_folds(LinearRegression(), table, "cost", cv=3)
    with set_engine(far):
        there = evaluate_folds(LinearRegression(), table, "cost", cv=3)
    for mine, theirs in zip(here.folds, there.folds, strict=True):
        assert mine.moments == theirs.moments
