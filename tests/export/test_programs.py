"""C and JavaScript, compiled and run: labels and log-odds are Python's."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.export import log_joint, to_c, to_js

from .conftest import ALL_NAIVE_BAYES

HARNESS = Path(__file__).parent / "harness.c"
FLAGS = "-std=c99 -pedantic -Wall -Wextra -Werror -O1 -fsanitize=address,undefined".split()  # noqa: SIM905
SCRIPT = """\
import { readFileSync } from "node:fs";
import { predict, scores } from "./model.mjs";
const shown = (v) => (v === -Infinity ? "-inf" : v);
for (const row of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const [answer, s] = [predict(row), scores(row)];
  console.log(JSON.stringify(s === null ? null : { answer, scores: s.map(shown) }));
}
"""

Answers = tuple[list[Any], np.ndarray, np.ndarray]  # labels, scores, probabilities
Run = Callable[[Any, pd.DataFrame, Path], Answers]


def plain(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return rows.astype(object).where(rows.notna(), None).to_dict("records")


def in_c(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    joint = log_joint(model)
    folder.joinpath("model.c").write_text(to_c(model), encoding="ascii")
    kind = ["-DCLASSES"] if joint.task == "classes" else []
    program = folder / "model"
    command = [compiler, *FLAGS, *kind, f"-I{folder}", str(HARNESS), "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    names = [column.name for column in joint.columns]
    lines = "\n".join(" ".join(_word(row[name]) for name in names) for row in plain(rows))
    run = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    labels, scores, probabilities = [], [], []
    k = len(joint.outputs)
    for line in run.stdout.splitlines():
        place, *numbers = line.split()
        labels.append(None if place == "-1" else joint.outputs[int(place)])
        pairs = list(map(_from_hex, numbers)) or [math.nan] * (2 * k)
        scores.append(pairs[::2])
        probabilities.append(pairs[1::2])
    return labels, np.array(scores), np.array(probabilities)


def _word(cell: Any) -> str:
    if cell is None:
        return "-"
    return f"s{cell.encode().hex()}" if isinstance(cell, str) else f"n{float(cell).hex()}"


def _from_hex(word: str) -> float:
    return float(word) if "inf" in word or "nan" in word else float.fromhex(word)


def in_javascript(model: Any, rows: pd.DataFrame, folder: Path) -> Answers:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    folder.joinpath("model.mjs").write_text(to_js(model), encoding="ascii")
    folder.joinpath("run.mjs").write_text(SCRIPT)
    folder.joinpath("rows.json").write_text(json.dumps(plain(rows)))
    command = [node, "run.mjs", "rows.json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    labels, scores, probabilities = [], [], []
    k = len(log_joint(model).outputs)
    for line in run.stdout.splitlines():
        found = json.loads(line)
        if found is None:
            found = {"answer": {"label": None, "probabilities": [math.nan] * k}}
            found["scores"] = [math.nan] * k
        answer = found["answer"]
        if isinstance(answer, list):
            answer = {"label": answer[0], "probabilities": answer}
        labels.append(answer["label"])
        scores.append([float(s) for s in found["scores"]])
        probabilities.append(answer["probabilities"])
    return labels, np.array(scores), np.array(probabilities)


RUNS = pytest.mark.parametrize("run", [in_c, in_javascript])


@RUNS
@pytest.mark.parametrize("name", ALL_NAIVE_BAYES)
def test_naive_bayes(
    naive_bayes: Any, holes: pd.DataFrame, name: str, run: Run, tmp_path: Path
) -> None:
    """10,000 rows with missing cells, unseen values, and names that break bad quoting."""
    model = naive_bayes[name]
    labels, scores, probabilities = run(model, holes, tmp_path)
    assert labels == list(model.predict(holes))
    np.testing.assert_allclose(probabilities, model.predict_proba(holes), rtol=0, atol=1e-12)
    expected = model.predict_joint_log_proba(holes)
    possible = np.isfinite(expected).all(axis=1)
    assert possible.any()
    np.testing.assert_allclose(_odds(scores[possible]), _odds(expected[possible]), atol=1e-10)


def _odds(scores: np.ndarray) -> np.ndarray:
    return scores - scores[:, :1]


@RUNS
@pytest.mark.parametrize(
    "name", ["lda", "qda", "rda", "logistic", "logistic of two", "logistic of bins"]
)
def test_complete_rows(
    complete_models: Any, complete: pd.DataFrame, name: str, run: Run, tmp_path: Path
) -> None:
    model = complete_models[name]
    rows = complete[list(model.feature_names_in_)]
    holed = pd.concat([rows, rows.head(1).assign(hits=np.nan)])
    if "hits" not in rows:
        holed = rows
    labels, _, probabilities = run(model, holed, tmp_path)
    assert labels[: len(rows)] == list(model.predict(rows))
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(probabilities[: len(rows)], expected, rtol=0, atol=1e-12)
    assert labels[len(rows) :] == [None] * (len(holed) - len(rows))


@RUNS
def test_bins(of_bins: Any, holes: pd.DataFrame, run: Run, tmp_path: Path) -> None:
    rows = holes[list(of_bins.feature_names_in_)]
    labels, _, probabilities = run(of_bins, rows, tmp_path)
    assert labels == list(of_bins.predict(rows))
    np.testing.assert_allclose(probabilities, of_bins.predict_proba(rows), rtol=0, atol=1e-12)


@RUNS
@pytest.mark.parametrize("name", ["linear", "ridge"])
def test_regression(
    complete_models: Any, complete: pd.DataFrame, name: str, run: Run, tmp_path: Path
) -> None:
    model = complete_models[name]
    rows = complete[list(model.feature_names_in_)]
    _, scores, _ = run(model, rows, tmp_path)
    np.testing.assert_allclose(scores[:, 0], model.predict(rows), rtol=1e-9)


@RUNS
def test_an_impossible_row_gets_the_prior(run: Run, tmp_path: Path) -> None:
    rows = pd.DataFrame({"v": ["p", "q", "q"], "w": ["r", "s", "s"], "y": ["a", "b", "b"]})
    model = NaiveBayes.textbook(alpha=0.0, estimation="mle", identifiers="keep").fit(rows, "y")
    asked = pd.DataFrame({"v": ["p"], "w": ["s"]})
    labels, _, probabilities = run(model, asked, tmp_path)
    assert labels == ["b"]
    np.testing.assert_allclose(probabilities, [[1 / 3, 2 / 3]], rtol=1e-15)


@RUNS
def test_what_python_refuses_has_no_answer(run: Run, tmp_path: Path) -> None:
    rows = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0], "y": ["a", "a", "b", "b"]})
    model = NaiveBayes.textbook().fit(rows, "y")
    labels, _, _ = run(model, pd.DataFrame({"x": [1e200, -1e200, 3.5]}), tmp_path)
    assert labels == [None, None, *model.predict(pd.DataFrame({"x": [3.5]}))]


@RUNS
def test_whole_numbers_that_are_stored_as_doubles(
    stored_as_numbers: Any, run: Run, tmp_path: Path
) -> None:
    model, rows, answers = stored_as_numbers
    if run is in_javascript:  # JSON, from which the test reads rows, has no infinity
        finite = ~np.isinf(rows["code"])
        rows, answers = rows[finite], answers[finite]
    _, _, probabilities = run(model, rows, tmp_path)
    np.testing.assert_allclose(probabilities, answers, rtol=0, atol=1e-12)


NAMES = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relation",
    "race", "sex", "gain", "loss", "hours", "country", "income",
]  # fmt: skip


@RUNS
@pytest.mark.parametrize("kind", [NaiveBayes, NaiveBayes.textbook])
def test_adult(data: Path, kind: Callable[[], Any], run: Run, tmp_path: Path) -> None:
    path = data / "adult" / "adult.data"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    rows = pd.read_csv(path, header=None, names=NAMES, skipinitialspace=True, na_values="?")
    model = kind().fit(rows, "income")
    rows = rows.drop(columns="income").head(10_000)
    labels, _, probabilities = run(model, rows, tmp_path)
    assert labels == list(model.predict(rows))
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-12)
    assert len(to_c(model)) < 50_000
    assert len(to_js(model)) < 100_000
