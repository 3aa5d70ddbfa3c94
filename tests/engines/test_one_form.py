"""Exact sums: every engine, number of threads and partition gives the same file."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from suffice import NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.engines.local import LocalEngine
from suffice.linear_model import LinearRegression
from suffice.naive_bayes import GaussianNB

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def digest(model: Any, path: Path) -> str:
    model.save(path)
    return sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def rows() -> Rows:
    rng = np.random.default_rng(5)
    x = np.exp(rng.normal(size=(150_000, 3)) * [1.0, 5.0, 20.0])
    x[rng.random(x.shape) < 0.05] = np.nan
    return x, rng.integers(0, 3, len(x)), rng.random(len(x)) + 0.01


@pytest.fixture(scope="module")
def expected(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> str:
    model = GaussianNB(precision="exact", engine=LocalEngine(1)).fit(*rows)
    return digest(model, tmp_path_factory.mktemp("one") / "m")


def test_engines_give_the_same_file(far: Any, rows: Rows, expected: str, tmp_path: Path) -> None:
    model = GaussianNB(precision="exact", engine=far).fit(*rows)
    assert digest(model, tmp_path / "m") == expected


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_and_orders_give_the_same_file(
    threads: int, rows: Rows, expected: str, tmp_path: Path
) -> None:
    order = np.random.default_rng(threads).permutation(len(rows[0]))
    model = GaussianNB(precision="exact", engine=LocalEngine(threads))
    assert digest(model.fit(*(part[order] for part in rows)), tmp_path / "m") == expected


@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, LinearRegression])
def test_engines_give_the_same_products(make: Any, far: Any, rows: Rows, tmp_path: Path) -> None:
    x, y, weight = (part[:70_000] for part in rows)
    x = np.where(np.isnan(x), 0.0, x)
    found = {
        digest(make(precision="exact", engine=engine).fit(x[::step], y[::step], weight[::step]), at)
        for at in [tmp_path / "m"]
        for engine, step in ((far, 1), (LocalEngine(1), 1), (LocalEngine(3), -1))
    }
    assert len(found) == 1


def test_files_in_parts_give_the_same_sums(rows: Rows, tmp_path: Path) -> None:
    x, y, _ = (part[:2_000] for part in rows)
    found = set()
    for parts in (1, 3, 7):
        folder = tmp_path / str(parts)
        folder.mkdir()
        order = np.random.default_rng(parts).permutation(len(x))
        for i, part in enumerate(np.array_split(order, parts)):
            columns = {f"x{j}": pa.array(x[part, j], from_pandas=True) for j in range(3)}
            pyarrow.csv.write_csv(pa.table(columns | {"label": y[part]}), folder / f"{i}.csv")
        model = NaiveBayes.textbook(precision="exact").fit(str(folder / "*.csv"), "label")
        (block,) = model.statistic_.blocks
        tables = block.weight, block.sums, block.squares
        found.add(tuple((table.low, table.limbs.tobytes()) for table in tables))
    assert len(found) == 1
