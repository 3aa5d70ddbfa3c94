"""NIST Statistical Reference Datasets, linear: https://www.itl.nist.gov/div898/strd/."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from suffice.linear_model import LinearRegression

# Correct digits of the worst coefficient that the *doubles* of each file hold, measured against
# the certified value in 100 digits. 1.11111 is not a double.
DIGITS = {"Norris": 14, "Longley": 14, "Wampler1": 15, "Wampler2": 13}
DIGITS |= {"Wampler3": 15, "Wampler4": 15, "Wampler5": 15}

mpmath.mp.dps = 100


def digits(found: Any, certified: str) -> float:
    """Correct digits, as NIST counts them: −log₁₀ of the relative error, or of the error from 0."""
    truth = mpmath.mpf(certified)
    error = abs(mpmath.mpf(found) - truth) / (abs(truth) or 1)
    return float(-mpmath.log10(error)) if error else np.inf


@pytest.fixture(scope="module", params=DIGITS)
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def table(data: Path, name: str) -> pd.DataFrame:
    lines = (data / "nist_strd" / "linear" / f"{name}.dat").read_text().splitlines()
    start = max(i for i, line in enumerate(lines) if line.startswith("Data:"))
    rows = np.array(
        [[float(cell) for cell in line.split()] for line in lines[start + 1 :] if line.strip()]
    )
    y, x = rows[:, 0], rows[:, 1:]
    if name.startswith("Wampler"):
        x = x ** np.arange(1, 6)
    return pd.DataFrame(x, columns=[f"x{j + 1}" for j in range(x.shape[1])]).assign(y=y)


def features(table: pd.DataFrame) -> np.ndarray:
    return table.drop(columns="y").to_numpy()


def everything(model: LinearRegression) -> list[float]:
    """All that a certificate is about."""
    found = model.summary()
    return [*found.estimate, *found.standard_error, found.sigma, found.r_squared]


@pytest.fixture(scope="module")
def exact(table: pd.DataFrame) -> list[mpmath.mpf]:
    """The same of these doubles, in 100 digits."""
    x = mpmath.matrix([[1, *row] for row in features(table).tolist()])
    y = mpmath.matrix(table.y.tolist())
    inverse = (x.T * x) ** -1
    w = inverse * (x.T * y)
    residuals, deviations = y - x * w, y - sum(y) / len(y)
    rss, tss = (sum(e * e for e in part) for part in (residuals, deviations))
    variance = rss / (len(y) - len(w))
    errors = [mpmath.sqrt(variance * inverse[j, j]) for j in range(len(w))]
    return [*w, *errors, mpmath.sqrt(variance), 1 - rss / tss]


# -- the certificates


def test_as_many_digits_as_the_doubles_hold(name, table, published):
    certified = published[name]
    found = LinearRegression().fit(features(table), table.y).summary()
    assert (found.rows, len(found.terms)) == (certified["n"], len(certified["params"]))
    estimates, errors = zip(*certified["params"].values(), strict=True)
    pairs = zip(found.estimate, estimates, strict=True)
    assert min(digits(*pair) for pair in pairs) >= DIGITS[name]
    for value, truth in zip(found.standard_error, errors, strict=True):
        assert digits(value, truth) >= 13.5
    assert digits(found.sigma, certified["residual_sd"]) >= 13.5
    assert digits(found.r_squared, certified["r_squared"]) >= 13.5


def test_the_doubles_hold_no_more_digits(name, exact, published):
    estimates = [estimate for estimate, _ in published[name]["params"].values()]
    pairs = zip(exact, estimates, strict=False)
    assert int(min(15.0, *(digits(*pair) for pair in pairs))) == DIGITS[name]


def test_all_figures_are_rounded_from_the_exact_ones(name, table, exact, published):
    *spread, r_squared = everything(LinearRegression().fit(features(table), table.y))
    truth = np.array(exact, float)
    estimates, deviations = np.split(np.array(spread), [len(spread) // 2])
    of_estimates, of_deviations = np.split(truth[:-1], [len(spread) // 2])
    assert_allclose(estimates, of_estimates, rtol=2.3e-16)
    assert r_squared == pytest.approx(truth[-1], abs=4e-16)
    if float(published[name]["residual_sd"]):
        assert_allclose(deviations, of_deviations, rtol=4e-16)
    else:  # 1.11111 as a double leaves residuals of 1e-17 y in Wampler2, which are taken for 0
        assert not deviations.any()


# -- the same bits through every source


def arrow(table: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(table, preserve_index=False)


def written(suffix: str, write: Callable[[pa.Table, Path], object]) -> Callable:
    """Write a table to a file of its own, and return the path."""

    def source(table: pd.DataFrame, folder: Path) -> Path:
        path = folder / f"{len(list(folder.iterdir()))}{suffix}"
        write(arrow(table), path)
        return path

    return source


def write_stream(table: pa.Table, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def write_text(table: pa.Table, path: Path) -> None:
    table.to_pandas().to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def file_list(table: pd.DataFrame, folder: Path) -> list[Path]:
    write = TABLES["parquet"]
    return [write(part, folder) for part in (table[len(table) // 2 :], table[: len(table) // 2])]


TABLES: dict[str, Callable] = {
    "pandas": lambda table, _: table,
    "polars": lambda table, _: pl.DataFrame(table.to_dict("list")),
    "polars, lazy": lambda table, _: pl.LazyFrame(table.to_dict("list")),
    "pyarrow": lambda table, _: arrow(table),
    "stream": lambda table, _: arrow(table).to_reader(max_chunksize=5),
    "duckdb": lambda table, _: pytest.importorskip("duckdb").from_arrow(arrow(table)),
    "parquet": written(".parquet", lambda t, path: pq.write_table(t, path, row_group_size=5)),
    "csv": written(".csv", write_text),
    "csv, compressed": written(".csv.gz", write_text),
    "tsv": written(".tsv", write_text),
    "ipc": written(".arrow", lambda t, path: feather.write_feather(t, path, chunksize=5)),
    "ipc stream": written(".arrows", write_stream),
    "file list": file_list,
}
ARRAYS: dict[str, Callable] = {
    "array": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "lists": np.ndarray.tolist,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


def shuffled(table: pd.DataFrame, parts: int = 3) -> Iterator[pd.DataFrame]:
    """Batches of the rows in a random order, the first long enough for all parameters."""
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.integers(8, len(table), parts - 1))
    for rows in np.split(rng.permutation(len(table)), cuts):
        if len(rows):
            yield table.iloc[rows]


@pytest.mark.parametrize("name", ["Longley", "Wampler5"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", TABLES)
def test_every_table_gives_the_same_bits(kind, table, tmp_path):
    whole = everything(LinearRegression().fit(features(table), table.y))
    assert everything(LinearRegression().fit(TABLES[kind](table, tmp_path), "y")) == whole
    batches = LinearRegression()
    for part in shuffled(table):
        batches.partial_fit(TABLES[kind](part, tmp_path), "y")
    assert everything(batches) == whole


@pytest.mark.parametrize("name", ["Longley", "Wampler5"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", ARRAYS)
def test_every_array_gives_the_same_bits(kind, table):
    whole = everything(LinearRegression().fit(features(table), table.y))
    assert everything(LinearRegression().fit(ARRAYS[kind](features(table)), table.y)) == whole
    batches = LinearRegression()
    for part in shuffled(table):
        batches.partial_fit(ARRAYS[kind](features(part)), part.y)
    assert everything(batches) == whole


def test_any_order_and_partition_give_the_same_bits(table):
    x, y = features(table), table.y.to_numpy()
    whole, rng = everything(LinearRegression().fit(x, y)), np.random.default_rng(0)
    for _ in range(5):
        model, order = LinearRegression(), rng.permutation(len(y))
        for rows in np.split(order, np.sort(rng.integers(8, len(y), 3))):
            if len(rows):
                model.partial_fit(x[rows], y[rows])
        assert everything(model) == whole
