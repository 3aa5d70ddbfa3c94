"""Thresholds and costs of errors, from the fit to the answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice

from .conftest import Run, facts_of


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
    facts = facts_of(run, "evaluate", "rows.suffice", "rows.csv")
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
