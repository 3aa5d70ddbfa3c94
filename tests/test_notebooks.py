"""What a notebook shows: tables with the numbers of the results, in which names are text."""

from html import escape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.pipeline import make_pipeline

from suffice import (
    AutoClassifier,
    BayesClassifier,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Ridge,
)
from suffice.bayes import column_information, column_weights, next_question
from suffice.model_selection import evaluate_folds, evaluate_models

HOSTILE = "<script>alert('1')</script>"
ALLOWED = {"table", "caption", "tr", "th", "td", "svg", "rect", "polyline", "div"}
LONG = "n" * 10_000


class Page(HTMLParser):
    """The tags, the cells and the bars of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.widths: list[float] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag in ("td", "th", "caption")
        if self._inside:
            self.cells.append("")
        if tag == "rect":
            self.widths.append(float(dict(attrs)["width"] or "nan"))

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.cells[-1] += data


def shown(result: Any) -> Page:
    page = Page(result._repr_html_())
    assert set(page.tags) <= ALLOWED
    return page


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    return pa.table(
        {
            HOSTILE: rng.normal(size=60) + y,
            LONG: np.array(["<b>", "&amp;"])[np.where(rng.random(60) < 0.7, y, 1 - y)],
            "kind": np.array(["<i>one", "two\u202e"])[y],
        }
    )


@pytest.fixture(scope="module")
def model(table: pa.Table) -> NaiveBayes:
    return NaiveBayes.textbook().fit(table, "kind")


def test_evidence(model: NaiveBayes, table: pa.Table) -> None:
    evidence = model.explain(table)
    page = shown(evidence)
    best = evidence.log_joint[0].argmax()
    prior, columns = evidence.log_odds(best, 1 - best)
    rows = zip(page.cells[6::5], page.cells[7::5], page.cells[8::5], strict=False)
    shown_of = {name: (cell, float(nats)) for name, cell, nats in list(rows)[:4]}
    assert shown_of["prior"] == ("", pytest.approx(float(prior), abs=0.005))
    value = f"{table[HOSTILE][0].as_py():.4g}"
    assert shown_of[HOSTILE] == (value, pytest.approx(columns[0, 0], abs=0.005))
    assert any(name.startswith("nnn") and name.endswith("…") for name in shown_of)
    assert len(page.widths) == 3 * 3  # rows
    assert max(page.widths) in (60, 120)


def test_evaluation(model: NaiveBayes, table: pa.Table) -> None:
    found = model.evaluate(table, "kind")
    page = shown(found)
    lines = repr(found).splitlines()
    assert all(cell in repr(found) for cell in page.cells)
    assert lines[0].split("  ")[0] == page.cells[0]
    counts = [float(cell) for cell in page.cells if cell.isdigit()]
    assert counts[:4] == found.confusion.value.ravel().tolist()
    assert page.widths == pytest.approx(120 * found.recall / found.recall.max(), abs=0.06)


def test_summaries_hold_what_they_print(table: pa.Table) -> None:
    rng = np.random.default_rng(1)
    rows = {HOSTILE: table[HOSTILE].to_pylist(), "b": rng.normal(size=60).tolist()}
    number, three = rng.normal(size=60), np.arange(60) % 3
    results = [
        LinearRegression().fit(rows, number).summary(),
        Ridge(alpha=2.0).fit(rows, number).summary(),
        Lasso(alpha=0.01).fit(rows, number).summary(),
        LogisticRegression(penalty=None).fit(rows, three).summary(),
    ]
    for summary in results:
        page, text = shown(summary), repr(summary)
        assert HOSTILE in [cell.strip() for cell in page.cells]
        cells = [cell for cell in page.cells if cell.strip()]
        assert all(cell in text for cell in cells)
        notes = [line for line in text.split("\n\n")[1].splitlines() if line]
        assert "".join(f"<div>{escape(line)}</div>" for line in notes) in summary._repr_html_()
        largest = np.abs(getattr(summary, "t", getattr(summary, "z", summary.estimate))).max()
        assert largest > 0
        assert len(page.widths) >= len(summary.terms)


def test_results_of_regressions_and_of_groups(table: pa.Table, model: NaiveBayes) -> None:
    rng = np.random.default_rng(1)
    rows, number = (
        pa.table({HOSTILE: table[HOSTILE], "b": rng.normal(size=60)}),
        rng.normal(size=60),
    )
    regression = LinearRegression().fit(rows, number)
    judged, added = regression.evaluate(rows, number), regression.explain(rows)
    assert "R²" in shown(judged).cells
    page = shown(added)
    adds = dict(zip(page.cells[5:20:4], page.cells[7:22:4], strict=False))
    assert float(adds[HOSTILE]) == pytest.approx(added.contributions[0, 0, 0], rel=1e-4)
    assert len(page.widths) == 3 * 2  # rows; neither the start nor the sum has a bar
    groups = model.evaluate_by(table, "kind", LONG)
    assert {"<b>", "&amp;"} <= set(shown(groups).cells)
    assert all(cell in repr(groups) for cell in shown(groups).cells[1:] if len(cell) < 20)


def test_a_bayes_error() -> None:
    error = BayesClassifier({"a": norm(0, 1), "b": norm(2, 1)}).bayes_error()
    assert "0.1586552539" in shown(error).cells


def test_columns_and_questions(model: NaiveBayes) -> None:
    told = column_information(model)
    page = shown(told)
    assert [
        float(cell) for cell in page.cells if cell[:2] == "0." and len(cell) == 6
    ] == pytest.approx(sorted(told.bits, reverse=True), abs=5e-5)
    asked = shown(next_question(model, {}))
    assert HOSTILE in asked.cells


def test_folds_candidates_and_comparisons(table: pa.Table, model: NaiveBayes) -> None:
    folds = evaluate_folds(NaiveBayes.textbook(), table, "kind", cv=3)
    assert "log loss" in shown(folds).cells
    average = AutoClassifier(["naive-bayes", "logistic"]).fit(table, "kind")
    page = shown(average.candidates_)
    assert {"naive-bayes", "logistic"} <= set(page.cells)
    other = NaiveBayes.textbook().fit(table.slice(10), "kind")
    compared = shown(model.compare(other))
    assert HOSTILE in compared.cells
    assert "(labels)" in compared.cells


def test_a_fitted_model(model: NaiveBayes) -> None:
    assert shown(model).cells == shown(model.schema_).cells
    assert {HOSTILE, "gaussian", "categorical"} <= set(shown(model).cells)
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()


def test_fitted_coefficients(table: pa.Table) -> None:
    x, y = table.column(0).to_numpy()[:, None], table.column("kind").to_pylist()
    rows = np.hstack([x, np.roll(x, 1, axis=0)])
    linear = LinearRegression().fit(rows, x[:, 0] - 3 * rows[:, 1])
    page = shown(linear)
    assert page.cells[0] == "LinearRegression of y"
    assert [cell for cell in page.cells if cell in ("x0", "x1")] == ["x1", "x0"]
    assert max(page.widths) == 60.0
    assert page.widths[1] == pytest.approx(20.0, abs=0.1)  # a third of the largest
    logistic = LogisticRegression().fit(rows, y)
    assert shown(logistic).cells[0] == "LogisticRegression of two\u202e against <i>one"
    assert f"{logistic.coef_[0, 0]:.4g}" in shown(logistic).cells


def test_what_is_not_fitted_or_in_a_pipeline_stays_a_diagram(table: pa.Table) -> None:
    assert "sk-" in NaiveBayes()._repr_html_()
    rows, labels = table.column(0).to_numpy()[:, None], table.column("kind").to_pylist()
    piped = make_pipeline(LinearDiscriminantAnalysis()).fit(rows, labels)
    assert "sk-" in piped._repr_html_()
    assert "<table><caption>" not in piped._repr_html_()


def test_columns_weights_and_ranked_models_are_tables(table: pa.Table, model: NaiveBayes) -> None:
    kinds = shown(model.schema_)
    assert kinds.cells[:4] == ["column", "kind", "family", "why"]
    assert {HOSTILE, "real", "gaussian", "categorical"} <= set(kinds.cells)
    weights = column_weights(NaiveBayes().fit(table, "kind"))
    ranked = sorted(weights.values(), reverse=True)
    assert [float(cell) for cell in shown(weights).cells[4::3]] == pytest.approx(ranked, abs=5e-4)
    models = {"textbook": NaiveBayes.textbook(), "lda": LinearDiscriminantAnalysis()}
    rows = table.drop_columns(LONG)
    found = evaluate_models(models, rows, "kind", cv=3)
    assert set(found) == set(models)
    assert found.order[0] == found.best == shown(found).cells[found.table().header.index("") + 1]
    assert found.ranked_by("error rate").score == "error rate"


def test_tab_shows_what_users_type(model: NaiveBayes) -> None:
    names = [name for name in dir(model) if not name.startswith("__")]
    assert {"explain", "schema_", "classes_", "alpha", "get_params"} <= set(names)
    assert not {"kind", "method", "reader_", "model_", "_kept", "calibrated_"} & set(names)
    assert all(not name.startswith("_") or name.startswith("_repr_") for name in names)


def test_nothing_to_show(model: NaiveBayes, table: pa.Table) -> None:
    assert shown(model.explain(table.slice(0, 0))).cells == ["Evidence(0 rows)"]
