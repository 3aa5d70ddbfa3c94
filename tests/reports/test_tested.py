"""What a page says of test rows: figures of the evaluation, and the rows that are most wrong."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import suffice
from suffice import LinearRegression, LogisticRegression, NaiveBayes
from suffice.cli.app import app
from suffice.errors import ParameterError
from suffice.reports.rows import rows_of
from suffice.reports.scoring import scoring
from suffice.reports.tested import how_good

from .conftest import HOSTILE, NUMBERS, messages, rows, with_holes

pytest.importorskip("jinja2", reason="Jinja2 is not installed")


def test_figures_are_those_of_the_evaluation(models: dict[str, Any]) -> None:
    model, table = models["weights"][0], rows(300, 1)
    good, found = how_good(model, table, "y"), model.evaluate(table, "y")
    assert good["rows"] == 300
    assert good["error"] == found.error
    assert good["interval"] == found.error_interval()
    assert good["confusion"] == found.confusion.value.tolist()
    assert good["labels"] == list(map(str, found.classes))
    assert [one["recall"] for one in good["classes"]] == found.recall.tolist()
    assert sum(rows for _, rows, *_ in good["tenths"]) == 300
    assert all(low <= right <= high for *_, right, low, high in good["tenths"])
    assert not good["training"]
    assert good["curve"] is None  # of three classes


@pytest.mark.parametrize("n", [150, 5000])
def test_cuts_divide_the_rows_as_thresholds_do(n: int) -> None:
    rng = np.random.default_rng(n)
    y = np.where(rng.random(n) < 0.1, "yes", "no")
    x = rng.normal((y == "yes") * 1.5, 1.0).round(2)
    table = pd.DataFrame({"x": x, "y": y})
    model = NaiveBayes().fit(table.iloc[: n // 2], "y")
    test = table.iloc[n // 2 :].reset_index(drop=True)
    found, curve = model.evaluate(test, "y"), how_good(model, test, "y")["curve"]
    assert len(curve["sides"]) <= 201
    assert len(curve["cuts"]) == len(curve["sides"]) + 1
    assert curve["area"] == found.roc_area.value
    assert curve["precision"][1] == found.average_precision.value
    assert curve["cuts"][curve["half"]] == 0.5
    sides = np.array(curve["sides"])
    predicted = np.array([sides[: curve["half"]].sum(axis=0), sides[curve["half"] :].sum(axis=0)])
    assert predicted.T.tolist() == found.confusion.value.tolist()
    chance, truth = model.predict_proba(test[["x"]])[:, 1], test["y"] == "yes"
    for i in range(1, len(sides)):
        if abs(np.delete(chance, 0) - curve["cuts"][i]).min() > 1e-5:  # cuts have six digits
            above = chance > curve["cuts"][i]
            counted = [int((above & ~truth).sum()), int((above & truth).sum())]
            assert sides[i:].sum(axis=0).tolist() == counted


@pytest.mark.parametrize("name", ["weights", "lda", "logistic", "linear"])
def test_the_rows_of_the_fit_are_noticed(name: str, models: dict[str, Any], tmp_path: Path) -> None:
    model, table = models[name][0], rows(400, 1)
    truth = table["other" if name == "linear" else "y"]
    asked, mixed = table[list(model.feature_names_in_)], np.random.default_rng(0).permutation(400)
    with pytest.warns(UserWarning, match="the test data are the rows of the fit"):
        suffice.report(model, tmp_path / "page.html", (asked.iloc[mixed], truth.iloc[mixed]))
    assert 'class="warning"' in (tmp_path / "page.html").read_text("utf8")
    other = asked.assign(far=asked["far"] + (np.arange(400) == 7))
    suffice.report(model, tmp_path / "page.html", (other, truth))
    assert 'class="warning"' not in (tmp_path / "page.html").read_text("utf8")


def test_the_rows_are_those_that_are_most_wrong_with_their_cells(models: dict[str, Any]) -> None:
    model = models["weights"][0]
    table = with_holes(rows(400, 1)).infer_objects()
    table["y"] = rows(400, 1)["y"]
    columns = scoring(model)["columns"]
    listed, ends = rows_of(model, table, "y", columns)
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
    assert ends["far"] == (table["far"].min(), table["far"].max())


def test_texts_are_given_as_they_are_written() -> None:
    table = messages(100, 1)
    model = NaiveBayes({"text": "multinomial"}).fit(table.iloc[:60], "y")
    listed, _ = rows_of(model, table, "y", scoring(model)["columns"])
    places = [column["name"] for column in scoring(model)["columns"]]
    assert len(listed["rows"]) == 100
    for row in listed["rows"]:
        shown = table.iloc[row["number"] - 1]
        assert dict(zip(places, row["cells"], strict=True)) == {
            "text": shown["text"],
            "length": shown["length"],
        }


def test_a_regression_lists_its_largest_errors() -> None:
    table = rows(300, 1)[[*NUMBERS, "code", "other"]]
    model = LinearRegression().fit(table.iloc[:200], "other")
    good = how_good(model, table, "other")["targets"][0]
    error = table["other"].to_numpy() - model.predict(table.drop(columns="other"))
    assert good["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
    assert good["baseline"] == pytest.approx(table["other"].std(ddof=0))
    answer = model.predict(table.drop(columns="other"))
    expected = np.stack([answer, table["other"]], axis=1)
    np.testing.assert_allclose(good["points"], expected, rtol=1e-5)
    listed, _ = rows_of(model, table, "other", scoring(model)["columns"])
    largest = np.argsort(-np.abs(error))[:200]
    assert [row["number"] - 1 for row in listed["rows"]] == largest.tolist()
    assert listed["rows"][0]["truth"] == [table["other"].iloc[np.abs(error).argmax()]]


def test_rows_without_an_answer_are_not_listed(tmp_path: Path) -> None:
    table = rows(100, 1)[[*NUMBERS, "code", "y"]]
    model = LogisticRegression().fit(table, "y")
    table = table.astype({"code": float})
    table.loc[[0, 3], "code"] = np.nan
    with pytest.warns(UserWarning, match="2 rows left out"):
        suffice.report(model, tmp_path / "model.html", table)
    listed, _ = rows_of(model, table, "y", scoring(model)["columns"])
    assert listed["total"] == 98
    assert {row["number"] for row in listed["rows"]} == {*range(1, 101)} - {1, 4}


def test_a_page_has_five_places_and_names_are_text(models: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "model.html"
    suffice.report(models["weights"][0], path, rows(300, 1))
    page = path.read_text("utf8")
    assert re.findall(r'<section id="(\w+)"', page) == [
        *("verdict", "ask", "columns", "good", "rows", "about")
    ]
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    data = re.search(r'id="model">(.*?)</script>', page, re.S)
    assert data is not None
    assert HOSTILE in {row["truth"] for row in json.loads(data[1])["rows"]}
    suffice.report(models["weights"][0], path)
    alone = path.read_text("utf8")
    assert 'id="rows"' not in alone
    assert "How often it errs on new rows is not known here" in alone


def test_rows_without_their_labels_are_refused(tmp_path: Path) -> None:
    x, y = rows(60, 1)[NUMBERS].to_numpy(), np.arange(60) % 2
    model = NaiveBayes().fit(x, y)
    with pytest.raises(ParameterError, match=r"give test=\(X, y\)"):
        suffice.report(model, tmp_path / "model.html", x)


def test_the_command_takes_a_test_file(tmp_path: Path) -> None:
    table = rows(200, 1)[["hits", "code", "y"]].replace({"y": {HOSTILE: "yes", "😀": "maybe"}})
    model = NaiveBayes().fit(table.iloc[:150], "y")
    model.save(tmp_path / "model.suffice")
    table.to_csv(tmp_path / "test.csv", index=False)
    words = ["report", str(tmp_path / "model.suffice"), str(tmp_path / "test.csv")]
    run = CliRunner().invoke(app, words)
    assert run.exit_code == 0, run.output
    page = (tmp_path / "model.html").read_text("utf8")
    error = f"{100 * model.evaluate(table, 'y').error:.1f}\N{NO-BREAK SPACE}%"
    assert f"<strong>{error}</strong>" in page
