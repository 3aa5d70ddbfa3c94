"""The nomogram: points that a reader adds up give the answers of the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    AODE,
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError
from suffice.naive_bayes import MultinomialNB
from suffice.plotting import NomogramDisplay

HOSTILE = "<b>$x$"


def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    k = rng.integers(0, 3, n)
    return pd.DataFrame(
        {
            "size": rng.normal(10 + k, 2),
            "odd": np.where(rng.random(n) < 0.5, 1, -1) * rng.gamma(2, 1 + k),
            HOSTILE: np.array(["red", "green", "blue"])[(k + rng.integers(0, 2, n)) % 3],
            "wet": rng.random(n) < 0.2 + 0.2 * k,
            "price": 5 + 2.0 * k + rng.normal(size=n),
            "kind": np.array(["a", "b", "c"])[k],
        }
    )


ROWS = table()
NUMBERS = ["size", "odd"]


def answers(display: NomogramDisplay, rows: pd.DataFrame) -> np.ndarray:
    made = []
    for row in rows.to_dict("records"):
        known = {name: cell for name, cell in row.items() if cell is not None and cell == cell}
        made.append(display.answer(display.total(known)))
    return np.array(made)


def on_the_grid(display: NomogramDisplay, columns: list[str], n: int = 40) -> pd.DataFrame:
    """Rows whose values are drawn: between them a reader interpolates."""
    rng = np.random.default_rng(1)
    picked = {}
    for name in columns:
        values = display.values[name]
        picked[name] = [values[i] for i in rng.integers(0, len(values), n)]
    return pd.DataFrame(picked)


def test_points_of_the_default_naive_bayes_add_up_to_its_odds() -> None:
    rows = ROWS.drop(columns="price")
    model = NaiveBayes().fit(rows, "kind")
    display = NomogramDisplay.from_estimator(model, label="c", against="a")
    assert max(points.max() for points in display.points.values()) == pytest.approx(100)
    assert min(points.min() for points in display.points.values()) == 0
    asked = on_the_grid(display, list(display.points)).astype(object)
    asked.iloc[::3, 0] = None  # unknown
    asked.iloc[1::4, 1] = None
    p = model.predict_proba(asked.infer_objects())
    np.testing.assert_allclose(answers(display, asked), p[:, 2] / (p[:, 0] + p[:, 2]), rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LogisticRegression(),
        LogisticRegression(numbers="bins"),
        LinearRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_points_of_models_of_complete_rows(model: Any) -> None:
    columns = NUMBERS if isinstance(model, LinearDiscriminantAnalysis) else [*NUMBERS, HOSTILE]
    number = isinstance(model, LinearRegression)
    two = ROWS[ROWS["kind"] != "b"]
    model.fit(two[columns], two["price" if number else "kind"])
    display = NomogramDisplay.from_estimator(model)
    asked = on_the_grid(display, columns)
    of_class = (lambda rows: model.predict_proba(rows)[:, 1]) if not number else model.predict
    expected = of_class(asked)
    np.testing.assert_allclose(answers(display, asked), expected, rtol=1e-8)
    with pytest.raises(ParameterError, match="there is no cell of"):
        display.total({"size": 10.0})


def test_marks_are_drawn_at_the_points_of_their_values() -> None:
    model = NaiveBayes.textbook().fit(ROWS[[HOSTILE, "wet", "kind"]], "kind")
    display = NomogramDisplay.from_estimator(model, label="a", against="b")
    row = 1 + list(display.points).index(HOSTILE)
    drawn = {text.get_text(): text.xy[0] for text in display.ax_.texts if text.xy[1] == row}
    points = dict(zip(display.values[HOSTILE], display.points[HOSTILE], strict=True))
    assert {name: drawn[name] for name in points} == pytest.approx(points)
    unknown = display.total({"wet": True}) - display.points["wet"][1]
    assert drawn["unknown"] == pytest.approx(unknown)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == "points"
    assert r"<b>\$x\$" in labels
    assert labels[-1] == "P(a), of the two"


def test_a_column_of_zeros_and_ones_has_two_values() -> None:
    rows = ROWS.assign(wet=ROWS["wet"].astype(float))[["size", "wet"]]
    model = LinearRegression().fit(rows, ROWS["price"])
    display = NomogramDisplay.from_estimator(model)
    assert display.values["wet"].tolist() == [0.0, 1.0]


def test_many_columns_and_many_values_are_cut_short_and_counted() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    rows = pd.DataFrame({f"n{j}": rng.normal(size=300) + y for j in range(20)})
    rows["town"] = [f"town {i}" for i in rng.integers(0, 40, 300)]
    model = NaiveBayes.textbook().fit(rows, y)
    display = NomogramDisplay.from_estimator(model)
    assert len(display.points) == 14
    assert "7 more columns" in display.ax_.get_xlabel()
    width, height = display.figure_.get_size_inches()
    assert width <= 8.27 - 0.9
    assert height <= 11.69 - 1.2  # of A4, with margins
    display.figure_.canvas.draw()


def test_what_is_no_sum_over_columns_is_refused() -> None:
    x, y = ROWS[NUMBERS], ROWS["kind"]
    quadratic = QuadraticDiscriminantAnalysis().fit(x, y)
    with pytest.raises(ParameterError, match="depends on the others"):
        NomogramDisplay.from_estimator(quadratic, label="a", against="b")
    pairs = AODE().fit(ROWS[[HOSTILE, "wet"]], y)
    with pytest.raises(ParameterError, match="depends on the others"):
        NomogramDisplay.from_estimator(pairs, label="a", against="b")
    average = AutoClassifier(["naive-bayes", "logistic"]).fit(x, y)
    with pytest.raises(ParameterError, match="means of the answers of others"):
        NomogramDisplay.from_estimator(average)
    naive = NaiveBayes().fit(x, y)
    with pytest.raises(ParameterError, match=r"the model has 3 classes; .*label=\.\.\., against="):
        NomogramDisplay.from_estimator(naive)
    with pytest.raises(ParameterError, match="there is no class 'd'; the classes are"):
        NomogramDisplay.from_estimator(naive, label="d", against="a")
    with pytest.raises(ParameterError, match="no column says anything"):
        NomogramDisplay.from_estimator(MultinomialNB().fit([[1, 2], [3, 0]], [0, 1]))
    formula = LinearRegression(formula="size * odd").fit(ROWS, "price")
    with pytest.raises(ParameterError, match="terms of a formula"):
        NomogramDisplay.from_estimator(formula)
    sure = NaiveBayes.textbook(alpha=0.0).fit({"a": ["u", "v"] * 4}, ["x", "y"] * 4)
    with pytest.raises(ParameterError, match="a value of column 'a' is impossible in a class"):
        NomogramDisplay.from_estimator(sure)


def test_truth_values_are_named_as_files_spell_them(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("smoker,age,kind\n" + "Yes,3.5,a\nNo,2.5,b\nYes,1.5,a\nNo,3.5,b\n" * 5)
    display = NomogramDisplay.from_estimator(NaiveBayes().fit(file, "kind"))
    assert display.total({"smoker": "yes"}) == display.total({"smoker": True})
    assert display.total({"smoker": "No"}) == display.total({"smoker": False})
    with pytest.raises(ParameterError, match="'perhaps' of column 'smoker'"):
        display.total({"smoker": "perhaps"})
