"""The page's own scoring module, run by node: its answers are those of Python."""

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import QuadraticDiscriminantAnalysis
from suffice.errors import ParameterError
from suffice.reports.scoring import scoring

from .conftest import with_holes

PAGE = Path(str(files("suffice.reports"))) / "page"
NAMES = (
    "bayes",
    "map",
    "mle",
    "smooth",
    "weights",
    "joined",
    "bernoulli",
    "multinomial",
    "complement",
    "categorical",
    "lda",
    "qda",
    "logistic",
    "linear",
)
COMPLETE = {"logistic", "linear"}  # they answer complete rows
SCRIPT = """\
import { readFileSync } from "node:fs";
import { ledger, probabilities } from "./score.mjs";
const shown = (v) => (v === -Infinity ? "-inf" : v);
const asked = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = Object.entries(asked).map(([name, { model, rows }]) => [name, rows.map((x) => {
  const { scores, start, columns } = ledger(model, x);
  const sums = scores.map((_, c) => [...columns.values()].reduce((s, by) => s + by[c], start[c]));
  return [scores.map(shown), sums.map(shown),
    model.task === "classes" ? probabilities(model, scores) : scores];
})]);
console.log(JSON.stringify(Object.fromEntries(answers)));
"""


def asked_of(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    return rows if name in COMPLETE else with_holes(rows)


@pytest.fixture(scope="module")
def answers(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Scores, sums of the ledger, and probabilities, of every model."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node, which runs the page's scripts, is not installed")
    folder = tmp_path_factory.mktemp("page")
    asked = {}
    for name in NAMES:
        model, rows = models[name]
        scored = scoring(model)
        columns = [column["name"] for column in scored["columns"]]
        cells = asked_of(name, rows)[columns].astype(object).to_numpy().tolist()
        asked[name] = {"model": scored, "rows": cells}
    folder.joinpath("asked.json").write_text(json.dumps(asked), "utf8")
    folder.joinpath("score.mjs").write_text((PAGE / "score.js").read_text("utf8"), "utf8")
    folder.joinpath("run.mjs").write_text(SCRIPT, "utf8")
    command = [node, folder / "run.mjs", folder / "asked.json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_python(
    name: str, models: dict[str, Any], answers: dict[str, Any]
) -> None:
    model, rows = models[name]
    asked = asked_of(name, rows).infer_objects()
    scores, sums, found = (
        np.array([[float(v) for v in row[part]] for row in answers[name]]) for part in range(3)
    )
    assert len(found) == 1_000
    if name == "linear":
        np.testing.assert_allclose(found[:, 0], model.predict(asked), rtol=0, atol=1e-9)
    else:
        np.testing.assert_allclose(found, model.predict_proba(asked), rtol=0, atol=1e-9)
    finite = np.isfinite(scores).all(axis=1)
    np.testing.assert_allclose(sums[finite], scores[finite], rtol=1e-12, atol=1e-9)


def test_a_page_of_too_many_joined_columns_is_refused_with_its_size() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(600, 101)), np.arange(600) % 2
    model = QuadraticDiscriminantAnalysis().fit(rows, labels)
    with pytest.raises(ParameterError, match=r"2 covariance matrices of 101 columns .* 0\.2 MB"):
        scoring(model)
