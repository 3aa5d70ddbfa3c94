"""Conformal intervals: they hold whatever the distribution of errors is."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.running import on

import suffice
from suffice import engine
from suffice.errors import DataError, ParameterError
from suffice.linear_model import GradientDescent, Lasso, LinearRegression, Ridge
from suffice.privacy import audit

MODELS = pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(alpha=5.0)], ids=["linear", "ridge"]
)


def rows(seed: int = 0, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, x @ [1.0, -2.0, 0.5] + rng.exponential(size=n)


@MODELS
def test_errors_are_of_models_without_the_row(model: Any) -> None:
    """A model is fitted without each row; the grid has 8 bits of every size."""
    x, y = rows()
    n, sizes = len(y), []
    for i in range(n):
        rest = np.arange(n) != i
        other = model.unfitted().fit(x[rest], y[rest])
        apart = np.abs(y[i] - other.predict(x[[i]])[0])
        sizes.append(apart / np.sqrt(1 + other.leverage(x[[i]])[0]))
    sizes.sort()
    found = model.unfitted().fit(x, y).calibrate(x, y)
    new = rows(1)[0]
    for level in (0.05, 0.5, 0.9, 0.99):
        q = sizes[int(np.ceil(level * (n + 1) - 1e-9)) - 1]
        ends = found.predict_interval(new, "conformal", level)
        reach = q * np.sqrt(1 + found.leverage(new))
        assert_allclose(ends.mean(axis=1), found.predict(new), rtol=1e-12)
        ratio = (ends[:, 1] - ends[:, 0]) / 2 / reach
        assert (ratio >= 1 - 1e-12).all()
        assert (ratio <= 1 + 1 / 256 + 1e-12).all()


@MODELS
def test_they_cover_what_they_say(model: Any) -> None:
    rng = np.random.default_rng(0)
    noises = [
        lambda n, x: rng.exponential(size=n),
        lambda n, x: rng.standard_t(3, n),
        lambda n, x: np.exp(rng.normal(size=n)),
        lambda n, x: rng.normal(size=n) * (0.3 + np.abs(x[:, 0])),
        lambda n, x: rng.uniform(-1, 1, n),
    ]
    levels = (0.5, 0.8, 0.9)
    covered = {level: [] for level in levels}
    for noise in noises:
        for _ in range(20):
            x = rng.normal(size=(600, 4))
            y = x @ [1.0, 0.0, -1.0, 2.0] + noise(600, x)
            fitted = model.unfitted().fit(x[:200], y[:200]).calibrate(x[:200], y[:200])
            for level in levels:
                low, high = fitted.predict_interval(x[200:], "conformal", level).T
                covered[level].append(((low <= y[200:]) & (y[200:] <= high)).mean())
    for level, found in covered.items():
        assert abs(np.mean(found) - level) < 0.01


def test_the_order_and_the_parts_of_rows_do_not_matter() -> None:
    x, y = rows(2, 20_000)
    model = on(engine("local", threads=1), LinearRegression()).fit(x, y)
    one = model.calibrate(x, y).predict_interval(x[:5], "conformal")
    order = np.random.default_rng(0).permutation(len(y))
    model = on(engine("local", threads=2), model)
    assert_array_equal(
        model.calibrate(x[order], y[order]).predict_interval(x[:5], "conformal"), one
    )


def test_rows_that_were_not_learnt() -> None:
    x, y = rows()
    new, truth = rows(3)
    model = LinearRegression().fit(x, y).calibrate(new, truth, learnt=False)
    sizes = np.sort(np.abs(truth - model.predict(new)) / np.sqrt(1 + model.leverage(new)))
    q = sizes[int(np.ceil(0.9 * 121)) - 1]
    low, high = model.predict_interval([[0.0] * 3], "conformal", 0.9)[0]
    assert_allclose((high - low) / 2, q * np.sqrt(1 + model.leverage([[0.0] * 3])[0]), rtol=1 / 256)


def test_several_targets_categories_and_missing_cells() -> None:
    x, y = rows()
    table = {
        "a": x[:, 0].tolist(),
        "color": np.resize(["red", "blue", None, "red"], 120).tolist(),
        "y": y.tolist(),
        "twice": (2 * y).tolist(),
    }
    both = pa.table(table)
    model = LinearRegression(incomplete="drop").fit(both, ["y", "twice"])
    ends = model.calibrate(both, ["y", "twice"]).predict_interval(
        both.slice(0, 2), "conformal", 0.8
    )
    assert ends.shape == (2, 2, 2)
    assert_allclose(ends[:, 1], 2 * ends[:, 0], rtol=1e-9)
    assert model.model_.errors.rows == 90


def test_batches_have_the_ends() -> None:
    x, y = rows()
    model = Ridge().fit(x, y).calibrate(x, y)
    (found,) = model.predict_batches(x, interval="conformal", level=0.9)
    ends = model.predict_interval(x, "conformal", 0.9)
    assert_array_equal(np.stack([found["lower"], found["upper"]], axis=1), ends)


@MODELS
def test_a_file_keeps_counts_of_errors_until_rows_come_or_go(model: Any, tmp_path: Path) -> None:
    x, y = rows()
    found = model.unfitted().fit(x, y)
    found.save(tmp_path / "plain.suffice")
    found.calibrate(x, y).save(tmp_path / "m.suffice")
    loaded: Any = suffice.load(tmp_path / "m.suffice")
    ends = found.predict_interval(x, "conformal")
    assert_array_equal(loaded.predict_interval(x, "conformal"), ends)
    kinds = {one.column for one in audit(loaded).findings if one.what == "rare value"}
    assert kinds == {"errors of y"}
    loaded.forget(x[:5], y[:5])
    for other in (loaded, suffice.load(tmp_path / "plain.suffice")):
        with pytest.raises(ParameterError, match=r"the errors of rows are not known.*calibrate"):
            other.predict_interval(x, "conformal")


def test_what_is_refused() -> None:
    x, y = rows()
    model = LinearRegression().fit(x, y).calibrate(x[:18], y[:18])
    with pytest.raises(
        ParameterError, match=r"level=0.95, and the errors of 18 rows .* takes .* 19 rows"
    ):
        model.predict_interval(x, "conformal", 0.95)
    with pytest.raises(ParameterError, match="a level is a number between 0 and 1"):
        model.predict_interval(x, "conformal", 1.0)
    with pytest.raises(ParameterError, match="kind is one of 'prediction', 'confidence', 'conf"):
        model.predict_interval(x, "jackknife")
    for other in (
        Lasso(alpha=0.01).fit(x, y),
        LinearRegression(positive=True).fit(x, y),
        LinearRegression(solver="gradient", descent=GradientDescent(passes=1000)).fit(x, y),
    ):
        with pytest.raises((ParameterError, AttributeError)):
            other.calibrate(x, y)
    with pytest.raises(DataError, match="a number must be finite"):
        model.calibrate(np.where(x == x[3, 1], np.inf, x), y)
    with pytest.raises(DataError, match="column 'y'"):
        model.calibrate(x, np.where(y == y[3], np.inf, y))
    with pytest.raises(DataError, match="no row has an error of its own"):
        LinearRegression().fit(x[:4], y[:4]).calibrate(x[:4], y[:4])
