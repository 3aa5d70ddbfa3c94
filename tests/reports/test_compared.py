"""Two models on one page: figures against scikit-learn and SciPy, and what cannot be compared."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import log_loss
from typer.testing import CliRunner

import suffice
from suffice import LinearRegression, LogisticRegression, NaiveBayes, Ridge
from suffice.bayes import column_information
from suffice.cli.app import app
from suffice.errors import ParameterError
from suffice.reports.compared import columns_of_both, judged_both
from suffice.reports.page_text import page
from suffice.reports.rows import rows_for_both
from suffice.reports.scoring import scoring

from .conftest import HOSTILE, NUMBERS, rows, with_holes

pytest.importorskip("jinja2", reason="Jinja2 is not installed")

TEST = rows(300, 1)


@pytest.fixture(scope="module")
def two() -> tuple[Any, Any]:
    """Two models, each with a column that the other does not read."""
    table = rows(400, 4)
    one = NaiveBayes().fit(table.drop(columns="flag"), "y")
    other = NaiveBayes.textbook().fit(table[[*NUMBERS, "flag", "y"]], "y")
    return one, other


def read_by(model: Any, table: Any) -> Any:
    """The columns that a model reads."""
    return table[list(model.layout_.names)]


def columns(models: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    one, other = (scoring(model)["columns"] for model in models)
    return one, other


def test_measures_are_those_of_the_rows_that_both_answer(two: tuple[Any, Any]) -> None:
    found = judged_both(two, rows_for_both(two, TEST, "y"), columns(two))
    truth = TEST["y"].to_numpy()
    p = [model.predict_proba(read_by(model, TEST)) for model in two]
    wrong = [two[m].classes_[p[m].argmax(axis=1)] != truth for m in range(2)]
    errors, loss, brier = found["measures"]
    assert found["rows"] == "300"
    assert [errors["one"], errors["other"]] == [f"{100 * one.mean():.1f} %" for one in wrong]
    expected = [log_loss(truth, each, labels=list(two[0].classes_)) for each in p]
    assert [float(loss[side]) for side in ("one", "other")] == pytest.approx(expected, rel=1e-3)
    hot = truth[:, None] == two[0].classes_
    expected = [((each - hot) ** 2).sum(axis=1).mean() for each in p]
    assert [float(brier[side]) for side in ("one", "other")] == pytest.approx(expected, rel=1e-3)
    place = np.searchsorted(two[0].classes_, truth)
    d = np.log(p[1][np.arange(300), place]) - np.log(p[0][np.arange(300), place])
    half = norm.ppf(0.975) * d.std(ddof=1) / np.sqrt(300)
    written = loss["difference"].replace("\N{MINUS SIGN}", "-")
    shown = [float(number) for number in re.findall(r"[+-][\d.e-]+", written)]
    assert shown == pytest.approx([d.mean(), d.mean() - half, d.mean() + half], rel=5e-3)


def test_the_verdict_is_mcnemars(two: tuple[Any, Any]) -> None:
    found = judged_both(two, rows_for_both(two, TEST, "y"), columns(two))
    truth = TEST["y"].to_numpy()
    wrong = [model.predict(read_by(model, TEST)) != truth for model in two]
    a, b = int((wrong[0] & ~wrong[1]).sum()), int((wrong[1] & ~wrong[0]).sum())
    p = binomtest(a, a + b).pvalue
    assert f"Only A is wrong in {a} of them, only B in {b}. " in found["verdict"]
    assert f"p = {p:.3g})" in found["verdict"]
    assert ("errs less often" in found["verdict"]) == (p < 0.05)


def test_rows_that_divide_them_come_with_the_cells_of_both(two: tuple[Any, Any]) -> None:
    test = with_holes(TEST).infer_objects().assign(y=TEST["y"])
    of = columns(two)
    found = judged_both(two, rows_for_both(two, test, "y"), of)
    answers = [model.predict(read_by(model, test)) for model in two]
    unlike = np.flatnonzero(answers[0] != answers[1])
    assert found["unlike"] == str(len(unlike))
    assert sorted(row["number"] - 1 for row in found["differ"]) == unlike.tolist()
    for row in found["differ"]:
        for key, side in (("cells", of[0]), ("others", of[1])):
            for column, cell in zip(side, row[key], strict=True):
                own = test.iloc[row["number"] - 1][column["name"]]
                assert cell == own or (cell is None and own != own) or (cell is own is None)
    gap = np.array(
        [
            abs(np.subtract(*[m.predict_proba(read_by(m, test.iloc[[i]]))[0, c] for m in two]))
            for i, c in (
                (row["number"] - 1, list(two[0].classes_).index(row["truth"]))
                for row in found["differ"]
            )
        ]
    )
    assert (np.diff(gap) <= 1e-12).all()


def test_columns_are_ordered_by_what_they_tell_either(two: tuple[Any, Any]) -> None:
    one = NaiveBayes.textbook().fit(TEST[[*NUMBERS, "y"]], "y")
    other = NaiveBayes.textbook().fit(rows(200, 7)[[*NUMBERS, "y"]], "y")
    written = [page_data(model) for model in (one, other)]
    found = columns_of_both((one, other), *written)
    bits = [
        dict(zip(i.columns, i.bits, strict=True)) for i in map(column_information, (one, other))
    ]
    for line in found["columns"]:
        expected = [side[line["name"]] for side in bits]
        assert [float(text) for text in line["tells"]] == pytest.approx(expected, abs=0.006)
    gaps = [abs(line["shares"][0] - line["shares"][1]) for line in found["columns"]]
    assert gaps == sorted(gaps, reverse=True)
    apart = {c.column: c.overall.hellinger for c in one.compare(other).columns if c.overall}
    for line in found["columns"]:
        assert float(line["apart"]) == pytest.approx(apart[line["name"]], abs=6e-4)
    mixed = columns_of_both(two, *(page_data(model) for model in two))
    tells = {line["name"]: line["tells"] for line in mixed["columns"]}
    assert tells["flag"][0] == tells["code"][1] == "not read"
    assert not mixed["apart"]  # their columns differ


def page_data(model: Any) -> dict[str, Any]:
    from suffice.reports.columns import column_facts

    scored = scoring(model)
    facts = column_facts(model, scored["columns"])
    return {"columns": [a | b for a, b in zip(scored["columns"], facts, strict=True)]}


def test_two_regressions_are_compared_by_their_squared_errors() -> None:
    table = rows(300, 1)[[*NUMBERS, "other"]]
    models = LinearRegression().fit(table, "other"), Ridge(alpha=1e5).fit(table, "other")
    found = judged_both(models, rows_for_both(models, table, "other"), columns(models))
    truth, x = table["other"].to_numpy(), table[NUMBERS]
    errors = [(truth - model.predict(x)) ** 2 for model in models]
    (measure,) = found["measures"]
    expected = [one.mean() for one in errors]
    assert [float(measure[side]) for side in ("one", "other")] == pytest.approx(expected, rel=1e-3)
    apart = np.abs(models[0].predict(x) - models[1].predict(x))
    assert found["differ"][0]["number"] == apart.argmax() + 1
    d = errors[0] - errors[1]
    chance = abs(d.mean()) < norm.ppf(0.975) * d.std(ddof=1) / np.sqrt(300)
    assert ("Chance alone" in found["verdict"]) == chance


def test_the_page_has_a_sixth_place_and_names_are_text(two: tuple[Any, Any]) -> None:
    text = page(two[0], TEST, two[1])
    places = re.findall(r'<section id="(\w+)"', text)
    assert places == ["ask", "columns", "good", "rows", "compare", "about"]
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;img src=x" in text
    assert 'href="#compare"' in text
    alone = page(two[0], None, two[1])
    assert "which of the two errs less is not known here" in alone
    assert 'id="compare"' not in page(two[0])


def test_models_of_different_questions_are_refused(two: tuple[Any, Any]) -> None:
    numbers = LinearRegression().fit(rows(50, 1)[[*NUMBERS, "other"]], "other")
    with pytest.raises(ParameterError, match=r"classes .*, the one to compare with other"):
        page(two[0], None, numbers)
    with pytest.raises(ParameterError, match="predicts other, the one to compare with word"):
        page(numbers, None, LinearRegression().fit(rows(50, 1)[[*NUMBERS, "word"]], "word"))
    classes = NaiveBayes().fit(rows(50, 1)[[*NUMBERS, "flag"]], "flag")
    with pytest.raises(ParameterError, match=r"the classes .* compare with the classes "):
        page(two[0], TEST, classes)
    with pytest.raises(ValueError, match="not fitted"):
        suffice.report(two[0], "model.html", compare=NaiveBayes())


def test_a_logistic_model_is_compared_on_rows_that_it_answers(two: tuple[Any, Any]) -> None:
    logistic = LogisticRegression().fit(TEST[[*NUMBERS, "y"]], "y")
    test = TEST.drop(columns="flag")
    test.loc[:9, "far"] = np.nan
    models = two[0], logistic
    assert judged_both(models, rows_for_both(models, test, "y"), columns(models))["rows"] == "290"
    with pytest.raises(ParameterError, match="no row of the test is answered by both"):
        judged_both(models, rows_for_both(models, test[:10], "y"), columns(models))


def test_the_command_takes_another_model_before_the_rows(tmp_path: Path) -> None:
    table = rows(200, 1)[["hits", "code", "flag", "y"]].replace({"y": {HOSTILE: "no", "😀": "no"}})
    table["y"] = table["y"].where(table["flag"], "yes")
    NaiveBayes().fit(table, "y").save(tmp_path / "a.suffice")
    NaiveBayes().fit(table[["hits", "y"]], "y").save(tmp_path / "b.suffice")
    table.to_csv(tmp_path / "test.csv", index=False)
    files = [str(tmp_path / name) for name in ("a.suffice", "b.suffice", "test.csv")]
    run = CliRunner().invoke(app, ["report", *files])
    assert run.exit_code == 0, run.output
    text = (tmp_path / "a.html").read_text("utf8")
    assert "On test rows" in text
    assert "rows that were given as a test, they answer" in text
    assert CliRunner().invoke(app, ["report", *files[:2]]).exit_code == 0
    assert "which of the two errs less is not known" in (tmp_path / "a.html").read_text("utf8")
