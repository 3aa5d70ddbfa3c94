"""The average of the best models, from the command line."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import suffice

from .conftest import Run, command, facts_of

NAMES = ["naive-bayes", "lda", "logistic"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    table = pa.table(
        {
            "size": pa.array(rng.normal(size=80) + 2 * y, mask=rng.random(80) < 0.3),
            "colour": np.array(["red", "blue"])[np.where(rng.random(80) < 0.8, y, 1 - y)],
            "kind": np.array(["p", "q"])[y],
        }
    )
    folder = tmp_path_factory.mktemp("auto")
    pyarrow.csv.write_csv(table, folder / "rows.csv")
    chosen = ("--categorical", "colour", "-p", f"candidates={','.join(NAMES)}", "--json")
    words = (folder / "rows.csv", "--label", "kind", "--model", "auto", *chosen)
    done = command("fit", *words, "-o", folder / "auto.suffice")
    (folder / "fitted.json").write_text(done.stdout)
    return folder


def test_fit_shows_the_candidates(run: Run, folder: Path) -> None:
    found = json.loads((folder / "fitted.json").read_text())
    members = [one for one in found["candidates"] if one["weight"]]
    assert [one["refusal"] for one in members] == [None] * len(members)
    assert sum(one["weight"] for one in members) == pytest.approx(1.0)
    assert {one["name"] for one in found["candidates"]} == set(NAMES)
    params = suffice.load(folder / "auto.suffice").get_params()
    assert (list(params["candidates"]), list(params["categorical"])) == (NAMES, ["colour"])
    again = facts_of(run, "show", folder / "auto.suffice")
    assert again["candidates"] == found["candidates"]


def test_what_is_printed(run: Run, folder: Path) -> None:
    lines = run("show", folder / "auto.suffice").stdout
    assert "share of the answer" in lines
    shown = re.findall(r"(\d+\.\d %) *$", lines, re.MULTILINE)
    model: Any = suffice.load(folder / "auto.suffice")
    assert shown == [f"{100 * share:.1f} %" for share in model.model_.shares]


def test_it_answers_as_in_python(run: Run, folder: Path) -> None:
    model: Any = suffice.load(folder / "auto.suffice")
    table = pyarrow.csv.read_csv(folder / "rows.csv")
    result = run("predict", folder / "auto.suffice", folder / "rows.csv", "--proba")
    rows = [line.split(",") for line in result.stdout.splitlines()[1:]]
    found = np.array([[float(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_allclose(found, model.predict_proba(table), rtol=1e-12)
    evaluated = facts_of(run, "evaluate", folder / "auto.suffice", folder / "rows.csv")
    assert evaluated["log_loss"] == model.evaluate(table, "kind").log_loss
    words = ("explain", folder / "auto.suffice", folder / "rows.csv", "--rows", 1)
    (row,) = facts_of(run, *words)["rows"]
    odds = np.log(found[0].max() / found[0].min())
    np.testing.assert_allclose(row["sum"], odds, rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("merge {m} {m} -o x", "holds an AutoClassifier; it is fitted by repeated passes"),
        ("forget {m} {d} -o x", "holds an AutoClassifier; it is fitted by repeated passes"),
        ("summary {m}", "a summary is of coefficients"),
        ("sample {m} -o x.csv", "holds an AutoClassifier"),
    ],
)
def test_what_it_cannot_do(run: Run, folder: Path, tmp_path: Path, words: str, said: str) -> None:
    given = words.format(m=folder / "auto.suffice", d=folder / "rows.csv").split()
    result = run(*given)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
