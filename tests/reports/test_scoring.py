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

from suffice import (
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.bayes import next_question
from suffice.errors import ParameterError
from suffice.models.base.proba_intervals import log_odds
from suffice.reports.columns import column_facts
from suffice.reports.scoring import scoring
from suffice.reports.words import MOST_WORDS

from .conftest import JOBS, NUMBERS, dated, rows, ten_tables, with_holes

PAGE = Path(str(files("suffice.reports"))) / "page"
NAMES = (
    *("aode", "auto", "bayes", "map", "mle", "smooth", "weights", "default", "joined", "text"),
    *("bernoulli", "multinomial", "complement", "categorical", "lda", "qda", "mixed", "mixed qda"),
    *("logistic", "unpenalised", "bins", "two of bins", "two", "linear"),
    *("dated", "dated lda", "dated bins", "dated logistic"),
)
COMPLETE = {"logistic", "unpenalised", "two", "linear", "dated logistic"}  # answer complete rows
SCRIPT = """\
import { readFileSync } from "node:fs";
import { ledger, probabilities } from "./score.js";
import { answerOf, averages } from "./answer.js";
import { gains } from "./gains.js";
import { evidenceOf } from "./columns.js";
import { pointsOf, sumsOf, whyNone } from "./nomogram.js";
const shown = (v) => (v === -Infinity ? "-inf" : v);
const asked = JSON.parse(readFileSync(process.argv[2], "utf8"));
const answers = Object.entries(asked).map(([name, { model, rows }]) => [name, rows.map((x) => {
  const { scores, start, columns } = ledger(model, x);
  const sums = scores.map((_, c) => [...columns.values()].reduce((s, by) => s + by[c], start[c]));
  const answer = model.task === "classes" ? probabilities(model, scores) : scores;
  return [scores.map(shown), sums.map(shown), answer,
    model.columns[0].family ? gains(model, x, answer) : []];
})]);
const known = Object.entries(asked).filter(([name]) => process.argv[3].split(",").includes(name));
const evidence = known.map(([name, { model, rows }]) => [name, model.columns.map((_, j) =>
  rows.slice(0, 40).map((x) => evidenceOf(model, j, x[j]).map(String)))]);
// Rows of values that have points, and the answers that the points of all of them give.
const chosen = (n, i) => (7 * i + 3 * (i % 5)) % n;
const described = Object.entries(asked).filter(([, one]) => one.model.columns[0].family);
const nomograms = described.map(([name, { model }]) => {
  model.order = model.columns.map((_, j) => j);
  if (whyNone(model)) return [name, whyNone(model)];
  const sums = sumsOf(model, 0, 1);
  if (!sums.columns.length) return [name, "no column has a scale"];
  const { shown: scales, scale, least } = pointsOf(sums);
  const rows = Array.from({ length: 60 }, (_, i) => {
    const x = model.columns.map(() => null);
    let total = 0;
    scales.forEach((one, s) => {
      const m = chosen(one.values.length + Number(one.unknown), i + s);
      if (m < one.values.length) x[one.column] = one.values[m];
      total += scale * ((one.adds[m] ?? 0) - one.low);
    });
    return [x, least + total / scale];
  });
  const widest = scale * (scales[0].high - scales[0].low);
  return [name, { rows, widest, columns: scales.map((one) => one.column) }];
});
const explained = described.map(([name, { model, rows }]) => [name, rows.map((x) => {
  const { start, columns } = answerOf(model, x, averages(model));
  const of = (j) => columns.find((one) => one.column === j)?.by;
  return { start, columns: model.columns.map((_, j) => of(j)) };
})]);
const found = { ...Object.fromEntries(answers), nomograms: Object.fromEntries(nomograms),
  evidence: Object.fromEntries(evidence), explained: Object.fromEntries(explained) };
console.log(JSON.stringify(found));
"""

NEXT = """\
import { readFileSync } from "node:fs";
import { ledger, probabilities } from "./score.js";
import { gains } from "./gains.js";
const asked = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(Object.fromEntries(Object.entries(asked).map(([name, { model, x }]) =>
  [name, Object.fromEntries(gains(model, x, probabilities(model, ledger(model, x).scores))
    .map(({ column, bits }) => [model.columns[column].name, bits]))]))));
"""


ASKED = ("bayes", "map", "weights", "default", "text", "dated")  # what to find out next
TOGETHER = ("joined", "lda", "qda", "mixed", "dated lda")  # columns that depend on each other


ALONE = ("bayes", "mle", "default", "lda", "qda", "dated")  # whose cells are evidence by themselves
MEANS = ("aode", "auto")  # of models, whose columns are revealed one by one
# With a nomogram, which cannot be asked what to find out.
SCALED = ("logistic", "bins", "linear", "dated bins", "dated logistic")


def in_json(cell: Any) -> Any:
    """Return a cell as the page has it: of dates, the seconds since 1970-01-01."""
    return (cell - pd.Timestamp(0)).total_seconds() if isinstance(cell, pd.Timestamp) else cell


def asked_of(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    return rows if name in COMPLETE else with_holes(rows)


def described(model: Any) -> dict[str, Any]:
    """Return what scores rows, with what is known of each column."""
    scored = scoring(model)
    facts = column_facts(model, scored["columns"])
    columns = [one | of for one, of in zip(scored["columns"], facts, strict=True)]
    return scored | {"columns": columns}


def in_node(folder: Path, script: str, asked: dict[str, Any], *more: str) -> dict[str, Any]:
    """Return what a script prints that uses the modules of the page."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node, which runs the page's scripts, is not installed")
    for module in PAGE.glob("*.js"):
        shutil.copy(module, folder)
    (folder / "asked.json").write_text(json.dumps(asked), "utf8")
    (folder / "package.json").write_text('{"type": "module"}', "utf8")
    (folder / "run.mjs").write_text(script, "utf8")
    command = [node, folder / "run.mjs", folder / "asked.json", *more]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.fixture(scope="module")
def answers(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Scores, sums of the ledger, and probabilities, of every model."""
    asked = {}
    for name in NAMES:
        model, rows = models[name]
        scored = scoring(model)
        columns = [column["name"] for column in scored["columns"]]
        table = asked_of(name, rows)[columns].astype(object).to_numpy().tolist()
        cells = [[in_json(cell) for cell in row] for row in table]
        asked[name] = {"model": scored, "rows": cells}
        if name in (*ASKED, *TOGETHER, *SCALED, *MEANS):
            asked[f"{name} next"] = {"model": described(model), "rows": cells[:20]}
    return in_node(tmp_path_factory.mktemp("page"), SCRIPT, asked, ",".join(ALONE))


@pytest.mark.parametrize("name", NAMES)
def test_answers_equal_python(name: str, models: dict[str, Any], answers: dict[str, Any]) -> None:
    model, rows = models[name]
    asked = asked_of(name, rows).infer_objects()
    scores, sums, found = (
        np.array([[float(v) for v in row[part]] for row in answers[name]]) for part in range(3)
    )
    assert len(found) == 300
    if name == "linear":
        np.testing.assert_allclose(found[:, 0], model.predict(asked), rtol=0, atol=1e-9)
    else:
        np.testing.assert_allclose(found, model.predict_proba(asked), rtol=0, atol=1e-9)
    finite = np.isfinite(scores).all(axis=1)
    np.testing.assert_allclose(sums[finite], scores[finite], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("name", ["unpenalised", "two", "linear"])
def test_effects_have_the_intervals_of_the_coefficients(name: str, models: dict[str, Any]) -> None:
    model = models[name][0]
    columns = scoring(model)["columns"]
    if name == "linear":
        posterior = model.posterior()
        middle, reach = posterior.location.T, posterior.quantile(0.95)
        blocks = (posterior.covariance * posterior.noise_variance[0])[None]
    else:
        middle = model.summary().estimate
        reach, q = 1.959963984540054, middle.shape[1]
        square = model.covariance().reshape(len(middle), q, len(middle), q)
        blocks = np.array([square[c, :, c] for c in range(len(middle))])
    for column, facts in zip(columns, column_facts(model, columns), strict=True):
        of_column = [t.startswith(column["name"]) for t in model.terms_]
        for row, effect in enumerate(facts["effects"]):
            z = np.zeros(len(model.terms_))
            if "values" not in facts:
                z[of_column] = 1
            else:
                value = facts["values"][row]
                levels = JOBS[::-1][1 : JOBS[::-1].index(value) + 1] if name == "two" else [value]
                sign = ">=" if name == "two" else ""
                known = {f"{column['name']}[{sign}{level}]" for level in levels}
                z[[term in known for term in model.terms_]] = 1
            far = reach * np.sqrt(np.einsum("q,cqr,r->c", z, blocks, z))
            expected = np.stack([middle @ z, middle @ z - far, middle @ z + far], axis=-1)
            if name != "linear":
                assert effect.pop(0) == [0.0]  # the class that the others are compared with
            found = np.array([one if len(one) == 3 else one * 3 for one in effect])
            np.testing.assert_allclose(found, expected, rtol=5e-4, atol=1e-12)


@pytest.mark.parametrize("name", ALONE)
def test_evidence_of_a_column_is_that_of_python(
    name: str, models: dict[str, Any], answers: dict[str, Any]
) -> None:
    model, rows = models[name]
    cells = with_holes(rows).iloc[:40]
    for column, found in zip(scoring(model)["columns"], answers["evidence"][name], strict=True):
        others = dict.fromkeys(set(cells) - {column["name"]}, None)
        alone = cells.assign(**others)[list(cells)].infer_objects()
        got = np.array([[float(v.replace("Infinity", "inf")) for v in row] for row in found])
        scores = model.predict_joint_log_proba(alone)
        finite = np.isfinite(scores).all(axis=1)
        evidence = (log_odds(scores) - log_odds(model.model_.log_prior))[finite]
        np.testing.assert_allclose(got[finite], evidence, rtol=1e-9, atol=1e-9)


def explained(name: str, models: dict[str, Any], answers: dict[str, Any]) -> tuple[Any, Any]:
    """Return what the page and Python say of the columns of some rows, in one order."""
    model, rows = models[name]
    expected = model.explain(asked_of(name, rows).iloc[:20].infer_objects())
    order = [column["name"] for column in scoring(model)["columns"]]
    assert order == list(expected.columns)
    return answers["explained"][f"{name} next"], expected


@pytest.mark.parametrize("name", SCALED)
def test_columns_add_to_the_average_row_what_python_explains(
    name: str, models: dict[str, Any], answers: dict[str, Any]
) -> None:
    found, expected = explained(name, models, answers)
    by = np.array([row["columns"] for row in found])
    start = np.array([row["start"] for row in found])
    wanted = expected.contributions.reshape(by.shape)
    begin = np.broadcast_to(
        expected.average if name == "linear" else expected.log_prior, start.shape
    )
    if name != "linear":  # what is the same for every class says nothing
        by, wanted, start, begin = (
            v - v.mean(axis=-1, keepdims=True) for v in (by, wanted, start, begin)
        )
    np.testing.assert_allclose(by, wanted, rtol=0, atol=1e-9)
    np.testing.assert_allclose(start, begin, rtol=0, atol=1e-9)


@pytest.mark.parametrize("calibration", ["weights", "none"])
def test_the_page_asks_what_python_asks_of_ten_tables(calibration: Any, tmp_path: Path) -> None:
    asked, expected = {}, {}
    for name, (table, row) in ten_tables().items():
        model = NaiveBayes(calibration=calibration).fit(table, "y")
        shown = described(model)
        cells = [
            {"date": -5_097_600, "time": 52_200}.get(column["kind"], row.get(column["name"]))
            for column in shown["columns"]
        ]
        asked[name] = {"model": shown, "x": cells}
        question = next_question(model, row)
        bits = zip(question.columns, question.bits.tolist(), strict=True)
        expected[name] = {column: of for column, of in bits if not np.isnan(of)}
    found = in_node(tmp_path, NEXT, asked)
    assert len(found) == 10
    for name, of in expected.items():
        assert of == pytest.approx(found[name], abs=1e-4), name


@pytest.mark.parametrize("name", ["bayes", "weights", "lda", "mixed", "dated", *SCALED])
def test_points_of_the_nomogram_add_up_to_the_answers_of_python(
    name: str, models: dict[str, Any], answers: dict[str, Any]
) -> None:
    model = models[name][0]
    drawn = answers["nomograms"][f"{name} next"]
    columns = [column["name"] for column in scoring(model)["columns"]]
    assert drawn["widest"] == pytest.approx(100)
    cells = {columns[j]: [row[j] for row, _ in drawn["rows"]] for j in range(len(columns))}
    table = pd.DataFrame(cells)[list(model.reader_.layout.names)]
    for column in scoring(model)["columns"]:
        if column["kind"] == "date":
            points = pd.to_datetime(table[column["name"]], unit="s").dt.round("us")
            table[column["name"]] = points.astype("datetime64[us]")
    if len(drawn["columns"]) < len(columns) and name in COMPLETE:
        pytest.fail("a column of a model of complete rows has no scale")
    found = np.array([answer for _, answer in drawn["rows"]])
    if name == "linear":
        expected = model.predict(table)
    else:
        of_two = model.predict_log_proba(table)
        expected = of_two[:, 0] - of_two[:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_many_words_are_cut_to_the_most_telling() -> None:
    common = " ".join(f"w{i}" for i in range(30_000))
    table = {"text": [f"{common} offer", f"{common} agenda"] * 5, "y": ["spam", "ham"] * 5}
    scored = scoring(NaiveBayes({"text": "multinomial"}).fit(table, "y"))
    (term,) = scored["terms"]
    words = [word for alike in term["words"] for word in alike.split("\n")]
    assert len(words) == len(set(words)) == MOST_WORDS
    assert term["left_out"] == 30_002 - MOST_WORDS
    assert {"offer", "agenda"} < set(words)
    assert len(json.dumps(scored)) < 250_000


@pytest.mark.parametrize("name", MEANS)
def test_columns_of_an_average_add_what_python_explains(
    name: str, models: dict[str, Any], answers: dict[str, Any]
) -> None:
    found, expected = explained(name, models, answers)
    k = len(expected.classes)
    by = np.array([[of or [0.0] * k for of in row["columns"]] for row in found])
    start = np.array([row["start"] for row in found])
    for got, wanted in ((by, expected.contributions), (start, expected.log_prior[None])):
        np.testing.assert_allclose(
            got - got[..., :1] - (wanted - wanted[..., :1]), 0 * got, rtol=0, atol=1e-9
        )
    assert "no nomogram" in answers["nomograms"][f"{name} next"]


def test_a_member_that_a_page_cannot_show_is_named() -> None:
    table = rows(60, 1)[NUMBERS].assign(delay=pd.to_timedelta(np.arange(60), "D"))
    model = AutoClassifier(["naive-bayes"]).fit(table, np.arange(60) % 2)
    with pytest.raises(ParameterError, match="naive-bayes, a member of the average"):
        scoring(model)


def test_discriminants_of_more_columns_than_a_page_holds_are_refused() -> None:
    rows, labels = np.random.default_rng(0).normal(size=(700, 300)), np.arange(700) % 3
    for columns, model in (
        (300, LinearDiscriminantAnalysis()),
        (110, QuadraticDiscriminantAnalysis()),
    ):
        with pytest.raises(ParameterError, match=rf"covariances of {columns} numbers"):
            scoring(model.fit(rows[:, :columns], labels))


def test_scales_end_where_the_numbers_of_the_fit_do() -> None:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 600)
    table = pd.DataFrame(
        {
            "visits": rng.poisson(2 + 2 * label),
            "smoker": rng.random(600) < 0.5,
            "passed": (rng.random(600) < 0.2 + 0.5 * label).astype(int),
            "gain": np.where(rng.random(600) < 0.2, rng.choice([7298, 15024], 600), 0),
            "income": rng.lognormal(9 + label, 1.0),
        }
    )
    model = NaiveBayes(families={"passed": "density"}).fit(table, label)
    facts = {column["name"]: column for column in described(model)["columns"]}
    visits = facts["visits"]
    assert (visits["low"], visits["step"]) == (0, 1)
    assert visits["high"] == table["visits"].max()
    assert facts["passed"]["two"]
    assert facts["smoker"]["values"] == [False, True]
    least, some, most = facts["gain"]["at"]  # a scale of ranks, from bins 1/256 wide
    assert least == 0
    assert [some, most] == pytest.approx([7298, 15024], rel=1 / 256)
    assert 0 <= facts["income"]["low"] < table["income"].min()
    assert facts["income"]["high"] < table["income"].max()  # a long tail is cut


def test_scales_of_dates_are_days_and_of_times_round_steps() -> None:
    for calibration in ("weights", "none"):
        model = NaiveBayes(calibration=calibration).fit(dated(400, 1), "y")
        columns = scoring(model)["columns"]
        assert [column["kind"] for column in columns] == ["date", "date", "number"]
        day, seen, _ = column_facts(model, columns)
        first, last = dated(400, 1)["day"].agg(["min", "max"]).map(in_json)
        assert day["days"]
        assert day["low"] % 86_400 == day["high"] % 86_400 == 0
        assert (day["low"], day["high"]) == pytest.approx((first, last), abs=0.02 * (last - first))
        assert "days" not in seen
        assert seen["low"] % seen["step"] == 0
        assert seen["step"] == 86_400


def test_scales_of_moments_end_where_test_rows_do() -> None:
    rng = np.random.default_rng(0)
    crimes, rooms = rng.lognormal(0, 2, 300), rng.integers(3, 9, 300)
    table = pd.DataFrame({"crimes": crimes, "rooms": rooms})
    model = LinearRegression().fit(table, crimes + rooms)
    columns = scoring(model)["columns"]
    told, of_test = (
        {column["name"]: of for column, of in zip(columns, found, strict=True)}
        for found in (
            column_facts(model, columns),
            column_facts(model, columns, {"crimes": (0.25, 80.0)}),
        )
    )
    assert told["crimes"]["low"] < 0  # means and deviations alone do not know where it ends
    assert (of_test["crimes"]["low"], of_test["crimes"]["high"]) == pytest.approx(
        (0.2, 80), abs=0.1
    )
    assert told["rooms"]["low"] >= 0
    assert told["rooms"]["step"] == 1
