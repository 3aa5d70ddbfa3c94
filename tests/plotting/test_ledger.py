"""One prediction as a sum."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris

from suffice import LinearRegression, NaiveBayes
from suffice.errors import ParameterError
from suffice.naive_bayes import GaussianNB
from suffice.plotting import LedgerDisplay

X, Y = load_iris(return_X_y=True)
MODEL = NaiveBayes.textbook().fit(pd.DataFrame(X, columns=list("abcd")), Y)


@settings(max_examples=15)
@given(st.integers(0, 149), st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2]))
def test_the_steps_lead_to_the_log_odds(row: int, label: int, against: int) -> None:
    x = pd.DataFrame(X[row : row + 1], columns=list("abcd"))
    found = MODEL.explain(x)
    joint = found.log_joint[0]
    display = LedgerDisplay(
        *map(np.asarray, found.log_odds(label, against)), found.columns, "", "", "", ""
    )  # type: ignore[arg-type]
    display.steps = display.steps[0]
    assert display.total == pytest.approx(joint[label] - joint[against], abs=1e-9)


def test_bars_begin_where_the_last_one_ended() -> None:
    x = pd.DataFrame(X[70:71], columns=list("abcd"))
    display = LedgerDisplay.from_estimator(MODEL, x)
    bars = display.ax_.patches[:4]
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert bars[0].get_x() == pytest.approx(display.start)
    assert [bar.get_x() for bar in bars[1:]] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(display.total)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[0].startswith("prior: ")
    p = MODEL.predict_proba(x)[0]
    assert names[-1] == f"P({p.argmax()} | x) = {p.max():.4g}"
    assert f"{display.shown[0]} = " in names[1]


def test_columns_that_say_little_are_put_together() -> None:
    display = LedgerDisplay.from_estimator(MODEL, {"a": 5.0, "b": 3.1, "c": 1.4, "d": 0.2}, most=2)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(display.shown) == 2
    assert names[3] == "2 other columns"
    largest = np.argsort(-np.abs(display.steps))[:2]
    assert display.shown == tuple(display.columns[j] for j in largest)
    assert names[1].startswith(f"{display.shown[0]} = ")


def test_a_regression_starts_at_the_average_row() -> None:
    x, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(x, y)
    display = LedgerDisplay.from_estimator(model, x[3:4])
    assert display.start == pytest.approx(y.mean())
    assert display.total == pytest.approx(model.predict(x[3:4])[0])


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ParameterError, match="there is no class 7; the classes are 0, 1, 2"):
        LedgerDisplay.from_estimator(MODEL, {"a": 5.0}, label=7)
    with pytest.raises(ParameterError, match="there is no row"):
        LedgerDisplay.from_estimator(MODEL, pd.DataFrame(X[:0], columns=list("abcd")))
    one = GaussianNB().fit([[1.0], [2.5]], ["a", "a"])
    with pytest.raises(ParameterError, match="the model has one class"):
        LedgerDisplay.from_estimator(one, [[1.0]])
