"""Exports, the page and pictures: the numbers in them are those of the model."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.smoke.cases import answers, table, whole

EXPORTED = (
    "NaiveBayes.textbook",
    "GaussianNB",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "LogisticRegression",
    "LinearRegression",
    "Ridge",
)


def rows_of_numbers() -> Any:
    return table("numbers")[0][:7]


def mixed(fruit: Any) -> Any:
    from suffice import NaiveBayes
    from suffice.families import Gaussian

    return NaiveBayes.textbook({"size": Gaussian("mle")}).fit(fruit, "kind")


# -- exports


@pytest.mark.parametrize("name", EXPORTED)
def test_sql_answers_as_python_does(name: str) -> None:
    pytest.importorskip("sqlglot")
    from suffice.export import to_sql

    model, X = whole(name), rows_of_numbers()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE new (id INTEGER, x0 REAL, x1 REAL, x2 REAL, x3 REAL)")
    rows = [(i, *row) for i, row in enumerate(X.tolist())]
    database.executemany("INSERT INTO new VALUES (?, ?, ?, ?, ?)", rows)
    found = sorted(database.execute(to_sql(model, "sqlite", "new", keep=["id"])).fetchall())
    if hasattr(model, "classes_"):
        assert [row[1] for row in found] == model.predict(X).tolist()
        assert_allclose([row[2:] for row in found], model.predict_proba(X), rtol=1e-9, atol=1e-15)
    else:
        assert_allclose([row[1] for row in found], model.predict(X), rtol=1e-12)


def test_sql_of_missing_and_unseen_cells(fruit: Any) -> None:
    pytest.importorskip("sqlglot")
    from suffice.export import to_sql

    model = mixed(fruit)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE new (size REAL, color TEXT)")
    new = {"size": [None, 3.0, 5.0], "color": ["red", "green", None]}
    database.executemany("INSERT INTO new VALUES (?, ?)", zip(*new.values(), strict=True))
    found = sorted(row[1] for row in database.execute(to_sql(model, "sqlite", "new")))
    assert_allclose(found, np.sort(model.predict_proba(new)[:, 0]), rtol=1e-12)


def adds(term: Any, row: dict[str, Any]) -> Any:
    """What a term adds to every output, by the table of `docs/export.md`."""
    cell = row[term["columns"][0]]
    if "starts" in term:
        return term["table"][sum(start <= cell for start in term["starts"])]
    if "values" in term:
        return dict(zip(term["values"], term["table"], strict=True)).get(cell, term["others"])
    return [value_of(tree, row) for tree in term["by_output"]]


def value_of(expression: Any, row: dict[str, Any]) -> float:
    """Evaluate an expression of the export for one row."""
    if isinstance(expression, int | float):
        return float(expression)
    ((kind, parts),) = expression.items()
    if kind == "cell":
        return float(row[parts])
    if kind == "sum":
        return sum(value_of(part, row) for part in parts)
    if kind == "product":
        return math.prod(value_of(part, row) for part in parts)
    assert kind == "square"
    return value_of(parts, row) ** 2


def test_json_holds_the_whole_answer(fruit: Any) -> None:
    from suffice.export import to_json

    model = mixed(fruit)
    exported = json.loads(to_json(model))
    row = {"size": 3.0, "color": "red"}
    starts = [output["start"] for output in exported["outputs"]]
    added = [term["weight"] * np.array(adds(term, row)) for term in exported["terms"]]
    scores = np.sum([starts, *added], axis=0)
    assert [output["label"] for output in exported["outputs"]] == ["apple", "plum"]
    joint = model.predict_joint_log_proba({name: [cell] for name, cell in row.items()})
    assert_allclose(scores, joint[0], rtol=1e-12)


def test_onnx_answers_as_python_does() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    from suffice.export import to_onnx

    model, X = whole("LinearDiscriminantAnalysis"), rows_of_numbers()
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    cells = {f"x{j}": X[:, [j]] for j in range(4)}
    found = session.run(None, cells)
    assert found[0].ravel().tolist() == model.predict(X).tolist()


# -- the page


@pytest.mark.parametrize("name", ["GaussianNB", "QuadraticDiscriminantAnalysis", "Ridge"])
def test_the_page_is_one_file_without_a_network(name: str, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    import suffice

    suffice.report(whole(name), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf8")
    assert page.count("<html") == 1
    assert 'src="http' not in page
    assert all(f"x{j}" in page for j in range(4))


def test_the_page_shows_names_as_text(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    import suffice

    bad = "</script><script>alert(1)</script>"
    rows = {"x": [1.0, 2.0, 5.0, 6.0], bad: ["a", "a", "b", "b"], "y": [bad, bad, "no", "no"]}
    suffice.report(suffice.NaiveBayes().fit(rows, "y"), tmp_path / "page.html")
    assert bad not in (tmp_path / "page.html").read_text("utf8")


# -- pictures


@pytest.fixture
def plotting() -> Any:
    """Return `suffice.plotting`, drawing without a screen."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    import suffice.plotting

    yield suffice.plotting
    plt.close("all")


@pytest.mark.parametrize("name", ["GaussianNB", "LinearDiscriminantAnalysis"])
def test_the_decision_boundary(plotting: Any, name: str) -> None:
    model = whole(name)
    display = plotting.DecisionBoundaryDisplay.from_estimator(model, ("x2", "x3"), points=5)
    row = np.array([[np.nan, np.nan, display.x.ravel()[0], display.y.ravel()[0]]])
    assert_allclose(display.log_proba[0, 0], model.predict_log_proba(row)[0], rtol=1e-9)


def test_class_densities(plotting: Any) -> None:
    from scipy.stats import norm

    model = whole("GaussianNB")
    display = plotting.ClassDensityDisplay.from_estimator(model, "x2")
    values = np.asarray(display.cells.values, float)
    expected = norm.pdf(values[:, None], model.theta_[:, 2], np.sqrt(model.var_[:, 2]))
    assert_allclose(display.density, expected, rtol=1e-9)


def test_the_evidence_of_one_answer(plotting: Any) -> None:
    model, X = whole("GaussianNB"), rows_of_numbers()
    display = plotting.LedgerDisplay.from_estimator(model, X[:1], label="a", against="b")
    log = model.predict_log_proba(X[:1])[0]
    assert display.total == pytest.approx(log[0] - log[1])


def test_importance(plotting: Any) -> None:
    from suffice.bayes import column_information

    model = whole("GaussianNB")
    display = plotting.ColumnImportanceDisplay.from_estimator(model)
    bits = column_information(model).bits
    assert_array_equal(display.values, bits)
    widths = sorted(patch.get_width() for patch in display.ax_.patches if patch.get_width())
    assert_allclose(widths[-1], bits.max(), rtol=1e-9)


@pytest.mark.parametrize("name", ["CalibrationDisplay", "RocCurveDisplay"])
def test_scikit_learn_draws_our_classifiers(plotting: Any, name: str) -> None:
    import sklearn.calibration
    import sklearn.metrics

    from suffice.naive_bayes import GaussianNB

    X, y = table("numbers")
    two = y != "a"
    model = GaussianNB().fit(X[two], y[two])
    display = getattr(sklearn.calibration, name, None) or getattr(sklearn.metrics, name)
    found = display.from_estimator(model, X[two], y[two], pos_label="c")
    if name == "RocCurveDisplay":
        area = sklearn.metrics.roc_auc_score(y[two], model.predict_proba(X[two])[:, 1])
        assert found.roc_auc == pytest.approx(area)
    else:
        assert_allclose(found.y_prob, model.predict_proba(X[two])[:, 1])


def test_scikit_learn_draws_residuals(plotting: Any) -> None:
    from sklearn.metrics import PredictionErrorDisplay

    X, y = table("target")
    model = whole("LinearRegression")
    found = PredictionErrorDisplay.from_estimator(model, X, y)
    assert_allclose(found.y_pred, answers(model, X))


# -- a result as text and as HTML


def test_results_print_as_text_and_as_html() -> None:
    model, (X, y) = whole("GaussianNB"), table("numbers")
    evaluation = model.evaluate(X, y)
    assert f"{100 * model.score(X, y):.2f} %" in repr(evaluation)
    for result in (evaluation, model.explain(X[:1]), model.compare(model)):
        assert "<table" in result._repr_html_()
    assert "x0" in repr(whole("LinearRegression").summary())


def test_an_audit_finds_values_of_few_rows(fruit: Any) -> None:
    from suffice.privacy import audit

    found = audit(mixed(fruit | {"color": ["green", *fruit["color"][1:]]}), min_count=2)
    assert "green" in repr(found)
