"""``suffice calibrate``: weights of columns anew, for a model that lost its rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from numpy.testing import assert_allclose

import suffice
from suffice import LinearRegression
from suffice.bayes import column_weights

from ..conftest import Run


@pytest.fixture
def halves(run: Run, tmp_path: Path) -> Path:
    noise = np.random.default_rng(0).normal(size=120)
    lines = [f"{i % 2 + e:.3f},{i % 2 + e:.3f},{'ab'[i % 2]}" for i, e in enumerate(noise)]
    for name, part in (("north", lines[:60]), ("south", lines[60:]), ("all", lines)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,again,y", *part, ""]))
        assert run("fit", f"{name}.csv", "--label", "y").exit_code == 0
    return tmp_path


def test_a_merged_model_gets_the_weights_of_one_fit(run: Run, halves: Path) -> None:
    merged = run("merge", "north.suffice", "south.suffice", "-o", "both.suffice")
    assert "weights of the columns are those of earlier rows" in merged.stderr
    assert suffice.load("both.suffice").calibration_.stale
    done = run("calibrate", "both.suffice", "north.csv", "south.csv", "-o", "both.suffice")
    assert done.exit_code == 0, done.stderr
    assert "with weights, of 120 rows. Saved to both.suffice" in " ".join(done.stdout.split())
    found, expected = suffice.load("both.suffice"), suffice.load("all.suffice")
    assert column_weights(found) == column_weights(expected)
    assert not found.calibration_.stale


def test_a_regression_learns_how_large_its_errors_are(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    y = x @ [1.0, -2.0] + rng.exponential(size=120)
    lines = [f"{a},{b},{c}" for (a, b), c in zip(x.tolist(), y.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines, ""]))
    assert run("fit", "t.csv", "--target", "y", "--model", "linear").exit_code == 0
    refused = run("predict", "t.suffice", "t.csv", "--interval", "conformal")
    assert refused.exit_code == 2
    assert "calibrate it with rows" in " ".join(refused.stderr.split())
    said = run("calibrate", "t.suffice", "t.csv", "-o", "t.suffice")
    assert "Half of 120 errors are at most" in " ".join(said.stdout.split())
    words = ("--interval", "conformal", "--level", "0.9", "-o", "p.csv")
    assert run("predict", "t.suffice", "t.csv", *words).exit_code == 0
    found = pyarrow.csv.read_csv(tmp_path / "p.csv")
    ends = LinearRegression().fit(x, y).calibrate(x, y).predict_interval(x, "conformal", 0.9)
    assert_allclose(np.stack([found["lower"], found["upper"]], axis=1), ends, rtol=1e-9)
