"""``suffice evaluate --by``: every group of rows apart."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from .conftest import Run, facts_of


def test_groups(run: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    site = random.choice(["north", "south"], 300)
    y = random.choice(["a", "b"], 300)
    x = random.normal(size=300) + (y == "b") * np.where(site == "north", 4.0, 0.5)
    pd.DataFrame({"x": x, "site": site, "y": y, "z": 3 * x}).to_csv(tmp_path / "t.csv", index=False)
    run("fit", "t.csv", "--label", "y", "--ignore", "site,z")
    facts = facts_of(run, "evaluate", "t.suffice", "t.csv", "--by", "site")
    assert facts["by"] == "site"
    north, south = facts["groups"]
    assert (north["group"], south["group"]) == ("north", "south")
    assert north["rows"] + south["rows"] == 300
    assert north["error_rate"] < 0.2 < south["error_rate"]
    shown = run("evaluate", "t.suffice", "t.csv", "--by", "site").stdout
    assert "95 % interval" in shown
    assert "north" in shown
    run(
        "fit", "t.csv", "--label", "z", "--model", "linear", "--ignore", "site,y", "-o", "z.suffice"
    )
    shown = run("evaluate", "z.suffice", "t.csv", "--by", "site").stdout
    assert "RMSE" in shown


def test_no_row(run: Run, model: Path) -> None:
    (model.parent / "empty.csv").write_text("size,color,kind\n")
    refused = run("evaluate", model, "empty.csv", "--by", "color")
    assert refused.exit_code != 0
    assert "holds no row" in refused.stderr


def test_rows_without_an_answer_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,6\n")
    (tmp_path / "holes.csv").write_text("x,y\n1,2\n,3\n3,5\n")
    run("fit", "t.csv", "--label", "y", "--model", "linear")
    found = run("evaluate", "t.suffice", "holes.csv", "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["targets"][0]["rows"] == 2
    assert "1 row left out: a cell is missing" in found.stderr
