"""What a notebook shows: tables with the numbers of the results, in which names are text."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import AutoClassifier, NaiveBayes
from suffice.bayes import column_information, next_question
from suffice.model_selection import evaluate_folds
from suffice.numerics.in_html import html_table

HOSTILE = "<script>alert('1')</script>"
ALLOWED = {"table", "caption", "tr", "th", "td", "svg", "rect"}
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
    decibans = {
        name: float(cell) for name, cell in zip(page.cells[4::3], page.cells[5::3], strict=False)
    }
    assert decibans["prior"] == pytest.approx(10 / np.log(10) * float(prior), abs=0.005)
    assert decibans[HOSTILE] == pytest.approx(10 / np.log(10) * columns[0, 0], abs=0.005)
    assert any(name.startswith("nnn") and name.endswith("…") for name in decibans)
    assert len(page.widths) == 3
    assert max(page.widths) == pytest.approx(60 if columns.min() < 0 or prior < 0 else 120)


def test_evaluation(model: NaiveBayes, table: pa.Table) -> None:
    found = model.evaluate(table, "kind")
    page = shown(found)
    assert page.cells[0] == repr(found).splitlines()[0]
    counts = [float(cell) for cell in page.cells if cell.isdigit()]
    assert counts == found.confusion.value.ravel().tolist()
    assert page.widths == pytest.approx(120 * found.recall / found.recall.max(), abs=0.06)


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


def test_bars_of_both_signs_meet_in_the_middle() -> None:
    text = html_table(
        "t", ["a", "b"], [["x", "1"], ["y", "-2"], ["z", "?"]], [1.0, -2.0, float("nan")]
    )
    page = Page(text)
    assert page.widths == [30.0, 60.0]
    assert 'x="60.0"' in text
    assert 'x="0.0"' in text
    assert 'title="' not in text


def test_nothing_to_show(model: NaiveBayes, table: pa.Table) -> None:
    assert model.explain(table.slice(0, 0))._repr_html_() == ""
