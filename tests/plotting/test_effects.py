"""Coefficients for one standard deviation, with their intervals."""

import numpy as np
import pandas as pd
import pytest

from suffice import LinearRegression, LogisticRegression, Ridge
from suffice.errors import ParameterError
from suffice.plotting import ColumnImportanceDisplay

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "kilometres": RNG.normal(0.03, 0.01, 300),
        "grams": RNG.normal(5000, 800, 300),
        "hue": RNG.choice(["red", "blue"], 300),
    }
)
PRICE = 50 * ROWS["kilometres"] - 0.002 * ROWS["grams"] + RNG.normal(size=300)
KIND = np.array(["a", "b", "c"])[np.digitize(PRICE, [-9, -7])]


def test_terms_are_in_the_order_of_what_a_standard_deviation_adds() -> None:
    model = LinearRegression().fit(ROWS, PRICE)
    display = ColumnImportanceDisplay.from_estimator(model, most=2)
    numbers = ROWS.assign(hue=ROWS["hue"] == "red").astype(float)
    scaled = (numbers - numbers.mean()) / numbers.std(ddof=0)
    effects = np.linalg.lstsq(np.c_[np.ones(300), scaled], PRICE, rcond=None)[0][1:]
    by_name = dict(zip(["kilometres", "grams", "hue[red]"], effects, strict=True))
    assert dict(zip(display.columns, display.values, strict=True)) == pytest.approx(by_name)
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert shown == ["grams", "kilometres"]
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(widths, [by_name[name] for name in shown])
    summary = model.summary(as_frame=True)
    ends = summary.loc["grams", ["0.025", "0.975"]] * ROWS["grams"].std(ddof=0)
    (intervals,) = display.ax_.collections
    np.testing.assert_allclose(intervals.get_segments()[0][:, 0], ends)
    assert "1 more" in display.ax_.get_xlabel()
    ridge = ColumnImportanceDisplay.from_estimator(Ridge().fit(ROWS, PRICE))
    assert np.isfinite(ridge.intervals).all()


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_two_of_three_classes_are_compared(C: float) -> None:
    model = LogisticRegression(C=C).fit(ROWS[["grams"]], KIND)
    display = ColumnImportanceDisplay.from_estimator(model, label="a", against="c")
    other = ColumnImportanceDisplay.from_estimator(model, label="c", against="a")
    more = pd.DataFrame({"grams": [0.0, ROWS["grams"].std(ddof=0)]})
    logs = model.predict_log_proba(more)
    np.testing.assert_allclose(display.values, np.diff(logs[:, 0] - logs[:, 2]), rtol=1e-9)
    np.testing.assert_allclose(other.values, -display.values)
    np.testing.assert_allclose(other.intervals[:, ::-1], -display.intervals)
    assert np.isnan(display.intervals).all() == (C == 1.0)


def test_classes_have_to_be_named_where_there_are_three() -> None:
    with pytest.raises(ParameterError, match="the model has 3 classes"):
        ColumnImportanceDisplay.from_estimator(LogisticRegression().fit(ROWS, KIND))
