"""Thresholds and costs of errors, from the fit to the answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice

from .conftest import Run


@pytest.fixture
def rows(tmp_path: Path) -> pd.DataFrame:
    random = np.random.default_rng(3)
    ill = np.array(["no", "yes"])[(random.random(400) < 0.3).astype(int)]
    frame = pd.DataFrame({"level": random.normal(size=400) + (ill == "yes"), "ill": ill})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame


def test_a_threshold_is_kept_with_the_model(run: Run, rows: pd.DataFrame, tmp_path: Path) -> None:
    assert run("fit", "rows.csv", "--label", "ill", "-p", "costs=[[0,1],[9,0]]").exit_code == 0
    model = suffice.load(tmp_path / "rows.suffice")
    p = model.predict_proba(rows[["level"]])[:, 1]  # type: ignore[union-attr]
    answers = run("predict", "rows.suffice", "rows.csv").stdout.split()[1:]
    assert answers == np.where(p > 0.1, "yes", "no").tolist()
    answers = run("predict", "rows.suffice", "rows.csv", "--threshold", 0.6).stdout.split()[1:]
    assert answers == np.where(p > 0.6, "yes", "no").tolist()
    facts = json.loads(run("evaluate", "rows.suffice", "rows.csv", "--json").stdout)
    assert facts["accuracy"] == pytest.approx(np.mean((p > 0.1) == (rows.ill == "yes")))
    assert facts["roc_area"]["lower"] == facts["roc_area"]["value"] > 0.7


def test_costs_are_counted(run: Run, rows: pd.DataFrame) -> None:
    run("fit", "rows.csv", "--label", "ill")
    found = run("evaluate", "rows.suffice", "rows.csv", "--costs", "0,1;9,0", "--json")
    facts = json.loads(found.stdout)
    (_, alarms), (missed, _) = facts["confusion"]
    assert facts["mean_cost"] == pytest.approx((alarms + 9 * missed) / 400)
    assert missed < alarms
    shown = run("evaluate", "rows.suffice", "rows.csv", "--costs", "0,1;9,0").stdout
    assert "mean cost" in shown
    assert "ROC area" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", 1.5], "--threshold 1.5; a probability is from 0 to 1"),
        (["--costs", "0,1"], "there are 2 labels (no, yes): costs are 2 rows of 2 numbers"),
        (["--costs", "0,a;1,0"], "costs are 2 rows of 2 numbers"),
        (["--costs", "0,-1;1,0"], "costs[0][1]=-1.0; a cost is a finite number"),
        (["--costs", "0,1;1,0", "--threshold", 0.5], "--threshold and --costs are both given"),
    ],
)
def test_decisions_that_cannot_be(
    run: Run, rows: pd.DataFrame, options: list[str], said: str
) -> None:
    run("fit", "rows.csv", "--label", "ill")
    refused = run("evaluate", "rows.suffice", "rows.csv", *options)
    assert refused.exit_code != 0
    assert said in " ".join(refused.stderr.split())


def test_numbers_are_not_decided(run: Run, rows: pd.DataFrame) -> None:
    fitted = run("fit", "rows.csv", "--label", "level", "--model", "linear")
    assert fitted.exit_code == 0
    refused = run("predict", "rows.suffice", "rows.csv", "--threshold", 0.5)
    assert "--threshold is given for a LinearRegression" in refused.stderr


def test_a_threshold_is_between_two(run: Run, model: Path, rows: pd.DataFrame) -> None:
    rows.assign(ill=[*["maybe"] * 9, *rows.ill[9:]]).to_csv(model.parent / "three.csv", index=False)
    run("fit", "three.csv", "--label", "ill")
    refused = run("evaluate", "three.suffice", "three.csv", "--threshold", 0.5)
    assert "is given for 3 labels; a threshold decides between two" in refused.stderr
