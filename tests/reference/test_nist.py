"""NIST Statistical Reference Datasets, univariate: https://www.itl.nist.gov/div898/strd/."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import NaiveBayes
from suffice.families import Gaussian

# Correct digits of the standard deviation that the *doubles* of each file hold, measured with
# exact fractions against the certified value. 10000000.2 is not a double: the nearest one is off
# by 2e-10, so no program that reads doubles can have more than 8 digits of NumAcc4. The means
# hold 15 digits or more everywhere.
DIGITS = {"NumAcc1": 15, "NumAcc2": 15, "NumAcc3": 9, "NumAcc4": 8, "Lew": 15}

mpmath.mp.dps = 50


@pytest.fixture(params=DIGITS)
def name(request) -> str:
    return request.param


@pytest.fixture
def values(data: Path, name: str) -> np.ndarray:
    lines = (data / "nist_strd" / "univariate" / f"{name}.dat").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Data: Y"))
    return np.array([float(line) for line in lines[start + 2 :] if line.strip()])


def learnt(X: Any, y: Any) -> Any:
    """The moments of the columns, class by class, that a model rests on."""
    family = Gaussian(estimation="mle", ddof=1)
    return NaiveBayes.textbook(families=family).partial_fit(X, y).statistic_.blocks[0]


def moments(values: np.ndarray) -> Any:
    return learnt(values[:, None], np.zeros(len(values), int))


def exact(values: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean and scatter of these doubles, without any rounding."""
    cells = [Fraction(value) for value in values.tolist()]
    mean = sum(cells) / len(cells)
    return mean, sum((cell - mean) ** 2 for cell in cells)


def digits(found, certified: str) -> float:
    """Correct digits, as NIST counts them: −log₁₀ of the relative error."""
    error = abs(mpmath.mpf(found) / mpmath.mpf(certified) - 1)
    return float(-mpmath.log10(error)) if error else np.inf


def test_as_many_digits_as_the_doubles_hold(name, values, published):
    found, certified = moments(values), published[name]
    assert len(values) == certified["n"]
    assert digits(found.mean[0, 0].item(), certified["mean"]) >= 15
    sd = np.sqrt(found.scatter[0, 0] / (len(values) - 1)).item()
    assert digits(sd, certified["sd"]) >= DIGITS[name]


def test_the_doubles_hold_no_more_digits(name, values, published):
    _, scatter = exact(values)
    variance = mpmath.mpf(scatter.numerator) / scatter.denominator / (len(values) - 1)
    held = digits(mpmath.sqrt(variance), published[name]["sd"])
    assert int(min(held, 15)) == DIGITS[name]


def assert_rounded_once(found: Any, truth: tuple[Fraction, Fraction]) -> None:
    """Half a unit in the last place: for all but ties, a single double."""
    mean, scatter = truth
    assert found.mean[0, 0] == float(mean)
    # The scatter of NumAcc2 lies 3e-16 units beside the middle of two doubles, closer than pairs
    # of doubles can tell.
    error = abs(Fraction(found.scatter[0, 0].item()) - scatter)
    assert error <= Fraction(np.spacing(float(scatter))) / 2 * (1 + Fraction(1, 10**12))


def test_any_order_gives_the_exact_sums(values):
    rng, truth = np.random.default_rng(0), exact(values)
    for _ in range(12):
        assert_rounded_once(moments(rng.permutation(values)), truth)


def test_any_partition_gives_the_exact_sums(values):
    rng, truth = np.random.default_rng(0), exact(values)
    for _ in range(12):
        cuts = np.sort(rng.integers(0, len(values), rng.integers(1, 9)))
        parts = np.split(rng.permutation(values), cuts)
        assert_rounded_once(reduce(add, [moments(part) for part in parts if len(part)]), truth)


# -- the same numbers through every source


def as_csv(x: np.ndarray, folder: Path) -> Path:
    pd.DataFrame({"y": x, "c": "a"}).to_csv(folder / "y.csv", index=False)
    return folder / "y.csv"


def as_parquet(x: np.ndarray, folder: Path) -> Path:
    table = pa.table({"y": x, "c": ["a"] * len(x)})
    pq.write_table(table, folder / "y.parquet", row_group_size=100)
    return folder / "y.parquet"


TABLES: dict[str, Callable] = {
    "pandas": lambda x, _: pd.DataFrame({"y": x, "c": "a"}),
    "polars": lambda x, _: pl.DataFrame({"y": x, "c": ["a"] * len(x)}),
    "pyarrow": lambda x, _: pa.table({"y": x, "c": ["a"] * len(x)}),
    "stream": lambda x, _: pa.table({"y": x, "c": ["a"] * len(x)}).to_reader(max_chunksize=7),
    "csv": as_csv,
    "parquet": as_parquet,
}


def arrays(x: np.ndarray) -> Iterator[np.ndarray]:
    both = np.stack([x, x], axis=1)
    yield from (
        x[:, None],
        both,
        np.asfortranarray(both),
        both[:, ::-1],
        np.repeat(both, 2, 0)[::2],
    )


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_gives_the_exact_sums(kind, values, tmp_path):
    assert_rounded_once(learnt(TABLES[kind](values, tmp_path), "c"), exact(values))


def test_every_array_gives_the_same_bits(values):
    found = moments(values)
    for X in arrays(values):
        rows = learnt(X, np.zeros(len(X), int))
        for j in range(X.shape[1]):
            assert (rows.mean[0, j], rows.scatter[0, j]) == (found.mean[0, 0], found.scatter[0, 0])
