"""Columns in other units: what a model says does not depend on where 0 is, and what 1 is."""

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sklearn import datasets

from suffice import AODE, NaiveBayes, read_table

TABLES = (
    *("anneal", "autos", "colic", "credit.a", "diabetes", "glass", "heart.c", "hepatitis"),
    *("ionosphere", "segment", "sonar", "vehicle", "vowel", "zoo"),
)
FEW = ("glass", "zoo")
OTHERS = [pytest.param(name, marks=pytest.mark.exhaustive) for name in TABLES if name not in FEW]
NUMBERS = ("wine", "breast_cancer")
HELD = 1e-6  # nats: what rounding changes where the sample holds all rows
MADE = {
    "normal": lambda rng, means: rng.normal(means, 1.0),
    "lognormal": lambda rng, means: np.exp(rng.normal(means, 2.0)),
    "often 0": lambda rng, means: np.where(rng.random(len(means)) < 0.4, 0.0, rng.exponential(1)),
    "rounded": lambda rng, means: np.round(rng.normal(means, 2.0), 1),
    "counted": lambda rng, means: rng.poisson(3 * np.exp(means / 2)).astype(float),
    "few": lambda rng, means: rng.integers(0, 5, len(means)) + 1.0 * (means > 0),
}


def read(data: Path, name: str) -> tuple[pa.Table, np.ndarray]:
    """A table with its numbers as doubles, and labels."""
    path = data / "uci" / f"{name}.arff"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rows = pa.Table.from_batches([read_table(path).head()])
    label = rows.column_names[-1]
    columns = {
        name: cells.cast(pa.float64()) if is_number(cells) else cells
        for name, cells in zip(rows.column_names[:-1], rows.columns, strict=False)
    }
    return pa.table(columns), np.array(rows[label].to_pylist())


def is_number(cells: pa.ChunkedArray) -> bool:
    return pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)


def in_other_units(rows: pa.Table, seed: int) -> pa.Table:
    """Every number times up to a thousand, or a thousandth, and up to 10 deviations further.

    But for columns of 0 and 1, which have no unit.
    """
    rng, columns = np.random.default_rng(seed), {}
    for name, cells in zip(rows.column_names, rows.columns, strict=True):
        scale, shift = 10 ** rng.uniform(-3, 3), rng.uniform(-10, 10)
        if is_number(cells) and set(pc.unique(cells).to_pylist()) != {0, 1}:
            far = shift * pc.stddev(cells).as_py()
            cells = pc.multiply(pc.add(cells, far), scale)
        columns[name] = cells
    return pa.table(columns)


def log_probabilities(model: NaiveBayes, rows: pa.Table, y: np.ndarray) -> np.ndarray:
    """log P(c | x) of every row, by a model of the other half of the rows."""
    half = np.random.default_rng(0).permutation(len(y)) % 2
    classes = np.unique(y)
    found = np.full((len(y), len(classes)), -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left out, and variances of 0
        for h in (0, 1):
            learnt, asked = (rows.filter(pa.array(half == side)) for side in (1 - h, h))
            model.fit(learnt, y[half != h])
            at = np.ix_(half == h, np.searchsorted(classes, model.classes_))
            found[at] = model.predict_log_proba(asked)
    return found


def log_loss(model: NaiveBayes, rows: pa.Table, y: np.ndarray) -> float:
    own = np.arange(len(y)), np.unique(y, return_inverse=True)[1]
    logs = log_probabilities(model, rows, y)[own]
    return -float(np.maximum(logs, np.log(1e-15)).mean())


@pytest.mark.parametrize("name", [*FEW, *OTHERS])
def test_units_do_not_change_the_log_loss(data: Path, name: str) -> None:
    rows, y = read(data, name)
    losses = [log_loss(NaiveBayes(), one, y) for one in (rows, in_other_units(rows, 0))]
    assert losses[1] == pytest.approx(losses[0], abs=HELD)


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
@pytest.mark.parametrize("n", [100, pytest.param(3_000, marks=pytest.mark.exhaustive)])
def test_units_do_not_change_the_log_loss_of_made_tables(model: type[NaiveBayes], n: int) -> None:
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    rows = pa.table({name: make(rng, rng.normal(size=3)[y]) for name, make in MADE.items()})
    expected = log_loss(model(), rows, y)
    found = log_loss(model(), in_other_units(rows, 1), y)
    assert found == pytest.approx(expected, abs=HELD)


@pytest.mark.parametrize(
    "name", ["iris", *(pytest.param(n, marks=pytest.mark.exhaustive) for n in NUMBERS)]
)
def test_units_change_no_probability(name: str) -> None:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = pa.table({f"x{j}": column for j, column in enumerate(x.T)})
    expected = log_probabilities(NaiveBayes(), rows, y)
    found = log_probabilities(NaiveBayes(), in_other_units(rows, 3), y)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_of_many_rows_units_change_the_log_loss_by_less_than_a_hundredth(data: Path) -> None:
    """The sample holds some of them, and others in other units."""
    rows, y = read(data, "page.blocks")
    losses = []
    for one in (rows, in_other_units(rows, 0)):
        model = NaiveBayes().fit(one, y)
        assert model.calibration_.rows < len(y)
        own = np.arange(len(y)), np.searchsorted(model.classes_, y)
        losses.append(-model.predict_log_proba(one)[own].mean())
    assert losses[1] == pytest.approx(losses[0], abs=0.01)


@pytest.mark.parametrize("name", [*FEW, *OTHERS])
def test_units_change_nothing_of_fixed_families(data: Path, name: str) -> None:
    rows, y = read(data, name)
    model = NaiveBayes(numbers="gaussian", calibration="none")
    expected = log_probabilities(model, rows, y)
    found = log_probabilities(model, in_other_units(rows, 0), y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
