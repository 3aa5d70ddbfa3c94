"""What a page says of test rows: figures of the evaluation, and the rows that are most wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import suffice
from suffice import LinearRegression, LogisticRegression, NaiveBayes
from suffice.cli.app import app
from suffice.reports.rows import rows_of
from suffice.reports.scoring import scoring
from suffice.reports.tested import how_good

from .conftest import HOSTILE, NUMBERS, messages, rows, with_holes

pytest.importorskip("jinja2", reason="Jinja2 is not installed")


def test_figures_are_those_of_the_evaluation(models: dict[str, Any]) -> None:
    model, table = models["weights"][0], rows(300, 1)
    good, found = how_good(model, table, "y"), model.evaluate(table, "y")
    assert good["rows"] == "300"
    assert good["error"] == f"{100 * found.error:.1f} %"
    counts = [[int(cell["count"]) for cell in row["cells"]] for row in good["confusion"]]
    assert counts == found.confusion.value.tolist()
    assert [row["label"] for row in good["confusion"]] == list(map(str, found.classes))
    recall = [float(one["recall"][:-2]) for one in good["classes"]]
    assert recall == pytest.approx(100 * found.recall, abs=0.051)
    assert sum(int(tenth["rows"]) for tenth in good["tenths"]) == 300
    for tenth in good["tenths"]:
        low, high = (float(end.strip("<> %")) for end in tenth["ends"].split(" to "))
        assert low <= float(tenth["right"].strip("<> %")) <= high


def test_the_rows_are_those_that_are_most_wrong_with_their_cells(models: dict[str, Any]) -> None:
    model = models["weights"][0]
    table = with_holes(rows(400, 1)).infer_objects()
    table["y"] = rows(400, 1)["y"]
    columns = scoring(model)["columns"]
    listed = rows_of(model, table, "y", columns)
    loss = -model.predict_log_proba(table)[
        np.arange(400), np.searchsorted(model.classes_, table["y"].to_numpy())
    ]
    expected = np.argsort(-loss, kind="stable")[:200]
    assert listed["total"] == 400
    assert [row["number"] - 1 for row in listed["rows"]] == expected.tolist()
    for row in listed["rows"][:50]:
        shown = table.iloc[row["number"] - 1]
        assert row["truth"] == shown["y"]
        for column, cell in zip(columns, row["cells"], strict=True):
            own = shown[column["name"]]
            assert cell is None if pd.isna(own) else cell == own
    json.dumps(listed, allow_nan=False)


def test_texts_are_given_by_their_words() -> None:
    table = messages(100, 1)
    model = NaiveBayes({"text": "multinomial"}).fit(table, "y")
    listed = rows_of(model, table, "y", scoring(model)["columns"])
    places = [column["name"] for column in scoring(model)["columns"]]
    made = pd.DataFrame([dict(zip(places, row["cells"], strict=True)) for row in listed["rows"]])
    numbers = [row["number"] - 1 for row in listed["rows"]]
    expected = model.predict_proba(table.iloc[numbers].drop(columns="y"))
    np.testing.assert_allclose(model.predict_proba(made), expected, rtol=1e-12)


def test_a_regression_lists_its_largest_errors() -> None:
    table = rows(300, 1)[[*NUMBERS, "code", "other"]]
    model = LinearRegression().fit(table, "other")
    good = how_good(model, table, "other")["targets"][0]
    error = table["other"].to_numpy() - model.predict(table.drop(columns="other"))
    assert float(good["rmse"]) == pytest.approx(np.sqrt((error**2).mean()), rel=1e-3)
    assert float(good["baseline"]) == pytest.approx(table["other"].std(ddof=0), rel=1e-3)
    shown, left = good["pictures"]
    answer = model.predict(table.drop(columns="other"))
    assert good["drawn"] == len(shown["points"]) == 300
    across = np.array([float(x) for x, _ in shown["points"]])
    expected = 4 + 292 * (answer - answer.min()) / np.ptp(answer)
    np.testing.assert_allclose(across, expected, atol=0.051)
    up = np.array([float(v) for _, v in left["points"]])
    expected = 4 + 192 * (error.max() - error) / np.ptp(error)
    np.testing.assert_allclose(up, expected, atol=0.051)
    assert [float(v.replace("\N{MINUS SIGN}", "-")) for v in left["ends"]] == pytest.approx(
        [answer.min(), answer.max(), error.min(), error.max()], rel=1e-3
    )
    listed = rows_of(model, table, "other", scoring(model)["columns"])
    assert [row["number"] - 1 for row in listed["rows"]] == np.argsort(-np.abs(error))[
        :200
    ].tolist()
    assert listed["rows"][0]["truth"] == [table["other"].iloc[np.abs(error).argmax()]]


def test_rows_without_an_answer_are_not_listed(tmp_path: Path) -> None:
    table = rows(100, 1)[[*NUMBERS, "code", "y"]]
    model = LogisticRegression().fit(table, "y")
    table = table.astype({"code": float})
    table.loc[[0, 3], "code"] = np.nan
    with pytest.warns(UserWarning, match="2 rows left out"):
        suffice.report(model, tmp_path / "model.html", table)
    listed = rows_of(model, table, "y", scoring(model)["columns"])
    assert listed["total"] == 98
    assert {row["number"] for row in listed["rows"]} == {*range(1, 101)} - {1, 4}


def test_the_command_takes_a_test_file(tmp_path: Path) -> None:
    table = rows(200, 1)[["hits", "code", "y"]].replace({"y": {HOSTILE: "yes", "😀": "maybe"}})
    model = NaiveBayes().fit(table, "y")
    model.save(tmp_path / "model.suffice")
    table.to_csv(tmp_path / "test.csv", index=False)
    run = CliRunner().invoke(
        app, ["report", str(tmp_path / "model.suffice"), str(tmp_path / "test.csv")]
    )
    assert run.exit_code == 0, run.output
    page = (tmp_path / "model.html").read_text("utf8")
    assert f"<strong>{100 * model.evaluate(table, 'y').error:.1f} %</strong>" in page
